from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from posthouse.errors import PosthouseError
from posthouse.message.changes import Changes, Outcome, Setup
from posthouse.message.journey import Journey
from posthouse.message.passage import Facts, Passage
from posthouse.office.calls import (
    AskStatus,
    Call,
    ListAside,
    ListDead,
    ListMailboxes,
    ListQueue,
    ListSetups,
    Lookup,
    RedriveDead,
    ResendAside,
    SetUp,
    Tell,
)
from posthouse.office.counter import Unavailable
from posthouse.office.house import House
from posthouse.office.intake import Stores
from posthouse.office.mailbox import BadRequest, NotHere
from posthouse.office.terms import SECOND
from posthouse.route import ROUTE, Stage
from posthouse.store.memory.store import MemoryStore
from posthouse.testing.build import START, identity, number_of
from posthouse.testing.clock import FakeClock
from tests.unit.office.rig import TERMS, Rig, at_work, numbers, parcel


async def bury(rig: Rig, *kinds: str, to: str = "bob", first: int = 1) -> None:
    """Let a message of each kind expire."""
    before = await rig.stores.durable.dead_letters.dead_count()
    for number, kind in enumerate(kinds, start=first):
        await rig.put(number, to=to, kind=kind, expires=rig.clock.now() + SECOND)
    rig.clock.advance(1)

    async def are_dead() -> bool:
        return await rig.stores.durable.dead_letters.dead_count() == before + len(kinds)

    await rig.until(are_dead)


@at_work()
async def test_dead_letters_are_redriven_by_filter(rig: Rig) -> None:
    await bury(rig, "mail", "order", "mail")
    await bury(rig, "mail", to="carol", first=4)
    assert await rig.answer(RedriveDead(box="#bob", kind="mail")) == 2
    assert sorted(numbers(await rig.take(limit=9))) == [1, 3]
    assert [number_of(dead.message) for dead in await rig.dead()] == [2, 4]


@at_work()
async def test_dead_letters_are_redriven_by_number(rig: Rig) -> None:
    await bury(rig, "mail", "mail")
    numbered = [dead.number for dead in await rig.dead()]
    assert await rig.answer(RedriveDead(numbers=[numbered[1], 10_000, -1, 2**63])) == 1
    assert len(await rig.take()) == 1


@at_work()
async def test_dropped_letters_are_gone_for_good(rig: Rig) -> None:
    await bury(rig, "mail", "mail")
    assert await rig.answer(RedriveDead(drop=True)) == 2
    assert await rig.dead() == []
    assert await rig.take() == []
    assert (await rig.life(1))[-1] == "purged"


@at_work()
async def test_more_than_a_page_is_redriven(rig: Rig) -> None:
    await bury(rig, *["mail"] * 1100)
    assert await rig.answer(RedriveDead()) == 1100
    assert len(await rig.holds()) == 100, "the first page of all"


class Deadly(MemoryStore):
    """A store in which whatever is redriven is dead again before anybody looks."""

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        outcomes = await super().commit(changes)
        for each in changes:
            for _ in each.redrives:
                ((row, *_),) = [list(self._tables.rows.values())]
                self._tables.bury(row, at=START, reason="again")
        return outcomes


async def test_what_dies_again_at_once_is_not_redriven_in_a_circle() -> None:
    store, clock = Deadly(), FakeClock()
    house = House(clock, TERMS, stores=Stores(store, MemoryStore()))
    await house.start()
    try:
        await house.counter.accept([parcel(1), parcel(2)])
        for row in list(store._tables.rows.values()):
            store._tables.bury(row, at=START, reason="once")
        assert await house.answer(RedriveDead()) == 2
        assert await store.dead_letters.dead_count() == 2
    finally:
        await house.stop()


bug = asyncio.Event()


def doubtful(journeys: Sequence[Journey], _facts: Facts) -> Passage:
    if bug.is_set() and any(each.message.kind == "order" for each in journeys):
        raise ZeroDivisionError("a bug")
    return Passage(tuple(journeys))


@at_work(route=[*ROUTE, Stage("doubtful", doubtful)])
async def test_what_was_set_aside_is_sent_on_when_the_bug_is_gone(rig: Rig) -> None:
    bug.set()
    await rig.house.counter.accept([parcel(1, kind="order"), parcel(2, kind="order"), parcel(3)])
    assert [number_of(aside.message) for aside in await rig.asides()] == [1, 2]
    assert await rig.answer(ResendAside()) == 0, "it breaks again and stays"
    bug.clear()
    (first, _) = await rig.asides()
    assert await rig.answer(ResendAside(numbers=[first.number])) == 1
    assert await rig.answer(ResendAside()) == 1
    assert await rig.asides() == []
    assert numbers(await rig.take(limit=9)) == [3, 1, 2]
    assert (await rig.life(1))[:2] == ["accepted", "resent"]


@at_work(route=[*ROUTE, Stage("doubtful", doubtful)])
async def test_what_is_refused_by_now_stays_aside(rig: Rig) -> None:
    bug.set()
    await rig.put(1, kind="order")
    bug.clear()
    await rig.set_up("bob", closed=True)
    assert await rig.answer(ResendAside()) == 0
    assert len(await rig.asides()) == 1


@at_work()
async def test_a_mailbox_is_set_up_under_any_of_its_names(rig: Rig) -> None:
    await rig.set_up("local:east#bob", max_messages=1)
    await rig.set_up("a%20b", closed=True)
    setups = await rig.answer(ListSetups())
    assert [setup.mailbox for setup in setups] == ["a b", "bob"]
    await rig.answer(SetUp(setup=Setup(mailbox="bob", removed=True)))
    assert [setup.mailbox for setup in await rig.answer(ListSetups())] == ["a b"]


@at_work()
async def test_what_is_no_mailbox_of_this_office_is_not_set_up(rig: Rig) -> None:
    with pytest.raises(NotHere):
        await rig.set_up("local:west#bob")
    with pytest.raises(PosthouseError):
        await rig.set_up("not a name")
    for quota in ({"max_messages": -1}, {"max_bytes": 2**63}):
        with pytest.raises(BadRequest, match="quota"):
            await rig.set_up("bob", **quota)


# `Any`: calls of every kind.
@at_work()
async def test_pages_that_cannot_be_are_refused(rig: Rig) -> None:
    calls: list[Call[Any]] = [
        ListQueue(box="#bob", limit=0),
        ListQueue(box="#bob", after=-1),
        ListQueue(box="#bob", after=2**63),
        ListDead(limit=-1),
        ListAside(limit=10**9),
        ListMailboxes(limit=0),
        Lookup(prefix="0", limit=0),
    ]
    for call in calls:
        with pytest.raises(BadRequest):
            await rig.answer(call)


@at_work()
async def test_lists_come_by_pages(rig: Rig) -> None:
    await rig.house.counter.accept([parcel(number) for number in range(1, 6)])
    first = await rig.answer(ListQueue(box="#bob", limit=2))
    rest = await rig.answer(ListQueue(box="#bob", after=first[-1].entry))
    assert [number_of(each.message) for each in first + rest] == [1, 2, 3, 4, 5]


@at_work()
async def test_a_message_and_its_life_are_told(rig: Rig) -> None:
    await rig.put(1, body=b"hello", envelope={"blind": ("carol",)})
    (found,) = await rig.answer(Lookup(prefix=str(identity(1))))
    story = await rig.answer(Tell(message=found))
    assert (story.body, [step.happened for step in story.steps]) == (b"hello", ["accepted"])
    assert story.envelope.blind == ("carol",), "who runs the office may know"
    assert await rig.answer(Tell(message=identity(2))) is None


@at_work()
async def test_the_status_counts_what_there_is(rig: Rig) -> None:
    await bury(rig, "mail")
    for number in range(2, 6):
        await rig.put(number, to=f"box{number}")
    status = await rig.answer(AskStatus())
    assert (status.office, status.accepted, status.queued, status.dead) == ("local:east", 5, 4, 1)
    assert (status.aside, status.waiting, status.store) == (0, 0, "ok")


class Full(MemoryStore):
    """A store that cannot write."""

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        return [Outcome(status="refused", detail="the disk is full")] * len(changes)


async def test_a_store_that_cannot_write_is_told_as_such() -> None:
    house = House(FakeClock(), TERMS, stores=Stores(Full(), MemoryStore()))
    await house.start()
    try:
        assert (await house.answer(AskStatus())).store == "the disk is full"
        with pytest.raises(Unavailable, match="the disk is full"):
            await house.answer(SetUp(setup=Setup(mailbox="bob")))
    finally:
        await house.stop()
