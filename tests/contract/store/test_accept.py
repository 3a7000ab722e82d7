"""What is accepted, what is known already, what does not fit."""

from __future__ import annotations

from posthouse.message.changes import DONE, Changes, Key
from posthouse.store.ports import Depth
from posthouse.testing.build import SECOND, entry, identity, letter
from tests.contract.store.desk import Desk, room, scenario


@scenario
async def test_an_accepted_message_is_in_the_journal_and_in_its_box(desk: Desk) -> None:
    assert await desk.put(1, entry("#inbox")) == DONE
    assert await desk.store.journal.letter(identity(1)) == letter(1)
    assert await desk.holds("#inbox") == [1]


@scenario
async def test_a_message_goes_to_several_boxes_at_once(desk: Desk) -> None:
    await desk.put(1, entry("#inbox"), entry("#archive"), entry("london", work="deliver"))
    assert [await desk.holds(box) for box in ("#inbox", "#archive", "london")] == [[1], [1], [1]]


@scenario
async def test_a_message_may_be_in_the_journal_only(desk: Desk) -> None:
    assert await desk.change(posts=(desk.post(1, aside="a bug"),)) == DONE
    assert await desk.store.journal.count() == 1
    assert await desk.store.queue.depths() == []


@scenario
async def test_the_oldest_entry_is_the_first_that_is_still_there(desk: Desk) -> None:
    assert await desk.store.queue.oldest() is None
    await desk.put(1, entry("#late"))
    first = await desk.store.queue.oldest()
    desk.wait(10)
    await desk.put(2, entry("#a"))
    assert first is not None
    assert await desk.store.queue.oldest() == first
    (queued,) = await desk.store.queue.entries("#late")
    assert queued.arrived == first


@scenario
async def test_a_queued_entry_says_what_it_was_given(desk: Desk) -> None:
    until = desk.later(60)
    await desk.put(1, entry("#inbox", kind="order", priority=7, correlation="c1", size=12, expires=until))
    queued = await desk.only()
    assert (queued.box, queued.work, queued.state) == ("#inbox", "take", "waiting")
    assert (queued.kind, queued.priority, queued.correlation, queued.size) == ("order", 7, "c1", 12)
    assert (queued.token, queued.attempt, queued.failures, queued.holder) == (0, 0, 0, "")
    assert (queued.arrived, queued.expires, queued.next_at) == (desk.now, until, until)
    assert queued.message == identity(1)


@scenario
async def test_entries_are_numbered_in_the_order_they_arrive(desk: Desk) -> None:
    changes = [Changes(posts=(desk.post(1), desk.post(2))), Changes(posts=(desk.post(3),))]
    await desk.store.commit(changes)
    await desk.put(4)
    assert await desk.holds() == [1, 2, 3, 4]


@scenario
async def test_a_change_of_nothing_is_done(desk: Desk) -> None:
    assert await desk.store.commit([]) == []
    assert await desk.store.commit([Changes()]) == [DONE]


@scenario
async def test_a_message_is_accepted_once(desk: Desk) -> None:
    await desk.put(1)
    outcome = await desk.put(1, entry("#other"))
    assert (outcome.status, outcome.known) == ("duplicate", identity(1))
    assert await desk.holds("#other") == []


@scenario
async def test_a_message_older_than_the_newest_is_accepted_once_as_well(desk: Desk) -> None:
    assert await desk.put(5) == DONE
    assert await desk.put(3) == DONE
    assert [(await desk.put(number)).status for number in (3, 5)] == ["duplicate", "duplicate"]
    assert await desk.holds() == [5, 3]


@scenario
async def test_a_message_that_left_the_queue_is_still_known(desk: Desk) -> None:
    await desk.put(1)
    await desk.settle(await desk.take_one(), "done")
    assert (await desk.put(1)).status == "duplicate"


@scenario
async def test_a_message_handed_in_twice_in_one_call_is_accepted_once(desk: Desk) -> None:
    first, second = await desk.store.commit([Changes(posts=(desk.post(1),)), Changes(posts=(desk.post(1),))])
    assert first == DONE
    assert (second.status, second.known) == ("duplicate", identity(1))
    assert await desk.holds() == [1]


@scenario
async def test_a_message_handed_in_twice_in_one_change_is_refused(desk: Desk) -> None:
    assert (await desk.change(posts=(desk.post(1), desk.post(1)))).status == "duplicate"
    assert await desk.store.journal.count() == 0


@scenario
async def test_one_known_message_refuses_its_whole_change(desk: Desk) -> None:
    await desk.put(1)
    outcome = await desk.change(posts=(desk.post(2), desk.post(1)))
    assert (outcome.status, outcome.known) == ("duplicate", identity(1))
    assert await desk.store.journal.letter(identity(2)) is None


@scenario
async def test_a_refused_change_does_not_hinder_the_others_of_its_call(desk: Desk) -> None:
    await desk.put(1)
    changes = [Changes(posts=(desk.post(number),)) for number in (2, 1, 3)]
    assert [outcome.status for outcome in await desk.store.commit(changes)] == ["done", "duplicate", "done"]
    assert await desk.holds() == [1, 2, 3]


def key(desk: Desk, text: str = "k1", *, principal: str = "alice") -> Key:
    return Key(principal, text, desk.later(60))


@scenario
async def test_what_comes_under_a_known_key_is_a_duplicate_of_what_came_first(desk: Desk) -> None:
    assert await desk.change(posts=(desk.post(1), desk.post(2)), key=key(desk)) == DONE
    outcome = await desk.change(posts=(desk.post(3),), key=key(desk))
    assert (outcome.status, outcome.known) == ("duplicate", identity(1))
    assert await desk.holds() == [1, 2]


@scenario
async def test_a_key_used_twice_in_one_call_counts_once(desk: Desk) -> None:
    changes = [Changes(posts=(desk.post(number),), key=key(desk)) for number in (1, 2)]
    first, second = await desk.store.commit(changes)
    assert (first.status, second.status, second.known) == ("done", "duplicate", identity(1))


@scenario
async def test_keys_belong_to_their_principal(desk: Desk) -> None:
    assert await desk.change(posts=(desk.post(1),), key=key(desk, principal="alice")) == DONE
    assert await desk.change(posts=(desk.post(2),), key=key(desk, principal="bob")) == DONE
    assert await desk.change(posts=(desk.post(3),), key=key(desk, "k2", principal="alice")) == DONE


@scenario
async def test_a_key_may_be_used_again_from_its_until_on(desk: Desk) -> None:
    await desk.change(posts=(desk.post(1),), key=key(desk))
    desk.now += 60 * SECOND - 1
    assert (await desk.change(posts=(desk.post(2),), key=key(desk))).status == "duplicate"
    desk.now += 1
    assert await desk.change(posts=(desk.post(2),), key=key(desk)) == DONE
    outcome = await desk.change(posts=(desk.post(3),), key=key(desk))
    assert (outcome.status, outcome.known) == ("duplicate", identity(2))


@scenario
async def test_the_key_of_a_refused_change_stays_unused(desk: Desk) -> None:
    assert (await desk.change(posts=(desk.post(1),), key=key(desk), rooms=(room(messages=0),))).status == "full"
    assert await desk.change(posts=(desk.post(2),), key=key(desk)) == DONE


@scenario
async def test_a_key_is_looked_at_before_the_message(desk: Desk) -> None:
    await desk.change(posts=(desk.post(1),), key=key(desk))
    await desk.put(2)
    outcome = await desk.change(posts=(desk.post(2),), key=key(desk))
    assert (outcome.status, outcome.known) == ("duplicate", identity(1))


@scenario
async def test_a_box_is_filled_to_its_limit_and_no_further(desk: Desk) -> None:
    full = (room(messages=2),)
    assert await desk.change(posts=(desk.post(1),), rooms=full) == DONE
    assert await desk.change(posts=(desk.post(2),), rooms=full) == DONE
    outcome = await desk.change(posts=(desk.post(3),), rooms=full)
    assert outcome.status == "full"
    assert "inbox" in outcome.detail
    assert "2" in outcome.detail
    assert await desk.store.journal.letter(identity(3)) is None


@scenario
async def test_a_box_may_be_limited_by_bytes(desk: Desk) -> None:
    full = (room(size=100),)
    assert await desk.change(posts=(desk.post(1, entry(size=60)),), rooms=full) == DONE
    assert (await desk.change(posts=(desk.post(2, entry(size=41)),), rooms=full)).status == "full"
    assert await desk.change(posts=(desk.post(2, entry(size=40)),), rooms=full) == DONE
    assert await desk.store.queue.depths() == [Depth(box="#inbox", messages=2, bytes=100)]


@scenario
async def test_entries_of_every_state_take_room(desk: Desk) -> None:
    await desk.put(1, entry(not_before=desk.later(60)))
    await desk.put(2)
    await desk.take_one()
    await desk.put(3)
    assert (await desk.change(posts=(desk.post(4),), rooms=(room(messages=3),))).status == "full"
    assert await desk.change(posts=(desk.post(4),), rooms=(room(messages=4),)) == DONE


@scenario
async def test_the_posts_of_one_change_take_room_together(desk: Desk) -> None:
    both = (desk.post(1, entry(), entry("#other")), desk.post(2))
    assert (await desk.change(posts=both, rooms=(room(messages=1),))).status == "full"
    assert await desk.change(posts=both, rooms=(room(messages=2), room("#other", messages=1))) == DONE


@scenario
async def test_the_changes_of_one_call_take_room_one_after_the_other(desk: Desk) -> None:
    full = (room(messages=2),)
    changes = [Changes(posts=(desk.post(number),), rooms=full) for number in (1, 2, 3)]
    assert [outcome.status for outcome in await desk.store.commit(changes)] == ["done", "done", "full"]


@scenario
async def test_what_a_change_takes_out_makes_room_for_what_it_brings(desk: Desk) -> None:
    full = (room(messages=1),)
    await desk.put(1)
    leased = await desk.take_one()
    assert (await desk.change(posts=(desk.post(2),), rooms=full)).status == "full"
    assert await desk.change(posts=(desk.post(2),), settles=(desk.settling(leased, "done"),), rooms=full) == DONE
    assert await desk.holds() == [2]


@scenario
async def test_a_message_set_aside_takes_no_room(desk: Desk) -> None:
    assert await desk.change(posts=(desk.post(1, aside="a bug"),), rooms=(room(messages=0),)) == DONE
