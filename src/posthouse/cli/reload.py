"""`posthouse reload`: have a running office read its settings and certificates again."""

from __future__ import annotations

import click
import msgspec

from posthouse.cli import exitcode
from posthouse.cli.desk import Desk, at_desk
from posthouse.cli.ending import warn
from posthouse.office.calls import Reload, Reloaded


@click.command()
@at_desk
def reload(desk: Desk) -> int:
    """Have the running office read its settings and certificates again.

    It reads them from where it read them at its start: the same file, its own flags and environment. What can change
    while it runs does, and no connection is dropped; the rest is named, and waits for a restart. Where something is
    wrong, the old settings stay in force.
    """
    found = desk.run(_reload(desk))
    if desk.as_json:
        desk.printer.document(msgspec.to_builtins(found))
    else:
        _tell(desk, found)
    return exitcode.USAGE if found.faults else exitcode.OK


async def _reload(desk: Desk) -> Reloaded:
    async with desk.office() as office:
        return await office.call(Reload())


def _tell(desk: Desk, found: Reloaded) -> None:
    for fault in found.faults:
        warn(fault)
    if found.faults:
        warn("nothing was changed")
        return
    desk.printer.line(f"in force now: {', '.join(found.changed) or 'no setting changed'}; certificates are read anew")
    if found.later:
        desk.printer.line(f"waits for a restart: {', '.join(found.later)}")
