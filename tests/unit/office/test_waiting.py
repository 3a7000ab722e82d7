from __future__ import annotations

import asyncio

from posthouse.office.terms import SECOND
from posthouse.office.waiting import WaitingRoom, heard
from posthouse.testing.build import START
from posthouse.testing.clock import FakeClock


def stir(room: WaitingRoom, *boxes: str) -> None:
    room.stir(frozenset(boxes))


def test_only_those_are_woken_whose_box_has_something() -> None:
    room = WaitingRoom(FakeClock())
    with room.bell("#a") as first, room.bell("#a") as second, room.bell("#b") as other:
        assert len(room) == 3
        stir(room, "#a", "#c")
        assert first.is_set()
        assert second.is_set()
        assert not other.is_set()
    assert len(room) == 0


def test_a_box_nobody_waits_for_is_no_matter() -> None:
    room = WaitingRoom(FakeClock())
    stir(room, "#a")
    with room.bell("#a") as bell:
        assert not bell.is_set()


def test_everybody_is_woken_when_it_is_over() -> None:
    room = WaitingRoom(FakeClock())
    with room.bell("#a") as first, room.bell("#b") as second:
        room.ring_out()
        assert first.is_set()
        assert second.is_set()


def test_a_count_changes_with_every_arrival_once_somebody_asked() -> None:
    room = WaitingRoom(FakeClock())
    before = room.count("#a")
    stir(room, "#b")
    assert room.count("#a") == before
    stir(room, "#a")
    assert room.count("#a") != before


def test_a_count_of_an_earlier_office_is_none_of_this_one() -> None:
    clock = FakeClock()
    earlier = WaitingRoom(clock).count("#a")
    clock.advance(0.001)
    assert WaitingRoom(clock).count("#a") != earlier


async def test_a_bell_that_rang_already_is_heard_at_once() -> None:
    bell = asyncio.Event()
    bell.set()
    assert await heard(bell, FakeClock(), until=0)
    assert await heard(bell, FakeClock(), until=None)


async def test_who_does_not_wait_hears_nothing() -> None:
    clock = FakeClock()
    assert not await heard(asyncio.Event(), clock, until=START)
    assert clock.awaited == []


async def test_waiting_ends_with_the_bell_or_with_the_time() -> None:
    clock, bell = FakeClock(), asyncio.Event()
    waiting = asyncio.ensure_future(heard(bell, clock, until=START + 5 * SECOND))
    await asyncio.sleep(0)
    bell.set()
    assert await waiting
    await asyncio.sleep(0)
    assert clock.awaited == [], "nobody waits for the time any more"
    bell.clear()
    waiting = asyncio.ensure_future(heard(bell, clock, until=START + 5 * SECOND))
    await clock.somebody_waits()
    clock.advance(5)
    assert not await waiting


async def test_who_gives_up_leaves_nothing_behind() -> None:
    clock = FakeClock()
    waiting = asyncio.ensure_future(heard(asyncio.Event(), clock, until=START + SECOND))
    await clock.somebody_waits()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await asyncio.sleep(0)
    assert clock.awaited == []
