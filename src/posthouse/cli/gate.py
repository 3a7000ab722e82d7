"""`posthouse gate`: what was held for a gatekeeper, and what the gatekeeper does with it."""

from __future__ import annotations

import click

from posthouse.cli.gateact import (
    claim,
    copy,
    delete,
    edit,
    file,
    forward,
    hold,
    note,
    recall,
    release,
    return_,
    skip,
    undo,
)
from posthouse.cli.gatelist import counts, list_, show
from posthouse.cli.listing import Listing


@click.group(cls=Listing)
def gate() -> None:
    """List what is held, look into it, release it, return it, forward it, file it.

    Each command is for one role, named with --as where several have something to do. First decision wins; who comes
    later is told who it was. An ID is that of the case or of its message, or the first digits of it.
    """


for _command in (
    list_, show, counts, claim, release, return_, forward, file, delete, copy, edit, note, undo, hold, recall, skip,
):  # fmt: skip
    gate.add_command(_command)
