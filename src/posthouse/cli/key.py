"""`posthouse key`: the keys that programs and people show to the office over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final, Literal

import click

from posthouse.cli.desk import Desk, at_any_desk
from posthouse.cli.ending import misuse, warn
from posthouse.cli.listing import Listing
from posthouse.cli.parameter import duration
from posthouse.cli.printer import local_time
from posthouse.cli.seat import who
from posthouse.client import Office
from posthouse.message.credential import Credential
from posthouse.message.form.plain import shown_instant
from posthouse.office.calls import CreateCredential, Issued, ListCredentials, RevokeCredential
from posthouse.office.permit import DUTIES, Scope

_PAGE: Final = 1_000


@click.group(cls=Listing)
def key() -> None:
    """Make the keys that programs show over HTTP, list them, revoke them.

    A key says who asks, and what may be asked: to send under certain names, to read certain mailboxes, to look after
    the office. Programs on this machine that use the control socket need none.
    """


@key.command()
@click.argument("name", metavar="NAME")
@click.option("--send-as", multiple=True, metavar="NAME", help="Permit to send under this name; * for any characters.")
@click.option("--read", multiple=True, metavar="MAILBOX", help="Permit to read this mailbox; * for any characters.")
@click.option("--review", multiple=True, metavar="ROLE", help="Permit to review as this role; * for any characters.")
@click.option("--write-rules", is_flag=True, help="Permit to write the rules of the office and put them in force.")
@click.option("--edit-organisation", is_flag=True, help="Permit to say who is who.")
@click.option("--audit", is_flag=True, help="Permit to read the audit and every case.")
@click.option(
    "--administer", is_flag=True, help="Permit to look after the office, and to send and read; none of the above."
)
@click.option("--expires", type=duration, metavar="DURATION", help="How long it stands: 12h, 90d; else until revoked.")
@at_any_desk
# `Any`: what the options permit, by their names.
def create(desk: Desk, name: str, *, expires: float | None, **permitted: Any) -> None:
    """Make a key, and write it to standard output.

    It is shown this once: the office keeps only its hash. NAME is what people call it.
    """
    kinds: dict[str, Literal["send", "read", "review"]] = {"send_as": "send", "read": "read", "review": "review"}
    scopes = [str(Scope(kind, one)) for option, kind in kinds.items() for one in permitted[option]]
    scopes += [duty for duty in DUTIES if permitted[duty.replace(" ", "_")]]
    if not scopes:
        raise misuse("a key that permits nothing is of no use: give --send-as, --read, --review or another one")
    issued = desk.run(_create(desk, CreateCredential(name=name, scopes=scopes, expires_in=expires, by=who())))
    if desk.as_json:
        desk.printer.document(_row(issued.credential) | {"key": issued.key})
        return
    warn(f"this is the key of {issued.credential.id}; it is not shown again")
    desk.printer.line(issued.key)


@key.command("list")
@at_any_desk
def list_(desk: Desk) -> None:
    """List the keys by what may be seen of them, those that were revoked included."""
    found = desk.run(_list(desk))
    if desk.as_json:
        desk.printer.documents(map(_row, found))
        return
    desk.printer.table(
        ("id", "name", "permits", "created", "state"),
        [(one.id, one.name, ", ".join(one.scopes), local_time(one.created), _state(one)) for one in found],
        empty="no key yet: posthouse key create makes one",
    )


@key.command()
@click.argument("key_id", metavar="ID")
@at_any_desk
def revoke(desk: Desk, key_id: str) -> None:
    """End a key for good, by its id; whoever shows it from now on is refused."""
    ended = desk.run(_revoke(desk, key_id))
    if desk.as_json:
        desk.printer.document(_row(ended))
    else:
        desk.printer.line(f"{ended.id} ({ended.name}): revoked")


async def _create(desk: Desk, call: CreateCredential) -> Issued:
    async with desk.office(create=True) as office:
        return await office.call(call)


async def _list(desk: Desk) -> list[Credential]:
    async with desk.office() as office:
        found = [credential async for credential in _all(office)]
    return sorted(found, key=lambda credential: credential.created)


async def _all(office: Office) -> AsyncIterator[Credential]:
    after = ""
    while page := await office.call(ListCredentials(after=after, limit=_PAGE)):
        for credential in page:
            yield credential
        after = page[-1].id


async def _revoke(desk: Desk, key_id: str) -> Credential:
    # Whoever has the key at hand may give it whole; only its id goes on from here.
    parts = key_id.split("_")
    async with desk.office() as office:
        return await office.call(RevokeCredential(id=parts[1] if len(parts) == 3 else key_id, by=who()))


# `Any`: the members of a JSON object.
def _row(credential: Credential) -> dict[str, Any]:
    return {
        "id": credential.id,
        "name": credential.name,
        "scopes": list(credential.scopes),
        "created": shown_instant(credential.created),
        "expires": shown_instant(credential.expires),
        "revoked": shown_instant(credential.revoked),
    }


def _state(credential: Credential) -> str:
    if credential.revoked is not None:
        return f"revoked {local_time(credential.revoked)}"
    return f"until {local_time(credential.expires)}" if credential.expires is not None else "stands"
