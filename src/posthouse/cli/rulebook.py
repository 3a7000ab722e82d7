"""The rules an office goes by, below `posthouse rules`: editions of its book, a gatekeeper's, a list of words."""

from __future__ import annotations

from typing import Any

import click

from posthouse.cli.book import (
    RULES,
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
from posthouse.cli.ending import misuse
from posthouse.office.permission import OWN_RULES


# `Any`, here and below: a command as click makes it, and the options it was given.
def _of_a_book(command: Any) -> Any:
    for option in (
        click.option("--of", metavar="ROLE", help="The book of this gatekeeper instead of the office's."),
        click.option("--words", metavar="NAME", help="The list of words of this name instead."),
    ):
        command = option(command)
    return command


def _book(of: str | None, words: str | None) -> str:
    if of is not None and words is not None:
        raise misuse("--of and --words name two books: give one of them")
    if words is not None:
        return f"words {words}"
    return RULES if of is None else f"{OWN_RULES}{of}"


@click.command("list")
@_of_a_book
@at_any_desk
def list_(desk: Desk, of: str | None, words: str | None) -> None:
    """List the editions of a book of rules, newest first, and which one is in force."""
    list_editions(desk, _book(of, words))


@click.command()
@some_number
@_of_a_book
@at_any_desk
def show(desk: Desk, number: int | None, *, of: str | None, words: str | None) -> None:
    """Show an edition of a book of rules; the one in force where no number is given."""
    show_edition(desk, _book(of, words), number=number)


@click.command()
@click.argument("file", metavar="FILE")
@writing
@_of_a_book
@at_any_desk
def write(desk: Desk, file: str, *, of: str | None, words: str | None, **given: Any) -> int:
    """Check a file of rules, and keep it as the next edition of a book.

    It is in force when it is activated. Editions never change, so that what was decided by one can always be told. -
    is standard input. The exit code is 2 if the text has faults; then nothing is kept.
    """
    return write_edition(desk, _book(of, words), text=read_text(file), **given)


@click.command()
@number
@_of_a_book
@at_any_desk
def activate(desk: Desk, number: int, *, of: str | None, words: str | None) -> None:
    """Put an edition of a book of rules in force, an earlier one as well; 0 ends the book."""
    activate_edition(desk, _book(of, words), number=number)


@click.command()
@numbers
@_of_a_book
@at_any_desk
def diff(desk: Desk, numbers: tuple[int, ...], *, of: str | None, words: str | None) -> int:
    """Say how two editions of a book of rules differ: those named, or the one in force and the newest.

    The exit code is 1 where they do.
    """
    return diff_editions(desk, _book(of, words), numbers=numbers)


@click.command()
@_of_a_book
@at_any_desk
def rollback(desk: Desk, *, of: str | None, words: str | None) -> None:
    """Put in force again what was in force before."""
    roll_back(desk, _book(of, words))


BOOK_COMMANDS = (list_, show, write, activate, diff, rollback)
"""What `posthouse rules` does with the book of an office, beside what it does with files."""
