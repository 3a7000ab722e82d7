from __future__ import annotations

import asyncio

import pytest

from posthouse.message.changes import Changes, Onward, Resend, Settle, Take
from posthouse.message.trace import Step
from posthouse.office.agenda import Agenda
from posthouse.office.terms import SECOND
from posthouse.testing.build import START, entry, identity, post
from posthouse.testing.clock import FakeClock

SOON, LATE = START + 5 * SECOND, START + 60 * SECOND
STEP = Step(START, "resumed")
WAITING = (entry("resume:gate", work="resume", not_before=SOON),)

TIMED = {
    "a lease": Changes(take=Take(box="#a", now=START, until=SOON, holder="")),
    "a renewal": Changes(settles=(Settle(act="renew", entry=1, token=1, at=SOON),)),
    "a pause": Changes(settles=(Settle(act="retry", entry=1, token=1, at=SOON),)),
    "what is held back": Changes(posts=(post(1, entry(not_before=SOON)),)),
    "what expires": Changes(posts=(post(1, entry(expires=SOON)),)),
    "what waits again": Changes(onwards=(Onward(message=identity(1), step=STEP, entries=WAITING),)),
    "what is sent on": Changes(resends=(Resend(1, WAITING, STEP),)),
}


async def sleeping(agenda: Agenda, clock: FakeClock) -> asyncio.Future[None]:
    agenda.look_up_to(LATE)
    asleep = asyncio.ensure_future(agenda.sleep_until(LATE))
    await clock.somebody_waits()
    return asleep


@pytest.mark.parametrize("what", TIMED)
async def test_what_will_happen_earlier_wakes_the_timekeeper(what: str) -> None:
    clock = FakeClock()
    agenda = Agenda(clock)
    asleep = await sleeping(agenda, clock)
    agenda.note([TIMED[what]])
    await asleep
    assert clock.now() == START


async def test_what_will_happen_later_does_not() -> None:
    clock = FakeClock()
    agenda = Agenda(clock)
    asleep = await sleeping(agenda, clock)
    agenda.expect(LATE)
    agenda.note([Changes(posts=(post(1),), settles=(Settle(act="done", entry=1, token=1, at=START),))])
    await asyncio.sleep(0)
    assert not asleep.done()
    clock.advance(60)
    await asleep


async def test_what_is_told_while_looking_is_not_missed() -> None:
    clock = FakeClock()
    agenda = Agenda(clock)
    agenda.look_up_to(LATE)
    agenda.expect(SOON)
    await agenda.sleep_until(LATE)
    assert clock.now() == START


async def test_nobody_sleeps_beyond_the_instant_up_to_which_was_listened() -> None:
    clock = FakeClock()
    agenda = Agenda(clock)
    agenda.look_up_to(SOON)
    agenda.expect(SOON + 1)
    asleep = asyncio.ensure_future(agenda.sleep_until(LATE))
    assert await clock.somebody_waits() == SOON
    clock.set_to(SOON)
    await asleep
