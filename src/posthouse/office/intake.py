"""Where every message comes in: a batch is sorted on one snapshot of facts, committed, and only then answered."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, cast
from uuid import UUID

import msgspec

from posthouse.clock import Clock
from posthouse.message.case import Case
from posthouse.message.changes import Changes, Outcome
from posthouse.message.features import BEGINNING, body_to_read
from posthouse.message.mark import mark_of
from posthouse.message.message import Body
from posthouse.message.passage import Facts
from posthouse.message.verdict import Verdict
from posthouse.office.agenda import Agenda
from posthouse.office.library import Library
from posthouse.office.sealing import sealed
from posthouse.office.sorting import RESUME, Parcel, sort
from posthouse.office.terms import DAY, SECOND, Terms
from posthouse.route import ROUTE, Stage
from posthouse.store.ports import Bodies, BodyMissing, Store

# How often a batch is decided again because its facts changed under it, before its sender is asked to come back.
_TRIES: Final = 8
# Mails with a large body that one caller has read at once, and callers that do: what was read is held in memory until
# it is decided on.
_READ_AT_ONCE: Final = 8
_READERS: Final = 2
_PUT_OFF: Final = f"{RESUME}gate"
_NO_CASES: Final[Mapping[UUID, Case]] = MappingProxyType({})


class Receipt(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What the sender of a message is told; `accepted` means it will not be lost."""

    status: Literal["accepted", "duplicate", "refused"]
    id: UUID
    """The message's id; of a duplicate, the id of the one that came first."""
    code: str = ""
    """The stable word for why it was refused."""
    reason: str = ""
    temporary: bool = False
    """True when the same message may be accepted later."""


class Intake:
    """Takes messages in; as many callers at once as like to."""

    def __init__(
        self, clock: Clock, terms: Terms, *, stores: Stores, agenda: Agenda, route: Sequence[Stage] = ROUTE
    ) -> None:
        self._clock = clock
        self._terms = terms
        self._stores = stores
        self._agenda = agenda
        self._route = route
        self._here = terms.here
        self._protocols: frozenset[str] = frozenset()
        self._reading = asyncio.Semaphore(_READERS)
        self.library = Library(clock, terms, store=stores.durable)
        """What the rules of the office are read from."""

    @property
    def route(self) -> Sequence[Stage]:
        """The stages every message passes."""
        return self._route

    def serve(self, protocols: frozenset[str]) -> None:
        """Learn for which protocols there is a door."""
        self._protocols = protocols

    def is_durable(self, store: Store) -> bool:
        """Say whether what a store holds outlives the process."""
        return store is self._stores.durable

    @property
    def bodies(self) -> Bodies:
        """The large bodies of all messages, those that may be lost included."""
        return self._stores.durable.bodies

    async def facts(self, cases: Mapping[UUID, Case] = _NO_CASES) -> Facts:
        """Give the snapshot the next batch is decided on, with the cases of those that come back from gatekeepers."""
        register = await self._stores.durable.register()
        in_force = await self.library.in_force(register) if register.books else None
        judge = in_force.judge if in_force is not None and (in_force.has_rules or cases) else None
        return Facts(
            judge=judge,
            cases=cases,
            now=self._clock.now(),
            register=register,
            limits=self._terms.limits,
            here=self._here,
            protocols=self._protocols,
        )

    async def accept(self, parcels: Sequence[Parcel]) -> list[Receipt]:
        """Answer each message of a batch, in its order; what is accepted is durable by then."""
        receipts: list[Receipt | None] = [None] * len(parcels)
        for number, parcel in enumerate(parcels):
            if isinstance(parcel.message.body, Body):
                receipts[number] = await self._bodiless(parcel.message.id, parcel.message.body)
            elif (mark := mark_of(parcel.message)) is not None:
                receipts[number] = await self._looped(parcel, mark)
        open_numbers = [number for number, receipt in enumerate(receipts) if receipt is None]
        to_read = [number for number in open_numbers if body_to_read(parcels[number].message) is not None]
        if not to_read:
            await self._decide(parcels, open_numbers, receipts=receipts)
        # They are decided in their order, so those behind the last mail that is read wait for it too.
        for start in range(0, len(to_read), _READ_AT_ONCE):
            numbers = to_read[start : start + _READ_AT_ONCE]
            is_last = start + _READ_AT_ONCE >= len(to_read)
            some = [number for number in open_numbers if is_last or number <= numbers[-1]]
            open_numbers = open_numbers[len(some) :]
            async with self._reading:
                read = await asyncio.gather(*(self.open(parcels[number]) for number in numbers))
                opened = dict(zip(numbers, read, strict=True))
                known = [opened.get(number, parcel) for number, parcel in enumerate(parcels)]
                await self._decide(known, some, receipts=receipts)
        return [receipt for receipt in receipts if receipt is not None]

    async def open(self, parcel: Parcel) -> Parcel:
        """Read the beginning of a mail whose body does not travel with its message; rules ask for what stands there."""
        body = body_to_read(parcel.message)
        if body is None:
            return parcel
        beginning = bytearray()
        try:
            reading = cast("AsyncGenerator[bytes]", self.bodies.read(body))
            async with contextlib.aclosing(reading) as pieces:
                async for piece in pieces:
                    beginning += piece[: BEGINNING - len(beginning)]
                    if len(beginning) == BEGINNING:
                        break
        except BodyMissing:
            # It was there a moment ago. What it says is unknown then.
            return parcel
        return parcel._replace(beginning=bytes(beginning))

    async def _decide(
        self, parcels: Sequence[Parcel], open_numbers: list[int], *, receipts: list[Receipt | None]
    ) -> None:
        for _ in range(_TRIES):
            if not open_numbers:
                return
            open_numbers = await self._try(parcels, open_numbers, receipts=receipts)
        for number in open_numbers:
            receipts[number] = _busy(parcels[number])

    async def _bodiless(self, message: UUID, body: Body) -> Receipt | None:
        """Refuse a message whose large body is not here: it could be accepted, but never read."""
        if await self.bodies.has(body):
            return None
        reason = f"the body {body.sha256} was not handed in"
        return Receipt(status="refused", id=message, code="body.missing", reason=reason)

    async def _looped(self, parcel: Parcel, mark: UUID) -> Receipt | None:
        """Refuse a copy the office has sent itself, of a message it knows: whoever got it sends it back by itself."""
        durable = self._stores.durable
        if await durable.gate.cases.case(mark) is None and await durable.journal.letter(mark) is None:
            return None
        if await durable.journal.letter(parcel.message.id) is not None:
            # Handed in twice, which is told in its own words.
            return None
        reason = f"this office has sent it as a copy of {mark}: it comes back by itself"
        return Receipt(status="refused", id=parcel.message.id, code="message.loops", reason=reason)

    async def _try(
        self, parcels: Sequence[Parcel], numbers: Sequence[int], *, receipts: list[Receipt | None]
    ) -> list[int]:
        """Decide and commit those that are still open; give the ones to decide again."""
        facts = await self.facts()
        key_seconds = self._terms.key_days * DAY / SECOND
        results = sort([parcels[number] for number in numbers], facts, key_seconds=key_seconds, route=self._route)
        writing: dict[int, Changes] = {}
        for number, result in zip(numbers, results, strict=True):
            if result.verdict is not None:
                receipts[number] = _refused(parcels[number], result.verdict)
            elif result.changes is not None:
                writing[number] = sealed(result.changes, self._clock)
        again = await self._commit(parcels, writing, receipts=receipts)
        if facts.judge is not None:
            done = [number for number in writing if (receipt := receipts[number]) is not None and _is_new(receipt)]
            self.library.note([(parcels[number], writing[number]) for number in done], since=facts.now)
        return again

    async def _commit(
        self, parcels: Sequence[Parcel], writing: dict[int, Changes], *, receipts: list[Receipt | None]
    ) -> list[int]:
        again: list[int] = []
        for store, passing in ((self._stores.durable, False), (self._stores.passing, True)):
            mine = [number for number, changes in writing.items() if _is_passing(parcels[number], changes) == passing]
            if not mine:
                continue
            # The passing store counts versions of the register of its own.
            batch = [_unconditional(writing[number]) if passing else writing[number] for number in mine]
            outcomes = await store.commit(batch)
            self._agenda.note(batch)
            for number, outcome in zip(mine, outcomes, strict=True):
                if outcome.status == "stale":
                    again.append(number)
                else:
                    receipts[number] = _receipt(parcels[number], outcome)
        return again


class Stores(msgspec.Struct, frozen=True):
    """The two stores of an office."""

    durable: Store
    passing: Store
    """For messages whose `keep` is `memory`: the same route, no commit to disk."""


def _is_passing(parcel: Parcel, changes: Changes) -> bool:
    """Say whether a message may be lost; what is set aside, held or put off by rules stays where it can be found."""
    if parcel.message.keep != "memory" or changes.cases:
        return False
    post = changes.posts[0]
    return post.aside is None and not any(entry.box == _PUT_OFF for entry in post.entries)


def _is_new(receipt: Receipt) -> bool:
    return receipt.status == "accepted"


def _unconditional(changes: Changes) -> Changes:
    return msgspec.structs.replace(changes, register=None)


def _receipt(parcel: Parcel, outcome: Outcome) -> Receipt:
    identity = parcel.message.id
    match outcome.status:
        case "done":
            return Receipt(status="accepted", id=identity)
        case "duplicate":
            return Receipt(status="duplicate", id=outcome.known or identity, code="duplicate", reason=outcome.detail)
        case "full":
            return Receipt(status="refused", id=identity, code="mailbox.full", reason=outcome.detail, temporary=True)
        case _:
            return Receipt(
                status="refused", id=identity, code="store.unavailable", reason=outcome.detail, temporary=True
            )


def _refused(parcel: Parcel, verdict: Verdict) -> Receipt:
    code = verdict.reasons[0].code if verdict.reasons else verdict.action
    return Receipt(status="refused", id=parcel.message.id, code=code, reason=verdict.text, temporary=verdict.temporary)


def _busy(parcel: Parcel) -> Receipt:
    return Receipt(
        status="refused", id=parcel.message.id, code="office.busy", temporary=True,
        reason="the settings of this office are changing too fast to decide on",
    )  # fmt: skip
