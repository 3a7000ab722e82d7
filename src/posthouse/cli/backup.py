"""`posthouse backup`: a copy of the office with its large bodies, made while it runs."""

from __future__ import annotations

from pathlib import Path

import click

from posthouse.cli.desk import Desk, at_desk
from posthouse.cli.printer import shown_path
from posthouse.cli.progress import progress
from posthouse.office.calls import Backup
from posthouse.server.quantity import print_size


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@at_desk
def backup(desk: Desk, folder: Path) -> None:
    """Copy the office into a new folder while it runs.

    The copy holds every message accepted before it was begun, with its body; `posthouse restore` makes an office of it.
    """
    # The office that runs may do so in another folder.
    size = desk.run(_backup(desk, str(folder.absolute())))
    if desk.as_json:
        desk.printer.document({"folder": str(folder.absolute()), "bytes": size})
    else:
        desk.printer.line(f"{print_size(size)} copied to {shown_path(folder)}")


async def _backup(desk: Desk, folder: str) -> int:
    async with desk.office() as office, progress("copying"):
        return await office.call(Backup(folder=folder))
