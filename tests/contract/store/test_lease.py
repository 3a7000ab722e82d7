"""What a lease is, and what settling does to an entry."""

from __future__ import annotations

from posthouse.message.changes import DONE, Settle
from posthouse.message.message import Body, Section
from posthouse.message.trace import Step
from posthouse.store.ports import Dead
from posthouse.testing.build import entry, identity, letter
from posthouse.testing.build import post as build_post
from tests.contract.store.desk import LEASE, Act, Desk, numbers, scenario


@scenario
async def test_a_lease_carries_the_whole_letter(desk: Desk) -> None:
    body = Body("ab" * 32, 70_000)
    sent = letter(1, body=body, sections=(Section("hop", b"1"), Section("hop", b"2")))
    post = build_post(1, entry(luggage=b"luggage", priority=8, work="resume"))
    await desk.change(posts=(type(post)(letter=sent, entries=post.entries),))
    leased = await desk.take_one()
    assert leased.letter == sent
    assert (leased.luggage, leased.work, leased.priority, leased.box) == (b"luggage", "resume", 8, "#inbox")


@scenario
async def test_a_lease_has_a_token_an_end_and_a_holder(desk: Desk) -> None:
    await desk.put(1)
    before = await desk.only()
    leased = await desk.take_one()
    assert (leased.entry, leased.token, leased.until) == (before.entry, before.token + 1, desk.now + LEASE)
    assert (leased.attempt, leased.failures, leased.arrived) == (1, 0, desk.now)
    queued = await desk.only()
    assert (queued.state, queued.token, queued.holder) == ("leased", leased.token, "worker")
    assert queued.next_at == leased.until


@scenario
async def test_who_names_another_box_settles_nothing(desk: Desk) -> None:
    await desk.put(1)
    leased = await desk.take_one()
    acts: tuple[Act, ...] = ("done", "renew", "back", "bury")
    for act in acts:
        settle = Settle(act=act, entry=leased.entry, token=leased.token, at=desk.later(60), box="#other")
        assert (await desk.change(settles=(settle,))).status == "stale"
    assert [queued.state for queued in await desk.queued()] == ["leased"]
    settle = Settle(act="done", entry=leased.entry, token=leased.token, at=desk.now, box="#inbox")
    assert await desk.change(settles=(settle,)) == DONE


@scenario
async def test_what_is_done_leaves_the_queue_and_stays_in_the_journal(desk: Desk) -> None:
    await desk.put(1)
    assert await desk.settle(await desk.take_one(), "done") == DONE
    assert await desk.holds() == []
    assert await desk.store.journal.letter(identity(1)) == letter(1)


@scenario
async def test_an_older_token_is_refused(desk: Desk) -> None:
    await desk.put(1)
    first = await desk.take_one()
    await desk.settle(first, "back")
    second = await desk.take_one()
    for act in ("done", "renew", "back", "retry", "bury"):
        assert (await desk.settle(first, act)).status == "stale"
    assert await desk.settle(second, "done") == DONE


@scenario
async def test_a_token_is_refused_as_soon_as_the_entry_was_given_back(desk: Desk) -> None:
    await desk.put(1)
    leased = await desk.take_one()
    await desk.settle(leased, "retry", at=desk.later(10))
    assert (await desk.settle(leased, "done")).status == "stale"
    assert await desk.holds() == [1]


@scenario
async def test_an_entry_that_is_gone_cannot_be_settled(desk: Desk) -> None:
    await desk.put(1)
    leased = await desk.take_one()
    await desk.settle(leased, "done")
    assert (await desk.settle(leased, "done")).status == "stale"


@scenario
async def test_an_entry_cannot_be_settled_twice_in_one_change(desk: Desk) -> None:
    await desk.put(1)
    done = desk.settling(await desk.take_one(), "done")
    assert (await desk.change(settles=(done, done))).status == "stale"
    assert await desk.holds() == [1]


@scenario
async def test_one_stale_token_refuses_its_whole_change(desk: Desk) -> None:
    for number in (1, 2):
        await desk.put(number, entry(lane=f"lane {number}"))
    first, second = await desk.take(limit=2)
    await desk.settle(second, "back")
    settles = (desk.settling(first, "done"), desk.settling(second, "done"))
    assert (await desk.change(settles=settles, posts=(desk.post(3),))).status == "stale"
    assert await desk.holds() == [1, 2]


@scenario
async def test_a_renewed_lease_lasts_longer_under_the_same_token(desk: Desk) -> None:
    await desk.put(1)
    leased = await desk.take_one()
    assert await desk.settle(leased, "renew", at=desk.later(90)) == DONE
    queued = await desk.only()
    assert (queued.state, queued.token, queued.next_at) == ("leased", leased.token, desk.later(90))
    assert await desk.settle(leased, "done") == DONE


@scenario
async def test_a_lease_may_be_renewed_twice_in_one_call(desk: Desk) -> None:
    await desk.put(1)
    leased = await desk.take_one()
    renewals = [desk.changes(settles=(desk.settling(leased, "renew", at=desk.later(n)),)) for n in (60, 90)]
    assert await desk.store.commit(renewals) == [DONE, DONE]
    assert (await desk.only()).next_at == desk.later(90)


@scenario
async def test_only_a_lease_can_be_renewed(desk: Desk) -> None:
    await desk.put(1)
    assert (await desk.settle(await desk.only(), "renew", at=desk.later(90))).status == "stale"


@scenario
async def test_a_lease_does_not_end_by_itself(desk: Desk) -> None:
    await desk.put(1)
    leased = await desk.take_one()
    desk.wait(3_600)
    assert await desk.takes() == []
    assert await desk.settle(leased, "done") == DONE


@scenario
async def test_what_is_given_back_can_be_taken_at_once_as_if_it_had_not_been(desk: Desk) -> None:
    await desk.put(1)
    await desk.put(2)
    leased = await desk.take_one()
    assert await desk.settle(leased, "back") == DONE
    queued = (await desk.queued())[0]
    assert (queued.state, queued.attempt, queued.failures, queued.holder) == ("waiting", 0, 0, "")
    assert (queued.entry, queued.token, queued.next_at) == (leased.entry, leased.token + 1, None)
    again = await desk.take_one()
    assert (numbers([again]), again.attempt, again.token) == ([1], 1, leased.token + 2)


@scenario
async def test_giving_back_what_was_never_taken_does_not_lower_the_attempts_below_none(desk: Desk) -> None:
    await desk.put(1)
    assert await desk.settle(await desk.only(), "back") == DONE
    assert (await desk.only()).attempt == 0


@scenario
async def test_a_retry_waits_counts_a_failure_and_marks_the_redelivery(desk: Desk) -> None:
    await desk.put(1)
    leased = await desk.take_one()
    assert await desk.settle(leased, "retry", at=desk.later(10)) == DONE
    queued = await desk.only()
    assert (queued.state, queued.failures, queued.attempt, queued.holder) == ("waiting", 1, 1, "")
    assert (queued.next_at, queued.token) == (desk.later(10), leased.token + 1)
    desk.wait(10)
    again = await desk.take_one()
    assert (again.attempt, again.failures) == (2, 1)


@scenario
async def test_a_lane_waits_with_its_pausing_entry(desk: Desk) -> None:
    for number, lane in ((1, "alice"), (2, "alice"), (3, "bob")):
        await desk.put(number, entry(lane=lane))
    await desk.settle(await desk.take_one(), "retry", at=desk.later(10))
    assert await desk.takes() == [3]
    desk.now = desk.later(10) - 1
    assert await desk.takes() == []
    desk.now += 1
    assert await desk.takes() == [1, 2]


@scenario
async def test_a_pause_holds_up_its_own_kind_and_not_the_others(desk: Desk) -> None:
    for number, kind in ((1, "order"), (2, "mail"), (3, "order")):
        await desk.put(number, entry(kind=kind))
    await desk.settle(await desk.take_one(), "retry", at=desk.later(10))
    assert await desk.takes(kind="order") == []
    assert await desk.takes(kind="mail") == [2]


@scenario
async def test_the_rest_of_a_run_may_finish_out_of_order(desk: Desk) -> None:
    for number in (1, 2, 3):
        await desk.put(number)
    first, second, third = await desk.take(limit=3)
    await desk.settle(first, "retry", at=desk.later(10))
    assert await desk.settle(third, "done") == DONE
    assert await desk.settle(second, "done") == DONE
    assert await desk.holds() == [1]


@scenario
async def test_what_is_buried_is_a_dead_letter_with_its_reason(desk: Desk) -> None:
    await desk.put(1, entry(kind="order"))
    await desk.settle(await desk.take_one(), "retry", at=desk.now)
    leased = await desk.take_one()
    desk.wait(1)
    assert await desk.settle(leased, "bury", reason="no such customer") == DONE
    assert await desk.holds() == []
    (dead,) = await desk.store.dead_letters.dead("#inbox", desk.taking().filter)
    assert dead == Dead(
        number=dead.number,
        box="#inbox",
        kind="order",
        message=identity(1),
        at=desk.now,
        attempts=2,
        reason="no such customer",
    )


@scenario
async def test_settling_frees_the_lane_for_the_next_entry(desk: Desk) -> None:
    for number in (1, 2, 3):
        await desk.put(number)
    await desk.settle(await desk.take_one(), "bury")
    await desk.settle(await desk.take_one(), "done")
    assert await desk.takes() == [3]


@scenario
async def test_an_entry_may_be_settled_from_the_middle_of_its_lane(desk: Desk) -> None:
    for number in (1, 2, 3):
        await desk.put(number)
    middle = (await desk.queued())[1]
    assert await desk.settle(middle, "done") == DONE
    assert await desk.takes() == [1, 3]


@scenario
async def test_a_settle_may_add_a_line_to_the_trace(desk: Desk) -> None:
    await desk.put(1)
    taken = Step(desk.now, "taken", "#inbox", "by worker")
    leased = await desk.take_one()
    await desk.settle(leased, "renew", at=desk.later(60), step=taken)
    finished = Step(desk.later(1), "acknowledged", "#inbox")
    await desk.settle(leased, "done", step=finished)
    assert await desk.store.journal.trace(identity(1)) == [letter(1).step, taken, finished]


@scenario
async def test_a_refused_settle_leaves_no_trace(desk: Desk) -> None:
    await desk.put(1)
    leased = await desk.take_one()
    await desk.settle(leased, "back")
    await desk.settle(leased, "done", step=Step(desk.now, "acknowledged", "#inbox"))
    assert await desk.store.journal.trace(identity(1)) == [letter(1).step]


@scenario
async def test_changes_of_one_call_settle_one_after_the_other(desk: Desk) -> None:
    await desk.put(1)
    leased = await desk.take_one()
    changes = [desk.settling(leased, "back"), desk.settling(leased, "done")]
    outcomes = await desk.store.commit([desk.changes(settles=(settle,)) for settle in changes])
    assert [outcome.status for outcome in outcomes] == ["done", "stale"]
    assert (await desk.only()).state == "waiting"
