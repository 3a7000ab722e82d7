"""A set of predicates that changes: a plan, a small loose one beside it, and what is gone from both.

Adding and removing cost next to nothing. `rebuild` makes a new plan in any thread; `swap` takes it into use and keeps
what has changed meanwhile, so that at each moment exactly the predicates that are in the set are found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from posthouse.matching.engine.indexed.plan import Builder, Plan, compile_plan
from posthouse.matching.engine.indexed.survey import Survey
from posthouse.matching.engine.indexed.sweep import find, hits_of
from posthouse.matching.match import Hits
from posthouse.matching.predicate.node import Predicate
from posthouse.matching.value.record import Record


class Order(msgspec.Struct, frozen=True):
    """What a new plan is to be made of: the set as it stood when it was ordered."""

    plan: Plan
    dead: frozenset[int]
    loose: Mapping[int, Predicate]
    version: int
    """How many changes there had been."""


class Rebuilt(msgspec.Struct, frozen=True):
    """A plan that was made to an order."""

    plan: Plan
    version: int


def rebuild(order: Order) -> Rebuilt:
    """Make the plan of an order; this takes its time, and may be done in any thread."""
    plan = order.plan
    predicates = {
        number: plan.predicate(slot) for slot, number in enumerate(plan.numbers) if slot not in order.dead
    } | dict(order.loose)
    return Rebuilt(compile_plan(predicates, lists=plan.lists, only_true=plan.only_true), order.version)


class Standing:
    """The predicates that stand now. One thread changes it and matches; `rebuild` alone may run in another."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._version = 0
        # What has changed since the plan was made, and since the plan that is perhaps being made was ordered.
        self._changes: list[tuple[int, Predicate | None]] = []
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._loose = Plan(self._plan.lists, only_true=self._plan.only_true)
        survey = Survey(self._plan.lists, only_true=self._plan.only_true, is_loose=True)
        self._builder = Builder(self._loose, survey)
        self._slots: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._plan) + len(self._loose)

    def __contains__(self, number: int) -> bool:
        return number in self._slots or self._plan.slot(number) is not None

    @property
    def changes(self) -> int:
        """How many changes stand beside the plan; many of them make matching slower."""
        return len(self._changes)

    def add(self, number: int, predicate: Predicate) -> None:
        """Put a predicate in, in place of the one with this number if there is one."""
        self._apply(number, predicate)
        self._changes.append((number, predicate))

    def remove(self, number: int) -> bool:
        """Take a predicate out; false if there is none with this number."""
        if number not in self:
            return False
        self._apply(number, None)
        self._changes.append((number, None))
        return True

    def _apply(self, number: int, predicate: Predicate | None) -> None:
        slot = self._plan.slot(number)
        if slot is not None:
            self._plan.bury(slot)
        slot = self._slots.pop(number, None)
        if slot is not None:
            self._loose.bury(slot)
        if predicate is not None:
            self._slots[number] = self._builder.add(number, predicate)
            self._builder.show_columns()

    def match(self, records: Sequence[Record]) -> Hits:
        """Give what is true or unknown for each record, as `sweep.match` does for a plan."""
        found = find(self._plan, records)
        if self._slots:
            found = sorted(found + find(self._loose, records))
        return hits_of(found)

    def order(self) -> Order:
        """Say what a new plan is to be made of, now."""
        loose = {number: self._loose.predicate(slot) for number, slot in self._slots.items()}
        return Order(self._plan, frozenset(self._plan.dead), loose, self._version + len(self._changes))

    def swap(self, rebuilt: Rebuilt) -> None:
        """Take a new plan into use, and put what has changed since it was ordered beside it."""
        later = self._changes[rebuilt.version - self._version :]
        self._plan = rebuilt.plan
        self._version = rebuilt.version
        self._begin_anew()
        self._changes = later
        for number, predicate in later:
            self._apply(number, predicate)
