"""What remains to be asked of plain attributes: ranges and texts in plain rows, so that nobody has to fetch nodes."""

from __future__ import annotations

import math
from array import array
from typing import Final

from posthouse.matching.predicate.node import And, Between, Compare, Number, Part, Predicate, Search, Texts

_MOST_NAMES: Final = 60_000
"""Attributes that fit into a row."""
_MOST_EXACT: Final = 2**53


class Checks:
    """Of each slot some ranges and some texts of attributes; all of them must hold."""

    def __init__(self) -> None:
        self.names: Final[list[str]] = []
        """The attributes that are asked; others stand for them by their place."""
        self.texts: Final[list[str]] = []
        self.range_ends: Final = array("I")
        """Of each slot, where its ranges end."""
        self.range_places: Final = array("H")
        self.lows: Final = array("d")
        self.highs: Final = array("d")
        self.text_ends: Final = array("I")
        self.text_places: Final = array("H")
        self.text_numbers: Final = array("I")
        self._places: Final[dict[str, int]] = {}
        self._numbers: dict[str, int] = {}

    def take(self, rest: Predicate | None) -> Predicate | None:
        """Take what can be asked here out of what remains of the next predicate; gives what then remains."""
        parts = rest.parts if isinstance(rest, And) else () if rest is None else (rest,)
        left = tuple(part for part in parts if not (self._take_range(part) or self._take_text(part)))
        self.range_ends.append(len(self.lows))
        self.text_ends.append(len(self.text_numbers))
        return None if not left else left[0] if len(left) == 1 else And(left)

    def ranges(self, slot: int) -> range:
        """Give the entries of a slot among the ranges."""
        return range(self.range_ends[slot - 1] if slot else 0, self.range_ends[slot])

    def wanted(self, slot: int) -> range:
        """Give the entries of a slot among the texts."""
        return range(self.text_ends[slot - 1] if slot else 0, self.text_ends[slot])

    def place(self, name: str) -> int | None:
        """Give the place of an attribute; None where there is no more room."""
        place = self._places.get(name)
        if place is None and len(self.names) < _MOST_NAMES:
            place = self._places[name] = len(self.names)
            self.names.append(name)
        return place

    def forget(self) -> None:
        """Drop what only adding needs."""
        self._numbers = {}

    def _take_range(self, part: Predicate) -> bool:
        found = _range_of(part)
        place = None if found is None else self.place(found[0])
        if found is None or place is None:
            return False
        self.range_places.append(place)
        self.lows.append(found[1])
        self.highs.append(found[2])
        return True

    def _take_text(self, part: Predicate) -> bool:
        found = _text_of(part)
        place = None if found is None else self.place(found[0])
        if found is None or place is None:
            return False
        number = self._numbers.setdefault(found[1], len(self.texts))
        if number == len(self.texts):
            self.texts.append(found[1])
        self.text_places.append(place)
        self.text_numbers.append(number)
        return True


def _range_of(part: Predicate) -> tuple[str, float, float] | None:
    """Give the attribute, from where and to where, of what asks for a range of plain numbers."""
    if isinstance(part, Between) and isinstance(part.term, Part) and part.term.name == "attribute":
        if isinstance(part.low, Number) and isinstance(part.high, Number) and _is_exact(part.low, part.high):
            return part.term.argument or "", float(part.low.value), float(part.high.value)
        return None
    if not isinstance(part, Compare) or not isinstance(part.left, Part) or not isinstance(part.right, Number):
        return None
    if part.left.name != "attribute" or part.sign in ("=", "!=") or not _is_exact(part.right):
        return None
    # Beyond a bound lies what is at least the next number of all that there are.
    bound, name = float(part.right.value), part.left.argument or ""
    if part.sign in (">", ">="):
        return name, bound if part.sign == ">=" else math.nextafter(bound, math.inf), math.inf
    return name, -math.inf, bound if part.sign == "<=" else math.nextafter(bound, -math.inf)


def _is_exact(*bounds: Number) -> bool:
    """Say whether no rounding moves any of these, nor the numbers beside it."""
    return all(abs(bound.value) < _MOST_EXACT for bound in bounds)


def _text_of(part: Predicate) -> tuple[str, str] | None:
    """Give the attribute and the text, of what asks for one text as it is written."""
    if not isinstance(part, Search) or part.sign != "contains" or part.collation != "exact":
        return None
    if not isinstance(part.term, Part) or part.term.name != "attribute" or not isinstance(part.texts, Texts):
        return None
    return (part.term.argument or "", part.texts.values[0]) if len(part.texts.values) == 1 else None
