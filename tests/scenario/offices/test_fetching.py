"""Two offices that are served, each in a process of its own: what lies in one is got through the other."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from posthouse.client import Office
from posthouse.errors import PosthouseError
from posthouse.message.message import Body
from posthouse.message.peer import Exchange
from posthouse.office.calls import AskStatus
from posthouse.server.assemble import own_public_key
from posthouse.testing.port import free_port
from tests.scenario.cli.command import Terminal, line_of


class Served:
    """An office in a folder, that can be killed and started again."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir()
        self.terminal = Terminal(folder)
        self.port = free_port()
        self.name = f"http://127.0.0.1:{self.port}/{name}"
        self.path = folder / "office.db"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def key(self) -> str:
        return own_public_key(self.path, Exchange())

    def know(self, peer: str, *, office: Served, more: str = "") -> None:
        (self.terminal.folder / "posthouse.toml").write_text(
            f'[office]\nname = "{self.name}"\n[lease]\nusual = "2s"\n'
            f'[peers]\n{peer} = "{office.name} {office.key} {more}"\n'
            '[patience]\nfirst_pause = "50ms"\nlongest_pause = "200ms"\n'
        )

    def start(self) -> None:
        listen = {"POSTHOUSE_HTTP_LISTEN": f"127.0.0.1:{self.port}"}
        self.process = self.terminal.start("serve", "--json", variables=listen)
        assert json.loads(line_of(self.process))["event"] == "ready"

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def open(self) -> Office:
        return Office.open(self.path)


class Two:
    """Two offices that know each other; `west` lets `east` read the mailboxes that begin with `open`."""

    def __init__(self, folder: Path) -> None:
        self.east, self.west = Served(folder / "east", "east"), Served(folder / "west", "west")
        self.east.know("west", office=self.west)
        self.west.know("east", office=self.east, more="read=open*")
        self.place = f"{self.west.name}#open"


@pytest.fixture
def two() -> Iterator[Two]:
    with tempfile.TemporaryDirectory(prefix="post-") as folder:
        offices = Two(Path(folder))
        try:
            offices.east.start()
            offices.west.start()
            yield offices
        finally:
            offices.east.terminal.end()
            offices.west.terminal.end()


@asynccontextmanager
async def opened(two: Two) -> AsyncIterator[tuple[Office, Office]]:
    async with two.east.open() as east, two.west.open() as west:
        yield east, west


async def test_what_is_put_by_name_is_got_by_name(two: Two) -> None:
    """A-004, A-006, A-024, A-061"""
    async with opened(two) as (east, west):
        mailbox = east.open_mailbox(two.place)
        sent = await mailbox.put("over there", sender="ada")
        got = await mailbox.get(wait=20)
        assert got is not None
        assert (got.id, got.body) == (sent.id, b"over there")
        content = os.urandom(2_000_000)
        await west.put("open", content)
        large = await mailbox.get(wait=20)
        assert large is not None
        assert isinstance(large.body, Body)
        assert b"".join([piece async for piece in east.body(large)]) == content


async def test_what_is_not_open_stays_closed(two: Two) -> None:
    async with opened(two) as (east, west):
        await west.put("private", "secret")
        with pytest.raises(PosthouseError, match="does not let this one read") as told:
            await east.get(f"{two.west.name}#private", wait=None)
        assert told.value.code == "mailbox.not-readable"
        with pytest.raises(PosthouseError, match="listed"):
            await east.get("http://127.0.0.1:1/other#box")


async def test_who_waits_goes_on_while_the_other_office_is_killed_and_comes_back(two: Two) -> None:
    """A-062"""
    async with two.east.open() as east:
        waiting = asyncio.create_task(east.get(two.place, wait=None))
        assert await east.get(two.place, wait=0.1) is None
        await asyncio.to_thread(two.west.kill)
        assert await east.get(two.place, wait=0.3) is None
        await asyncio.to_thread(two.west.start)
        async with two.west.open() as west:
            await west.put("open", "back")
        message = await waiting
        assert message is not None
        assert message.body == b"back"


async def test_what_an_office_had_in_hand_when_it_was_killed_comes_back(two: Two) -> None:
    """A-064"""
    async with two.west.open() as west:
        await west.put("open", "1", sender="ada")
        await west.put("open", "2", sender="ada")
        async with two.east.open() as east:
            taken = await east.take(two.place)
            assert taken is not None
            await asyncio.to_thread(two.east.kill)
        got = [await west.get("open", wait=20) for _ in range(2)]
        assert [one and one.body for one in got] == [b"1", b"2"]


@pytest.mark.timeout(120)
async def test_kills_while_messages_are_fetched_lose_none(two: Two) -> None:
    """A-064: each message is got at least once, and once by all takers together unless the office that lent it died."""
    count, got = 60, set[int]()
    async with two.west.open() as west:
        for number in range(count):
            await west.put("open", str(number), ordered=False)
    kills = itertools.cycle((two.west, two.east))
    for _ in range(4):
        async with two.east.open() as east:
            fetching = asyncio.create_task(fetch(east, two.place, got, enough=len(got) + count // 5))
            await asyncio.wait((fetching,), timeout=30)
            victim = next(kills)
            await asyncio.to_thread(victim.kill)
            fetching.cancel()
            await asyncio.gather(fetching, return_exceptions=True)
        await asyncio.to_thread(victim.start)
    async with two.east.open() as east:
        await fetch(east, two.place, got, enough=count)
        assert (await east.call(AskStatus())).dead == 0
    assert got == set(range(count))


async def fetch(office: Office, place: str, got: set[int], *, enough: int) -> None:
    while len(got) < enough:
        message = await office.get(place, wait=20)
        if message is not None:
            assert isinstance(message.body, bytes)
            got.add(int(message.body))
