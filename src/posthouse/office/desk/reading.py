"""What lies on the desk, told: lists and counts of dockets, the whole story of a case."""

from __future__ import annotations

import asyncio
from typing import Final
from uuid import UUID

from posthouse.clock import Clock
from posthouse.gate.record import record
from posthouse.gate.unreadable import stand_in
from posthouse.message import envelope as envelopes
from posthouse.message.case import Case, Docket, Mailbag, UnreadableWrapper, Wrapper, unpack_wrapper
from posthouse.message.changes import Changes, Letter
from posthouse.message.message import Body, read_head
from posthouse.office.counter import Unavailable
from posthouse.office.deskcalls import CaseStory, CountDockets, FindCases, ListDockets, ListMailbags, TellCase
from posthouse.office.sealing import sealed
from posthouse.store.gateports import DocketCount, DocketFilter
from posthouse.store.ports import Store

_MOST: Final = 10_000
_MOST_READ: Final = 16 << 20


class Reading:
    """Reads what gatekeepers and auditors may see."""

    def __init__(self, clock: Clock, store: Store) -> None:
        self._clock = clock
        self._store = store

    async def dockets(self, call: ListDockets) -> list[Docket]:
        """List dockets, a page at a time."""
        limit = min(max(call.limit, 0), _MOST)
        return await self._store.gate.cases.dockets(call.chosen, order=call.order, after=call.after, limit=limit)

    async def counts(self, call: CountDockets) -> list[DocketCount]:
        """Count the open dockets by gatekeeper and folder."""
        return await self._store.gate.cases.counts(call.gatekeeper)

    async def mailbags(self, call: ListMailbags) -> list[Mailbag]:
        """List mailbags."""
        return await self._store.gate.cases.mailbags(call.gatekeeper)

    async def found(self, call: FindCases) -> list[Case]:
        """Give cases by the first digits of their own id, or of their message's."""
        limit = min(max(call.limit, 0), _MOST)
        cases = self._store.gate.cases
        own, messages = await asyncio.gather(
            self._store.gate.lookup.find(call.prefix, limit), self._store.journal.find(call.prefix, limit)
        )
        read = await asyncio.gather(*(cases.case(identity) for identity in own))
        found: dict[UUID, Case] = {case.id: case for case in read if case is not None}
        for message in messages:
            found |= {case.id: case for case in await cases.of_message(message)}
        return list(found.values())[:limit]

    async def told(self, call: TellCase) -> CaseStory | None:
        """Tell the story of a case; that somebody reads the body is recorded before it is given."""
        case = await self._store.gate.cases.case(call.case)
        if case is None:
            return None
        letter = await self._store.journal.letter(case.edited or case.message)
        body, is_cut = b"", False
        if letter is not None:
            body, is_cut = await self._body(letter, min(call.body_limit, _MOST_READ))
        if call.body_limit > 0:
            entry = record(
                "case.read", case.id, at=self._clock.now(), actor=call.by or call.gatekeeper or "office",
                gatekeeper=call.gatekeeper, bytes=len(body),
            )  # fmt: skip
            (outcome,) = await self._store.commit([sealed(Changes(audits=(entry,)), self._clock)])
            if outcome.status != "done":
                raise Unavailable(outcome.detail)
        others = [other for other in await self._store.gate.cases.of_message(case.message) if other.id != case.id]
        original = letter if case.edited is None else await self._store.journal.letter(case.message)
        return CaseStory(
            case=case,
            wrapper=_wrapper_of(case, letter),
            dockets=await self._store.gate.cases.dockets(DocketFilter(case=case.id, is_open=None), order="arrival"),
            envelope=envelopes.decode.decode(original.envelope) if original is not None else envelopes.Envelope(),
            accepted=original.accepted if original is not None else case.opened,
            head=letter.head if letter is not None else b"",
            body=body,
            is_cut=is_cut,
            steps=await self._store.journal.trace(case.message),
            others=others,
        )

    async def _body(self, letter: Letter, limit: int) -> tuple[bytes, bool]:
        if limit <= 0:
            return b"", True
        if not isinstance(letter.body, Body):
            return letter.body[:limit], len(letter.body) > limit
        read = bytearray()
        async for piece in self._store.bodies.read(letter.body):
            read += piece[: limit - len(read)]
            if len(read) == limit:
                break
        return bytes(read), letter.body.size > limit


def _wrapper_of(case: Case, letter: Letter | None) -> Wrapper:
    """Give the wrapper of a case, or what is known without it; its dockets say that it cannot be read."""
    try:
        return unpack_wrapper(case.wrapper)
    except UnreadableWrapper:
        if letter is None:
            return Wrapper(case=case.id)
        return stand_in(case, read_head(letter.head, letter.body, sections=letter.sections))
