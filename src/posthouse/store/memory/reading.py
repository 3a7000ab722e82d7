"""What can be read of a memory store."""

from __future__ import annotations

from bisect import bisect_left
from heapq import nsmallest
from itertools import islice
from typing import Final
from uuid import UUID

from posthouse.message.changes import Filter, Letter
from posthouse.message.credential import Account, Issue
from posthouse.message.trace import Step
from posthouse.store.memory.tables import Tables
from posthouse.store.ports import Aside, Dead, Depth, Queued

_DIGITS: Final = 32


class MemoryJournal:
    """See `ports.Journal`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        # For `find`: the ids as numbers in their order, those added since the last call missing.
        self._sorted: list[int] = []

    async def letter(self, message: UUID) -> Letter | None:
        return self._tables.letters.get(message)

    async def trace(self, message: UUID) -> list[Step]:
        letter = self._tables.letters.get(message)
        return [letter.step, *self._tables.traces.get(message, ())] if letter is not None else []

    async def find(self, prefix: str, limit: int) -> list[UUID]:
        digits = prefix.replace("-", "").lower()
        if len(digits) > _DIGITS or not set(digits) <= set("0123456789abcdef"):
            return []
        letters = self._tables.letters
        if len(self._sorted) < len(letters):
            # Ids come nearly in order, which sorting makes use of.
            self._sorted += [message.int for message in islice(letters, len(self._sorted), None)]
            self._sorted.sort()
        first = bisect_left(self._sorted, int(digits.ljust(_DIGITS, "0"), 16))
        last = bisect_left(self._sorted, int(digits.ljust(_DIGITS, "f"), 16) + 1)
        return [UUID(int=number) for number in self._sorted[first : min(last, first + limit)]]

    async def count(self) -> int:
        return len(self._tables.letters)

    async def pulse(self) -> int | None:
        return self._tables.pulse


class MemoryQueue:
    """See `ports.Queue`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def entries(self, box: str, *, after: int = 0, limit: int = 100) -> list[Queued]:
        found = self._tables.boxes.get(box)
        return [row.queued() for row in found.rows.page(after, limit)] if found is not None else []

    async def depths(self, *, after: str = "", limit: int = 1000) -> list[Depth]:
        boxes = self._tables.boxes
        names = nsmallest(limit, (name for name in boxes if name > after))
        return [Depth(box=name, messages=boxes[name].rows.present, bytes=boxes[name].bytes) for name in names]

    async def due(self, now: int, limit: int) -> list[Queued]:
        return [row.queued() for row in self._tables.timetable.due(now, limit)]

    async def next_due(self) -> int | None:
        return self._tables.timetable.next_due()

    async def oldest(self) -> int | None:
        firsts = (row for box in self._tables.boxes.values() for row in box.rows.page(0, 1))
        first = min(firsts, key=lambda row: row.number, default=None)
        return None if first is None else first.arrived

    async def destinations(self) -> list[str]:
        return [name for name, box in self._tables.boxes.items() if box.errands]


class MemoryDeadLetters:
    """See `ports.DeadLetters`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def dead(self, box: str | None, chosen: Filter, *, after: int = 0, limit: int = 100) -> list[Dead]:
        found = (grave.dead for grave in self._tables.graves.since(after))
        if box is not None or chosen.kind is not None:
            found = (dead for dead in found if box in (None, dead.box) and chosen.kind in (None, dead.kind))
        return list(islice(found, limit))

    async def dead_count(self) -> int:
        return self._tables.graves.present

    async def asides(self, *, after: int = 0, limit: int = 100) -> list[Aside]:
        return [shelved.aside for shelved in self._tables.shelf.page(after, limit)]

    async def aside_count(self) -> int:
        return self._tables.shelf.present


class MemoryCredentials:
    """See `ports.Credentials`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def issued(self, *, after: str = "", limit: int = 1000) -> list[Issue]:
        issues = self._tables.issues
        return [issues[name] for name in nsmallest(limit, (name for name in issues if name > after))]

    async def accounts(self) -> list[Account]:
        return [account for _, account in sorted(self._tables.accounts.items())]
