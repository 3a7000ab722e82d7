"""`posthouse account`: the line of somebody who may sign in at a mail door."""

from __future__ import annotations

import sys
from typing import Final

import click

from posthouse.cli.desk import Desk, at_desk
from posthouse.cli.ending import misuse
from posthouse.server.assemble import account_line

_MOST: Final = 1_024


@click.command()
@click.argument("name", metavar="NAME")
@at_desk
def account(desk: Desk, name: str) -> None:
    """Make the line of somebody who may sign in to send mail.

    The password is asked for, or read from standard input where that is no terminal; it is nowhere kept. Append the
    line to the file that mail.accounts names, in the place of an older one; the office takes it up at once.
    """
    if sys.stdin.isatty():
        password = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    else:
        password = sys.stdin.readline(_MOST).removesuffix("\n")
    if not password:
        raise misuse("expected a password, found nothing")
    line = account_line(name, password)
    if desk.as_json:
        desk.printer.document({"line": line})
    else:
        desk.printer.line(line)
