from __future__ import annotations

import asyncio

from posthouse.testing.build import SECOND, START
from posthouse.testing.clock import FakeClock


async def test_time_stands_still_until_it_is_moved() -> None:
    clock = FakeClock()
    assert (clock.now(), clock.now()) == (START, START)
    clock.advance(1.5)
    assert clock.now() == START + 3 * SECOND // 2


async def test_who_waits_is_woken_when_the_instant_has_come() -> None:
    clock = FakeClock()
    waiting = asyncio.ensure_future(clock.wait_until(START + 10 * SECOND))
    await asyncio.sleep(0)
    assert clock.awaited == [START + 10 * SECOND]
    clock.advance(9)
    await asyncio.sleep(0)
    assert not waiting.done()
    clock.advance(1)
    await waiting
    assert clock.awaited == []
    await clock.wait_until(START)


async def test_who_is_cancelled_is_not_waited_for() -> None:
    clock = FakeClock()
    waiting = asyncio.ensure_future(clock.wait_until(START + SECOND))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert clock.awaited == []
    clock.advance(2)


def test_identities_are_the_same_on_every_run_and_never_go_backwards() -> None:
    clock, other = FakeClock(), FakeClock()
    drawn = [clock.new_id() for _ in range(3)]
    assert drawn == sorted(drawn) == [other.new_id() for _ in range(3)]
    assert {each.version for each in drawn} == {7}
    clock.advance(60)
    assert clock.new_id() > drawn[-1]


def test_chance_is_what_the_test_says() -> None:
    clock = FakeClock()
    clock.luck = 0.25
    assert clock.chance() == 0.25
