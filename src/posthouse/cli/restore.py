"""`posthouse restore`: a backup becomes an office again."""

from __future__ import annotations

from pathlib import Path

import click

from posthouse.cli.desk import Desk, at_desk
from posthouse.cli.printer import shown_path
from posthouse.cli.progress import progress
from posthouse.server.assemble import restore_store
from posthouse.server.quantity import print_size


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace the office that is there; it is kept under another name.")
@at_desk
def restore(desk: Desk, folder: Path, force: bool) -> None:  # noqa: FBT001 - click names it
    """Make an office of a backup.

    The backup is checked from end to end before it takes its place. No office may be running there.
    """
    size = desk.run(_restore(desk, folder, force=force))
    if desk.as_json:
        desk.printer.document({"store": str(desk.path.absolute()), "bytes": size})
    else:
        desk.printer.line(f"{print_size(size)} restored to {shown_path(desk.path)}")


async def _restore(desk: Desk, folder: Path, *, force: bool) -> int:
    async with progress("restoring"):
        return await restore_store(folder, desk.path, force=force)
