"""Reading: letters, their traces, the boxes and their depths."""

from __future__ import annotations

from uuid import UUID

from posthouse.message.changes import Post
from posthouse.message.message import Body, Section
from posthouse.store.ports import Depth
from posthouse.testing.build import entry, identity, letter
from tests.contract.store.desk import Desk, numbers, scenario


@scenario
async def test_a_letter_comes_back_as_it_was_posted(desk: Desk) -> None:
    letters = [
        letter(1, kind="order.new", body=b"\x00\xffbody"),
        letter(2, body=Body("ab" * 32, 10**12)),
        letter(3, sections=(Section("hop", b"\x00"), Section("", b""))),
    ]
    await desk.change(posts=tuple(Post(letter=one) for one in letters))
    assert [await desk.store.journal.letter(one.id) for one in letters] == letters
    assert await desk.store.journal.count() == 3


@scenario
async def test_an_unknown_message_has_no_letter_and_no_trace(desk: Desk) -> None:
    assert await desk.store.journal.letter(identity(1)) is None
    assert await desk.store.journal.trace(identity(1)) == []


@scenario
async def test_a_trace_begins_with_the_step_of_its_letter(desk: Desk) -> None:
    await desk.put(1)
    assert await desk.store.journal.trace(identity(1)) == [letter(1).step]


@scenario
async def test_messages_are_found_by_the_first_digits_of_their_ids(desk: Desk) -> None:
    digits = (
        "0190a1b2-0000-7000-8000-000000000001",
        "0190a1b3-0000-7000-8000-000000000001",
        "ffffffff-ffff-7fff-bfff-ffffffffffff",
    )
    ids = [UUID(text) for text in digits]
    await desk.change(posts=tuple(Post(letter=letter(message_id=one)) for one in ids))
    find = desk.store.journal.find
    assert sorted(await find("0190a1b", 10)) == ids[:2]
    assert await find("0190a1b3", 10) == ids[1:2]
    assert await find("0190a1b2-0000-7", 10) == ids[:1]
    assert await find("0190a1b200007", 10) == ids[:1]
    assert await find(str(ids[2]), 10) == ids[2:]
    assert await find("FF", 10) == ids[2:]
    assert await find("02", 10) == []
    assert sorted(await find("", 10)) == ids
    assert len(await find("01", 1)) == 1


@scenario
async def test_what_cannot_be_the_beginning_of_an_id_finds_nothing(desk: Desk) -> None:
    await desk.put(1)
    for prefix in ("no-id", "0" * 33, f"{identity(1)}0", "%"):
        assert await desk.store.journal.find(prefix, 10) == []


@scenario
async def test_a_box_is_read_by_page_in_order_of_arrival(desk: Desk) -> None:
    for number in range(1, 8):
        await desk.put(number, entry(lane=f"lane {number}", priority=number), entry("#other"))
    await desk.settle((await desk.queued())[2], "done")
    entries = desk.store.queue.entries
    first = await entries("#inbox", limit=4)
    assert numbers(first) == [1, 2, 4, 5]
    assert numbers(await entries("#inbox", after=first[-1].entry, limit=4)) == [6, 7]
    assert await entries("#nowhere") == []


@scenario
async def test_depths_are_listed_by_name_and_by_page(desk: Desk) -> None:
    await desk.put(1, entry("#b", size=3), entry("#a", size=5), entry("london", work="deliver"))
    await desk.put(2, entry("#b", size=4))
    depths = [
        Depth(box="#a", messages=1, bytes=5),
        Depth(box="#b", messages=2, bytes=7),
        Depth(box="london", messages=1, bytes=0),
    ]
    assert await desk.store.queue.depths() == depths
    assert await desk.store.queue.depths(limit=2) == depths[:2]
    assert await desk.store.queue.depths(after="#b") == depths[2:]


@scenario
async def test_depths_count_what_is_there_in_any_state(desk: Desk) -> None:
    await desk.put(1, entry(not_before=desk.later(10), size=1))
    await desk.put(2, entry(size=2))
    await desk.put(3, entry(lane="bob", size=4))
    leased = await desk.take_one()
    assert await desk.store.queue.depths() == [Depth(box="#inbox", messages=3, bytes=7)]
    await desk.settle(leased, "done")
    assert await desk.store.queue.depths() == [Depth(box="#inbox", messages=2, bytes=5)]
    await desk.settle((await desk.queued())[1], "bury")
    desk.wait(10)
    await desk.settle((await desk.queued())[0], "wake")
    assert await desk.store.queue.depths() == [Depth(box="#inbox", messages=1, bytes=1)]
    await desk.settle(await desk.take_one(), "done")
    assert await desk.store.queue.depths() == []


@scenario
async def test_destinations_are_the_boxes_that_hold_something_to_deliver_or_resume(desk: Desk) -> None:
    await desk.put(1, entry("#inbox"), entry("london", work="deliver"), entry("paris", work="deliver"))
    await desk.put(2, entry("later", work="resume"), entry("paris", work="deliver"))
    assert sorted(await desk.store.queue.destinations()) == ["later", "london", "paris"]
    for box in ("london", "paris"):
        await desk.settle(await desk.take_one(box), "done")
    assert sorted(await desk.store.queue.destinations()) == ["later", "paris"]
