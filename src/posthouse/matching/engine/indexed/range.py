"""Of each predicate one range of an attribute, in plain rows of numbers, so that nobody has to fetch its nodes."""

from __future__ import annotations

from array import array
from typing import Final

from posthouse.matching.predicate.node import And, Between, Number, Part, Predicate


class Ranges:
    """Three numbers for each slot: which attribute, from where, to where."""

    def __init__(self) -> None:
        self.names: Final = [""]
        """The attributes that are asked; the first stands for none."""
        self._places: Final = {"": 0}
        self.places: Final = array("H")
        self.lows: Final = array("d")
        self.highs: Final = array("d")

    def take(self, rest: Predicate | None) -> Predicate | None:
        """Take a range out of what remains of the next predicate, if there is one; gives what then remains."""
        parts = rest.parts if isinstance(rest, And) else () if rest is None else (rest,)
        taken = next((part for part in parts if self._is_plain(part)), None)
        if not isinstance(taken, Between) or not isinstance(taken.term, Part):
            self._add("", 0.0, 0.0)
            return rest
        assert isinstance(taken.low, Number)
        assert isinstance(taken.high, Number)
        self._add(taken.term.argument or "", float(taken.low.value), float(taken.high.value))
        left = tuple(part for part in parts if part is not taken)
        return None if not left else left[0] if len(left) == 1 else And(left)

    def _add(self, name: str, low: float, high: float) -> None:
        place = self._places.setdefault(name, len(self.names))
        if place == len(self.names):
            self.names.append(name)
        self.places.append(place)
        self.lows.append(low)
        self.highs.append(high)

    def _is_plain(self, part: Predicate) -> bool:
        if not isinstance(part, Between) or not isinstance(part.term, Part) or part.term.name != "attribute":
            return False
        # As many attributes as fit into the row, and bounds that no rounding moves.
        is_room = len(self.names) < 60_000 or (part.term.argument or "") in self._places
        return is_room and _is_exact(part.low) and _is_exact(part.high)


def _is_exact(bound: object) -> bool:
    return isinstance(bound, Number) and abs(bound.value) <= 2**53
