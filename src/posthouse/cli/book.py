"""The books of an office on the command line: their editions listed, shown, compared, written and put in force."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from datetime import tzinfo
from typing import Any, ClassVar, Final, NamedTuple

import click

from posthouse.cli import exitcode
from posthouse.cli.desk import Desk
from posthouse.cli.ending import misuse, warn
from posthouse.cli.printer import clean
from posthouse.cli.rulefile import MAX_BYTES, decode, read_limited
from posthouse.cli.seat import office_time, who, zone_of
from posthouse.client import Office
from posthouse.errors import PosthouseError
from posthouse.message.case import Activation, Edition
from posthouse.message.form.plain import shown_instant
from posthouse.office.deskcalls import (
    Activate,
    ListActivations,
    ListBooks,
    ListEditions,
    ReadEdition,
    WriteEdition,
    Written,
)

RULES: Final = "rules"

Compare = Callable[[Edition | None, Edition], Iterable[str]]
"""Tells what differs between two editions, line by line."""


class EditionMissing(PosthouseError):
    """The book has no such edition, or none is in force."""

    code: ClassVar[str] = "edition.unknown"
    public: ClassVar[str] = "There is no such edition."


class Shelf(NamedTuple):
    """The editions of one book, and which of them is in force."""

    book: str
    editions: list[Edition]
    active: int
    """0 where none is."""
    activations: list[Activation]
    zone: tzinfo


async def _shelf(office: Office, book: str) -> Shelf:
    register = await office.call(ListBooks())
    return Shelf(
        book,
        await office.call(ListEditions(book=book)),
        register.books.get(book, 0),
        await office.call(ListActivations(book=book)),
        await zone_of(office),
    )


def list_editions(desk: Desk, book: str) -> None:
    """List the editions of a book, newest first."""

    async def found() -> Shelf:
        async with desk.office() as office:
            return await _shelf(office, book)

    shelf = desk.run(found())
    since = {one.number: one for one in shelf.activations}
    if desk.as_json:
        desk.printer.documents(_document(one, shelf, since.get(one.number)) for one in reversed(shelf.editions))
        return
    rows = [
        (
            str(one.number), office_time(one.at, shelf.zone), one.author, _state(one, shelf, since.get(one.number)),
            one.note,
        )
        for one in reversed(shelf.editions)
    ]  # fmt: skip
    desk.printer.table(
        ("edition", "written", "by", "in force", "note"), rows, empty=f"the book {clean(book)} has no edition yet"
    )


# `Any`: the members of a JSON object.
def _document(one: Edition, shelf: Shelf, since: Activation | None) -> dict[str, Any]:
    return {
        "book": one.book,
        "edition": one.number,
        "author": one.author,
        "note": one.note,
        "written": shown_instant(one.at),
        "in_force": one.number == shelf.active,
        "activated": None if since is None else shown_instant(since.at),
        "activated_by": None if since is None else since.by,
    }


def _state(one: Edition, shelf: Shelf, since: Activation | None) -> str:
    if since is None:
        return "never"
    return f"{'since' if one.number == shelf.active else 'once,'} {office_time(since.at, shelf.zone)}"


def show_edition(desk: Desk, book: str, *, number: int | None) -> None:
    """Show the text of an edition; of the one in force where no number is named."""

    async def found() -> Edition:
        async with desk.office() as office:
            return await read_edition(office, book, number=number)

    edition = desk.run(found())
    if desk.as_json:
        desk.printer.document({"book": book, "edition": edition.number, "author": edition.author, "text": edition.text})
    else:
        desk.printer.raw(edition.text.encode())


async def read_edition(office: Office, book: str, *, number: int | None) -> Edition:
    """Give an edition that must be there."""
    edition = await office.call(ReadEdition(book=book, number=number))
    if edition is None:
        what = f"no edition of {book} is in force" if number is None else f"{book} has no edition {number}"
        raise EditionMissing(what, hint="list shows which there are")
    return edition


def diff_editions(desk: Desk, book: str, *, numbers: tuple[int, ...], compare: Compare | None = None) -> int:
    """Say how two editions differ: the named ones, or what is in force and the newest; the exit code says whether."""
    if len(numbers) > 2:
        raise misuse("name one edition or two")

    async def found() -> tuple[Edition | None, Edition]:
        async with desk.office() as office:
            shelf = await _shelf(office, book)
            if not shelf.editions:
                raise EditionMissing(f"the book {book} has no edition yet")
            old, new = (
                numbers if len(numbers) == 2 else (shelf.active, numbers[0] if numbers else shelf.editions[-1].number)
            )
            before = await read_edition(office, book, number=old) if old else None
            return before, await read_edition(office, book, number=new)

    old, new = desk.run(found())
    lines = list((compare or unified)(old, new))
    if desk.as_json:
        desk.printer.document(
            {"book": book, "from": 0 if old is None else old.number, "to": new.number, "differences": lines}
        )
    else:
        for line in lines:
            desk.printer.line(clean(line, keep="\t"))
        if not lines:
            desk.printer.line("no difference")
    return exitcode.FAILURE if lines else exitcode.OK


def unified(old: Edition | None, new: Edition) -> Iterable[str]:
    """Tell what differs as lines taken out and put in."""
    before = [] if old is None else old.text.splitlines()
    named = "nothing" if old is None else f"{old.book} {old.number}"
    return difflib.unified_diff(before, new.text.splitlines(), named, f"{new.book} {new.number}", lineterm="")


def write_edition(desk: Desk, book: str, *, text: str, note: str, activates: bool, is_trial: bool) -> int:
    """Check a text and keep it as the next edition of a book, in force at once where that is wanted."""

    async def written() -> tuple[Written, Activation | None]:
        async with desk.office(create=True) as office:
            answer = await office.call(WriteEdition(book=book, text=text, by=who(), note=note, is_trial=is_trial))
            if answer.edition is None or is_trial or not activates:
                return answer, None
            return answer, await office.call(Activate(book=book, number=answer.edition.number, by=who()))

    answer, activation = desk.run(written())
    if desk.as_json:
        number = None if answer.edition is None else answer.edition.number
        desk.printer.document(
            {
                "book": book, "edition": number, "in_force": activation is not None, "faults": answer.faults,
                "warnings": answer.warnings,
            }
        )  # fmt: skip
    else:
        _tell_written(desk, book, answer, activation, is_trial=is_trial)
    return exitcode.USAGE if answer.faults else exitcode.OK


def _tell_written(desk: Desk, book: str, answer: Written, activation: Activation | None, *, is_trial: bool) -> None:
    for fault in answer.faults:
        warn(clean(fault, keep="\n"))
    for warning in answer.warnings:
        warn(f"warning: {clean(warning, keep=chr(10))}")
    if answer.faults:
        return
    if is_trial or answer.edition is None:
        desk.printer.line(f"{clean(book)}: in order; nothing was written")
    else:
        state = "in force" if activation is not None else "not in force yet: activate it"
        desk.printer.line(f"{clean(book)}: edition {answer.edition.number} written, {state}")


def read_text(name: str) -> str:
    """Read the text of a book from a file, or from standard input for -."""
    return decode(read_limited(name, MAX_BYTES), name)


def activate_edition(desk: Desk, book: str, *, number: int) -> None:
    """Put an edition in force; 0 ends the book."""

    async def activated() -> Activation:
        async with desk.office() as office:
            return await office.call(Activate(book=book, number=number, by=who()))

    _tell_activation(desk, desk.run(activated()))


def roll_back(desk: Desk, book: str) -> None:
    """Put in force again what was in force before."""

    async def activated() -> Activation:
        async with desk.office() as office:
            shelf = await _shelf(office, book)
            before = [one.number for one in shelf.activations if one.number != shelf.active]
            if not before:
                raise EditionMissing(f"nothing else of {book} was ever in force", hint="list shows which there are")
            return await office.call(Activate(book=book, number=before[-1], by=who()))

    _tell_activation(desk, desk.run(activated()))


def _tell_activation(desk: Desk, activation: Activation) -> None:
    if desk.as_json:
        desk.printer.document(
            {
                "book": activation.book, "edition": activation.number, "at": shown_instant(activation.at),
                "by": activation.by, "second": activation.second,
            }
        )  # fmt: skip
    elif activation.number:
        desk.printer.line(f"{clean(activation.book)}: edition {activation.number} is in force")
    else:
        desk.printer.line(f"{clean(activation.book)}: nothing is in force")


# `Any`, here and below: a command as click makes it.
def writing(command: Any) -> Any:
    """Give a command the options of all that write an edition."""
    for option in (
        click.option("--note", default="", help="What this edition is for."),
        click.option("--activate", "activates", is_flag=True, help="Put it in force at once."),
        click.option("--trial", "is_trial", is_flag=True, help="Only check it: nothing is written."),
    ):
        command = option(command)
    return command


numbers = click.argument("numbers", metavar="[EDITION] [EDITION]", nargs=-1, type=click.IntRange(1))
number = click.argument("number", metavar="EDITION", type=click.IntRange(0))
some_number = click.argument("number", metavar="[EDITION]", required=False, type=click.IntRange(1))
