from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from posthouse.message.message import HOP, Body, Section
from posthouse.office.letterbox import _next_round
from posthouse.testing.build import number_of
from posthouse.testing.journey import message
from posthouse.transport.ports import Outgoing, Result
from tests.unit.office.rig import Rig, at_work, numbers, parcel

HERE = "local:east"


def brought(number: int, *, to: str = "bob", sender: str = "alice", body: bytes | Body = b"") -> Outgoing:
    return Outgoing(*parcel(number, to=f"{HERE}#{to}", sender=sender, body=body)[:2])


def statuses(results: list[Result]) -> list[str]:
    return [result.status for result in results]


@at_work()
async def test_what_is_brought_arrives_in_its_order(rig: Rig) -> None:
    results = await rig.house.letterbox.take_in([brought(number) for number in range(1, 65)])
    assert statuses(results) == ["delivered"] * 64
    assert numbers(await rig.take(limit=100)) == list(range(1, 65))
    assert await rig.house.letterbox.take_in([]) == []


@at_work()
async def test_what_is_brought_twice_is_kept_once_and_answered_the_same(rig: Rig) -> None:
    """A-055"""
    for _ in range(2):
        assert statuses(await rig.house.letterbox.take_in([brought(1), brought(2)])) == ["delivered"] * 2
    assert await rig.holds() == [1, 2]


@at_work()
async def test_what_can_never_be_taken_is_refused_and_the_rest_is_not(rig: Rig) -> None:
    wrong = Outgoing(message(2), parcel(2, envelope={"recipients": ("not a name",)}).envelope)
    results = await rig.house.letterbox.take_in([brought(1), wrong, brought(3)])
    assert statuses(results) == ["delivered", "refused", "delivered"]
    assert results[1].reason


@at_work()
async def test_a_message_that_was_here_before_is_refused(rig: Rig) -> None:
    outgoing = brought(1)
    looped = outgoing._replace(message=outgoing.message.with_section(Section(HOP, b"local:east 0")))
    assert statuses(await rig.house.letterbox.take_in([looped])) == ["refused"]


@at_work()
async def test_behind_a_message_that_finds_no_room_its_lane_waits_even_where_there_is_room(rig: Rig) -> None:
    """A-052"""
    await rig.set_up("bob", max_bytes=10)
    batch = [
        brought(1, body=b"12345678"),
        brought(2, body=b"12345678"),
        brought(3, body=b"1"),
        brought(4, to="carol"),
        brought(5, sender="dave", body=b"1"),
    ]
    results = await rig.house.letterbox.take_in(batch)
    assert statuses(results) == ["delivered", "unreachable", "unreachable", "unreachable", "delivered"]
    assert await rig.holds() == [1, 5]
    await rig.settle("acknowledged", *await rig.take(limit=9))
    assert statuses(await rig.house.letterbox.take_in(batch[1:4])) == ["delivered"] * 3
    assert await rig.holds() == [2, 3]


@at_work()
async def test_a_closed_mailbox_asks_to_come_back(rig: Rig) -> None:
    await rig.set_up("bob", closed=True)
    assert statuses(await rig.house.letterbox.take_in([brought(1), brought(2)])) == ["unreachable"] * 2


@at_work()
async def test_a_large_body_is_fetched_before_its_message_is_accepted(rig: Rig) -> None:
    there = b"x" * 70_000

    async def pieces(start: int = 0, /) -> AsyncIterator[bytes]:
        for at in range(start, len(there), 1000):
            yield there[at : at + 1000]

    body = Body("a1e1b0e27d3b1ab9c3d8c1b4e5c5b5b7c1d1a5a5a5a5a5a5a5a5a5a5a5a5a5a5", len(there))
    wrong = brought(1, body=body)._replace(pieces=pieces)
    assert statuses(await rig.house.letterbox.take_in([wrong])) == ["refused"]
    kept = await rig.house._intake.bodies.save(pieces(), limit=100_000)
    right = brought(2, body=kept)._replace(pieces=None)
    assert statuses(await rig.house.letterbox.take_in([right])) == ["delivered"], "it is here already"
    too_large = msgspec.structs.replace(kept, size=200_000)
    assert statuses(await rig.house.letterbox.take_in([brought(3, body=too_large)])) == ["refused"]


NUMBERED = st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), max_size=8)


@given(NUMBERED)
def test_a_round_keeps_the_order_of_every_lane(lanes: list[tuple[str, bool]]) -> None:
    waiting = [
        (number, Outgoing(*parcel(number, sender=sender)[:2])) for number, (sender, _) in enumerate(lanes, start=1)
    ]
    slow = frozenset((None, sender) for sender, is_slow in lanes if is_slow)
    order: list[int] = []
    rounds = 0
    while waiting:
        going, waiting = _next_round(waiting, slow)
        assert going
        rounds += 1
        order += [number_of(outgoing.message.id) for _, outgoing in going]
        by_lane = [outgoing.envelope.sender for _, outgoing in going]
        assert all(by_lane.count(sender) == 1 for _, sender in slow if sender in by_lane)
    for sender in "ab":
        mine = [number for number, (each, _) in enumerate(lanes, start=1) if each == sender]
        assert [number for number in order if number in mine] == mine
