"""How late a message expires at a desk with a million dockets: from its instant to when what follows is on the disk."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from bench.desk import opened
from bench.figure import OURS, Contest, Results, figure_of, percentile
from bench.plan import Plan
from posthouse.clock import SystemClock
from posthouse.message.changes import Changes, Outcome
from posthouse.message.envelope import Envelope
from posthouse.message.message import Head, compose
from posthouse.office.deskcalls import Activate, WriteEdition
from posthouse.office.house import House
from posthouse.office.intake import Stores
from posthouse.office.sorting import Parcel
from posthouse.office.terms import Terms
from posthouse.store.memory.store import MemoryStore
from posthouse.store.ports import Store

_BEFORE: Final = 1_767_139_200_000_000
"""A day before the first of the filled dockets is due: all of them wait."""
_MESSAGES: Final = {"quick": 200, "short": 1_000, "full": 4_000}
_PER_SECOND: Final = 200
_BOOKS: Final = {
    "policy": 'inbox = "3 seconds"\nno_rule = "release"\nundo = "0 seconds"\n',
    "rules": 'RULE "all"\nIF message.size >= 0 B\nTHEN gate to "Bench"\n',
}


class ShiftedClock(SystemClock):
    """The machine's clock, set to another day."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self._shift = at - time.time_ns() // 1_000

    def now(self) -> int:
        return super().now() + self._shift


class WatchedStore:
    """A store that notes how late each docket was closed, once that is written."""

    def __init__(self, store: Store, clock: ShiftedClock) -> None:
        self._store = store
        self._clock = clock
        self.late: list[float] = []

    # `Any`: whatever a store is asked besides.
    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        outcomes = await self._store.commit(changes)
        now = self._clock.now()
        for change, outcome in zip(changes, outcomes, strict=True):
            if outcome.status == "done":
                closed = [docket for docket in change.dockets if not docket.is_open and docket.expires is not None]
                self.late += [(now - (docket.expires or now)) / 1_000 for docket in closed]
        return outcomes


async def measure_expiry(plan: Plan) -> Results:
    """Messages come in one by one, each expires three seconds later, and is released."""
    count = _MESSAGES[plan.scale.name]
    async with opened(plan) as filled:
        clock = ShiftedClock(_BEFORE)
        # `Any`: it stands in for the store it watches.
        store: Any = WatchedStore(filled, clock)
        house = House(clock, Terms(), stores=Stores(store, await MemoryStore.open(retain=10)))
        await house.start()
        try:
            for book, text in _BOOKS.items():
                await house.answer(WriteEdition(book=book, text=text, by="bench"))
                await house.answer(Activate(book=book, number=1, by="bench"))
            for number in range(count):
                await house.counter.accept([_parcel(clock.new_id(), number)])
                await asyncio.sleep(1 / _PER_SECOND)
            while len(store.late) < count:  # noqa: ASYNC110 - what is written sets no event
                await asyncio.sleep(0.05)
        finally:
            await house.stop()
    return [
        figure_of("expiry_lateness_p99_ms", OURS, values=[percentile(store.late, 0.99)], note=f"{count} that expire"),
        figure_of("expiry_lateness_p50_ms", OURS, values=[percentile(store.late, 0.5)]),
    ]


def _parcel(identity: UUID, number: int) -> Parcel:
    head = Head(id=identity, kind="mail", sender=f"person{number}@example.org", recipients=("bench",))
    return Parcel(compose(head, b"x" * 256), Envelope(sender=head.sender, recipients=("bench",)))


CONTESTS: Final = (Contest(("expiry_lateness_p99_ms",), measure_expiry),)
