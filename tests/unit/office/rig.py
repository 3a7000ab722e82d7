"""An office at work on a clock that the test moves, with doors to made-up offices."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from posthouse.message.changes import Filter, Setup
from posthouse.message.envelope import Envelope
from posthouse.message.message import Head, Message, compose, read_head
from posthouse.message.name import parse_office
from posthouse.message.passage import Limits
from posthouse.message.trace import Happening
from posthouse.office.calls import Call, ResendAside, SettleTaken, SetUp, Taken, TakeNext, slip_of
from posthouse.office.house import House
from posthouse.office.intake import Receipt, Stores
from posthouse.office.sorting import Parcel
from posthouse.office.terms import Patience, Terms, Traffic
from posthouse.route import ROUTE, Stage
from posthouse.store.memory.store import MemoryStore
from posthouse.store.ports import Aside, Dead, Queued
from posthouse.testing.build import START, identity, number_of
from posthouse.testing.clock import FakeClock
from posthouse.testing.door import FakeDoor
from tests.contract.store.adapters import Opening

PATIENCE = Patience(first_pause=1.0, growth=2.0, longest_pause=60.0, attempts=3, give_up_after=3_600.0)
TERMS = Terms(
    name=parse_office("local:east"),
    limits=Limits(body_bytes=100_000),
    patience=PATIENCE,
    traffic=Traffic(at_once=4, batch=8, trip_after=3, walk_seconds=60.0),
    lease_seconds=30.0,
)


# `Any`: the fields of a head and of an envelope, each checked by its own type.
def parcel(number: int = 1, *, to: str = "bob", envelope: dict[str, Any] | None = None, **fields: Any) -> Parcel:
    body = fields.pop("body", b"")
    given = {"kind": "mail", "sender": "alice", "recipients": (to,), "created": START, **fields}
    message = compose(Head(id=identity(number), **given), body)
    stated = {"sender": message.sender, "recipients": message.recipients, **(envelope or {})}
    return Parcel(message, Envelope(**stated))


class Rig:
    """What a test does and sees; messages are known by their numbers."""

    def __init__(self, stores: Stores, *, terms: Terms, route: Sequence[Stage]) -> None:
        self.clock = FakeClock()
        self.stores = stores
        self.door = FakeDoor()
        self.house = House(self.clock, terms, stores=stores, route=route)
        self._changed = asyncio.Event()
        self._started = False
        for store in (stores.durable, stores.passing):
            store.watch(self._hear)

    async def start(self) -> None:
        self._started = True
        await self.house.start([self.door])

    async def stop(self) -> None:
        if self._started:
            await self.house.stop()

    async def answer(self, call: Call[Any]) -> Any:
        return await self.house.answer(call)

    async def put(self, number: int = 1, *, to: str = "bob", **given: Any) -> Receipt:
        (receipt,) = await self.house.counter.accept([parcel(number, to=to, **given)])
        return receipt

    async def take(
        self, mailbox: str = "bob", *, wait: float | None = 0.0, limit: int = 1, lease: float | None = None,
        chosen: Filter = Filter(),  # noqa: B008 - a frozen value
    ) -> list[Taken]:  # fmt: skip
        call = TakeNext(mailbox=mailbox, wait=wait, limit=limit, lease=lease, filter=chosen, holder="worker")
        taken: list[Taken] = await self.answer(call)
        return taken

    async def take_one(self, mailbox: str = "bob", *, wait: float | None = 0.0, lease: float | None = None) -> Taken:
        (taken,) = await self.take(mailbox, wait=wait, lease=lease)
        return taken

    async def settle(self, event: Any, *taken: Taken, reason: str = "", pause: float | None = None) -> list[bool]:
        slips = [slip_of(one) for one in taken]
        answers: list[bool] = await self.answer(SettleTaken(slips=slips, event=event, reason=reason, pause=pause))
        return answers

    async def set_up(self, mailbox: str, **fields: Any) -> None:
        await self.answer(SetUp(setup=Setup(mailbox=mailbox, **fields)))

    async def resend(self) -> int:
        count: int = await self.answer(ResendAside())
        return count

    async def queued(self, box: str = "#bob") -> list[Queued]:
        return await self.stores.durable.queue.entries(box)

    async def holds(self, box: str = "#bob") -> list[int]:
        return [number_of(each.message) for each in await self.queued(box)]

    async def dead(self) -> list[Dead]:
        return await self.stores.durable.dead_letters.dead(None, Filter())

    async def asides(self) -> list[Aside]:
        return await self.stores.durable.dead_letters.asides()

    async def life(self, number: int = 1) -> list[Happening]:
        return [step.happened for step in await self.stores.durable.journal.trace(identity(number))]

    async def until(self, condition: Callable[[], Awaitable[object]]) -> None:
        """Return once a condition holds; it is asked again after each commit, and the test's own deadline ends it."""
        while True:
            self._changed.clear()
            if await condition():
                return
            await self._changed.wait()

    async def takers(self, count: int) -> None:
        """Return once so many wait for something to take."""
        while len(self.house.counter.waiting) < count:  # noqa: ASYNC110 - going to wait sets no event
            await asyncio.sleep(0)

    def _hear(self, _boxes: frozenset[str]) -> None:
        self._changed.set()


Play = Callable[[Rig], Awaitable[None]]
Played = Callable[[Opening, Path], Awaitable[None]]


def at_work(*, terms: Terms = TERMS, route: Sequence[Stage] = ROUTE, start: bool = True) -> Callable[[Play], Played]:
    """Make a test of what happens in an office: it gets a rig, started unless it wants to do that itself."""

    def wrap(play: Play) -> Played:
        async def test(opening: Opening, tmp_path: Path) -> None:
            async with opening(tmp_path) as durable:
                rig = Rig(Stores(durable, await MemoryStore.open(retain=100)), terms=terms, route=route)
                try:
                    if start:
                        await rig.start()
                    await play(rig)
                finally:
                    await rig.stop()

        test.__doc__ = play.__doc__
        test.__module__ = play.__module__
        test.__name__ = play.__name__
        return test

    return wrap


def numbers(taken: Sequence[Taken]) -> list[int]:
    return [number_of(one.leased.letter.id) for one in taken]


def message_of(taken: Taken) -> Message:
    letter = taken.leased.letter
    return read_head(letter.head, letter.body, sections=letter.sections)
