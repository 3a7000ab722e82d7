"""Which predicates are looked for under which fact: plain rows of numbers, as fetching what lies apart costs most."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Final

Rows = tuple[list["array[int]"], list["array[int]"]]


class Postings:
    """By fact: slots of predicates, and of each the rarest other fact that it needs, or 0, which always holds."""

    def __init__(self) -> None:
        self.starts: Final = array("I")
        """Where the entries of each fact begin, once no more are to come."""
        self.slots: Final = array("I")
        self.seconds: Final = array("I")
        self._growing: dict[int, tuple[array[int], array[int]]] = {}

    def add(self, fact: int, slot: int, *, second: int) -> None:
        """Look for a predicate under a fact."""
        growing = self._growing.get(fact)
        if growing is None:
            growing = self._growing[fact] = array("I"), array("I")
        growing[0].append(slot)
        growing[1].append(second)

    def seal(self, facts: int) -> None:
        """Lay everything one behind the other; there are so many facts, and nothing is added any more."""
        for fact in range(facts + 1):
            self.starts.append(len(self.slots))
            slots, seconds = self._growing.pop(fact, ((), ()))
            self.slots.extend(slots)
            self.seconds.extend(seconds)
        self.starts.append(len(self.slots))
        self._growing = {}

    def under(self, facts: Iterable[int]) -> Rows:
        """Give the slots under some facts, in pieces, and beside them what each needs."""
        starts = self.starts
        if not starts:
            pieces = [growing for growing in map(self._growing.get, facts) if growing is not None]
            return [slots for slots, _ in pieces], [seconds for _, seconds in pieces]
        ends = [(starts[fact], starts[fact + 1]) for fact in facts]
        there = [(start, end) for start, end in ends if start < end]
        return [self.slots[start:end] for start, end in there], [self.seconds[start:end] for start, end in there]
