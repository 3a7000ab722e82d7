"""`posthouse aside`: messages that met a bug of the office, and how they go on once it is mended."""

from __future__ import annotations

import click

from posthouse.cli.desk import Desk, at_any_desk
from posthouse.cli.ending import misuse
from posthouse.cli.listing import Listing
from posthouse.cli.paging import set_aside
from posthouse.cli.printer import local_time, plural
from posthouse.cli.progress import progress
from posthouse.message.form.plain import shown_instant
from posthouse.office.calls import ResendAside
from posthouse.store.ports import Aside


@click.group(cls=Listing)
def aside() -> None:
    """Show what a bug set aside, and send it on.

    Not the message was at fault but the office: it is kept, with the reason, until somebody sends it on again.
    """


@aside.command("list")
@click.option("--limit", type=click.IntRange(1), help="List only so many.")
@at_any_desk
def list_(desk: Desk, limit: int | None) -> None:
    """List the messages set aside, oldest first."""
    found = desk.run(_list(desk, limit))
    if desk.as_json:
        desk.printer.documents(
            {"number": one.number, "message": str(one.message), "at": shown_instant(one.at), "reason": one.reason}
            for one in found
        )
        return
    rows = [(str(one.number), str(one.message), local_time(one.at), one.reason) for one in found]
    desk.printer.table(("number", "message", "set aside", "reason"), rows, empty="nothing was set aside")


@aside.command()
@click.argument("numbers", type=int, nargs=-1, metavar="[NUMBER]...")
@click.option("--all", "every", is_flag=True, help="All of them.")
@at_any_desk
def resend(desk: Desk, numbers: tuple[int, ...], every: bool) -> None:  # noqa: FBT001 - click names it
    """Send messages through the stages again; those that meet a bug again stay where they are."""
    if bool(numbers) == every:
        raise misuse("which ones? Give numbers from `posthouse aside list`, or --all")
    count = desk.run(_resend(desk, numbers))
    if desk.as_json:
        desk.printer.document({"resent": count})
    else:
        desk.printer.line(f"{plural(count, 'message')} sent on")


async def _list(desk: Desk, limit: int | None) -> list[Aside]:
    async with desk.office() as office:
        return [one async for one in set_aside(office, limit)]


async def _resend(desk: Desk, numbers: tuple[int, ...]) -> int:
    async with desk.office() as office, progress("sending on"):
        return await office.call(ResendAside(numbers=list(numbers)))
