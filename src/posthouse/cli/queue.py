"""`posthouse queue`: what waits, in mailboxes and on its way to other offices."""

from __future__ import annotations

from typing import Any

import click

from posthouse.cli.desk import Desk, at_any_desk
from posthouse.cli.listing import Listing
from posthouse.cli.paging import all_depths, queued
from posthouse.cli.printer import Cell, local_time
from posthouse.message.form.plain import shown_instant
from posthouse.message.name import parse_mailbox, parse_office
from posthouse.server.quantity import print_size
from posthouse.server.settings import terms_of
from posthouse.store.ports import Depth, Queued


@click.group(cls=Listing)
def queue() -> None:
    """Show what waits, and in which state.

    Looking takes nothing out: who wants a message reads it.
    """


@queue.command("list")
@click.argument("box", required=False, metavar="[MAILBOX]")
@click.option("--limit", type=click.IntRange(1), help="List only so many.")
@at_any_desk
def list_(desk: Desk, box: str | None, limit: int | None) -> None:
    """List what waits in a mailbox, in order of arrival; without one, how full every box is.

    Beside mailboxes there is a box for each other office that messages are on their way to, by the office's name.
    """
    if box is None:
        depths = desk.run(_depths(desk, limit))
        if desk.as_json:
            desk.printer.documents(_depth(depth) for depth in depths)
        else:
            rows = [(_name(depth.box), depth.messages, print_size(depth.bytes)) for depth in depths]
            desk.printer.table(("box", "messages", "bytes"), rows, empty="nothing waits")
        return
    entries = desk.run(_entries(desk, box, limit=limit))
    if desk.as_json:
        desk.printer.documents(_entry(entry) for entry in entries)
    else:
        desk.printer.table(
            ("message", "kind", "state", "priority", "bytes", "arrived", "attempt", "next", "held by"),
            [_row(entry) for entry in entries],
            empty="nothing waits there",
        )


def box_of(desk: Desk, written: str) -> str:
    """Give the box that is meant by the name of a mailbox, or of an office elsewhere."""
    if "#" not in written and ("/" in written or written.startswith(("local:", "smtp:"))):
        return str(parse_office(written))
    name = parse_mailbox(written)
    here = (desk.name, *terms_of(desk.settings).here)
    return f"#{name.mailbox}" if name.office in here else str(name.office)


def _name(box: str) -> str:
    return box.removeprefix("#")


async def _depths(desk: Desk, limit: int | None) -> list[Depth]:
    async with desk.office() as office:
        found = [depth async for depth in all_depths(office)]
    return found[:limit]


async def _entries(desk: Desk, written: str, *, limit: int | None) -> list[Queued]:
    async with desk.office() as office:
        return [entry async for entry in queued(office, box_of(desk, written), limit=limit)]


# `Any`: the members of a JSON object.
def _depth(depth: Depth) -> dict[str, Any]:
    return {"box": _name(depth.box), "messages": depth.messages, "bytes": depth.bytes}


def _entry(entry: Queued) -> dict[str, Any]:
    return {
        "entry": entry.entry,
        "message": str(entry.message),
        "box": _name(entry.box),
        "work": entry.work,
        "kind": entry.kind,
        "state": entry.state,
        "priority": entry.priority,
        "correlation": entry.correlation,
        "size": entry.size,
        "arrived": shown_instant(entry.arrived),
        "attempt": entry.attempt,
        "failures": entry.failures,
        "next": shown_instant(entry.next_at),
        "expires": shown_instant(entry.expires),
        "holder": entry.holder or None,
    }


def _row(entry: Queued) -> tuple[Cell, ...]:
    return (
        str(entry.message), entry.kind, entry.state, entry.priority, print_size(entry.size), local_time(entry.arrived),
        entry.attempt, local_time(entry.next_at), entry.holder,
    )  # fmt: skip
