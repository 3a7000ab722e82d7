"""What was given up or set aside, and how it comes back."""

from __future__ import annotations

from posthouse.message.changes import DONE, Filter, Redrive, Resend
from posthouse.message.trace import Step
from posthouse.store.ports import Aside, Dead
from posthouse.testing.build import entry, identity, letter, number_of
from tests.contract.store.desk import Desk, room, scenario

EVERYTHING = Filter()


async def bury(desk: Desk, *boxes_and_kinds: tuple[str, str]) -> list[Dead]:
    """Bury message 1, 2, ... in these boxes."""
    for number, (box, kind) in enumerate(boxes_and_kinds, start=1):
        await desk.put(number, entry(box, kind=kind))
        await desk.settle(await desk.take_one(box), "bury", reason=f"reason {number}")
    return await desk.store.dead_letters.dead(None, EVERYTHING)


@scenario
async def test_dead_letters_are_listed_oldest_first_by_page(desk: Desk) -> None:
    dead = await bury(desk, ("#inbox", "mail"), ("#other", "mail"), ("#inbox", "order"))
    assert [number_of(one.message) for one in dead] == [1, 2, 3]
    assert sorted({one.number for one in dead}) == [one.number for one in dead]
    letters = desk.store.dead_letters
    assert await letters.dead(None, EVERYTHING, limit=2) == dead[:2]
    assert await letters.dead(None, EVERYTHING, after=dead[1].number, limit=2) == dead[2:]
    assert await letters.dead_count() == 3


@scenario
async def test_dead_letters_are_listed_by_box_and_kind(desk: Desk) -> None:
    first, second, third = await bury(desk, ("#inbox", "mail"), ("#other", "mail"), ("#inbox", "order"))
    letters = desk.store.dead_letters
    assert await letters.dead("#inbox", EVERYTHING) == [first, third]
    assert await letters.dead(None, Filter(kind="mail")) == [first, second]
    assert await letters.dead("#inbox", Filter(kind="order")) == [third]
    assert await letters.dead("#inbox", EVERYTHING, after=first.number, limit=1) == [third]
    assert await letters.dead("#nowhere", EVERYTHING) == []


@scenario
async def test_a_redriven_letter_is_a_new_arrival(desk: Desk) -> None:
    until = desk.later(60)
    whole = entry(kind="order", correlation="c1", priority=7, size=5, luggage=b"bag", work="resume", expires=until)
    await desk.put(1, whole)
    await desk.put(2, entry(kind="order", priority=7))
    first = await desk.take_one()
    await desk.settle(first, "retry", at=desk.now)
    before = await desk.take_one()
    await desk.settle(before, "bury")
    (dead,) = await desk.store.dead_letters.dead(None, EVERYTHING)
    desk.wait(60)
    assert await desk.change(redrives=(Redrive(dead.number, desk.now),)) == DONE
    assert await desk.holds() == [2, 1]
    queued = (await desk.queued())[1]
    assert queued.entry > before.entry
    assert (queued.state, queued.attempt, queued.failures) == ("waiting", 0, 0)
    assert (queued.expires, queued.next_at, queued.arrived) == (None, None, desk.now)
    assert (queued.kind, queued.correlation, queued.priority, queued.size) == ("order", "c1", 7, 5)
    assert await desk.store.dead_letters.dead_count() == 0
    leased = (await desk.take(limit=2))[1]
    assert (leased.luggage, leased.work, leased.letter.id) == (b"bag", "resume", identity(1))


@scenario
async def test_a_redriven_letter_stands_in_its_lane_again(desk: Desk) -> None:
    (dead,) = await bury(desk, ("#inbox", "mail"))
    await desk.put(2)
    await desk.take_one()
    await desk.change(redrives=(Redrive(dead.number, desk.now),))
    assert await desk.takes() == []


@scenario
async def test_a_dropped_letter_leaves_the_dead_and_stays_in_the_journal(desk: Desk) -> None:
    (dead,) = await bury(desk, ("#inbox", "mail"))
    assert await desk.change(redrives=(Redrive(dead.number, desk.now, drop=True),)) == DONE
    assert await desk.store.dead_letters.dead_count() == 0
    assert await desk.holds() == []
    assert await desk.store.journal.letter(identity(1)) is not None


@scenario
async def test_redriving_and_dropping_are_in_the_trace(desk: Desk) -> None:
    (dead,) = await bury(desk, ("#inbox", "mail"))
    desk.wait(1)
    await desk.change(redrives=(Redrive(dead.number, desk.now),))
    await desk.settle(await desk.take_one(), "bury")
    (dead,) = await desk.store.dead_letters.dead(None, EVERYTHING)
    desk.wait(1)
    await desk.change(redrives=(Redrive(dead.number, desk.now, drop=True),))
    expected = [letter(1).step, Step(desk.later(-1), "redriven", "#inbox"), Step(desk.now, "purged", "#inbox")]
    assert await desk.store.journal.trace(identity(1)) == expected


@scenario
async def test_a_dead_letter_is_redriven_once(desk: Desk) -> None:
    (dead,) = await bury(desk, ("#inbox", "mail"))
    redrive = Redrive(dead.number, desk.now)
    assert (await desk.change(redrives=(redrive, redrive))).status == "stale"
    assert await desk.change(redrives=(redrive,)) == DONE
    assert (await desk.change(redrives=(redrive,))).status == "stale"
    assert await desk.holds() == [1]


@scenario
async def test_numbers_of_dead_letters_are_never_used_again(desk: Desk) -> None:
    (dead,) = await bury(desk, ("#inbox", "mail"))
    await desk.change(redrives=(Redrive(dead.number, desk.now),))
    await desk.settle(await desk.take_one(), "bury")
    (again,) = await desk.store.dead_letters.dead(None, EVERYTHING)
    assert again.number > dead.number


@scenario
async def test_a_redriven_letter_needs_room(desk: Desk) -> None:
    (dead,) = await bury(desk, ("#inbox", "mail"))
    await desk.put(2)
    redrives = (Redrive(dead.number, desk.now),)
    assert (await desk.change(redrives=redrives, rooms=(room(messages=1),))).status == "full"
    assert await desk.change(redrives=redrives, rooms=(room(messages=2),)) == DONE


@scenario
async def test_a_dropped_letter_needs_no_room(desk: Desk) -> None:
    (dead,) = await bury(desk, ("#inbox", "mail"))
    drop = Redrive(dead.number, desk.now, drop=True)
    assert await desk.change(redrives=(drop,), rooms=(room(messages=0),)) == DONE


@scenario
async def test_a_message_set_aside_waits_with_its_reason(desk: Desk) -> None:
    assert await desk.change(posts=(desk.post(1, aside="a bug"),)) == DONE
    (aside,) = await desk.store.dead_letters.asides()
    assert aside == Aside(number=aside.number, message=identity(1), at=desk.now, reason="a bug")
    assert await desk.store.dead_letters.aside_count() == 1
    assert await desk.store.journal.letter(identity(1)) is not None


@scenario
async def test_messages_set_aside_are_listed_oldest_first_by_page(desk: Desk) -> None:
    for number in (1, 2, 3):
        await desk.change(posts=(desk.post(number, aside="a bug"),))
    letters = desk.store.dead_letters
    everything = await letters.asides()
    assert [number_of(one.message) for one in everything] == [1, 2, 3]
    assert await letters.asides(limit=2) == everything[:2]
    assert await letters.asides(after=everything[1].number) == everything[2:]


@scenario
async def test_a_message_sent_on_again_gets_the_entries_given(desk: Desk) -> None:
    await desk.change(posts=(desk.post(1, aside="a bug"),))
    (aside,) = await desk.store.dead_letters.asides()
    desk.wait(5)
    step = Step(desk.now, "resent", "", "by carol")
    entries = (entry("#inbox"), entry("#other", not_before=desk.later(10)))
    assert await desk.change(resends=(Resend(aside.number, entries, step),)) == DONE
    assert await desk.store.dead_letters.aside_count() == 0
    assert await desk.store.journal.trace(identity(1)) == [letter(1).step, step]
    assert (await desk.only("#inbox")).arrived == desk.now
    assert (await desk.only("#other")).state == "held"
    assert await desk.takes("#inbox") == [1]


@scenario
async def test_a_message_is_sent_on_again_once(desk: Desk) -> None:
    await desk.change(posts=(desk.post(1, aside="a bug"),))
    (aside,) = await desk.store.dead_letters.asides()
    resend = Resend(aside.number, (entry(),), Step(desk.now, "resent"))
    assert (await desk.change(resends=(resend, resend))).status == "stale"
    assert await desk.change(resends=(resend,), rooms=(room(messages=1),)) == DONE
    assert (await desk.change(resends=(resend,))).status == "stale"
    assert await desk.holds() == [1]
