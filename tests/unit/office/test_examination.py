"""The examination writes and reads for real, once for all who ask at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from posthouse.message.changes import Changes, Outcome
from posthouse.office.calls import Examine
from posthouse.office.examination import Examination
from posthouse.store.memory.store import MemoryStore
from posthouse.testing.clock import FakeClock


class FullStore(MemoryStore):
    """A store whose disk is full."""

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        return [Outcome(status="refused", detail="the disk is full")] * len(changes)


async def test_a_store_that_writes_and_reads_is_well() -> None:
    clock, store = FakeClock(), MemoryStore()
    examination = Examination(clock, store)
    first, second = await asyncio.gather(examination.examine(Examine()), examination.examine(Examine()))
    assert first.faults == []
    assert first is second
    assert await store.journal.pulse() == clock.now()


async def test_it_is_asked_again_after_a_while() -> None:
    clock, store = FakeClock(), MemoryStore()
    examination = Examination(clock, store)
    first = await examination.examine(Examine())
    assert await examination.examine(Examine()) is first
    clock.advance(0.5)
    assert await examination.examine(Examine()) is not first
    assert await store.journal.pulse() == clock.now()


async def test_what_is_wrong_is_told() -> None:
    found = await Examination(FakeClock(), FullStore()).examine(Examine())
    assert found.faults == ["the store cannot be written: the disk is full"]
