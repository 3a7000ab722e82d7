"""`posthouse status`: how the office is."""

from __future__ import annotations

import asyncio
import os
from typing import Any, ClassVar, Final

import click
import msgspec

from posthouse.cli.desk import Desk, at_any_desk
from posthouse.cli.parameter import duration_or_forever, seconds_or_none
from posthouse.cli.printer import local_time, plural, since
from posthouse.errors import PosthouseError
from posthouse.message.form.plain import shown_instant
from posthouse.office.calls import AskStatus, Status
from posthouse.server.assemble import reach_house

_LOOK_EVERY: Final = 0.05
_FIELDS: Final = (
    "office", "version", "store_path", "running", "process", "started", "accepted", "queued", "dead", "aside",
    "waiting", "store", "destinations", "addresses", "mail", "domains",
)  # fmt: skip


class OfficeSilent(PosthouseError):
    """No process runs the office, or it did not answer in time."""

    code: ClassVar[str] = "office.silent"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The office does not answer."


@click.command()
@click.option(
    "--wait",
    type=duration_or_forever,
    metavar="DURATION",
    help="Wait for an office to run, up to so long: 10s, forever.",
)
@click.option(
    "--field", type=click.Choice(_FIELDS), metavar="NAME", help="Write one field of --json, and nothing else."
)
@at_any_desk
def status(desk: Desk, wait: float | None, field: str | None) -> None:
    """Say how the office is.

    Says whether a process runs it, how much waits, what was given up, and whether the store can write.
    """
    desk.run(_status(desk, wait, field=field))


async def _status(desk: Desk, wait: float | None, *, field: str | None) -> None:
    if wait is not None:
        try:
            async with asyncio.timeout(seconds_or_none(wait)):
                await _wait_for_office(desk)
        except TimeoutError:
            raise OfficeSilent("no office answered within the wait", where=desk.where) from None
    async with desk.office() as office:
        found = await office.call(AskStatus())
    facts = _facts(desk, found)
    if field is not None:
        value = facts[field]
        desk.printer.line(value if isinstance(value, str) else msgspec.json.encode(value).decode())
    elif desk.as_json:
        desk.printer.document(facts)
    else:
        _tell(desk, found, facts=facts)


async def _wait_for_office(desk: Desk) -> None:
    while True:
        try:
            if desk.url is not None:
                async with desk.office() as office:
                    await office.call(AskStatus())
                return
            link = await reach_house(desk.path)
            try:
                await link.answer(AskStatus())
            finally:
                await link.close()
        except PosthouseError as fault:
            if fault.permanent:
                raise
            # A socket that is not there yet tells nobody when it comes.
            await asyncio.sleep(_LOOK_EVERY)
        else:
            return


# `Any`: the members of a JSON object.
def _facts(desk: Desk, found: Status) -> dict[str, Any]:
    running = desk.url is not None or found.process != os.getpid()
    told = msgspec.to_builtins(found)
    told["started"] = shown_instant(found.started) if running else None
    for destination in told["destinations"]:
        destination["next_try"] = shown_instant(destination["next_try"])
    return {
        **told, "store_path": str(desk.path.absolute()) if desk.url is None else None, "running": running,
        "process": found.process if running else None,
    }  # fmt: skip


def _tell(desk: Desk, found: Status, *, facts: dict[str, Any]) -> None:
    running = f"as process {found.process}, for {since(found.started)}" if facts["running"] else "no; opened directly"
    desk.printer.facts(
        [
            ("office", f"{found.office} at {desk.where}"),
            ("version", found.version),
            ("running", running),
            ("store", found.store),
            ("accepted", found.accepted),
            ("queued", found.queued),
            ("dead letters", found.dead),
            ("set aside", found.aside),
            ("takers waiting", found.waiting),
            ("answers at", ", ".join(found.addresses) or None),
            (
                "mail comes in at",
                ", ".join(f"{at} ({name})" for name, all_at in found.mail.items() for at in all_at) or None,
            ),
            ("mail for", ", ".join(found.domains) or None),
        ]
    )
    if found.destinations:
        desk.printer.line("")
        desk.printer.table(
            ("destination", "way", "failures", "next try", "last fault"),
            [
                (one.name, one.state, one.failures, local_time(one.next_try), one.last_fault)
                for one in found.destinations
            ],
        )
    if found.dead:
        desk.printer.line(f"\n{plural(found.dead, 'dead letter')}: see posthouse dead list")
