"""Ranges of numbers as cells: a few small ones cover a range, one large one holds it, numbers lie in both."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Final

MOST_EDGES: Final = 4_096
_COVERS: Final = (0, 4, 8, 12)
"""The sizes of the cells that cover a range, as powers of two."""
_MOST_IN_A_COVER: Final = 17
_Cell = tuple[int, int, int]
"""Its size, its grid and its place. Grid 0 covers ranges; 1 and 2 hold them, the second moved by half a cell."""


class Cells:
    """A grid over the bounds that are asked for, fine where there are many of them."""

    __slots__ = ("_found", "edges", "facts", "starts")

    def __init__(self, bounds: Iterable[float]) -> None:
        ordered = sorted(set(bounds))
        step = max(1, -(-len(ordered) // MOST_EDGES))
        # Left of the first edge there is nothing but what has no number.
        self.edges: Final[list[float]] = [-math.inf, *ordered[::step]]
        self._found: Final[dict[_Cell, int]] = {}
        self.starts: Final = array("I")
        """By the place of a number between the edges: where the facts that hold for it begin."""
        self.facts: Final = array("I")

    @property
    def is_asked(self) -> bool:
        """Whether any range has its fact here."""
        return bool(self._found)

    def width(self, low: float, high: float) -> float:
        """Give the share of all places that lie in the cells that cover a range."""
        cells = self._cover(low, high)
        return min(1.0, (len(cells) << cells[0][0]) / len(self.edges))

    def cover(self, low: float, high: float, *, make: Callable[[], int]) -> tuple[int, ...]:
        """Give facts of which one holds for each number of a range, and hardly for others."""
        return tuple(self._fact(cell, make) for cell in self._cover(low, high))

    def fact(self, low: float, high: float, *, make: Callable[[], int]) -> int:
        """Give one fact that holds for all numbers of a range, and for not too many others."""
        first, last = self._ends(low, high)
        # Every second size is enough: more of them would be more facts for each number.
        size = max((last - first).bit_length() + 1 & ~1, 2)
        while True:
            # Twice as wide as the range, one of the two grids holds it.
            for grid, moved in ((1, 0), (2, 1 << (size - 1))):
                if (first + moved) >> size == (last + moved) >> size:
                    return self._fact((size, grid, (first + moved) >> size), make)
            size += 2

    def _fact(self, cell: _Cell, make: Callable[[], int]) -> int:
        known = self._found.get(cell)
        if known is None:
            known = self._found[cell] = make()
        return known

    def _cover(self, low: float, high: float) -> list[_Cell]:
        first, last = self._ends(low, high)
        size = next(size for size in _COVERS if (last >> size) - (first >> size) < _MOST_IN_A_COVER)
        return [(size, 0, place) for place in range(first >> size, (last >> size) + 1)]

    def _ends(self, low: float, high: float) -> tuple[int, int]:
        first, last = sorted((self.place(low), self.place(high)))
        return max(first, 1), max(last, 1)

    def place(self, number: float) -> int:
        """Give the place of a number between the edges; 0 for what is no number."""
        return bisect_left(self.edges, number) if number > -math.inf else int(number == number)  # noqa: PLR0124  NaN

    def seal(self) -> None:
        """Write down for every place which facts hold there, when no more are to come."""
        sizes = sorted({(size, grid) for size, grid, _ in self._found})
        self.starts.append(0)
        for place in range(len(self.edges) + 1):
            cells = ((size, grid, (place + (1 << (size - 1) if grid == 2 else 0)) >> size) for size, grid in sizes)
            # Before the first edge stands nothing.
            self.facts.extend(self._found[cell] for cell in cells if place and cell in self._found)
            self.starts.append(len(self.facts))

    def around(self, place: int) -> array[int]:
        """Give the facts that hold at a place."""
        return self.facts[self.starts[place] : self.starts[place + 1]]
