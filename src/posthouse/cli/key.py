"""`posthouse key`: the keys that programs and people show to the office over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

import click

from posthouse.cli.desk import Desk, at_any_desk
from posthouse.cli.ending import misuse, warn
from posthouse.cli.listing import Listing
from posthouse.cli.parameter import duration
from posthouse.cli.printer import local_time
from posthouse.client import Office
from posthouse.message.credential import Credential
from posthouse.message.form.plain import shown_instant
from posthouse.office.calls import CreateCredential, Issued, ListCredentials, RevokeCredential
from posthouse.office.permit import Scope

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
@click.option("--administer", is_flag=True, help="Permit everything, to look after the office included.")
@click.option("--expires", type=duration, metavar="DURATION", help="How long it stands: 12h, 90d; else until revoked.")
@at_any_desk
def create(
    desk: Desk, name: str, *, send_as: tuple[str, ...], read: tuple[str, ...], administer: bool, expires: float | None
) -> None:
    """Make a key, and write it to standard output.

    It is shown this once: the office keeps only its hash. NAME is what people call it.
    """
    scopes = [str(Scope("send", one)) for one in send_as] + [str(Scope("read", one)) for one in read]
    scopes += ["administer"] if administer else []
    if not scopes:
        raise misuse("a key that permits nothing is of no use: give --send-as, --read or --administer")
    issued = desk.run(_create(desk, CreateCredential(name=name, scopes=scopes, expires_in=expires)))
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
        return await office.call(RevokeCredential(id=parts[1] if len(parts) == 3 else key_id))


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
