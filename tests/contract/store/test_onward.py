"""A message of the journal goes on from where it waited."""

from __future__ import annotations

from posthouse.message.changes import DONE, Onward
from posthouse.message.trace import Step
from posthouse.store.ports import Aside
from posthouse.testing.build import entry, identity, letter
from tests.contract.store.desk import Desk, News, room, scenario

WAITING = entry("resume:gate", work="resume", luggage=b"bag")


def going_on(desk: Desk, number: int = 1, *, box: str = "#inbox") -> Onward:
    return Onward(message=identity(number), step=Step(desk.now, "resumed", "resume:gate"), entries=(entry(box),))


@scenario
async def test_a_message_leaves_where_it_waited_and_arrives_where_it_goes(desk: Desk) -> None:
    await desk.put(1, WAITING)
    waiting = await desk.take_one("resume:gate")
    desk.wait(5)
    news = News(desk.store)
    assert await desk.change(settles=(desk.settling(waiting, "done"),), onwards=(going_on(desk),)) == DONE
    await news.of("#inbox")
    assert await desk.holds("resume:gate") == []
    arrived = await desk.only()
    assert (arrived.message, arrived.arrived, arrived.attempt) == (identity(1), desk.now, 0)
    assert (await desk.take_one()).letter == letter(1)
    expected = [letter(1).step, Step(desk.now, "resumed", "resume:gate")]
    assert await desk.store.journal.trace(identity(1)) == expected


@scenario
async def test_nothing_happens_where_what_waited_is_in_other_hands(desk: Desk) -> None:
    await desk.put(1, WAITING)
    earlier = await desk.take_one("resume:gate")
    await desk.settle(earlier, "back")
    outcome = await desk.change(settles=(desk.settling(earlier, "done"),), onwards=(going_on(desk),))
    assert outcome.status == "stale"
    assert await desk.holds() == []
    assert await desk.holds("resume:gate") == [1]
    assert await desk.store.journal.trace(identity(1)) == [letter(1).step]


@scenario
async def test_a_message_the_journal_does_not_know_cannot_go_on(desk: Desk) -> None:
    assert (await desk.change(onwards=(going_on(desk),))).status == "stale"


@scenario
async def test_a_message_goes_on_only_where_there_is_room(desk: Desk) -> None:
    await desk.put(1)
    await desk.put(2, WAITING)
    waiting = await desk.take_one("resume:gate")
    settles, onwards = (desk.settling(waiting, "done"),), (going_on(desk, 2),)
    assert (await desk.change(settles=settles, onwards=onwards, rooms=(room(messages=1),))).status == "full"
    assert await desk.holds("resume:gate") == [2]
    assert await desk.change(settles=settles, onwards=onwards, rooms=(room(messages=2),)) == DONE
    assert await desk.holds() == [1, 2]


@scenario
async def test_a_message_that_cannot_go_on_is_set_aside(desk: Desk) -> None:
    await desk.put(1, WAITING)
    waiting = await desk.take_one("resume:gate")
    desk.wait(5)
    aside = Onward(message=identity(1), step=Step(desk.now, "aside", "resume:gate", "a bug"), aside="a bug")
    assert await desk.change(settles=(desk.settling(waiting, "done"),), onwards=(aside,)) == DONE
    (found,) = await desk.store.dead_letters.asides()
    assert found == Aside(number=found.number, message=identity(1), at=desk.now, reason="a bug")
    assert await desk.holds("resume:gate") == []


@scenario
async def test_a_message_may_wait_again(desk: Desk) -> None:
    await desk.put(1, WAITING)
    waiting = await desk.take_one("resume:gate")
    again = entry("resume:later", work="resume", luggage=b"other bag", not_before=desk.later(10))
    onward = Onward(message=identity(1), step=Step(desk.now, "resumed"), entries=(again,))
    assert await desk.change(settles=(desk.settling(waiting, "done"),), onwards=(onward,)) == DONE
    assert await desk.takes("resume:later") == []
    assert await desk.store.queue.destinations() == ["resume:later"]
    desk.wait(10)
    await desk.settle(await desk.only("resume:later"), "wake")
    assert (await desk.take_one("resume:later")).luggage == b"other bag"
