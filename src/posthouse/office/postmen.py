"""Postmen carry what waits for places elsewhere, and take up journeys that waited.

A lane is in the hands of one postman at a time, so it keeps its order; where much waits for a place that answers, a
second one packs while the first one walks. Destinations take turns, so that a slow or crowded one never stands before
the others; one that does not answer is tried with a single message now and then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import structlog

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.message.changes import Changes, Leased, Outcome, Take
from posthouse.office.agenda import Agenda
from posthouse.office.breaker import Way
from posthouse.office.calls import Destination
from posthouse.office.clerk import Clerk, Matter
from posthouse.office.delay import Delays
from posthouse.office.delivery import Held
from posthouse.office.division import answers_for, end, told
from posthouse.office.intake import Intake
from posthouse.office.mailbox import HELD_PLACE
from posthouse.office.resumption import Resumption, held
from posthouse.office.sorting import RESUME
from posthouse.office.terms import SECOND, Terms
from posthouse.office.walk import Load, carry, longest_walk, packed
from posthouse.store.ports import Store, StoreUnavailable
from posthouse.transport.ports import Door, Result

_HOLDER: Final = "postman"
# A lease is longer than the walk by this: nobody else is sent while the first one may still arrive.
_REST: Final = 30 * SECOND
_AFTER_A_FAULT: Final = SECOND
_MOST_FOUND: Final = 10_000

_log = structlog.get_logger("posthouse.postmen")


class Place(NamedTuple):
    """The place of one postman: where he walks, and whether he is the first or the second who does."""

    box: str
    number: int


class Postmen:
    """All postmen of one store."""

    def __init__(
        self, clock: Clock, terms: Terms, *, store: Store, intake: Intake, clerk: Clerk, agenda: Agenda
    ) -> None:
        self._clock = clock
        self._terms = terms
        self._store = store
        self._intake = intake
        self._clerk = clerk
        self._agenda = agenda
        self._resumption = Resumption(clock, terms, store=store, intake=intake, clerk=clerk, agenda=agenda)
        self._delays = Delays(clock, terms, store=store, clerk=clerk)
        self._doors: Mapping[str, Door] = {}
        self._ways: dict[str, Way] = {}
        self._turns: dict[str, None] = {}
        self._walking: dict[Place, asyncio.Task[None]] = {}
        self._crowded: set[str] = set()
        """Destinations for which the last walk was as large as one may be."""
        self._alarms: dict[str, asyncio.Task[None]] = {}
        self._settling: dict[str, asyncio.Task[None]] = {}
        self._hurrying: set[asyncio.Task[None]] = set()
        self._hurried: dict[str, int] = {}
        """Until when an office that is heard is not tried because of it once more."""
        self._news = asyncio.Event()

    def serve(self, doors: Mapping[str, Door]) -> None:
        """Learn the doors to elsewhere, by protocol."""
        self._doors = doors

    def stir(self, boxes: frozenset[str]) -> None:
        """Hear that something may be taken from these boxes."""
        for box in boxes:
            if not box.startswith("#"):
                self._turns[box] = None
                self._news.set()

    def destinations(self) -> list[Destination]:
        """Say how the ways are that were walked in vain."""
        now, trip = self._clock.now(), self._terms.traffic.trip_after
        return [
            Destination(
                name=box,
                state=way.state(trip, now),
                failures=way.failures,
                next_try=way.next_try or None,
                last_fault=way.last_fault,
            )
            for box, way in sorted(self._ways.items())
        ]

    def hear(self, office: str) -> None:
        """Hear that an office elsewhere is there: what waits for it since it was not goes at once.

        One that can be heard but not reached is not tried more often than after a first pause.
        """
        way, now = self._ways.get(office), self._clock.now()
        if way is None or way.next_try <= now or now < self._hurried.get(office, 0):
            return
        self._hurried[office] = now + int(self._terms.patience.first_pause * SECOND)
        self._ways[office] = msgspec.structs.replace(way, next_try=now)
        hurrying = asyncio.create_task(self._hurry(office))
        self._hurrying.add(hurrying)
        hurrying.add_done_callback(self._hurrying.discard)

    def set_out(self, box: str) -> None:
        """Go to a place now, however the last walks there went."""
        self._ways.pop(box, None)
        self.stir(frozenset({box}))

    async def _hurry(self, office: str) -> None:
        """End the pauses of what was brought to an office in vain."""
        try:
            await self._wake(lambda box: box == office)
        except PosthouseError as fault:
            # They go when their pauses end.
            _log.warning("postmen.held-up", fault=fault.what)
        self.stir(frozenset({office}))

    async def _wake(self, is_meant: Callable[[str], bool]) -> None:
        last = self._clock.now() + int(2 * self._terms.patience.longest_pause * SECOND)
        paused = [
            Matter(Held(each.entry, each.token, each.box, "waiting", each.failures, each.arrived), each.message, "due")
            for each in await self._store.queue.due(last, _MOST_FOUND)
            if each.state == "waiting" and each.failures and is_meant(each.box)
        ]
        if paused:
            await self._clerk.settle(self._store, paused)

    async def run(self) -> None:
        """Walk until cancelled; what is under way is then left to the next start."""
        try:
            await self._begin()
            while True:
                self._send_out()
                await self._news.wait()
                self._news.clear()
        finally:
            tasks = [*self._walking.values(), *self._alarms.values(), *self._settling.values(), *self._hurrying]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _begin(self) -> None:
        """Take up what earlier postmen had in hand, and learn where anything waits."""
        while True:
            try:
                await self._take_over()
                # Whoever starts an office does not mean to wait for pauses that began before.
                await self._wake(lambda box: not box.startswith(("#", RESUME)))
                self.stir(frozenset(await self._store.queue.destinations()))
            except PosthouseError as fault:
                _log.warning("postmen.held-up", fault=fault.what)
                await self._clock.wait_until(self._clock.now() + _AFTER_A_FAULT)
            else:
                return

    async def _take_over(self) -> None:
        longest = max(self._lease_until(f"{protocol}:") for protocol in ("", *self._doors))
        # One process has the store, and its postmen only begin: whoever held these is gone.
        found = await self._store.queue.due(longest, _MOST_FOUND)
        orphans = [
            Matter(
                Held(each.entry, each.token, each.box, "leased", each.failures, each.arrived), each.message, "returned"
            )
            for each in found
            if each.state == "leased" and each.work != "take"
        ]
        if orphans:
            await self._clerk.settle(self._store, orphans)

    def _send_out(self) -> None:
        for _ in range(len(self._turns)):
            if len(self._walking) >= self._terms.traffic.at_once:
                return
            box = next(iter(self._turns))
            del self._turns[box]
            place = self._free_place(box)
            if place is None:
                # Looked at again when a postman is back.
                self._turns[box] = None
            elif self._way(box).state(self._terms.traffic.trip_after, self._clock.now()) == "closed":
                self._set_alarm(box, self._way(box).next_try)
            else:
                self._walking[place] = asyncio.create_task(self._go(place))

    def _free_place(self, box: str) -> Place | None:
        """Give the place of a further postman for a box, where it may have one."""
        if Place(box, 0) not in self._walking:
            return Place(box, 0) if self._has_postman(box) else None
        second = Place(box, 1)
        if second in self._walking or box not in self._crowded or box in self._ways or box.startswith(RESUME):
            return None
        return second

    def _has_postman(self, box: str) -> bool:
        """Keep half the postmen for places that answer, however many do not."""
        if box not in self._ways:
            return True
        doubtful = sum(place.box in self._ways for place in self._walking)
        return doubtful < max(1, self._terms.traffic.at_once // 2)

    async def _go(self, place: Place) -> None:
        box = place.box
        try:
            if await self._walk(box):
                self._turns[box] = None
        except Exception as fault:  # noqa: BLE001 - one broken walk must not end the postmen
            _log_fault(box, fault)
            self._set_alarm(box, self._clock.now() + _AFTER_A_FAULT)
        finally:
            del self._walking[place]
            self._news.set()

    async def _walk(self, box: str) -> bool:
        """Take a batch, carry it, settle it; say whether there may be more."""
        begun = self._clock.now()
        probing = self._way(box).state(self._terms.traffic.trip_after, begun) == "probing"
        limit = 1 if probing else self._terms.traffic.batch
        taken = await self._take(box, limit=limit)
        self._note_crowd(box, is_full=1 < limit <= len(taken))
        if not taken:
            if (settling := self._settling.pop(box, None)) is not None:
                await settling
                return True
            self._forget(box, begun)
            return False
        if box.startswith(RESUME):
            await self._resumption.take_up(taken)
            return True
        loads, matters = await self._pack(taken)
        if matters:
            await self._settle(matters, until=taken[0].until)
        if not loads:
            return True
        results = await carry(
            self._doors, box, batch=[load.outgoing for load in loads], seconds=self._longest_walk(box)
        )
        pause = self._learn(box, results)
        matters = [self._matter(load, result, pause) for load, result in zip(loads, results, strict=True)]
        await self._write_down(box, matters, until=taken[0].until, wait=pause is not None or len(taken) < limit)
        await self._delays.note(box, loads, results=results, is_silent=pause is not None)
        return pause is None

    def _matter(self, load: Load, result: Result, pause: float | None) -> Matter:
        """Say what became of a message on a walk."""
        leased, journey, outgoing = load
        ending = end(
            journey,
            result,
            arrived=leased.arrived,
            now=self._clock.now(),
            patience=self._terms.patience,
            chance=self._clock.chance(),
        )
        since = journey.luggage.since or leased.arrived
        return Matter(
            held(leased)._replace(arrived=since),
            leased.letter.id,
            ending.event,
            ending.reason,
            pause if result.pause is None else result.pause,
            answers_for(ending, outgoing.envelope),
            ending.onward,
            case=journey.luggage.released,
        )

    async def _write_down(self, box: str, matters: Sequence[Matter], *, until: int, wait: bool) -> None:
        """Have it written down how a walk ended; where more waits the next one begins meanwhile."""
        if not wait:
            # What is written then comes in one transaction with what the next walk takes.
            before = self._settling.get(box)
            self._settling[box] = asyncio.create_task(self._settle(matters, until=until))
            if before is not None:
                await before
            return
        if (before := self._settling.pop(box, None)) is not None:
            await before
        await self._settle(matters, until=until)

    def _note_crowd(self, box: str, *, is_full: bool) -> None:
        """Let a second postman begin where one has all he can carry."""
        if not is_full:
            self._crowded.discard(box)
        elif box not in self._crowded:
            self._crowded.add(box)
            self._turns[box] = None
            self._news.set()

    async def _take(self, box: str, *, limit: int) -> tuple[Leased, ...]:
        if f"{HELD_PLACE}{box}" in (await self._store.register()).setups:
            return ()
        take = Take(box=box, now=self._clock.now(), until=self._lease_until(box), holder=_HOLDER, limit=limit)
        outcome = (await self._store.commit([Changes(take=take)]))[0]
        _refuse(outcome)
        if outcome.taken:
            self._agenda.expect(take.until)
        return outcome.taken

    async def _pack(self, taken: Sequence[Leased]) -> tuple[list[Load], list[Matter]]:
        """Make ready what goes, and give apart what is only to be given up; what cannot be read is set aside."""
        loads: list[Load] = []
        matters: list[Matter] = []
        hop = f"{self._terms.name} {self._clock.now()}"
        for leased in taken:
            try:
                load = packed(leased, hop, bodies=self._intake.bodies)
                if said := load.journey.luggage.answers:
                    case, why = load.journey.luggage.released, told(said)
                    matters.append(Matter(held(leased), leased.letter.id, "refused", why, answers=said, case=case))
                else:
                    loads.append(load)
            except Exception as fault:  # noqa: BLE001 - a bug met by one message is that message's only
                await self._resumption.set_aside(leased, fault)
        return loads, matters

    async def _settle(self, matters: Sequence[Matter], *, until: int) -> None:
        """Write down how a walk ended; while the store cannot write, nobody else is sent there."""
        waiting = list(matters)
        while waiting:
            try:
                outcomes = await self._clerk.settle(self._store, waiting)
            except PosthouseError as fault:
                outcomes = [Outcome(status="refused", detail=fault.what)] * len(waiting)
            waiting = [matter for matter, outcome in zip(waiting, outcomes, strict=True) if outcome.status == "refused"]
            if waiting and self._clock.now() + _AFTER_A_FAULT >= until:
                raise StoreUnavailable(f"{len(waiting)} results could not be written: they are brought again")
            if waiting:
                await self._clock.wait_until(self._clock.now() + _AFTER_A_FAULT)

    def _learn(self, box: str, results: Sequence[Result]) -> float | None:
        """Take note of how the way is; give the seconds until the next try where nobody answered."""
        lost = [result for result in results if result.status == "unreachable"]
        if len(lost) < len(results):
            self._ways.pop(box, None)
            self._hurried.pop(box, None)
            return None
        if (asked := lost[0].pause) is not None:
            # They are there and have said when to come: nothing is wrong with the way.
            self._ways.pop(box, None)
            return min(asked, self._terms.patience.longest_pause)
        now, chance = self._clock.now(), self._clock.chance()
        way = self._way(box).unanswered(lost[0].reason, now=now, patience=self._terms.patience, chance=chance)
        self._ways[box] = way
        _log.info("destination.unreachable", destination=box, failures=way.failures, fault=way.last_fault)
        return (way.next_try - now) / SECOND

    def _forget(self, box: str, asked: int) -> None:
        """Forget a way nobody had to go any more when it was asked; what was paused then may be due by now."""
        if asked < self._hurried.get(box, 0):
            # What waits there is being woken: it could not be taken yet.
            self._set_alarm(box, self._hurried[box])
        elif self._way(box).next_try <= asked:
            self._ways.pop(box, None)

    def _longest_walk(self, box: str) -> float:
        return longest_walk(self._doors, box, usual=self._terms.traffic.walk_seconds)

    def _lease_until(self, box: str) -> int:
        return self._clock.now() + int(self._longest_walk(box) * SECOND) + _REST

    def _way(self, box: str) -> Way:
        return self._ways.get(box, Way())

    def _set_alarm(self, box: str, instant: int) -> None:
        """Come back to a box at an instant."""
        if box not in self._alarms:
            self._alarms[box] = asyncio.create_task(self._ring(box, instant))

    async def _ring(self, box: str, instant: int) -> None:
        try:
            await self._clock.wait_until(instant)
        finally:
            del self._alarms[box]
        self.stir(frozenset({box}))


def _refuse(outcome: Outcome) -> None:
    if outcome.status == "refused":
        raise StoreUnavailable(outcome.detail)


def _log_fault(box: str, fault: Exception) -> None:
    if isinstance(fault, PosthouseError):
        _log.warning("postman.held-up", destination=box, fault=fault.what)
    else:
        _log.error("postman.stumbled", destination=box, fault=type(fault).__name__, exc_info=fault)
