"""What rules may ask of the state of an office that is read from the store now and then: how much waits."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from posthouse.clock import Clock
from posthouse.gate.statistics import Statistics
from posthouse.office.terms import SECOND
from posthouse.store.ports import Store

_EVERY: Final = SECOND
_SHARE: Final = 20
"""Reading may take one part in so many of the time."""


class Levels:
    """Reads the levels that are asked for."""

    def __init__(self, clock: Clock, store: Store) -> None:
        self._clock = clock
        self._store = store
        self._next: int | None = None

    async def refresh(self, statistics: Statistics, asked: Collection[str]) -> None:
        """Read again what is older than a second; where there is much to read, less often."""
        began = self._clock.now()
        if self._next is not None and began < self._next:
            return
        # Whoever comes meanwhile goes by what was read before.
        self._next = began + _EVERY
        levels: dict[str, float] = {}
        if "queue_length" in asked:
            levels["queue_length"] = await self._queued()
        if "oldest_queued" in asked:
            oldest = await self._store.queue.oldest()
            levels["oldest_queued"] = 0 if oldest is None else max(began - oldest, 0) / SECOND
        if "store_use" in asked and (use := await self._store.bodies.use()) is not None:
            levels["store_use"] = use
        if any(name.startswith("waiting") for name in asked):
            levels |= await self._waiting()
        statistics.set_levels(levels)
        ended = self._clock.now()
        self._next = max(self._next, ended + _SHARE * (ended - began))

    async def _queued(self) -> int:
        length, after = 0, ""
        while depths := await self._store.queue.depths(after=after):
            length += sum(depth.messages for depth in depths)
            after = depths[-1].box
        return length

    async def _waiting(self) -> dict[str, float]:
        counts: dict[str, float] = {"waiting": 0}
        for count in await self._store.gate.cases.counts():
            counts["waiting"] += count.count
            name = f"waiting.{count.gatekeeper}"
            counts[name] = counts.get(name, 0) + count.count
        return counts
