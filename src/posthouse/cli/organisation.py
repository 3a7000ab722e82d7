"""`posthouse organisation`: who is who in the office's organisation, taken over from a file and put in force."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import click

from posthouse.cli.book import (
    activate_edition,
    diff_editions,
    list_editions,
    number,
    numbers,
    read_text,
    roll_back,
    show_edition,
    some_number,
    write_edition,
    writing,
)
from posthouse.cli.desk import Desk, at_any_desk
from posthouse.message.case import Edition
from posthouse.organisation.difference import compare
from posthouse.organisation.directory import Directory
from posthouse.organisation.form.parse import parse_directory

BOOK: Final = "organisation"


@click.group()
def organisation() -> None:
    """Show who is who, take it over from a file, put it in force.

    Roles with those who hold them and who stands in for them, who reports to whom, units, groups: rules and reviewers
    go by the edition that is in force.
    """


@organisation.command("import")
@click.argument("file", metavar="FILE")
@writing
@at_any_desk
# `Any`: the options of all commands that write an edition.
def import_(desk: Desk, file: str, **given: Any) -> int:
    """Check a file that says who is who, and keep it as the next edition; it is in force when it is activated.

    - is standard input. The exit code is 2 if the file has faults; then nothing is kept.
    """
    return write_edition(desk, BOOK, read_text(file), **given)


@organisation.command()
@some_number
@at_any_desk
def show(desk: Desk, number: int | None) -> None:
    """Show an edition of the organisation; the one in force where no number is given."""
    show_edition(desk, BOOK, number)


@organisation.command("list")
@at_any_desk
def list_(desk: Desk) -> None:
    """List the editions of the organisation, newest first."""
    list_editions(desk, BOOK)


@organisation.command()
@numbers
@at_any_desk
def diff(desk: Desk, numbers: tuple[int, ...]) -> int:
    """Say who came, who went, who moved between two editions: those named, or the one in force and the newest."""
    return diff_editions(desk, BOOK, numbers, compare=_told)


def _told(old: Edition | None, new: Edition) -> Iterable[str]:
    before = Directory() if old is None else parse_directory(old.text)
    return [difference.words for difference in compare(before, parse_directory(new.text))]


@organisation.command()
@number
@at_any_desk
def activate(desk: Desk, number: int) -> None:
    """Put an edition of the organisation in force; 0 ends it, and nobody holds a role then."""
    activate_edition(desk, BOOK, number)


@organisation.command()
@at_any_desk
def rollback(desk: Desk) -> None:
    """Put the organisation in force again that was in force before."""
    roll_back(desk, BOOK)
