from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import msgspec
import pytest

from posthouse.message.changes import Changes, Outcome, Take
from posthouse.message.message import HOP, MAX_SECTIONS, Section
from posthouse.office.calls import AskStatus, Destination, ListDead, Status
from posthouse.office.house import House
from posthouse.office.intake import Stores
from posthouse.office.notice import KIND
from posthouse.office.sorting import Parcel
from posthouse.office.terms import SECOND, Traffic
from posthouse.office.walk import carry
from posthouse.store.memory.store import MemoryStore
from posthouse.testing.build import START, identity, number_of
from posthouse.testing.clock import FakeClock
from posthouse.testing.door import Elsewhere, FakeDoor
from posthouse.transport.ports import Outgoing, Result
from tests.unit.office.rig import TERMS, Rig, at_work, message_of, parcel

WEST = "local:west"


async def put_many(rig: Rig, count: int, *, to: str = f"{WEST}#bob", first: int = 1, sender: str = "alice") -> None:
    batch = [parcel(number, to=to, sender=sender) for number in range(first, first + count)]
    receipts = await rig.house.counter.accept(batch)
    assert {receipt.status for receipt in receipts} == {"accepted"}


def brought(there: Elsewhere) -> list[int]:
    return [number_of(message.id) for message in there.messages]


async def emptied(rig: Rig, box: str = WEST) -> None:
    async def is_empty() -> bool:
        return not await rig.queued(box)

    await rig.until(is_empty)


@at_work()
async def test_a_message_for_elsewhere_is_brought_there(rig: Rig) -> None:
    """A-045, A-050"""
    await rig.put(1, to=f"{WEST}#bob")
    await emptied(rig)
    (outgoing,) = rig.door.office(WEST).got
    assert outgoing.envelope.recipients == (f"{WEST}#bob",)
    (hop,) = [section.data for section in outgoing.message.sections if section.name == HOP]
    assert hop == f"local:east {START}".encode()
    assert await rig.life() == ["accepted", "forwarded"]


@at_work()
async def test_the_envelope_names_only_those_there_and_hides_who_is_hidden(rig: Rig) -> None:
    everybody = {"recipients": (f"{WEST}#bob", "local:south#carol", "dave"), "blind": (f"{WEST}#eve",)}
    await rig.put(1, envelope={**everybody, "idempotency": "k"})
    await emptied(rig)
    await emptied(rig, "local:south")
    west, south = rig.door.office(WEST).got[0].envelope, rig.door.office("local:south").got[0].envelope
    assert (west.recipients, west.blind, west.idempotency) == ((f"{WEST}#bob",), (f"{WEST}#eve",), None)
    assert (south.recipients, south.blind) == (("local:south#carol",), ())


@at_work()
async def test_an_outage_is_waited_for_and_the_order_kept(rig: Rig) -> None:
    """A-048, A-051, A-052"""
    there = rig.door.office(WEST)
    there.open = False
    await put_many(rig, 20)
    await rig.door.walked(WEST, 1)
    there.open = True
    rig.clock.advance(2)
    await emptied(rig)
    assert brought(there) == list(range(1, 21))
    assert len(there.walks) <= 5, "what waited goes in batches"


@at_work()
async def test_all_lanes_go_on_at_once_when_a_destination_is_back(rig: Rig) -> None:
    there = rig.door.office(WEST)
    there.open = False
    for sender in range(6):
        await put_many(rig, 1, first=sender + 1, sender=f"sender{sender}")

    async def a_moment_later() -> None:
        rig.clock.set_to(max(rig.clock.now(), await rig.clock.somebody_waits()))
        await asyncio.sleep(0)

    # To ask the store gives it the time to write down how a walk ended.
    while len(there.walks) < 5 and await rig.queued(WEST):
        await a_moment_later()
    there.open = True
    while await rig.queued(WEST):
        await a_moment_later()
    assert sorted(brought(there)) == [1, 2, 3, 4, 5, 6]
    assert (await status_of(rig)).destinations == []


async def written_down(rig: Rig, walk: int) -> list[Destination]:
    """Wait until a walk in vain is written down, and give the ways; before, the clock must stand still."""

    async def is_known() -> bool:
        entries = await rig.queued(WEST)
        ways = (await status_of(rig)).destinations
        return all(each.state == "waiting" for each in entries) and any(way.failures == walk for way in ways)

    await rig.until(is_known)
    return (await status_of(rig)).destinations


async def status_of(rig: Rig) -> Status:
    status: Status = await rig.answer(AskStatus())
    return status


@at_work()
async def test_a_destination_that_does_not_answer_is_probed_with_one_message(rig: Rig) -> None:
    there = rig.door.office(WEST)
    there.open = False
    await put_many(rig, 5)
    for walk in (1, 2, 3):
        await rig.door.walked(WEST, walk)

        (way,) = await written_down(rig, walk)
        assert way.state == ("closed" if walk == 3 else "open")
        assert way.next_try is not None
        rig.clock.set_to(way.next_try)
    await rig.door.walked(WEST, 4)
    assert there.walks == [5, 5, 5, 1]


@at_work()
async def test_one_full_mailbox_elsewhere_does_not_hold_up_other_senders(rig: Rig) -> None:
    there = rig.door.office(WEST)
    there.full = frozenset({f"{WEST}#bob"})
    batch = [
        parcel(1, to=f"{WEST}#bob", sender="alice"),
        parcel(2, to=f"{WEST}#carol", sender="alice"),
        parcel(3, to=f"{WEST}#carol", sender="dave"),
    ]
    await rig.house.counter.accept(batch)

    async def one_went() -> bool:
        return [number_of(each.message) for each in await rig.queued(WEST)] == [1, 2]

    await rig.until(one_went)
    assert brought(there) == [3]
    there.full = frozenset()
    rig.clock.advance(2)
    await emptied(rig)
    assert brought(there) == [3, 1, 2]


@at_work()
async def test_what_is_refused_for_good_is_dead_and_its_sender_is_told(rig: Rig) -> None:
    """A-060"""
    rig.door.office(WEST).refusing = "there is no mailbox bob here"
    await rig.put(1, to=f"{WEST}#bob", reply_to="alice")
    notice = message_of(await rig.take_one("alice", wait=None))
    assert (notice.kind, notice.attributes["place"]) == (KIND, WEST)
    assert notice.attributes["reason"] == "there is no mailbox bob here"
    assert [dead.box for dead in await rig.answer(ListDead())] == [WEST]


@at_work(
    terms=msgspec.structs.replace(
        TERMS,
        patience=msgspec.structs.replace(TERMS.patience, give_up_after=100.0),
        traffic=msgspec.structs.replace(TERMS.traffic, trip_after=1_000),
    )
)
async def test_a_destination_is_given_up_after_so_long(rig: Rig) -> None:
    """A-054, A-060"""
    rig.door.office(WEST).open = False
    await rig.put(1, to=f"{WEST}#bob", reply_to="alice")
    # Time passes only while no postman is out: else the walk would have taken too long, and the reason were another.
    while waiting := await rig.queued(WEST):
        if waiting[0].state != "leased":
            rig.clock.set_to(max(rig.clock.now(), waiting[0].next_at or 0))
        await asyncio.sleep(0)
    assert rig.clock.now() >= START + 100 * SECOND
    notice = message_of(await rig.take_one("alice", wait=None))
    assert str(notice.attributes["reason"]).startswith("not delivered in the time given: ConnectionRefusedError")


@at_work(terms=msgspec.structs.replace(TERMS, traffic=Traffic(at_once=2, batch=8, trip_after=3, walk_seconds=60)))
async def test_places_that_do_not_answer_leave_half_the_postmen_to_the_others(rig: Rig) -> None:
    for number, name in enumerate(("one", "two", "three"), start=2):
        rig.door.office(f"local:{name}").open = False
        await rig.put(number, to=f"local:{name}#bob")
        await rig.door.walked(f"local:{name}", 1)
    for name in ("one", "two", "three"):
        rig.door.office(f"local:{name}").hanging = asyncio.Event()
    rig.clock.advance(2)
    await rig.put(1, to=f"{WEST}#bob")
    await emptied(rig)
    assert brought(rig.door.office(WEST)) == [1]


@at_work()
async def test_a_slow_destination_does_not_stand_before_another(rig: Rig) -> None:
    slow = rig.door.office("local:slow")
    slow.hanging = asyncio.Event()
    await put_many(rig, 100, to="local:slow#bob")
    await rig.door.walked("local:slow", 1)
    await rig.put(200, to=f"{WEST}#bob")
    await emptied(rig)
    assert slow.walks == [8], "one postman at a time"
    slow.hanging.set()
    await emptied(rig, "local:slow")
    assert brought(slow) == list(range(1, 101))


@at_work()
async def test_a_large_body_goes_along(rig: Rig) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"x" * 70_000

    body = await rig.house.counter.save_body(pieces())
    await rig.put(1, to=f"{WEST}#bob", body=body)
    await rig.put(2, to=f"{WEST}#bob", body=body, keep="memory")
    there = rig.door.office(WEST)
    await emptied(rig)
    await rig.door.walked(WEST, 2)
    assert there.bodies == {body: b"x" * 70_000}


@at_work()
async def test_memory_messages_are_brought_too(rig: Rig) -> None:
    await rig.put(1, to=f"{WEST}#bob", keep="memory")
    await rig.door.walked(WEST, 1)
    assert brought(rig.door.office(WEST)) == [1]


@at_work(start=False)
async def test_what_waits_from_before_is_brought_after_a_restart(rig: Rig) -> None:
    """A-056"""
    await put_many(rig_with_door(rig), 3)
    await rig.start()
    await emptied(rig)
    assert brought(rig.door.office(WEST)) == [1, 2, 3]


@at_work(start=False)
async def test_what_a_postman_had_in_hand_when_the_office_died_goes_on_at_once(rig: Rig) -> None:
    await put_many(rig_with_door(rig), 3)
    take = Take(box=WEST, now=START, until=START + 90 * SECOND, holder="postman", limit=2)
    assert len((await rig.stores.durable.commit([Changes(take=take)]))[0].taken) == 2
    await rig.start()
    await emptied(rig)
    assert brought(rig.door.office(WEST)) == [1, 2, 3]
    assert rig.clock.now() == START


def rig_with_door(rig: Rig) -> Rig:
    """Let an office that has not started accept messages for elsewhere."""
    rig.house._intake.serve(frozenset({"local"}))
    return rig


@at_work()
async def test_a_message_that_cannot_be_read_is_set_aside_and_the_others_go(rig: Rig) -> None:
    one, two, three = (parcel(number, to=f"{WEST}#bob") for number in (1, 2, 3))
    # As many sections as a message can have: this office cannot append its own.
    full = msgspec.structs.replace(two.message, sections=(Section("note", b""),) * MAX_SECTIONS)
    await rig.house.counter.accept([one, Parcel(full, two.envelope), three])
    await emptied(rig)
    assert brought(rig.door.office(WEST)) == [1, 3]
    (aside,) = await rig.asides()
    assert aside.message == identity(2)
    assert "256 sections" in aside.reason
    assert await rig.life(2) == ["accepted", "aside"]


class Reluctant(MemoryStore):
    """A store that cannot write what became of a walk, until it can."""

    def __init__(self) -> None:
        super().__init__()
        self.refuses = False
        self.refused = asyncio.Event()

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        if self.refuses and any(change.settles for change in changes):
            self.refused.set()
            return [Outcome(status="refused", detail="the disk is full")] * len(changes)
        return await super().commit(changes)


async def test_the_end_of_a_walk_is_written_once_the_store_can() -> None:
    store, clock, door = Reluctant(), FakeClock(), FakeDoor()
    house = House(clock, TERMS, stores=Stores(store, MemoryStore()))
    await house.start([door])
    try:
        store.refuses = True
        await house.counter.accept([parcel(1, to=f"{WEST}#bob")])
        await store.refused.wait()
        store.refuses = False
        while await store.queue.entries(WEST):
            clock.set_to(max(clock.now(), await clock.somebody_waits()))
            await asyncio.sleep(0)
        assert door.office(WEST).walks == [1], "nobody was sent twice"
        assert clock.now() < START + 5 * SECOND
    finally:
        await house.stop()


class Locked(MemoryStore):
    """A store in which nothing can be taken, until something can."""

    def __init__(self) -> None:
        super().__init__()
        self.locked = True
        self.asked = asyncio.Event()

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        if self.locked and any(change.take for change in changes):
            self.asked.set()
            return [Outcome(status="refused", detail="the disk is full")] * len(changes)
        return await super().commit(changes)


async def test_postmen_come_back_when_the_store_could_not_give_them_anything() -> None:
    store, clock, door = Locked(), FakeClock(), FakeDoor()
    house = House(clock, TERMS, stores=Stores(store, MemoryStore()))
    await house.start([door])
    try:
        await house.counter.accept([parcel(1, to=f"{WEST}#bob")])
        await store.asked.wait()
        store.locked = False
        while not door.office(WEST).walks:
            clock.set_to(max(clock.now(), await clock.somebody_waits()))
            await asyncio.sleep(0)
    finally:
        await house.stop()
    assert door.closed


class Odd(FakeDoor):
    """A door that answers for fewer messages than it was given."""

    async def deliver(self, office: str, batch: Sequence[Outgoing]) -> list[Result]:
        return (await super().deliver(office, batch))[1:]


class Hanging(FakeDoor):
    """A door that never answers."""

    async def deliver(self, office: str, batch: Sequence[Outgoing]) -> list[Result]:
        self.office(office).hanging = asyncio.Event()
        return await super().deliver(office, batch)


@pytest.mark.parametrize(
    ("doors", "reason"),
    [
        ({}, "there is no door for local: names now"),
        ({"local": Odd()}, "0 answers came for 1 messages"),
        ({"local": Hanging()}, "no answer in time"),
    ],
)
async def test_whatever_goes_wrong_at_a_door_counts_as_nobody_answering(
    doors: dict[str, FakeDoor], reason: str
) -> None:
    results = await carry(doors, WEST, batch=[Outgoing(*parcel(1)[:2])], seconds=0.01)
    assert results == [Result("unreachable", reason)]


async def test_a_door_that_raises_is_told_by_its_fault() -> None:
    door = FakeDoor()
    door.office(WEST).open = False
    results = await carry({"local": door}, WEST, batch=[Outgoing(*parcel(1)[:2])] * 2, seconds=1)
    assert results == [Result("unreachable", "ConnectionRefusedError: nobody is in")] * 2


async def knocked(rig: Rig, *, times: int) -> None:
    """Have an office tried in vain."""
    for walk in range(1, times + 1):
        await rig.door.walked(WEST, walk)
        (way,) = await written_down(rig, walk)
        if walk < times:
            assert way.next_try is not None
            rig.clock.set_to(way.next_try)


@at_work()
async def test_an_office_that_is_heard_is_tried_at_once(rig: Rig) -> None:
    there = rig.door.office(WEST)
    there.open = False
    await put_many(rig, 5)
    await knocked(rig, times=4)
    rig.house.hear("local:somebody")
    there.open = True
    rig.house.hear(WEST)

    async def gone() -> bool:
        return not await rig.queued(WEST)

    await rig.until(gone)
    assert sorted(brought(there)) == [1, 2, 3, 4, 5]
    assert (await status_of(rig)).destinations == []


@at_work()
async def test_an_office_that_is_heard_but_not_reached_is_not_tried_again_and_again(rig: Rig) -> None:
    there = rig.door.office(WEST)
    there.open = False
    await put_many(rig, 5)
    await knocked(rig, times=4)
    for _ in range(20):
        rig.house.hear(WEST)
    await rig.door.walked(WEST, 5)

    async def learned() -> bool:
        return any(each.failures == 5 for each in (await status_of(rig)).destinations)

    await rig.until(learned)
    for _ in range(20):
        rig.house.hear(WEST)
        await asyncio.sleep(0)
    assert len(there.walks) == 5


@at_work()
async def test_an_office_that_asked_for_a_pause_gets_it_and_is_not_called_unreachable(rig: Rig) -> None:
    there = rig.door.office(WEST)
    there.asking = 7.0
    await rig.put(1, to=f"{WEST}#bob")
    await rig.door.walked(WEST, 1)

    async def paused() -> bool:
        return any(each.failures for each in await rig.queued(WEST))

    await rig.until(paused)
    (queued,) = await rig.queued(WEST)
    assert queued.next_at == START + 7 * SECOND
    assert (await status_of(rig)).destinations == []
    there.asking = None
    rig.clock.advance(7)
    await rig.door.walked(WEST, 2)


@at_work(start=False)
async def test_an_office_announces_itself_at_every_door(rig: Rig) -> None:
    await rig.start()
    await rig.house.announce()
    assert rig.door.greeted == 1


@at_work()
async def test_an_office_that_starts_waits_for_no_pause_that_began_before(rig: Rig) -> None:
    rig.door.office(WEST).open = False
    await put_many(rig, 5)
    await knocked(rig, times=4)

    async def paused() -> bool:
        queued = await rig.queued(WEST)
        return any(each.failures for each in queued) and all(each.state == "waiting" for each in queued)

    await rig.until(paused)
    await rig.house.stop()
    again, door = House(rig.clock, TERMS, stores=rig.stores), FakeDoor()
    await again.start([door])
    try:

        async def gone() -> bool:
            return not await rig.queued(WEST)

        await rig.until(gone)
        assert sorted(brought(door.office(WEST))) == [1, 2, 3, 4, 5]
    finally:
        await again.stop()
