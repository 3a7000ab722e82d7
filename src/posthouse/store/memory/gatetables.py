"""What a memory store holds of the gate, and the few changes of it that keep its parts in agreement."""

from __future__ import annotations

from collections import Counter
from heapq import heapify, heappop, heappush
from typing import Final
from uuid import UUID

import msgspec

from posthouse.message.audit import START, Seal, linked, record_of
from posthouse.message.case import Activation, AuditEntry, Case, Docket, Edition, Mailbag
from posthouse.store.gateports import AuditLine

Key = tuple[UUID, int]
"""The case and the turn of a docket."""

_SWEEP_FROM: Final = 64
_EPOCH: Final = 1


class GateTables:
    """The tables of the gate; only `gateexecution` changes them."""

    def __init__(self) -> None:
        self.cases: dict[UUID, Case] = {}
        self.of_message: dict[UUID, list[UUID]] = {}
        self.dockets: dict[Key, Docket] = {}
        self.by_gatekeeper: dict[str, dict[Key, Docket]] = {}
        """The open dockets of each."""
        self.of_case: dict[UUID, list[int]] = {}
        self.counts: Counter[tuple[str, str]] = Counter()
        self.timers: dict[str, list[tuple[int, UUID, int]]] = {}
        """For each gatekeeper a heap of what is due when; a line holds while the docket says the same."""
        self._timed: Counter[str] = Counter()
        """How many dockets of each gatekeeper have a due time."""
        self.mailbags: dict[tuple[str, str], Mailbag] = {}
        self.editions: dict[str, list[Edition]] = {}
        self.activations: dict[str, list[Activation]] = {}
        self.audit: list[AuditLine] = []
        self.subjects: dict[str, list[int]] = {}
        """The numbers of the records about each."""
        self.seals: list[Seal] = []

    def write_case(self, case: Case) -> None:
        if case.id not in self.cases:
            self.of_message.setdefault(case.message, []).append(case.id)
        self.cases[case.id] = case

    def write_docket(self, docket: Docket) -> None:
        key = (docket.case, docket.turn)
        before = self.dockets.get(key)
        if before is None:
            self.of_case.setdefault(docket.case, []).append(docket.turn)
        else:
            self._timed[before.gatekeeper] -= before.due is not None
            if before.is_open:
                del self.by_gatekeeper[before.gatekeeper][key]
                self.counts[before.gatekeeper, before.folder] -= 1
        self.dockets[key] = docket
        if docket.is_open:
            self.by_gatekeeper.setdefault(docket.gatekeeper, {})[key] = docket
            self.counts[docket.gatekeeper, docket.folder] += 1
        if docket.due is not None:
            self._set_timer(docket, docket.due)

    def record(self, entry: AuditEntry) -> None:
        """Give an act its number and add it to the chain."""
        number = len(self.audit) + 1
        before = self.audit[-1].chain if self.audit else START
        line = AuditLine(
            number=number,
            epoch=_EPOCH,
            at=entry.at,
            actor=entry.actor,
            act=entry.act,
            subject=entry.subject,
            commitment=entry.commitment,
            chain=linked(before, record_of(number, _EPOCH, entry=entry)),
            salt=entry.salt,
            payload=entry.payload,
        )
        self.audit.append(line)
        self.subjects.setdefault(entry.subject, []).append(number)

    def erase(self, subject: str) -> None:
        """Forget what was said about a subject; the records stay."""
        for number in self.subjects.get(subject, ()):
            self.audit[number - 1] = msgspec.structs.replace(self.audit[number - 1], salt=None, payload=None)

    def due_of(self, gatekeeper: str, *, now: int, limit: int) -> list[tuple[int, UUID, int]]:
        """Give what is due of one gatekeeper, earliest first."""
        heap = self.timers[gatekeeper]
        found: list[tuple[int, UUID, int]] = []
        while heap and heap[0][0] <= now and len(found) < limit:
            timer = heappop(heap)
            # A docket may have two lines that say the same; one of them goes.
            if self._holds(gatekeeper, timer) and (not found or found[-1] != timer):
                found.append(timer)
        for timer in found:
            heappush(heap, timer)
        return found

    def next_timer(self, gatekeeper: str) -> int | None:
        """Give when something of one gatekeeper is due next."""
        heap = self.timers[gatekeeper]
        while heap and not self._holds(gatekeeper, heap[0]):
            heappop(heap)
        return heap[0][0] if heap else None

    def _set_timer(self, docket: Docket, due: int) -> None:
        heap = self.timers.setdefault(docket.gatekeeper, [])
        heappush(heap, (due, docket.case, docket.turn))
        self._timed[docket.gatekeeper] += 1
        if len(heap) > 2 * self._timed[docket.gatekeeper] + _SWEEP_FROM:
            heap[:] = {timer for timer in heap if self._holds(docket.gatekeeper, timer)}
            heapify(heap)

    def _holds(self, gatekeeper: str, timer: tuple[int, UUID, int]) -> bool:
        due, case, turn = timer
        docket = self.dockets[case, turn]
        return docket.due == due and docket.gatekeeper == gatekeeper
