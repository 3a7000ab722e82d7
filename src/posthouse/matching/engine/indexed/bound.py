"""Numbers that values are above or below: what holds of a number is one end of a sorted row of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Final, Literal

Sign = Literal["<", "<=", ">", ">="]
MOST_BOUNDS: Final = 500
"""Bounds of one column; of more of them too many might hold at once, and cells are the better way."""


class Bounds:
    """All bounds of a column, each with the fact that a number lies beyond it."""

    __slots__ = ("_unsorted", "rows")

    def __init__(self) -> None:
        self._unsorted: Final[dict[tuple[Sign, float], int]] = {}
        self.rows: Final[dict[Sign, tuple[list[float], list[int]]]] = {}
        """By sign: the bounds, ascending, and their facts, once they are sorted."""

    def add(self, sign: Sign, bound: float, *, fact: int) -> int:
        """Hold a fact for numbers beyond a bound; gives the one that is held already if there is one."""
        return self._unsorted.setdefault((sign, bound), fact)

    def __bool__(self) -> bool:
        return bool(self._unsorted)

    def seal(self) -> None:
        """Sort the bounds, when no more are to come."""
        for (sign, bound), fact in sorted(self._unsorted.items()):
            bounds, facts = self.rows.setdefault(sign, ([], []))
            bounds.append(bound)
            facts.append(fact)

    def look(self, value: float, into: set[int]) -> None:
        """Add the facts about one number."""
        if value != value:  # noqa: PLR0124  NaN is what differs from itself, and lies beyond nothing
            return
        for sign, (bounds, facts) in self.rows.items():
            if sign == ">":
                into.update(facts[: bisect_left(bounds, value)])
            elif sign == ">=":
                into.update(facts[: bisect_right(bounds, value)])
            elif sign == "<":
                into.update(facts[bisect_right(bounds, value) :])
            else:
                into.update(facts[bisect_left(bounds, value) :])
