"""What was asked of a store and answered, and at which place of the disk's record: the measure of what must be there.

Each place a message has, a box or the shelf of those set aside, goes through stages one after the other. When the power
goes, it must be at the last stage that was answered, or at one that was asked for by then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

Place = tuple[int, str]
Stage = tuple[str | int, ...]

SHELF: Final = "aside"
REGISTER: Final[Place] = (0, "register")

ABSENT: Final[Stage] = ("absent",)
GONE: Final[Stage] = ("gone",)
DEAD: Final[Stage] = ("dead",)
ASIDE: Final[Stage] = ("aside",)
NEVER: Final = 1 << 60


def queued(state: int, token: int) -> Stage:
    """Give the stage of an entry: 0 waiting, 1 leased, 2 held."""
    return ("queued", state, token)


@dataclass
class Entered:
    """One stage, when it was asked for and when it was answered, as places of the record."""

    stage: Stage
    asked: int
    answered: int = NEVER


@dataclass
class Book:
    """The stages of all places, the numbers of entries seen, and the messages that came under a key."""

    places: dict[Place, list[Entered]] = field(default_factory=dict)
    numbers: list[tuple[int, int]] = field(default_factory=list)
    """(place of the record, number of an entry somebody was told of there)"""
    keyed: set[int] = field(default_factory=set)

    def enter(self, place: Place, stage: Stage, *, asked: int) -> Entered:
        entered = Entered(stage, asked)
        self.places.setdefault(place, []).append(entered)
        return entered

    def next_register(self) -> tuple[Place, Stage]:
        return REGISTER, ("version", len(self.places.get(REGISTER, ())) + 1)

    def allowed(self, place: Place, cut: int) -> list[Stage]:
        """Give the stages a place may be at when the power went at a place of the record."""
        stages = [Entered(self._first(place), -1, -1), *self.places[place]]
        answered = max(number for number, stage in enumerate(stages) if stage.answered <= cut)
        asked = max(number for number, stage in enumerate(stages) if stage.asked <= cut)
        return [stage.stage for stage in stages[answered : asked + 1]]

    def highest_entry(self, cut: int) -> int:
        """Give the highest number of an entry anybody was told of by then."""
        return max((number for told, number in self.numbers if told <= cut), default=0)

    def _first(self, place: Place) -> Stage:
        return ("version", 0) if place == REGISTER else ABSENT
