"""Which entries a take gives, and in which order."""

from __future__ import annotations

from posthouse.message.changes import Changes, Setup
from posthouse.testing.build import entry
from tests.contract.store.desk import Desk, numbers, scenario


@scenario
async def test_an_empty_box_gives_nothing(desk: Desk) -> None:
    assert await desk.take("#nowhere") == ()


@scenario
async def test_messages_are_taken_in_the_order_they_arrived(desk: Desk) -> None:
    for number, lane in ((1, "alice"), (2, "bob"), (3, "alice"), (4, "carol")):
        await desk.put(number, entry(lane=lane))
    assert await desk.takes() == [1, 2, 3, 4]


@scenario
async def test_the_most_urgent_messages_are_taken_first(desk: Desk) -> None:
    for number, priority in ((1, 5), (2, 1), (3, 10), (4, 5), (5, 10)):
        await desk.put(number, entry(priority=priority))
    assert await desk.takes() == [3, 5, 1, 4, 2]


@scenario
async def test_a_take_gives_at_most_its_limit(desk: Desk) -> None:
    for number in (1, 2, 3):
        await desk.put(number, entry(lane=f"lane {number}"))
    assert await desk.takes(limit=2) == [1, 2]
    assert await desk.takes(limit=2) == [3]


@scenario
async def test_a_take_sees_one_box_only(desk: Desk) -> None:
    await desk.put(1, entry("#inbox"), entry("#other"))
    assert await desk.takes("#inbox") == [1]
    assert await desk.takes("#other") == [1]


@scenario
async def test_a_lane_gives_nothing_while_its_first_entry_is_leased(desk: Desk) -> None:
    await desk.put(1)
    await desk.put(2)
    first = await desk.take_one()
    assert await desk.takes() == []
    await desk.settle(first, "done")
    assert await desk.takes() == [2]


@scenario
async def test_other_lanes_do_not_wait_for_a_leased_one(desk: Desk) -> None:
    for number, lane in ((1, "alice"), (2, "alice"), (3, "bob")):
        await desk.put(number, entry(lane=lane))
    await desk.take_one()
    assert await desk.takes() == [3]


@scenario
async def test_lanes_of_the_same_name_in_two_boxes_do_not_meet(desk: Desk) -> None:
    await desk.put(1, entry("#inbox"), entry("#other"))
    await desk.take_one("#inbox")
    assert await desk.takes("#other") == [1]


@scenario
async def test_each_priority_of_a_lane_goes_by_itself(desk: Desk) -> None:
    await desk.put(1, entry(priority=10))
    await desk.put(2, entry(priority=5))
    assert await desk.takes(limit=1) == [1]
    assert await desk.takes(limit=1) == [2]


@scenario
async def test_one_take_may_lease_a_run_from_the_head_of_each_lane(desk: Desk) -> None:
    for number, lane in ((1, "alice"), (2, "alice"), (3, "bob"), (4, "alice")):
        await desk.put(number, entry(lane=lane))
    assert await desk.takes(limit=3) == [1, 2, 3]
    assert await desk.takes(limit=3) == []


@scenario
async def test_a_run_ends_before_an_entry_that_is_leased(desk: Desk) -> None:
    for number in (1, 2, 3):
        await desk.put(number)
    first, _second = await desk.take(limit=2)
    await desk.settle(first, "back")
    assert await desk.takes() == [1]


@scenario
async def test_a_typed_take_sees_its_kind_only(desk: Desk) -> None:
    for number, kind in ((1, "mail"), (2, "order"), (3, "order.new"), (4, "order")):
        await desk.put(number, entry(kind=kind))
    assert await desk.takes(kind="order") == [2, 4]
    assert await desk.takes(kind="invoice") == []


@scenario
async def test_a_correlated_take_sees_its_conversation_only(desk: Desk) -> None:
    for number, correlation in ((1, None), (2, "c2"), (3, "c1"), (4, "c2")):
        await desk.put(number, entry(correlation=correlation))
    assert await desk.takes(correlation="c2") == [2, 4]
    assert await desk.takes(correlation="c") == []


@scenario
async def test_a_take_may_be_typed_and_correlated(desk: Desk) -> None:
    for number, kind, correlation in ((1, "order", "c1"), (2, "mail", "c1"), (3, "order", "c2"), (4, "order", None)):
        await desk.put(number, entry(kind=kind, correlation=correlation))
    assert await desk.takes(kind="order", correlation="c1") == [1]


@scenario
async def test_an_entry_of_another_kind_does_not_hold_up_a_typed_take(desk: Desk) -> None:
    for number, kind in ((1, "mail"), (2, "order"), (3, "order")):
        await desk.put(number, entry(kind=kind))
    assert await desk.takes(kind="mail") == [1]
    assert await desk.takes(kind="order", limit=1) == [2]
    assert await desk.takes(kind="order", limit=1) == []


@scenario
async def test_an_entry_leased_by_a_typed_take_holds_up_a_take_of_anything_once_it_comes_first(desk: Desk) -> None:
    for number, kind in ((1, "mail"), (2, "order"), (3, "mail")):
        await desk.put(number, entry(kind=kind))
    await desk.take(kind="order")
    assert await desk.takes() == [1]
    (first, second) = await desk.queued_in_state("leased")
    await desk.settle(first, "done")
    assert await desk.takes() == []
    await desk.settle(second, "done")
    assert await desk.takes() == [3]


@scenario
async def test_two_takes_of_one_call_never_get_the_same_entry(desk: Desk) -> None:
    for number in (1, 2, 3):
        await desk.put(number, entry(lane=f"lane {number}"))
    first, second = await desk.store.commit([Changes(take=desk.taking(limit=2)), Changes(take=desk.taking(limit=2))])
    assert (numbers(first.taken), numbers(second.taken)) == ([1, 2], [3])


@scenario
async def test_a_take_sees_all_posts_and_settles_of_its_call(desk: Desk) -> None:
    await desk.put(1)
    leased = await desk.take_one()
    outcomes = await desk.store.commit([
        Changes(take=desk.taking(limit=9)),
        Changes(posts=(desk.post(2),)),
        Changes(settles=(desk.settling(leased, "done"),)),
    ])  # fmt: skip
    assert numbers(outcomes[0].taken) == [2]


@scenario
async def test_the_take_of_a_refused_change_does_not_happen(desk: Desk) -> None:
    await desk.put(1)
    outcome = await desk.change(posts=(desk.post(1),), take=desk.taking())
    assert (outcome.status, outcome.taken) == ("duplicate", ())
    assert (await desk.only()).state == "waiting"


@scenario
async def test_a_closed_mailbox_gives_nothing_and_keeps_what_it_holds(desk: Desk) -> None:
    await desk.put(1, entry("#inbox"), entry("inbox", work="deliver"))
    await desk.set_up(Setup(mailbox="inbox", closed=True))
    assert await desk.takes("#inbox") == []
    assert await desk.takes("inbox") == [1]
    assert await desk.holds("#inbox") == [1]
    await desk.set_up(Setup(mailbox="inbox"))
    assert await desk.takes("#inbox") == [1]


@scenario
async def test_a_mailbox_closed_in_the_same_call_gives_nothing(desk: Desk) -> None:
    await desk.put(1)
    take, _closing = await desk.store.commit(
        [Changes(take=desk.taking()), Changes(setups=(Setup(mailbox="inbox", closed=True),))]
    )
    assert take.taken == ()


@scenario
async def test_thousands_of_lanes_are_taken_in_order(desk: Desk) -> None:
    posts = tuple(desk.post(n, entry(lane=f"lane {n % 700}", priority=1 + n % 10)) for n in range(1, 2_001))
    await desk.change(posts=posts)
    expected = sorted(range(1, 2_001), key=lambda n: (-(1 + n % 10), n))
    assert await desk.takes(limit=1_500) == expected[:1_500]
