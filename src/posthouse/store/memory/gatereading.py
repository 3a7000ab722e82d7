"""What can be read of the gate in a memory store."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest
from itertools import chain
from uuid import UUID

from posthouse.message.audit import Seal
from posthouse.message.case import Activation, Case, Docket, Edition, Mailbag
from posthouse.store.gateports import AuditLine, DocketCount, DocketFilter, DocketOrder, DocketPlace, is_chosen, key_of
from posthouse.store.memory.gatetables import GateTables


class MemoryGate:
    """See `gateports.GateShelves`."""

    def __init__(self, tables: GateTables) -> None:
        self.cases = MemoryCases(tables)
        self.books = MemoryBooks(tables)
        self.audit = MemoryAudit(tables)
        self.lookup = MemoryLookup(tables)


class MemoryCases:
    """See `gateports.Cases`."""

    def __init__(self, tables: GateTables) -> None:
        self._tables = tables

    async def case(self, identity: UUID) -> Case | None:
        return self._tables.cases.get(identity)

    async def of_message(self, message: UUID) -> list[Case]:
        found = [self._tables.cases[identity] for identity in self._tables.of_message.get(message, ())]
        return sorted(found, key=lambda case: (case.opened, case.id))

    async def dockets(
        self, chosen: DocketFilter, *, order: DocketOrder = "due", after: DocketPlace | None = None, limit: int = 100
    ) -> list[Docket]:
        # Orders are compared with their own kind: all keys of one order are numbers, or all are texts.
        behind = (after.key, after.case, after.turn) if after is not None else None
        found = (
            ((key_of(docket, order), docket.case, docket.turn), docket)
            for docket in self._candidates(chosen)
            if is_chosen(docket, chosen)
        )
        # Nobody compares the dockets themselves: case and turn tell any two apart.
        return [docket for _, docket in nsmallest(max(limit, 0), (one for one in found if _is_behind(one[0], behind)))]

    async def counts(self, gatekeeper: str | None = None) -> list[DocketCount]:
        counts = self._tables.counts
        return [
            DocketCount(role, folder, counts[role, folder])
            for role, folder in sorted(counts)
            if counts[role, folder] and gatekeeper in (None, role)
        ]

    async def due(self, now: int, limit: int) -> list[Docket]:
        tables = self._tables
        ranked = [
            (rank, timer)
            for gatekeeper in tables.timers
            for rank, timer in enumerate(tables.due_of(gatekeeper, now=now, limit=limit))
        ]
        return [tables.dockets[case, turn] for _, case, turn in sorted(timer for _, timer in nsmallest(limit, ranked))]

    async def next_due(self) -> int | None:
        tables = self._tables
        instants = chain(
            (tables.next_timer(gatekeeper) for gatekeeper in tables.timers),
            (mailbag.next_run for mailbag in tables.mailbags.values() if not mailbag.is_removed),
        )
        return min((instant for instant in instants if instant is not None), default=None)

    async def mailbags(self, gatekeeper: str | None = None) -> list[Mailbag]:
        found = [
            mailbag
            for mailbag in self._tables.mailbags.values()
            if not mailbag.is_removed and gatekeeper in (None, mailbag.gatekeeper)
        ]
        return sorted(found, key=lambda mailbag: (mailbag.gatekeeper, mailbag.name, mailbag.id))

    def _candidates(self, chosen: DocketFilter) -> Iterable[Docket]:
        tables = self._tables
        if chosen.case is not None:
            return [tables.dockets[chosen.case, turn] for turn in tables.of_case.get(chosen.case, ())]
        if chosen.gatekeeper is not None and chosen.is_open:
            return tables.by_gatekeeper.get(chosen.gatekeeper, {}).values()
        return tables.dockets.values()


class MemoryBooks:
    """See `gateports.Books`."""

    def __init__(self, tables: GateTables) -> None:
        self._tables = tables

    async def edition(self, book: str, number: int) -> Edition | None:
        editions = self._tables.editions.get(book, [])
        return editions[number - 1] if 0 < number <= len(editions) else None

    async def editions(self, book: str) -> list[Edition]:
        return list(self._tables.editions.get(book, ()))

    async def activations(self, book: str) -> list[Activation]:
        return list(self._tables.activations.get(book, ()))

    async def titles(self) -> list[str]:
        return sorted(self._tables.editions)


class MemoryAudit:
    """See `gateports.Audit`."""

    def __init__(self, tables: GateTables) -> None:
        self._tables = tables

    async def lines(self, *, after: int = 0, limit: int = 1_000) -> list[AuditLine]:
        return self._tables.audit[max(after, 0) : max(after, 0) + max(limit, 0)]

    async def of_subject(self, subject: str, *, after: int = 0, limit: int = 1_000) -> list[AuditLine]:
        numbers = [number for number in self._tables.subjects.get(subject, ()) if number > after]
        return [self._tables.audit[number - 1] for number in numbers[: max(limit, 0)]]

    async def last(self) -> AuditLine | None:
        return self._tables.audit[-1] if self._tables.audit else None

    async def seals(self, *, after: int = 0, limit: int = 1_000) -> list[Seal]:
        found = sorted((seal for seal in self._tables.seals if seal.number > after), key=lambda seal: seal.number)
        return found[: max(limit, 0)]


class MemoryLookup:
    """See `gateports.Lookup`."""

    def __init__(self, tables: GateTables) -> None:
        self._tables = tables

    async def find(self, prefix: str, limit: int) -> list[UUID]:
        digits = prefix.replace("-", "").lower()
        return nsmallest(limit, (identity for identity in self._tables.cases if identity.hex.startswith(digits)))


def _is_behind(place: tuple[int | str, UUID, int], behind: tuple[int | str, UUID, int] | None) -> bool:
    # The keys of one order are all numbers or all texts.
    return behind is None or place > behind
