"""A store in memory; what it holds ends with the process."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Self

from posthouse.message.changes import DONE, Changes, Outcome, Register
from posthouse.store.memory.bodies import MemoryBodies
from posthouse.store.memory.execution import carry_out, lease
from posthouse.store.memory.gatereading import MemoryGate
from posthouse.store.memory.objection import objection
from posthouse.store.memory.reading import MemoryCredentials, MemoryDeadLetters, MemoryJournal, MemoryQueue
from posthouse.store.memory.tables import Tables
from posthouse.store.ports import Listener


class MemoryStore:
    """See `ports.Store`; made by its name or by `open`, as the durable stores are."""

    def __init__(self, *, retain: int | None = None) -> None:
        self._tables = Tables(retain=retain)
        self._listeners: list[Listener] = []
        self.journal = MemoryJournal(self._tables)
        self.queue = MemoryQueue(self._tables)
        self.dead_letters = MemoryDeadLetters(self._tables)
        self.credentials = MemoryCredentials(self._tables)
        self.bodies = MemoryBodies()
        self.gate = MemoryGate(self._tables.gate)

    @classmethod
    async def open(cls, *, retain: int | None = None) -> Self:
        """Give an empty store; of letters that wait nowhere any more it keeps the latest so many, or all."""
        return cls(retain=retain)

    async def close(self) -> None:
        """Tell nobody anything any more."""
        self._listeners.clear()

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        tables = self._tables
        news: set[str] = set()
        outcomes: list[Outcome] = []
        taking: list[int] = []
        for position, change in enumerate(changes):
            refused = objection(tables, change)
            if refused is None:
                carry_out(tables, change, news=news)
                if change.take is not None:
                    taking.append(position)
            outcomes.append(refused or DONE)
        for position in taking:
            take = changes[position].take
            if take is not None:
                outcomes[position] = Outcome(status="done", taken=lease(tables, take))
        if news and self._listeners:
            self._tell(frozenset(news))
        return outcomes

    async def register(self) -> Register:
        return self._tables.register

    def watch(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def _tell(self, boxes: frozenset[str]) -> None:
        # Not from within the commit: a listener that fails, or commits itself, is no part of it.
        loop = asyncio.get_running_loop()
        for listener in self._listeners:
            loop.call_soon(listener, boxes)
