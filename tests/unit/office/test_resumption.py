from __future__ import annotations

from collections.abc import Sequence

from posthouse.message.journey import Journey
from posthouse.message.passage import Facts, Passage
from posthouse.message.verdict import PASS, Verdict, refuse
from posthouse.office.house import House
from posthouse.office.notice import KIND
from posthouse.office.sorting import RESUME
from posthouse.office.terms import SECOND
from posthouse.route import ROUTE, Stage
from posthouse.testing.build import START, identity
from tests.unit.office.rig import Rig, at_work, message_of, numbers, parcel

OPENING = START + 60 * SECOND
BOX = f"{RESUME}hours"


def hours(journeys: Sequence[Journey], facts: Facts) -> Passage:
    """A stage of the test: before the office opens everything waits; then each kind meets its fate."""
    if facts.now < OPENING:
        return Passage(waiting=tuple(each.carrying(verdict=Verdict("wait"), resume_at=OPENING) for each in journeys))
    if any(each.message.kind == "object.broken" for each in journeys):
        raise ZeroDivisionError("a bug")
    fates = {
        "object.refused": refuse("no", "not wanted"),
        "object.deferred": refuse("no", "not now", temporary=True),
        "object.dropped": Verdict("drop"),
    }
    stopped = [each for each in journeys if each.message.kind in fates]
    waiting = [each for each in journeys if each.message.kind == "object.waiting"]
    going = [each for each in journeys if each not in stopped and each not in waiting]
    assert all(each.luggage.verdict == PASS for each in going), "what they waited for is over"
    return Passage(
        tuple(going), tuple(waiting), tuple(each.carrying(verdict=fates[each.message.kind]) for each in stopped)
    )


HOURS = [Stage("hours", hours), *ROUTE]


async def is_over(rig: Rig, box: str = BOX) -> None:
    async def empty() -> bool:
        return not await rig.queued(box)

    await rig.until(empty)


@at_work(route=HOURS)
async def test_what_waited_comes_back_to_its_stage_and_arrives(rig: Rig) -> None:
    batch = [parcel(number, priority=5 + number) for number in (1, 2, 3)]
    receipts = await rig.house.counter.accept(batch)
    assert [receipt.status for receipt in receipts] == ["accepted"] * 3
    assert await rig.holds(BOX) == [1, 2, 3]
    assert await rig.take() == []
    rig.clock.advance(60)
    await is_over(rig)
    assert numbers(await rig.take(limit=9)) == [3, 2, 1]
    assert (await rig.life(1))[:2] == ["accepted", "resumed"]


@at_work(route=HOURS)
async def test_memory_messages_wait_too(rig: Rig) -> None:
    await rig.put(1, keep="memory")
    rig.clock.advance(60)
    assert numbers(await rig.take(wait=None)) == [1]


@at_work(route=HOURS, start=False)
async def test_what_waited_through_a_restart_goes_on_where_it_was(rig: Rig) -> None:
    await rig.put(1)
    rig.clock.advance(3600)
    await rig.start()
    assert numbers(await rig.take(wait=None)) == [1]


@at_work(route=HOURS)
async def test_what_breaks_after_waiting_is_set_aside_alone(rig: Rig) -> None:
    await rig.house.counter.accept([parcel(1), parcel(2, kind="object.broken"), parcel(3)])
    rig.clock.advance(60)
    await is_over(rig)
    assert sorted(numbers(await rig.take(limit=9))) == [1, 3]
    (aside,) = await rig.asides()
    assert (aside.message, aside.reason) == (identity(2), "ZeroDivisionError: a bug")


@at_work(route=HOURS)
async def test_a_memory_message_that_breaks_after_waiting_is_gone(rig: Rig) -> None:
    await rig.put(1, kind="object.broken", keep="memory")
    rig.clock.advance(60)

    async def gone() -> bool:
        return not await rig.stores.passing.queue.entries(BOX)

    await rig.until(gone)
    assert await rig.stores.passing.dead_letters.aside_count() == 0


@at_work(route=HOURS)
async def test_what_is_refused_after_waiting_is_dead_and_its_sender_is_told(rig: Rig) -> None:
    await rig.put(1, kind="object.refused", reply_to="alice")
    rig.clock.advance(60)
    await is_over(rig)
    rig.clock.advance(60)
    notice = message_of(await rig.take_one("alice", wait=None))
    assert (notice.kind, notice.attributes["reason"]) == (KIND, "not wanted")
    assert [dead.message for dead in await rig.dead()] == [identity(1)]


@at_work(route=HOURS)
async def test_what_is_dropped_after_waiting_is_gone_and_nobody_is_told(rig: Rig) -> None:
    await rig.put(1, kind="object.dropped", reply_to="alice")
    rig.clock.advance(60)
    await is_over(rig)
    assert await rig.dead() == []
    assert await rig.asides() == []
    assert await rig.life() == ["accepted", "purged"]


@at_work(route=HOURS)
async def test_what_is_refused_for_now_comes_back_again(rig: Rig) -> None:
    await rig.put(1, kind="object.deferred")
    rig.clock.advance(60)

    async def tried() -> bool:
        return "retry" in await rig.life()

    await rig.until(tried)
    (waiting,) = await rig.queued(BOX)
    assert (waiting.failures, waiting.next_at) == (1, rig.clock.now() + SECOND)


@at_work(route=HOURS)
async def test_a_stage_that_never_says_how_long_is_not_asked_in_a_circle(rig: Rig) -> None:
    await rig.put(1, kind="object.waiting")
    rig.clock.advance(60)

    async def waits_again() -> bool:
        return "resumed" in await rig.life()

    await rig.until(waits_again)
    (waiting,) = await rig.queued(BOX)
    assert (waiting.state, waiting.next_at) == ("held", rig.clock.now() + SECOND)


@at_work(route=HOURS)
async def test_a_full_mailbox_is_waited_for(rig: Rig) -> None:
    await rig.set_up("bob", max_messages=1)
    await rig.house.counter.accept([parcel(1), parcel(2)])
    rig.clock.advance(60)
    (first,) = await rig.take(wait=None)

    async def tried() -> bool:
        return any(each.failures for each in await rig.queued(BOX))

    await rig.until(tried)
    assert len(await rig.holds()) == 1
    await rig.settle("acknowledged", first)
    rig.clock.advance(1.5)
    (second,) = await rig.take(wait=None)
    assert sorted(numbers([first, second])) == [1, 2]


@at_work(route=HOURS)
async def test_a_closed_mailbox_is_waited_for(rig: Rig) -> None:
    await rig.put(1)
    await rig.set_up("bob", closed=True)
    rig.clock.advance(60)

    async def tried() -> bool:
        return any(each.failures for each in await rig.queued(BOX))

    await rig.until(tried)
    await rig.set_up("bob", closed=False)
    rig.clock.advance(2)
    assert numbers(await rig.take(wait=None)) == [1]


@at_work(route=HOURS)
async def test_what_expires_while_it_waits_is_dead(rig: Rig) -> None:
    await rig.put(1, expires=START + SECOND)
    rig.clock.advance(1)
    await is_over(rig)
    assert [dead.reason for dead in await rig.dead()] == ["it expired before anybody took it"]


@at_work(start=False)
async def test_what_waited_for_a_stage_that_is_gone_is_set_aside_and_can_be_sent_on(rig: Rig) -> None:
    before = House(rig.clock, rig.house.terms, stores=rig.stores, route=HOURS)
    await before.counter.accept([parcel(1)])
    rig.clock.advance(60)
    await rig.start()
    await is_over(rig)
    (aside,) = await rig.asides()
    assert "hours" in aside.reason
    assert await rig.resend() == 1
    assert numbers(await rig.take(wait=None)) == [1]
