from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from posthouse.errors import PosthouseError
from posthouse.message.changes import Leased
from posthouse.message.message import Body
from posthouse.message.name import parse_mailbox
from posthouse.office.callform import read_call, write_public, write_reply
from posthouse.office.calls import AwaitArrival, ReadBody, SettleTaken, Taken, TakeNext, slip_of
from posthouse.office.counter import Unavailable
from posthouse.office.errands import Errands
from posthouse.office.mailbox import NotHere
from posthouse.office.window import NotReadable
from posthouse.testing.build import SECOND, START, letter
from posthouse.testing.clock import FakeClock
from posthouse.transport.ports import Unreachable

BOB = parse_mailbox("http://west.example:8025/main#bob")
WEST = "http://west.example:8025/main"


def taken(number: int = 1, *, body: bytes | Body = b"") -> Taken:
    leased = Leased(
        entry=number, token=1, attempt=1, failures=0, until=START, box="#bob", work="take", priority=5, arrived=START,
        luggage=b"", letter=letter(number, body=body),
    )  # fmt: skip
    return Taken(leased=leased, passing=False)


class Line:
    """A way to an office whose answers the test gives."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.errands = Errands(self.clock, lambda: None)
        self.errands.serve({"http": self})
        self.heard: list[Any] = []
        self.news = asyncio.Event()
        self.answers: list[bytes | Exception | Callable[[], bytes]] = []
        self.withdrawn = 0

    async def ask(self, office: str, question: bytes) -> bytes:
        assert office == WEST
        self.heard.append(read_call(question))
        self.news.set()
        if not self.answers:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.withdrawn += 1
                raise
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, bytes)
        return answer

    async def close(self) -> None:
        return

    async def pass_time(self, task: asyncio.Task[Any], step: float) -> None:
        """Let time pass, step by step, until somebody has what he waits for."""
        while not task.done():
            self.clock.advance(step)
            for _ in range(5):
                await asyncio.sleep(0)

    async def asked(self, count: int) -> None:
        while len(self.heard) < count:
            self.news.clear()
            await self.news.wait()


async def test_what_is_taken_says_where_it_lies() -> None:
    line = Line()
    line.answers = [write_reply([taken()]), write_reply([True])]
    (one,) = await line.errands.take(BOB, TakeNext(mailbox="x", holder="me"))
    assert one.office == WEST
    (asked,) = line.heard
    assert (asked.mailbox, asked.wait, asked.holder) == (str(BOB), 0.0, "")
    assert asked.ticket
    assert await line.errands.settle(WEST, SettleTaken(slips=[slip_of(one)], event="acknowledged")) == [True]
    assert line.heard[1].slips[0].office == ""


async def test_one_attempt_is_made_where_nobody_waits() -> None:
    """A-029, A-062, D-A7"""
    line = Line()
    line.answers = [Unreachable("away")]
    assert await line.errands.take(BOB, TakeNext(mailbox="x")) == []
    line.answers = [Unreachable("away")]
    with pytest.raises(Unreachable):
        await line.errands.take(BOB, TakeNext(mailbox="x", strict=True))


async def test_a_wait_goes_on_while_the_office_is_away_and_ends_on_time() -> None:
    """A-062"""
    line = Line()
    line.answers = [Unreachable("away"), write_public(Unavailable("closing")), Unreachable("away")]
    line.answers += [Unreachable("away")] * 20
    waiting = asyncio.create_task(line.errands.take(BOB, TakeNext(mailbox="x", wait=0.3)))
    await line.asked(1)
    await line.pass_time(waiting, 0.01)
    assert await waiting == []
    assert line.clock.now() <= START + 0.4 * SECOND
    asked = [call for call in line.heard if isinstance(call, TakeNext)]
    waits = [call.wait or 0.0 for call in asked]
    assert len({call.ticket for call in asked}) == 1, "what is asked again is the same take"
    assert len(waits) >= 3
    assert waits == sorted(waits, reverse=True)


async def test_an_office_that_says_nothing_is_not_waited_for_much_longer() -> None:
    """A-062"""
    line = Line()
    waiting = asyncio.create_task(line.errands.take(BOB, TakeNext(mailbox="x", wait=2)))
    await line.asked(1)
    line.clock.advance(2.6)
    assert await waiting == []
    assert line.withdrawn == 1


async def test_who_waits_for_ever_asks_again_and_again() -> None:
    line = Line()
    line.answers = [write_reply([]), write_reply([]), write_reply([taken()])]
    assert await line.errands.take(BOB, TakeNext(mailbox="x", wait=None))
    assert [call.wait for call in line.heard] == [25.0] * 3


async def test_what_never_helps_is_told_at_once() -> None:
    line = Line()
    line.answers = [write_public(NotReadable("no leave"))]
    with pytest.raises(NotReadable, match="does not let"):
        await line.errands.take(BOB, TakeNext(mailbox="x", wait=None))
    with pytest.raises(NotHere):
        await line.errands.take(parse_mailbox("nats://host.example:1/main#bob"), TakeNext(mailbox="x"))


async def test_what_comes_for_somebody_who_has_gone_goes_back() -> None:
    """A-064"""
    line = Line()
    line.answers = [write_reply([taken()]), write_reply([True])]
    waiting = asyncio.create_task(line.errands.take(BOB, TakeNext(mailbox="x", wait=None)))
    await line.asked(1)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await line.errands.close()
    back = line.heard[-1]
    assert isinstance(back, SettleTaken)
    assert back.event == "returned"


async def test_settling_is_tried_for_a_while_and_then_told() -> None:
    line = Line()
    slips = [slip_of(taken())]
    line.answers = [Unreachable("away"), write_reply([True])]
    settling = asyncio.create_task(line.errands.settle(WEST, SettleTaken(slips=slips, event="acknowledged")))
    await line.pass_time(settling, 0.01)
    assert await settling == [True]
    line.answers += [Unreachable("away")] * 20
    settling = asyncio.create_task(line.errands.settle(WEST, SettleTaken(slips=slips, event="acknowledged")))
    await line.pass_time(settling, 0.1)
    with pytest.raises(PosthouseError, match="away"):
        await settling


async def test_a_sign_comes_from_elsewhere() -> None:
    line = Line()
    line.answers = [write_reply(5), Unreachable("away")]
    assert await line.errands.await_arrival(BOB, AwaitArrival(mailbox="x", since=3)) == 5
    assert await line.errands.await_arrival(BOB, AwaitArrival(mailbox="x", since=5, wait=0.0)) == 5


async def test_a_large_body_is_read_where_its_message_was_taken() -> None:
    line = Line()
    body = Body("0" * 64, 3)
    assert await line.errands.read_body(ReadBody(body=body, start=0)) is None
    line.answers = [write_reply([taken(body=body)]), write_reply(b"abc")]
    await line.errands.take(BOB, TakeNext(mailbox="x"))
    assert await line.errands.read_body(ReadBody(body=body, start=0)) == b"abc"
