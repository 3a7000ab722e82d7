"""`posthouse verify`: everything the office keeps is checked."""

from __future__ import annotations

import click

from posthouse.cli import exitcode
from posthouse.cli.desk import Desk, at_desk
from posthouse.cli.printer import clean, plural
from posthouse.cli.progress import progress
from posthouse.office.calls import Verify


@click.command()
@click.option("--repair", is_flag=True, help="Remove large bodies that belong to no message.")
@at_desk
def verify(desk: Desk, repair: bool) -> int:  # noqa: FBT001 - click names it
    """Check everything the office keeps.

    Looks for damaged pages, and for large bodies that are missing, broken, or belong to no message. Writes one line for
    each fault; the exit code is 1 if there are any.
    """
    faults = desk.run(_verify(desk, repair=repair))
    if desk.as_json:
        desk.printer.document({"faults": faults})
    elif faults:
        for fault in faults:
            desk.printer.line(clean(fault))
        desk.printer.line(plural(len(faults), "fault"))
    else:
        desk.printer.line("everything is in order")
    return exitcode.FAILURE if faults else exitcode.OK


async def _verify(desk: Desk, *, repair: bool) -> list[str]:
    async with desk.office() as office, progress("checking"):
        return await office.call(Verify(repair=repair))
