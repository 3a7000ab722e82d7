"""Links that break, crawl and swallow: each accepted message arrives once, in the order of its lane."""

from __future__ import annotations

import asyncio
import hashlib
import random
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from posthouse.clock import SystemClock
from posthouse.message.envelope import Envelope
from posthouse.message.message import Body, Head, compose
from posthouse.office.calls import Handed, Put, ReadBody
from tests.scenario.offices.link import Link, link
from tests.scenario.offices.town import Place, numbers, town

MIB = 1_048_576


@asynccontextmanager
async def apart(folder: Path, **exchange: Any) -> AsyncIterator[tuple[Place, Place, Link]]:
    """Give two offices; what the first says to the second goes over a bad link."""
    await asyncio.to_thread(folder.mkdir, exist_ok=True)
    south = Place(folder, "south")
    async with link(south.port) as between:
        south.rename(south.name.replace(str(south.port), str(between.port)))
        north = Place(folder, "north")
        north.knows(south.as_peer(), **exchange)
        south.knows(north.as_peer(), **exchange)
        async with town(north, south):
            yield north, south, between


async def test_a_link_that_is_cut_again_and_again(tmp_path: Path) -> None:
    async with apart(tmp_path) as (north, south, between):
        got: list[int] = []
        for start in range(1, 1001, 100):
            await north.put(f"{south.name}#bob", *range(start, start + 100))
            await between.has_carried(between.carried + 1)
            between.cut()
            got += numbers(await south.take("bob", 20))
        got += numbers(await south.take("bob", 1000 - len(got)))
        assert got == list(range(1, 1001))
        assert await south.rest("bob") == []


async def test_answers_that_never_come_back(tmp_path: Path) -> None:
    """A-055: everything was taken in, and is brought again because nobody heard so."""
    async with apart(tmp_path, answer_within=0.3) as (north, south, between):
        between.deaf = True
        await north.put(f"{south.name}#bob", *range(1, 101))
        got = numbers(await south.take("bob", 50))
        await north.until(lambda status: status.destinations and status.destinations[0].failures >= 2)
        between.deaf = False
        between.cut()
        got += numbers(await south.take("bob", 50))
        await north.until(lambda status: not status.queued)
        assert got == list(range(1, 101))
        assert await south.rest("bob") == []


async def test_connections_that_break_in_the_middle_of_a_frame(tmp_path: Path) -> None:
    async with apart(tmp_path) as (north, south, between):
        between.allowance = 500
        await north.put(f"{south.name}#bob", *range(1, 101))
        await north.until(lambda status: status.destinations and status.destinations[0].failures >= 2)
        assert await south.rest("bob") == []
        between.allowance = None
        assert numbers(await south.take("bob", 100)) == list(range(1, 101))


async def test_a_slow_link(tmp_path: Path) -> None:
    async with apart(tmp_path) as (north, south, between):
        between.delay = 0.1
        await north.put(f"{south.name}#bob", *range(1, 301))
        assert numbers(await south.take("bob", 300)) == list(range(1, 301))


async def test_a_link_that_is_down_is_told(tmp_path: Path) -> None:
    async with apart(tmp_path) as (north, south, between):
        between.down = True
        between.cut()
        await north.put(f"{south.name}#bob", 1)
        status = await north.until(lambda status: status.destinations and status.destinations[0].failures)
        assert "connection" in status.destinations[0].last_fault
        between.down = False
        assert numbers(await south.take("bob", 1)) == [1]


async def _send_large(office: Place, to: str, path: Path) -> Body:
    """Hand in a message with a large body, and one behind it in the same lane."""
    clock = SystemClock()
    body = await office.link.save_body(_pieces(path))
    head = Head(id=clock.new_id(), kind="mail", sender="alice", recipients=(to,), created=clock.now())
    message = compose(head, body, attributes={"number": 1})
    await office.answer(
        Put(parcels=[Handed(message.head, body, (), Envelope(sender="alice", recipients=(to,)))])
    )  # fmt: skip
    await office.put(to, 2)
    return body


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(MIB):
            yield piece


def _made(path: Path, size: int) -> str:
    chance = random.Random(7)
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for _ in range(size // MIB):
            piece = chance.randbytes(MIB)
            file.write(piece)
            digest.update(piece)
    return digest.hexdigest()


async def test_a_large_body_goes_on_where_the_link_broke(tmp_path: Path) -> None:
    """50 MB with three cuts: nothing is brought twice but what was under way, and memory stays flat."""
    size = 48 * MIB
    sha256 = _made(tmp_path / "large", size)
    async with apart(tmp_path / "town") as (north, south, between):
        before = north.resident(), south.resident()
        await _send_large(north, f"{south.name}#bob", tmp_path / "large")
        for part in (1, 2, 3):
            await between.has_carried(part * size // 4)
            between.cut()
        large, small = await south.take("bob", 2)
        assert large.leased.letter.body == Body(sha256, size)
        assert small.leased.letter.body == b"2"
        assert between.carried < size + 5 * MIB
        grown = [after - was for after, was in zip((north.resident(), south.resident()), before, strict=True)]
        assert max(grown) < 40 * MIB, grown
        digest, read = hashlib.sha256(), 0
        while piece := await south.answer(ReadBody(body=Body(sha256, size), start=read)):
            digest.update(piece)
            read += len(piece)
        assert digest.hexdigest() == sha256


async def test_a_large_body_goes_on_after_its_receiver_was_killed(tmp_path: Path) -> None:
    size = 12 * MIB
    sha256 = _made(tmp_path / "large", size)
    async with apart(tmp_path / "town") as (north, south, between):
        await _send_large(north, f"{south.name}#bob", tmp_path / "large")
        await between.has_carried(size // 2)
        await south.end(signal.SIGKILL)
        await south.start()
        large, _small = await south.take("bob", 2)
        assert large.leased.letter.body == Body(sha256, size)
        assert between.carried < size + 3 * MIB
        assert not list((tmp_path / "town" / "south.db.arriving").iterdir())
