"""Faults of a text, noted by their offset and told all at once with line and column."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Final, NoReturn, TypeAlias

from posthouse.matching.language.reader import MAX_PROBLEMS, MAX_TEXT, Problem, UnreadableText
from posthouse.message.spelling import UNSAFE, quoted

MAX_NAME: Final = 255
"""Characters in any name."""
At: TypeAlias = int | Callable[[], int]
"""Where something stands; what has to be looked for is looked for where it is told only."""


class Faults:
    """What was found wrong in one text so far."""

    def __init__(self, text: str) -> None:
        self.text: Final = text
        self.problems: Final[list[Problem]] = []
        self._lines: list[int] = []
        self._told: Final[set[tuple[int, int]]] = set()
        if len(text) > MAX_TEXT:
            raise UnreadableText([Problem(1, 1, f"a text of at most {MAX_TEXT:,} characters", f"{len(text):,}")])

    def place(self, offset: int) -> tuple[int, int]:
        """Give line and column of an offset, counted from 1."""
        if not self._lines:
            self._lines = _line_starts(self.text)
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def note(self, at: At, expected: str, *, found: str, hint: str | None = None, length: int = 1) -> None:
        """Note a fault and go on; a place is told once, and of many faults the first hundred are."""
        line, column = self.place(at() if callable(at) else at)
        if (line, column) in self._told:
            return
        self._told.add((line, column))
        self.problems.append(Problem(line, column, expected, found, hint, length))
        if len(self.problems) >= MAX_PROBLEMS:
            self.give_up()

    def give_up(self) -> NoReturn:
        """Raise what was found so far, in the order of the text."""
        raise UnreadableText(sorted(self.problems, key=lambda problem: (problem.line, problem.column)))

    def finish(self) -> None:
        """Raise UnreadableText if anything was wrong."""
        if self.problems:
            self.give_up()

    def is_sound_name(self, name: str, at: At, *, what: str) -> bool:
        """Note what makes text unfit for a name, if anything does."""
        if not name or name != name.strip():
            self.note(
                at, f"{what} without blanks around it" if name else what, found=quoted(name) if name else "nothing"
            )
        elif len(name) > MAX_NAME:
            self.note(at, f"{what} of at most {MAX_NAME} characters", found=f"{len(name):,}")
        elif unsafe := UNSAFE.search(name):
            self.note(at, f"{what} without control signs and changes of direction", found=quoted(unsafe.group()))
        else:
            return True
        return False


def _line_starts(text: str) -> list[int]:
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts
