"""What is held, what pauses, what expires: the store says what is due, the office's timekeeper settles it."""

from __future__ import annotations

from posthouse.message.changes import DONE
from posthouse.testing.build import entry
from tests.contract.store.desk import Desk, scenario


@scenario
async def test_a_held_entry_is_not_taken(desk: Desk) -> None:
    await desk.put(1, entry(not_before=desk.later(10)))
    queued = await desk.only()
    assert (queued.state, queued.next_at) == ("held", desk.later(10))
    assert await desk.takes() == []
    desk.wait(10)
    assert await desk.takes() == []


@scenario
async def test_an_entry_that_is_due_already_is_not_held(desk: Desk) -> None:
    await desk.put(1, entry(not_before=desk.now))
    assert (await desk.only()).state == "waiting"
    assert await desk.takes() == [1]


@scenario
async def test_a_held_entry_does_not_hold_up_its_lane(desk: Desk) -> None:
    await desk.put(1, entry(not_before=desk.later(10)))
    await desk.put(2)
    assert await desk.takes() == [2]


@scenario
async def test_a_held_entry_enters_its_lane_behind_what_came_meanwhile(desk: Desk) -> None:
    await desk.put(1, entry(not_before=desk.later(10)))
    await desk.put(2)
    held = (await desk.queued())[0]
    desk.wait(10)
    assert await desk.settle(held, "wake") == DONE
    assert await desk.holds() == [2, 1]
    woken = (await desk.queued())[1]
    assert (woken.state, woken.token, woken.attempt, woken.next_at) == ("waiting", held.token + 1, 0, None)
    assert woken.entry > held.entry
    await desk.put(3)
    assert await desk.takes() == [2, 1, 3]


@scenario
async def test_what_wakes_and_what_comes_in_one_call_arrive_in_the_order_of_the_changes(desk: Desk) -> None:
    await desk.put(1, entry("#inbox", not_before=desk.later(10)), entry("#other", not_before=desk.later(10)))
    desk.wait(10)
    wakes = [desk.changes(settles=(desk.settling(await desk.only(box), "wake"),)) for box in ("#inbox", "#other")]
    posts = [desk.changes(posts=(desk.post(number, entry(box)),)) for number, box in ((2, "#inbox"), (3, "#other"))]
    await desk.store.commit([wakes[0], posts[0], posts[1], wakes[1]])
    assert (await desk.holds("#inbox"), await desk.holds("#other")) == ([1, 2], [3, 1])
    assert (await desk.takes("#inbox"), await desk.takes("#other")) == ([1, 2], [3, 1])


@scenario
async def test_a_woken_entry_can_be_taken_by_its_kind_and_its_conversation(desk: Desk) -> None:
    await desk.put(1, entry(kind="order", correlation="c1", not_before=desk.later(10)))
    assert await desk.takes(kind="order", correlation="c1") == []
    desk.wait(10)
    await desk.settle(await desk.only(), "wake")
    assert await desk.takes(kind="order", correlation="c1") == [1]


@scenario
async def test_an_entry_wakes_once(desk: Desk) -> None:
    await desk.put(1, entry(not_before=desk.later(10)))
    held = await desk.only()
    desk.wait(10)
    await desk.settle(held, "wake")
    assert (await desk.settle(held, "wake")).status == "stale"
    assert (await desk.settle(await desk.only(), "wake")).status == "stale"


@scenario
async def test_a_leased_entry_cannot_be_woken(desk: Desk) -> None:
    await desk.put(1)
    assert (await desk.settle(await desk.take_one(), "wake")).status == "stale"


@scenario
async def test_a_held_entry_has_no_place_to_be_given_back_to(desk: Desk) -> None:
    await desk.put(1, entry(not_before=desk.later(10)))
    held = await desk.only()
    assert (await desk.settle(held, "back")).status == "stale"
    assert (await desk.settle(held, "retry", at=desk.later(5))).status == "stale"
    assert await desk.only() == held


@scenario
async def test_a_held_entry_can_be_buried(desk: Desk) -> None:
    await desk.put(1, entry(not_before=desk.later(10), expires=desk.later(5)))
    desk.wait(5)
    assert await desk.due() == [1]
    assert await desk.settle(await desk.only(), "bury", reason="expired") == DONE
    assert await desk.holds() == []
    assert await desk.store.dead_letters.dead_count() == 1


@scenario
async def test_waking_after_a_pause_clears_it_and_keeps_the_place(desk: Desk) -> None:
    await desk.put(1)
    await desk.put(2)
    await desk.settle(await desk.take_one(), "retry", at=desk.later(10))
    desk.wait(10)
    pausing = (await desk.queued())[0]
    assert await desk.settle(pausing, "wake") == DONE
    woken = (await desk.queued())[0]
    assert (woken.entry, woken.token, woken.state) == (pausing.entry, pausing.token + 1, "waiting")
    assert (woken.attempt, woken.failures, woken.next_at) == (1, 1, None)
    assert await desk.takes() == [1, 2]


@scenario
async def test_an_entry_may_be_taken_after_its_pause_before_it_is_woken(desk: Desk) -> None:
    await desk.put(1)
    await desk.settle(await desk.take_one(), "retry", at=desk.later(10))
    desk.wait(10)
    pausing = await desk.only()
    assert await desk.takes() == [1]
    assert (await desk.settle(pausing, "wake")).status == "stale"


@scenario
async def test_an_expired_entry_is_not_taken_and_holds_nobody_up(desk: Desk) -> None:
    await desk.put(1, entry(expires=desk.later(10)))
    await desk.put(2)
    desk.wait(10)
    assert await desk.takes() == [2]
    assert await desk.holds() == [1, 2]


@scenario
async def test_an_entry_is_taken_up_to_the_instant_before_it_expires(desk: Desk) -> None:
    await desk.put(1, entry(expires=desk.later(10)))
    desk.now = desk.later(10) - 1
    assert await desk.takes() == [1]


@scenario
async def test_an_expired_entry_in_the_middle_of_a_run_is_passed_over(desk: Desk) -> None:
    await desk.put(1)
    await desk.put(2, entry(expires=desk.later(10)))
    await desk.put(3)
    desk.wait(10)
    assert await desk.takes() == [1, 3]


@scenario
async def test_a_pausing_entry_that_expired_holds_nobody_up(desk: Desk) -> None:
    await desk.put(1, entry(expires=desk.later(10)))
    await desk.put(2)
    await desk.settle(await desk.take_one(), "retry", at=desk.later(20))
    assert await desk.takes() == []
    desk.wait(10)
    assert await desk.takes() == [2]


@scenario
async def test_a_lease_outlives_the_expiry_of_its_entry(desk: Desk) -> None:
    await desk.put(1, entry(expires=desk.later(10)))
    await desk.put(2)
    leased = await desk.take_one()
    desk.wait(10)
    assert (await desk.queued())[0].next_at == leased.until
    assert await desk.takes() == []
    assert await desk.settle(leased, "done") == DONE


@scenario
async def test_a_clock_set_back_brings_an_entry_back_from_expiry(desk: Desk) -> None:
    await desk.put(1, entry(expires=desk.later(10)))
    await desk.put(2)
    desk.wait(10)
    await desk.settle((await desk.take(limit=1))[0], "back")
    desk.wait(-1)
    assert await desk.takes(limit=1) == [1]


@scenario
async def test_a_clock_set_back_does_not_shorten_a_pause(desk: Desk) -> None:
    await desk.put(1)
    await desk.put(2, entry(lane="bob"))
    await desk.settle((await desk.take(limit=1))[0], "retry", at=desk.later(10))
    desk.wait(10)
    await desk.take(kind="none such")
    desk.wait(-1)
    assert await desk.takes() == [2]
    desk.wait(1)
    assert await desk.takes() == [1]


@scenario
async def test_entries_are_due_earliest_first(desk: Desk) -> None:
    await desk.put(1, entry(lane="a", expires=desk.later(30)))
    await desk.put(2, entry(lane="b", not_before=desk.later(20)))
    await desk.put(3, entry(lane="c"))
    await desk.put(4, entry(lane="d", not_before=desk.later(50), expires=desk.later(10)))
    assert await desk.due() == []
    assert await desk.store.queue.next_due() == desk.later(10)
    desk.wait(20)
    assert await desk.due() == [4, 2]
    desk.wait(20)
    assert await desk.due() == [4, 2, 1]
    assert await desk.due(limit=2) == [4, 2]


@scenario
async def test_a_lease_and_a_pause_are_due_when_they_end(desk: Desk) -> None:
    for number in (1, 2):
        await desk.put(number, entry(lane=f"lane {number}"))
    first, second = await desk.take(limit=2)
    await desk.settle(second, "retry", at=desk.later(10))
    assert await desk.store.queue.next_due() == desk.later(10)
    desk.wait(10)
    assert await desk.due() == [2]
    desk.now = first.until
    assert await desk.due() == [2, 1]


@scenario
async def test_due_gives_the_token_the_timekeeper_settles_with(desk: Desk) -> None:
    await desk.put(1)
    leased = await desk.take_one()
    desk.now = leased.until
    (due,) = await desk.store.queue.due(desk.now, 10)
    assert await desk.settle(due, "retry", at=desk.later(5)) == DONE
    assert (await desk.settle(leased, "done")).status == "stale"
    assert (await desk.only()).failures == 1


@scenario
async def test_what_was_renewed_or_done_is_not_due_at_the_old_time(desk: Desk) -> None:
    for number in (1, 2):
        await desk.put(number, entry(lane=f"lane {number}"))
    first, second = await desk.take(limit=2)
    await desk.settle(first, "renew", at=desk.later(90))
    await desk.settle(second, "done")
    assert await desk.store.queue.next_due() == desk.later(90)
    desk.now = second.until
    assert await desk.due() == []


@scenario
async def test_nothing_is_due_in_an_office_that_waits_for_nothing(desk: Desk) -> None:
    await desk.put(1)
    assert await desk.store.queue.next_due() is None
