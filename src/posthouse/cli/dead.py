"""`posthouse dead`: what was given up, put back into its box or dropped."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from posthouse.cli.desk import Desk, at_any_desk
from posthouse.cli.ending import misuse
from posthouse.cli.listing import Listing
from posthouse.cli.paging import dead_letters
from posthouse.cli.printer import Cell, local_time, plural
from posthouse.cli.progress import progress
from posthouse.cli.queue import box_of
from posthouse.message.form.plain import shown_instant
from posthouse.office.calls import RedriveDead
from posthouse.store.ports import Dead


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """Which dead letters are meant."""

    numbers: tuple[int, ...]
    mailbox: str | None
    kind: str | None
    every: bool


@click.group(cls=Listing)
def dead() -> None:
    """Show what was given up, put it back or drop it.

    A message becomes a dead letter when it failed too often, expired, or could not be delivered.
    """


@dead.command("list")
@click.option("--mailbox", metavar="MAILBOX", help="Only those given up in this mailbox.")
@click.option("--type", "--kind", "kind", metavar="KIND", help="Only those of this kind.")
@click.option("--limit", type=click.IntRange(1), help="List only so many.")
@at_any_desk
def list_(desk: Desk, mailbox: str | None, kind: str | None, limit: int | None) -> None:
    """List dead letters, oldest first."""
    found = desk.run(_list(desk, mailbox, kind=kind, limit=limit))
    if desk.as_json:
        desk.printer.documents(_document(one) for one in found)
        return
    desk.printer.table(
        ("number", "mailbox", "kind", "message", "given up", "attempts", "reason"),
        [_row(one) for one in found],
        empty="no dead letters",
    )


@dead.command()
@click.argument("numbers", type=int, nargs=-1, metavar="[NUMBER]...")
@click.option("--mailbox", metavar="MAILBOX", help="All that were given up in this mailbox.")
@click.option("--type", "--kind", "kind", metavar="KIND", help="All of this kind.")
@click.option("--all", "every", is_flag=True, help="All of them.")
@at_any_desk
# `Any`: the fields of `Chosen`, as click read them.
def redrive(desk: Desk, **given: Any) -> None:
    """Put dead letters back into their mailboxes, as new arrivals.

    Their attempts are counted anew, and an expiry does not hold any more.
    """
    _settle(desk, Chosen(**given), drop=False)


@dead.command()
@click.argument("numbers", type=int, nargs=-1, metavar="[NUMBER]...")
@click.option("--mailbox", metavar="MAILBOX", help="All that were given up in this mailbox.")
@click.option("--type", "--kind", "kind", metavar="KIND", help="All of this kind.")
@click.option("--all", "every", is_flag=True, help="All of them.")
@at_any_desk
def drop(desk: Desk, **given: Any) -> None:
    """Drop dead letters for good; the journal keeps the messages and their traces."""
    _settle(desk, Chosen(**given), drop=True)


def _settle(desk: Desk, chosen: Chosen, *, drop: bool) -> None:
    filtered = chosen.mailbox is not None or chosen.kind is not None
    if chosen.numbers and (filtered or chosen.every):
        raise misuse("numbers stand alone: leave out --mailbox, --type and --all, or the numbers")
    if not (chosen.numbers or filtered or chosen.every):
        raise misuse("which ones? Give numbers from `posthouse dead list`, --mailbox, --type or --all")
    count = desk.run(_redrive(desk, chosen, drop=drop))
    if desk.as_json:
        desk.printer.document({"dropped" if drop else "redriven": count})
    else:
        desk.printer.line(f"{plural(count, 'dead letter')} {'dropped' if drop else 'put back'}")


async def _redrive(desk: Desk, chosen: Chosen, *, drop: bool) -> int:
    async with desk.office() as office, progress("dropping" if drop else "putting back"):
        box = None if chosen.mailbox is None else box_of(desk, chosen.mailbox)
        return await office.call(RedriveDead(numbers=list(chosen.numbers), box=box, kind=chosen.kind, drop=drop))


async def _list(desk: Desk, mailbox: str | None, *, kind: str | None, limit: int | None) -> list[Dead]:
    async with desk.office() as office:
        box = None if mailbox is None else box_of(desk, mailbox)
        return [one async for one in dead_letters(office, box, kind=kind, limit=limit)]


def _document(one: Dead) -> dict[str, Any]:
    return {
        "number": one.number,
        "mailbox": one.box.removeprefix("#"),
        "kind": one.kind,
        "message": str(one.message),
        "at": shown_instant(one.at),
        "attempts": one.attempts,
        "reason": one.reason,
    }


def _row(one: Dead) -> tuple[Cell, ...]:
    box = one.box.removeprefix("#")
    return str(one.number), box, one.kind, str(one.message), local_time(one.at), one.attempts, one.reason
