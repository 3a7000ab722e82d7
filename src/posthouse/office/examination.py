"""The examination: whether the office can write and read, found by doing both."""

from __future__ import annotations

import asyncio
from typing import Final

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.message.changes import Changes
from posthouse.office.calls import Examine, Health
from posthouse.office.terms import SECOND
from posthouse.store.ports import Store

# Anybody may ask how the office is, and must not wear out its disk by asking.
_HOLDS_FOR: Final = SECOND // 2
_PATIENCE: Final = 5.0


class Examination:
    """Examines the store; those who ask while one is under way, or just after, are told the same."""

    def __init__(self, clock: Clock, store: Store) -> None:
        self._clock = clock
        self._store = store
        self._running: asyncio.Task[Health] | None = None
        self._found = Health(faults=[])
        self._found_at: int | None = None

    async def examine(self, _call: Examine) -> Health:
        """Say how the office is."""
        if self._found_at is not None and 0 <= self._clock.now() - self._found_at < _HOLDS_FOR:
            return self._found
        if self._running is None:
            self._running = asyncio.create_task(self._look())
            self._running.add_done_callback(self._note)
        # A task of its own: one who goes away must not end it for the others.
        done, _ = await asyncio.wait((self._running,), timeout=_PATIENCE)
        return self._found if done else Health(faults=[f"the store did not answer within {_PATIENCE:g} seconds"])

    def _note(self, task: asyncio.Task[Health]) -> None:
        self._running = None
        self._found_at = self._clock.now()
        if task.cancelled():
            self._found = Health(faults=["the examination was broken off"])
        else:
            fault = task.exception()
            self._found = task.result() if fault is None else Health(faults=[f"a bug: {type(fault).__name__}"])

    async def _look(self) -> Health:
        pulse = self._clock.now()
        try:
            outcome = (await self._store.commit([Changes(pulse=pulse)]))[0]
            if outcome.status != "done":
                return Health(faults=[f"the store cannot be written: {outcome.detail}"])
            written = self._clock.now()
            found = await self._store.journal.pulse()
        except PosthouseError as fault:
            return Health(faults=[f"the store cannot be used: {fault}"])
        if found is None or found < pulse:
            return Health(faults=["the store does not give back what was written"])
        read = self._clock.now()
        return Health(faults=[], write_seconds=(written - pulse) / SECOND, read_seconds=(read - written) / SECOND)
