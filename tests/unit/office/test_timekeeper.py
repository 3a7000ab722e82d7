from __future__ import annotations

from posthouse.office.calls import RedriveDead
from posthouse.office.notice import KIND
from posthouse.office.terms import SECOND
from posthouse.testing.build import START, identity
from tests.unit.office.rig import PATIENCE, Rig, at_work, message_of, numbers, parcel


@at_work()
async def test_what_is_held_back_becomes_due(rig: Rig) -> None:
    await rig.put(1, envelope={"not_before": START + 90 * SECOND})
    assert await rig.take() == []
    rig.clock.advance(90)
    assert numbers(await rig.take(wait=None)) == [1]


@at_work()
async def test_a_lease_that_ends_gives_the_message_to_the_next_at_once(rig: Rig) -> None:
    await rig.put(1)
    first = await rig.take_one(lease=10)
    assert await rig.take() == []
    rig.clock.advance(10)
    second = await rig.take_one(wait=None)
    assert second.leased.attempt == 2
    assert second.leased.token > first.leased.token
    assert await rig.settle("acknowledged", first) == [False], "fenced off"
    assert await rig.settle("acknowledged", second) == [True]
    assert await rig.life(1) == ["accepted", "failed", "acknowledged"]


@at_work()
async def test_a_pause_ends(rig: Rig) -> None:
    await rig.put(1)
    await rig.settle("failed", await rig.take_one(), reason="not today")
    assert await rig.take() == []
    rig.clock.advance(0.9)
    assert await rig.take() == []
    rig.clock.advance(0.1)
    assert (await rig.take_one(wait=None)).leased.failures == 1


@at_work()
async def test_after_so_many_failures_a_message_is_dead_and_its_sender_is_told(rig: Rig) -> None:
    """A-060"""
    await rig.put(1, reply_to="alice")
    for attempt in range(1, PATIENCE.attempts + 1):
        taken = await rig.take_one(wait=None)
        assert taken.leased.attempt == attempt
        await rig.settle("failed", taken, reason="not understood", pause=0.0)
    (dead,) = await rig.dead()
    assert (dead.message, dead.box, dead.attempts) == (identity(1), "#bob", 3)
    assert dead.reason == "failed 3 times, last failed: not understood"
    notice = message_of(await rig.take_one("alice", wait=None))
    assert (notice.kind, notice.correlation) == (KIND, str(identity(1)))
    assert notice.attributes["reason"] == dead.reason
    assert await rig.take("alice") == []


@at_work()
async def test_what_nobody_took_in_time_expires_and_its_sender_is_told(rig: Rig) -> None:
    """A-060"""
    await rig.put(1, expires=START + 60 * SECOND, reply_to="alice")
    rig.clock.advance(60)
    assert await rig.take() == []
    notice = message_of(await rig.take_one("alice", wait=None))
    assert notice.attributes["reason"] == "it expired before anybody took it"
    assert [dead.message for dead in await rig.dead()] == [identity(1)]
    assert await rig.life(1) == ["accepted", "expired"]


@at_work()
async def test_what_expires_in_somebodys_hands_may_still_be_acknowledged(rig: Rig) -> None:
    await rig.put(1, expires=START + 5 * SECOND)
    taken = await rig.take_one(lease=60)
    rig.clock.advance(10)
    assert await rig.settle("acknowledged", taken) == [True]
    assert await rig.dead() == []


@at_work()
async def test_the_second_death_begets_no_second_notice(rig: Rig) -> None:
    """D-A6: never returned twice"""
    await rig.put(1, expires=START + SECOND, reply_to="alice")
    rig.clock.advance(1)
    assert message_of(await rig.take_one("alice", wait=None)).kind == KIND
    assert await rig.answer(RedriveDead()) == 1
    for _ in range(PATIENCE.attempts):
        await rig.settle("failed", await rig.take_one(wait=None), pause=0.0)
    assert len(await rig.dead()) == 1
    assert await rig.take("alice") == []


@at_work()
async def test_a_notice_that_finds_no_room_does_not_keep_the_dead_alive(rig: Rig) -> None:
    await rig.set_up("alice", max_messages=0)
    await rig.put(1, expires=START + SECOND, reply_to="alice")
    await rig.put(2, to="carol", expires=START + SECOND, reply_to="dave")
    rig.clock.advance(1)
    await rig.take_one("dave", wait=None)

    async def are_dead() -> bool:
        return {dead.message for dead in await rig.dead()} == {identity(1), identity(2)}

    await rig.until(are_dead)
    assert await rig.holds("#alice") == []


@at_work()
async def test_a_notice_that_cannot_be_addressed_does_not_keep_the_dead_alive(rig: Rig) -> None:
    await rig.put(1, expires=START + SECOND, reply_to="not a name")

    async def is_dead() -> bool:
        return bool(await rig.dead())

    rig.clock.advance(1)
    await rig.until(is_dead)


@at_work()
async def test_a_notice_nobody_takes_begets_no_notice(rig: Rig) -> None:
    await rig.put(1, kind="notice.any", expires=START + SECOND, reply_to="alice")

    async def is_dead() -> bool:
        return bool(await rig.dead())

    rig.clock.advance(1)
    await rig.until(is_dead)
    assert await rig.take("alice") == []


@at_work()
async def test_a_memory_message_that_dies_leaves_a_notice_and_nothing_else(rig: Rig) -> None:
    await rig.put(1, keep="memory", expires=START + SECOND, reply_to="alice")
    rig.clock.advance(1)
    notice = await rig.take_one("alice", wait=None)
    assert notice.passing
    assert await rig.dead() == []
    assert await rig.stores.passing.dead_letters.dead_count() == 0


@at_work()
async def test_a_thousand_messages_expire_in_one_go(rig: Rig) -> None:
    batch = [parcel(number, to=f"box{number % 7}", expires=START + SECOND) for number in range(1, 1201)]
    await rig.house.counter.accept(batch)
    rig.clock.advance(1)

    async def all_dead() -> bool:
        return await rig.stores.durable.dead_letters.dead_count() == 1200

    await rig.until(all_dead)


@at_work(start=False)
async def test_what_became_due_while_the_office_was_closed_happens_at_its_opening(rig: Rig) -> None:
    """A-035"""
    await rig.put(1, envelope={"not_before": START + SECOND})
    await rig.put(2, to="carol", expires=START + SECOND, reply_to="alice")
    rig.clock.advance(100)
    await rig.start()
    assert numbers(await rig.take(wait=None)) == [1]
    assert numbers(await rig.take("carol")) == []
    assert message_of(await rig.take_one("alice", wait=None)).kind == KIND
