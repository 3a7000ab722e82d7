"""The back room: what the people who run an office may see and do there."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.metadata import version
from typing import Final, TypeVar

import msgspec

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.message import envelope as envelopes
from posthouse.message.changes import Changes, Filter, Redrive, Resend, Setup
from posthouse.message.trace import Step
from posthouse.office.agenda import Agenda
from posthouse.office.calls import (
    AskStatus,
    ListAside,
    ListDead,
    ListMailboxes,
    ListQueue,
    ListSetups,
    Lookup,
    RedriveDead,
    ResendAside,
    SetUp,
    Status,
    Story,
    Tell,
)
from posthouse.office.clerk import parcel_of
from posthouse.office.counter import Unavailable
from posthouse.office.intake import Intake, Stores
from posthouse.office.mailbox import HELD_PLACE, BadRequest, box_here
from posthouse.office.postmen import Postmen
from posthouse.office.sorting import begin, entries, travel
from posthouse.office.terms import Terms
from posthouse.office.waiting import WaitingRoom
from posthouse.store.ports import Aside, Dead, Depth, Queued

_PAGE: Final = 500
_MOST: Final = 100_000
_LARGEST: Final = 2**62

Row = TypeVar("Row", Dead, Aside)


class BackRoom:
    """What operators may do."""

    def __init__(
        self, clock: Clock, terms: Terms, *, stores: Stores, intake: Intake, agenda: Agenda, postmen: Postmen
    ) -> None:
        self._clock = clock
        self._terms = terms
        self._store = stores.durable
        self._passing = stores.passing
        self._intake = intake
        self._agenda = agenda
        self._postmen = postmen
        self._started = clock.now()

    async def mailboxes(self, call: ListMailboxes) -> list[Depth]:
        """List the boxes that hold something."""
        return await self._store.queue.depths(after=call.after, limit=_checked(call.limit))

    async def setups(self, _call: ListSetups) -> list[Setup]:
        """List the mailboxes with settings of their own."""
        setups = (await self._store.register()).setups.values()
        mailboxes = [setup for setup in setups if not setup.mailbox.startswith(HELD_PLACE)]
        return sorted(mailboxes, key=lambda setup: setup.mailbox)

    async def set_up(self, call: SetUp) -> None:
        """Write the settings of a mailbox, for what lies in either store."""
        box = box_here(call.setup.mailbox, self._terms.here)
        setup = msgspec.structs.replace(call.setup, mailbox=box.removeprefix("#"))
        for what, quota in (("messages", setup.max_messages), ("bytes", setup.max_bytes)):
            if quota is not None and not 0 <= quota <= _LARGEST:
                raise BadRequest(f"expected a quota of 0 or more {what}, found {quota}", where=setup.mailbox)
        await self._commit(Changes(setups=(setup,)))
        await self._passing.commit([Changes(setups=(setup,))])

    async def queue(self, call: ListQueue) -> list[Queued]:
        """List what waits in a box."""
        limit = _checked(call.limit, after=call.after)
        return await self._store.queue.entries(call.box, after=call.after, limit=limit)

    async def dead(self, call: ListDead) -> list[Dead]:
        """List dead letters."""
        chosen = Filter(kind=call.kind)
        limit = _checked(call.limit, after=call.after)
        return await self._store.dead_letters.dead(call.box, chosen, after=call.after, limit=limit)

    async def redrive(self, call: RedriveDead) -> int:
        """Put dead letters back into their queues, or drop them; those that die again meanwhile stay dead."""
        numbers = [number for number in call.numbers if 0 <= number <= _LARGEST]
        if not call.numbers:
            pages = _pages(
                lambda after: self.dead(ListDead(box=call.box, kind=call.kind, after=after, limit=_PAGE)), Dead
            )
            numbers = [dead.number async for dead in pages]
        count = 0
        for start in range(0, len(numbers), _PAGE):
            count += await self._redrive(numbers[start : start + _PAGE], drop=call.drop)
        return count

    async def _redrive(self, numbers: list[int], *, drop: bool) -> int:
        now = self._clock.now()
        changes = [Changes(redrives=(Redrive(number, now, drop),)) for number in numbers]
        outcomes = await self._store.commit(changes)
        return sum(outcome.status == "done" for outcome in outcomes)

    async def aside(self, call: ListAside) -> list[Aside]:
        """List the messages set aside by a bug."""
        limit = _checked(call.limit, after=call.after)
        return await self._store.dead_letters.asides(after=call.after, limit=limit)

    async def resend(self, call: ResendAside) -> int:
        """Send messages set aside through the stages again; those that break again stay where they are."""
        wanted = set(call.numbers)
        pages = _pages(lambda after: self.aside(ListAside(after=after, limit=_PAGE)), Aside)
        chosen = [aside async for aside in pages if not wanted or aside.number in wanted]
        count = 0
        for aside in chosen:
            count += await self._resend(aside)
        return count

    async def _resend(self, aside: Aside) -> bool:
        letter = await self._store.journal.letter(aside.message)
        if letter is None:
            return False
        facts = await self._intake.facts()
        journey = begin(await self._intake.open(parcel_of(letter)), facts, route=self._intake.route)
        ((journey, broken),) = travel([journey], facts, route=self._intake.route)
        if broken is not None or journey.luggage.verdict.action in {"refuse", "drop"}:
            return False
        changes = Changes(resends=(Resend(aside.number, entries(journey), Step(facts.now, "resent")),))
        done = await self._commit(changes)
        self._agenda.note([changes])
        return done

    async def lookup(self, call: Lookup) -> list[object]:
        """Give the message ids that begin with these digits."""
        return list(await self._store.journal.find(call.prefix, _checked(call.limit)))

    async def tell(self, call: Tell) -> Story | None:
        """Give one message with its trace."""
        letter = await self._store.journal.letter(call.message)
        if letter is None:
            return None
        return Story(
            head=letter.head,
            body=letter.body,
            sections=letter.sections,
            envelope=envelopes.decode.decode(letter.envelope),
            accepted=letter.accepted,
            steps=await self._store.journal.trace(call.message),
        )

    async def status(self, _call: AskStatus, waiting: WaitingRoom) -> Status:
        """Say how the office is."""
        queued = 0
        after = ""
        while page := await self._store.queue.depths(after=after, limit=10_000):
            queued += sum(depth.messages for depth in page)
            after = page[-1].box
        return Status(
            office=str(self._terms.name),
            version=version("posthouse"),
            process=os.getpid(),
            started=self._started,
            accepted=await self._store.journal.count(),
            queued=queued,
            dead=await self._store.dead_letters.dead_count(),
            aside=await self._store.dead_letters.aside_count(),
            waiting=len(waiting),
            store=await self._store_state(),
            destinations=self._postmen.destinations(),
        )

    async def _store_state(self) -> str:
        try:
            outcome = (await self._store.commit([Changes()]))[0]
        except PosthouseError as fault:
            return fault.what
        return outcome.detail if outcome.status == "refused" else "ok"

    async def _commit(self, changes: Changes) -> bool:
        outcome = (await self._store.commit([changes]))[0]
        if outcome.status == "refused":
            raise Unavailable(outcome.detail)
        return outcome.status == "done"


def _checked(limit: int, *, after: int = 0) -> int:
    """Give the limit of a page, where it and its beginning are what they can be."""
    if not 0 < limit <= _MOST:
        raise BadRequest(f"expected a limit from 1 to {_MOST}, found {limit}")
    if not 0 <= after <= _LARGEST:
        raise BadRequest(f"expected the last number of the page before, found {after}")
    return limit


async def _pages(ask: Callable[[int], Awaitable[list[Row]]], _kind: type[Row]) -> AsyncIterator[Row]:
    """Give all rows of a list that comes by pages."""
    after = 0
    while page := await ask(after):
        for row in page:
            yield row
        after = page[-1].number
