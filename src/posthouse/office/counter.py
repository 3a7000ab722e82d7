"""The counter: programs hand in messages here and fetch them, whether they share the process or come by the socket."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import ClassVar, cast

import msgspec

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.message import envelope as envelopes
from posthouse.message.changes import Changes, Leased, Settle
from posthouse.message.message import Body, check_body, read_head
from posthouse.message.name import parse_mailbox
from posthouse.office.agenda import Agenda
from posthouse.office.calls import AwaitArrival, Handed, Put, ReadBody, SettleTaken, Slip, Taken, TakeNext, slip_of
from posthouse.office.clerk import Clerk, Matter
from posthouse.office.delivery import Held
from posthouse.office.errands import Errands
from posthouse.office.intake import Intake, Receipt, Stores
from posthouse.office.mailbox import BadRequest, checked_pause, deadline, lease_until, take
from posthouse.office.sorting import Parcel
from posthouse.office.terms import Terms
from posthouse.office.waiting import WaitingRoom
from posthouse.store.ports import BodyMissing
from posthouse.switch.address import box_of


class Counter:
    """What programs may do."""

    def __init__(
        self, clock: Clock, terms: Terms, *, stores: Stores, intake: Intake, clerk: Clerk, agenda: Agenda
    ) -> None:
        self._clock = clock
        self._terms = terms
        self._stores = stores
        self._intake = intake
        self._clerk = clerk
        self._agenda = agenda
        self._here = terms.here
        self._closed = False
        self._returning: set[asyncio.Task[None]] = set()
        self.waiting = WaitingRoom(clock)
        self.errands = Errands(clock, self._refuse_when_closed)

    async def put(self, call: Put) -> list[Receipt]:
        """Hand in messages that came as bytes."""
        return await self._intake.accept([_parcel(handed) for handed in call.parcels])

    async def accept(self, parcels: Sequence[Parcel]) -> list[Receipt]:
        """Hand in messages; each is answered."""
        return await self._intake.accept(parcels)

    async def take(self, call: TakeNext) -> list[Taken]:
        """Lease what comes next in a mailbox; empty when the wait is over."""
        name = parse_mailbox(call.mailbox)
        if name.office not in self._here:
            self._refuse_when_closed()
            return await self.errands.take(name, call)
        box = box_of(name.mailbox)
        last = deadline(call.wait, self._clock.now())
        with self.waiting.bell(box) as bell:
            while True:
                self._refuse_when_closed()
                bell.clear()
                taken = await self._take_whole(box, call)
                if taken or not await self.waiting.hear(bell, last):
                    return taken

    async def await_arrival(self, call: AwaitArrival) -> int:
        """Wait until something may have come to a mailbox since an earlier answer."""
        name = parse_mailbox(call.mailbox)
        if name.office not in self._here:
            self._refuse_when_closed()
            return await self.errands.await_arrival(name, call)
        box = box_of(name.mailbox)
        last = deadline(call.wait, self._clock.now())
        with self.waiting.bell(box) as bell:
            while self.waiting.count(box) == call.since and await self.waiting.hear(bell, last):
                self._refuse_when_closed()
                bell.clear()
        return self.waiting.count(box)

    async def close(self) -> None:
        """Send away everybody who waits, and see that what they left behind is put back."""
        self._closed = True
        self.waiting.ring_out()
        self.errands.break_off()
        await asyncio.gather(*self._returning)

    async def settle(self, call: SettleTaken) -> list[bool]:
        """Say what became of taken messages."""
        groups: dict[tuple[str, bool], list[int]] = {}
        for number, slip in enumerate(call.slips):
            groups.setdefault((slip.office, slip.passing and not slip.office), []).append(number)
        answers = dict.fromkeys(range(len(call.slips)), False)
        for (office, passing), numbers in groups.items():
            slips = [call.slips[number] for number in numbers]
            if office:
                good = await self.errands.settle(office, msgspec.structs.replace(call, slips=slips))
            else:
                good = await self._settle_in(call, slips, passing=passing)
            answers.update(zip(numbers, good, strict=True))
        return list(answers.values())

    async def read_body(self, call: ReadBody) -> bytes:
        """Give one piece of a large body."""
        check_body(call.body)
        if not 0 <= call.start <= call.body.size:
            raise BadRequest(f"expected a start from 0 to {call.body.size}, found {call.start}")
        reading = self._intake.bodies.read(call.body, start=call.start)
        try:
            async with contextlib.aclosing(cast("AsyncGenerator[bytes]", reading)) as pieces:
                async for piece in pieces:
                    return piece
        except BodyMissing:
            # The message may have been fetched from an office elsewhere, which has its body.
            far = await self.errands.read_body(call)
            if far is None:
                raise
            return far
        return b""

    async def save_body(self, chunks: AsyncIterator[bytes]) -> Body:
        """Keep a large body."""
        return await self._intake.bodies.save(chunks, limit=self._terms.limits.body_bytes)

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise Unavailable("the office is closing")

    async def _take_whole(self, box: str, call: TakeNext) -> list[Taken]:
        """Take what is there; what somebody would have got who is gone meanwhile goes back at once."""
        taking = asyncio.ensure_future(self._take_now(box, call))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            returning = asyncio.create_task(self._put_back(taking))
            self._returning.add(returning)
            returning.add_done_callback(self._returning.discard)
            raise

    async def _put_back(self, taking: asyncio.Future[list[Taken]]) -> None:
        # What cannot be put back now comes back when its lease ends.
        with contextlib.suppress(PosthouseError):
            taken = await taking
            if taken:
                await self.settle(SettleTaken(slips=[slip_of(one) for one in taken], event="returned"))

    async def _take_now(self, box: str, call: TakeNext) -> list[Taken]:
        now = self._clock.now()
        until = lease_until(call.lease, self._terms, now=now)
        wanted = take(box, call.filter, limit=call.limit, until=until, holder=call.holder, now=now)
        taken: list[Taken] = []
        for store, passing in ((self._stores.passing, True), (self._stores.durable, False)):
            left = call.limit - len(taken)
            if left:
                if taken:
                    wanted = msgspec.structs.replace(wanted, limit=left)
                outcome = (await store.commit([Changes(take=wanted)]))[0]
                if outcome.status == "refused" and not taken:
                    raise Unavailable(outcome.detail)
                taken += [Taken(leased=_without_blind(leased), passing=passing) for leased in outcome.taken]
        if taken:
            self._agenda.expect(until)
        return taken

    async def _settle_in(self, call: SettleTaken, slips: list[Slip], *, passing: bool) -> list[bool]:
        store = self._stores.passing if passing else self._stores.durable
        now = self._clock.now()
        if call.event == "renewed":
            until = lease_until(call.lease, self._terms, now=now)
            outcomes = await store.commit([_renewal(slip, until) for slip in slips])
        else:
            pause = checked_pause(call.pause)
            outcomes = await self._clerk.settle(
                store, [Matter(_held(slip), slip.message, call.event, call.reason, pause) for slip in slips]
            )
        refused = [outcome.detail for outcome in outcomes if outcome.status == "refused"]
        if refused:
            raise Unavailable(refused[0])
        return [outcome.status == "done" for outcome in outcomes]


class Unavailable(PosthouseError):
    """The office cannot write now; what was asked has not happened."""

    code: ClassVar[str] = "office.unavailable"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The office cannot do this now; try again later."


def _parcel(handed: Handed) -> Parcel:
    return Parcel(read_head(handed.head, handed.body, sections=handed.sections), handed.envelope)


def _without_blind(leased: Leased) -> Leased:
    """Give a letter as its taker may see it: who else got it in secret is nobody's business."""
    written = leased.letter.envelope
    # An envelope that names nobody in secret does not have the fields at all.
    if b"blind" not in written and b"reports" not in written:
        return leased
    envelope = msgspec.structs.replace(envelopes.decode.decode(written), blind=(), reports={})
    letter = msgspec.structs.replace(leased.letter, envelope=envelopes.encode.encode(envelope))
    return msgspec.structs.replace(leased, letter=letter)


def _held(slip: Slip) -> Held:
    return Held(slip.entry, slip.token, slip.box, "leased", slip.failures, slip.arrived)


def _renewal(slip: Slip, until: int) -> Changes:
    return Changes(settles=(Settle(act="renew", entry=slip.entry, token=slip.token, at=until, box=slip.box),))
