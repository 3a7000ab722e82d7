"""`posthouse organisation`: who is who in the office's organisation, taken over from a file and put in force."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final

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
from posthouse.cli.rulefile import shown_name
from posthouse.errors import PosthouseError
from posthouse.matching.language.reader import UnreadableText
from posthouse.message.case import Edition
from posthouse.organisation.difference import compare
from posthouse.organisation.directory import Directory
from posthouse.organisation.form.ldif import read_ldif
from posthouse.organisation.form.parse import parse_directory
from posthouse.organisation.form.print import print_directory
from posthouse.organisation.form.sheet import read_sheet

BOOK: Final = "organisation"
_READERS: Final[dict[str, Callable[[str], Directory]]] = {"csv": read_sheet, "ldif": read_ldif}


class BookText(PosthouseError):
    """A table or a directory that cannot be taken over as an organisation."""

    code: ClassVar[str] = "organisation.unreadable"
    public: ClassVar[str] = "The organisation cannot be read."


@click.group()
def organisation() -> None:
    """Show who is who, take it over from a file, put it in force.

    Roles with those who hold them and who stands in for them, who reports to whom, units, groups: rules and reviewers
    go by the edition that is in force.
    """


@organisation.command("import")
@click.argument("file", metavar="FILE")
@click.option(
    "--form",
    type=click.Choice(["toml", "csv", "ldif"]),
    help="How it is written; else what the name of FILE ends with.",
)
@writing
@at_any_desk
# `Any`: the options of all commands that write an edition.
def import_(desk: Desk, file: str, *, form: str | None, **given: Any) -> int:
    """Check a file that says who is who, and keep it as the next edition; it is in force when it is activated.

    It is the house's own form, a table of people (CSV) or an export of a directory (LDIF), of which the house's own
    form is made. - is standard input. The exit code is 2 if the file has faults; then nothing is kept.
    """
    return write_edition(desk, BOOK, text=_own_form(file, form), **given)


def _own_form(file: str, form: str | None) -> str:
    """Give the text of a file in the house's own form."""
    text = read_text(file)
    reader = _READERS.get(form or file.rpartition(".")[2].lower())
    if reader is None:
        return text
    try:
        return print_directory(reader(text))
    except UnreadableText as unreadable:
        faults = [BookText(str(problem), where=shown_name(file)) for problem in unreadable.problems]
        raise ExceptionGroup("the organisation cannot be read", faults) from None


@organisation.command()
@some_number
@at_any_desk
def show(desk: Desk, number: int | None) -> None:
    """Show an edition of the organisation; the one in force where no number is given."""
    show_edition(desk, BOOK, number=number)


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
    return diff_editions(desk, BOOK, numbers=numbers, compare=_told)


def _told(old: Edition | None, new: Edition) -> Iterable[str]:
    before = Directory() if old is None else parse_directory(old.text)
    return [difference.words for difference in compare(before, parse_directory(new.text))]


@organisation.command()
@number
@at_any_desk
def activate(desk: Desk, number: int) -> None:
    """Put an edition of the organisation in force; 0 ends it, and nobody holds a role then."""
    activate_edition(desk, BOOK, number=number)


@organisation.command()
@at_any_desk
def rollback(desk: Desk) -> None:
    """Put the organisation in force again that was in force before."""
    roll_back(desk, BOOK)
