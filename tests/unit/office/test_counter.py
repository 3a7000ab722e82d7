from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Sequence

import pytest

from posthouse.errors import PosthouseError
from posthouse.message import envelope as envelopes
from posthouse.message.changes import Changes, Filter, Outcome
from posthouse.message.message import Body, MalformedHead
from posthouse.office.agenda import Agenda
from posthouse.office.calls import AwaitArrival, Handed, Put, ReadBody, SettleTaken, Slip, TakeNext, slip_of
from posthouse.office.clerk import Clerk
from posthouse.office.counter import Counter, Unavailable
from posthouse.office.intake import Intake, Stores
from posthouse.office.mailbox import BadRequest, NotHere
from posthouse.office.terms import SECOND
from posthouse.office.visitor import Visitor
from posthouse.store.memory.store import MemoryStore
from posthouse.testing.build import START, identity
from posthouse.testing.clock import FakeClock
from tests.unit.office.rig import TERMS, Rig, at_work, numbers, parcel


@at_work()
async def test_nothing_is_given_where_there_is_nothing(rig: Rig) -> None:
    """A-029, A-069"""
    assert await rig.take() == []


@at_work()
async def test_the_most_urgent_comes_first_and_then_the_oldest(rig: Rig) -> None:
    """A-018, D-A5"""
    for number, priority in enumerate((5, 1, 10, 5, 10), start=1):
        await rig.put(number, priority=priority, sender=f"s{number}")
    assert numbers(await rig.take(limit=9)) == [3, 5, 1, 4, 2]


@at_work()
async def test_a_take_by_type_or_correlation_leaves_the_others_where_they_are(rig: Rig) -> None:
    """A-028, A-032"""
    await rig.put(1)
    await rig.put(2, kind="order", correlation="7")
    await rig.put(3, kind="order", correlation="8")
    assert numbers(await rig.take(chosen=Filter(kind="order"))) == [2]
    assert numbers(await rig.take(chosen=Filter(correlation="8"))) == [3]
    assert numbers(await rig.take(chosen=Filter(kind="order", correlation="9"))) == []
    assert numbers(await rig.take()) == [1]


@at_work()
async def test_who_waits_gets_what_comes(rig: Rig) -> None:
    """A-035"""
    waiting = asyncio.ensure_future(rig.take(wait=None))
    limited = asyncio.ensure_future(rig.take("carol", wait=60.0))
    await rig.takers(2)
    await rig.put(1)
    await rig.put(2, to="carol", keep="memory")
    assert numbers(await waiting) == [1]
    assert numbers(await limited) == [2]


@at_work()
async def test_a_wait_ends_on_time(rig: Rig) -> None:
    """A-030"""
    waiting = asyncio.ensure_future(rig.take(wait=5.0))
    await rig.clock.somebody_waits(START + 5 * SECOND)
    await rig.put(1, to="carol")
    rig.clock.advance(5)
    assert await waiting == []


@at_work()
async def test_two_who_wait_never_get_the_same(rig: Rig) -> None:
    """A-033"""
    waiting = [asyncio.ensure_future(rig.take(wait=None)) for _ in range(20)]
    await rig.takers(20)
    for number in range(1, 21):
        await rig.put(number, sender=f"s{number}")
    taken = [numbers(await each) for each in waiting]
    assert sorted(number for (number,) in taken) == list(range(1, 21))


@at_work()
async def test_blind_recipients_are_hidden_from_those_who_take(rig: Rig) -> None:
    await rig.put(1, envelope={"blind": ("carol", "dave")})
    for mailbox in ("bob", "carol"):
        taken = await rig.take_one(mailbox)
        envelope = envelopes.decode.decode(taken.leased.letter.envelope)
        assert (envelope.recipients, envelope.blind) == (("bob",), ())
        assert b"carol" not in taken.leased.letter.head + taken.leased.letter.envelope


@at_work()
async def test_a_message_in_both_stores_is_taken_from_both(rig: Rig) -> None:
    await rig.put(1)
    await rig.put(2, keep="memory")
    taken = await rig.take(limit=5)
    assert sorted(numbers(taken)) == [1, 2]
    assert await rig.settle("acknowledged", *taken) == [True, True]
    assert await rig.take() == []


@at_work()
async def test_answers_to_settling_stand_in_the_order_of_the_slips(rig: Rig) -> None:
    for number, keep in enumerate(("durable", "memory", "durable", "memory"), start=1):
        await rig.put(number, keep=keep, sender=f"s{number}")
    taken = {numbers([one])[0]: one for one in await rig.take(limit=9)}
    await rig.settle("acknowledged", taken[1], taken[4])
    assert await rig.settle("acknowledged", *(taken[number] for number in (1, 2, 3, 4))) == [False, True, True, False]


@at_work()
async def test_a_lease_is_renewed(rig: Rig) -> None:
    await rig.put(1)
    taken = await rig.take_one(lease=10)
    rig.clock.advance(9)
    assert await rig.settle("renewed", taken) == [True]
    rig.clock.advance(20)
    assert await rig.settle("acknowledged", taken) == [True]


@at_work()
async def test_what_is_given_back_comes_again_as_if_it_had_not_been_taken(rig: Rig) -> None:
    await rig.put(1)
    await rig.settle("returned", await rig.take_one())
    assert (await rig.take_one()).leased.attempt == 1


@at_work()
async def test_a_closed_mailbox_gives_nothing_out_of_either_store_until_it_is_opened(rig: Rig) -> None:
    """A-070"""
    await rig.put(1)
    await rig.put(2, keep="memory")
    await rig.set_up("bob", closed=True)
    assert await rig.take() == []
    waiting = asyncio.ensure_future(rig.take(wait=None, limit=5))
    await rig.takers(1)
    await rig.set_up("bob", closed=False)
    assert await waiting


@at_work(start=False)
async def test_a_closed_mailbox_is_closed_after_a_restart(rig: Rig) -> None:
    await rig.set_up("bob", closed=True, max_messages=3)
    rig.stores = Stores(rig.stores.durable, await MemoryStore.open())
    await rig.start()
    assert (await rig.put(1, keep="memory")).code == "mailbox.closed"


@at_work()
async def test_what_cannot_be_is_refused(rig: Rig) -> None:
    with pytest.raises(NotHere):
        await rig.take("local:west#bob")
    with pytest.raises(BadRequest):
        await rig.take(limit=0)
    with pytest.raises(BadRequest):
        await rig.take(lease=0)
    with pytest.raises(BadRequest):
        await rig.take(wait=-2)
    await rig.put(1)
    taken = await rig.take_one()
    with pytest.raises(BadRequest):
        await rig.settle("failed", taken, pause=math.nan)
    assert await rig.settle("acknowledged", taken) == [True]


@at_work()
async def test_a_slip_nobody_was_given_settles_nothing(rig: Rig) -> None:
    await rig.put(1)
    for entry, token in ((0, 0), (-1, 5), (2**63, 1), (1, 2**64 - 1)):
        slip = Slip(message=identity(1), entry=entry, token=token, box="#bob", failures=0, arrived=0, passing=False)
        for event in ("acknowledged", "failed", "returned", "renewed"):
            assert await rig.answer(SettleTaken(slips=[slip], event=event)) == [False]
    assert await rig.holds() == [1]


@at_work()
async def test_a_head_that_cannot_be_read_is_refused_whole(rig: Rig) -> None:
    with pytest.raises(MalformedHead):
        await rig.answer(Put(parcels=[Handed(b"\xff", b"", (), envelopes.Envelope(recipients=("bob",)))]))
    assert await rig.holds() == []


async def pieces(*given: bytes) -> AsyncIterator[bytes]:
    for piece in given:
        yield piece


@at_work()
async def test_a_large_body_is_given_in_pieces(rig: Rig) -> None:
    body = await rig.house.counter.save_body(pieces(b"x" * 50_000, b"y" * 50_000))
    read = b""
    while piece := await rig.answer(ReadBody(body=body, start=len(read))):
        read += piece
    assert read == b"x" * 50_000 + b"y" * 50_000


@at_work()
async def test_a_body_that_cannot_be_is_not_looked_for(rig: Rig) -> None:
    for body, start in ((Body("../../secret", 9), 0), (Body("/" * 64, 9), 0), (Body("0" * 64, 9), 10)):
        with pytest.raises(PosthouseError):
            await rig.answer(ReadBody(body=body, start=start))
    with pytest.raises(BadRequest):
        await rig.answer(ReadBody(body=Body("0" * 64, 9), start=-1))


@at_work()
async def test_a_subscriber_hears_of_what_came_between_two_questions(rig: Rig) -> None:
    count = await rig.answer(AwaitArrival(mailbox="bob"))
    await rig.put(1)
    again = await rig.answer(AwaitArrival(mailbox="bob", since=count))
    assert again != count
    waiting = asyncio.ensure_future(rig.answer(AwaitArrival(mailbox="bob", since=again)))
    await rig.takers(1)
    await rig.put(2, to="carol")
    assert not waiting.done()
    await rig.put(3)
    assert await waiting != again


@at_work()
async def test_a_subscriber_who_waits_in_vain_hears_the_same(rig: Rig) -> None:
    count = await rig.answer(AwaitArrival(mailbox="bob"))
    assert await rig.answer(AwaitArrival(mailbox="bob", since=count, wait=0.0)) == count


@at_work()
async def test_who_waits_when_the_office_closes_is_sent_away(rig: Rig) -> None:
    waiting = asyncio.ensure_future(rig.take(wait=None))
    since = rig.house.counter.waiting.count("#carol")
    listening = asyncio.ensure_future(rig.answer(AwaitArrival(mailbox="carol", since=since)))
    await rig.takers(2)
    await rig.house.counter.close()
    for each in (waiting, listening):
        with pytest.raises(Unavailable):
            await each
    with pytest.raises(Unavailable):
        await rig.take(wait=1.0)


@at_work()
async def test_a_visitor_who_leaves_keeps_nothing(rig: Rig) -> None:
    """A-064"""
    visitor = Visitor(rig.house)
    for number in (1, 2, 3):
        await rig.put(number, sender=f"s{number}")
    one, two, three = await visitor.answer(TakeNext(mailbox="bob", limit=3, lease=60))
    await rig.settle("acknowledged", one)
    await visitor.answer(SettleTaken(slips=[slip_of(two)], event="acknowledged"))
    assert await rig.take() == []
    await visitor.leave()
    (again,) = await rig.take(limit=9)
    assert again.leased.letter.id == three.leased.letter.id
    assert again.leased.attempt == 1
    await visitor.leave()


class Slow(MemoryStore):
    """A store whose answer to a take comes when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.taking = asyncio.Event()
        self.go_on = asyncio.Event()

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        outcomes = await super().commit(changes)
        if any(change.take for change in changes):
            self.taking.set()
            await self.go_on.wait()
        return outcomes


async def test_who_gives_up_while_a_message_is_on_its_way_to_him_takes_nothing() -> None:
    store, clock = Slow(), FakeClock()
    counter = counter_on(store, clock)
    await counter.accept([parcel(1)])
    taking = asyncio.ensure_future(counter.take(TakeNext(mailbox="bob", wait=None)))
    await store.taking.wait()
    taking.cancel()
    await asyncio.gather(taking, return_exceptions=True)
    assert (await store.queue.entries("#bob"))[0].state == "leased"
    store.go_on.set()
    (again,) = await counter.take(TakeNext(mailbox="bob", wait=None))
    assert again.leased.attempt == 1


async def test_an_office_that_closes_waits_until_everything_is_put_back() -> None:
    store = Slow()
    counter = counter_on(store, FakeClock())
    await counter.accept([parcel(1)])
    taking = asyncio.ensure_future(counter.take(TakeNext(mailbox="bob", wait=None)))
    await store.taking.wait()
    taking.cancel()
    await asyncio.gather(taking, return_exceptions=True)
    store.go_on.set()
    await counter.close()
    assert (await store.queue.entries("#bob"))[0].state == "waiting"


def counter_on(store: MemoryStore, clock: FakeClock) -> Counter:
    stores, agenda = Stores(store, MemoryStore()), Agenda(clock)
    intake = Intake(clock, TERMS, stores=stores, agenda=agenda)
    clerk = Clerk(clock, TERMS, intake=intake, agenda=agenda)
    counter = Counter(clock, TERMS, stores=stores, intake=intake, clerk=clerk, agenda=agenda)
    store.watch(counter.waiting.stir)
    return counter


class Full(MemoryStore):
    """A store that cannot write."""

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        return [Outcome(status="refused", detail="the disk is full")] * len(changes)


async def test_where_the_store_cannot_write_nothing_is_taken_or_settled() -> None:
    counter = counter_on(Full(), FakeClock())
    with pytest.raises(Unavailable, match="the disk is full"):
        await counter.take(TakeNext(mailbox="bob"))
    slip = Slip(message=identity(1), entry=1, token=1, box="#bob", failures=0, arrived=0, passing=False)
    with pytest.raises(Unavailable, match="the disk is full"):
        await counter.settle(SettleTaken(slips=[slip], event="acknowledged"))
