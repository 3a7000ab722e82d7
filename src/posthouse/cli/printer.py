"""What a command writes: tables and lines for people, or JSON for programs; text of strangers made harmless first."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from posthouse.message.instant import from_microseconds

# A line is as long as it is, and a terminal wraps it: an id that a table had broken could not be copied.
_NO_EDGE: Final = 100_000

_encode = msgspec.json.Encoder().encode

Cell = str | int | None


class Printer:
    """Writes to standard output."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    def document(self, value: Mapping[str, Any]) -> None:
        """Write one value as a line of JSON."""
        self.raw(_encode(value) + b"\n")

    def documents(self, values: Iterable[Mapping[str, Any]]) -> None:
        """Write each value as a line of JSON."""
        for value in values:
            self.document(value)

    def line(self, text: str) -> None:
        """Write a line for people."""
        self.raw(f"{text}\n".encode(errors="backslashreplace"))

    def raw(self, data: bytes) -> None:
        """Write bytes as they are."""
        write_all(data)

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[Cell]], *, empty: str = "") -> None:
        """Write rows under their headings, numbers to the right; or say that there are none."""
        if not rows and empty:
            self.line(empty)
            return
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for column, heading in enumerate(headings):
            figures = any(isinstance(row[column], int) for row in rows)
            table.add_column(heading, justify="right" if figures else "left", overflow="fold")
        for row in rows:
            table.add_row(*[Text(_cell(cell)) for cell in row])
        self._render(table)

    def facts(self, rows: Iterable[tuple[str, Cell]]) -> None:
        """Write names and values, one to a line; what has no value is left out."""
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        table.add_column(style="bold")
        table.add_column(overflow="fold")
        for name, value in rows:
            if value is not None:
                table.add_row(name, Text(_cell(value)))
        self._render(table)

    def _render(self, table: Table) -> None:
        console = Console(file=sys.stdout, highlight=False, width=_NO_EDGE)
        with console.capture() as captured:
            console.print(table)
        for line in captured.get().splitlines():
            self.line(line.rstrip())


def write_all(data: bytes) -> None:
    """Write bytes to standard output, through whatever buffer stands before it."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


def flush() -> None:
    """See that everything written has left this process, so that what failed to is known."""
    sys.stdout.flush()
    sys.stdout.buffer.flush()


def clean(text: str, keep: str = "") -> str:
    """Make visible what could disturb a terminal: controls, and marks that turn the direction of writing."""
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text
    )


def local_time(instant: int | None) -> str | None:
    """Write an instant for people: the time here, to the millisecond."""
    if instant is None or (moment := from_microseconds(instant)) is None:
        return None
    return moment.astimezone().isoformat(sep=" ", timespec="milliseconds")[:23]


def since(instant: int) -> str:
    """Write how long ago an instant was, roughly."""
    seconds = max(0.0, datetime.now(UTC).timestamp() - instant / 1_000_000)
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f}{unit}"
    return f"{seconds:.0f}s"


def plural(count: int, noun: str) -> str:
    """Write a count with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def shown_path(path: str | os.PathLike[str]) -> str:
    """Write a path as it is shortest from here."""
    full = os.path.abspath(path)  # noqa: PTH100 - links stay as they were named
    short = os.path.relpath(full)
    return short if len(short) < len(full) and not short.startswith("..") else full


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    return f"{cell:,}" if isinstance(cell, int) else clean(cell, keep="\n")
