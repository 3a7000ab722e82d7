"""The three ways a program has to its office: in its own process, by its control socket, and over the network."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from posthouse.client import Office, connect
from posthouse.message.name import parse_office
from posthouse.message.passage import Limits
from posthouse.office.terms import Patience, Terms
from posthouse.server.assemble import open_house
from tests.scenario.office.listener import KEY, listening

# Real time passes here, so everything that takes time takes little of it.
QUICK: Final = Terms(
    patience=Patience(first_pause=0.05, growth=1.5, longest_pause=0.2, attempts=3, give_up_after=1.0),
    limits=Limits(body_bytes=3_000_000),
    lease_seconds=20.0,
)

Way = Callable[..., AbstractAsyncContextManager[Office]]


def named(office: str, terms: Terms = QUICK) -> Terms:
    """Give the same terms for an office with a name of its own."""
    return Terms(
        name=parse_office(f"local:{office}"),
        patience=terms.patience,
        limits=terms.limits,
        lease_seconds=terms.lease_seconds,
    )


@asynccontextmanager
async def in_process(path: Path, terms: Terms = QUICK) -> AsyncIterator[Office]:
    async with Office.open(path, terms=terms) as office:
        yield office


@asynccontextmanager
async def by_socket(path: Path, terms: Terms = QUICK) -> AsyncIterator[Office]:
    async with Office.open(path, terms=terms), Office.open(path) as office:
        yield office


@asynccontextmanager
async def over_network(path: Path, terms: Terms = QUICK) -> AsyncIterator[Office]:
    async with (
        open_house(path, terms, socket=False) as house,
        listening(house) as url,
        connect(url, key=KEY) as office,
    ):
        yield office


WAYS: Final[dict[str, Way]] = {"in process": in_process, "by socket": by_socket, "over network": over_network}


class Child:
    """Another process with the office: it does one thing, says so, and stays until it is told to go or killed."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def said(self) -> str:
        """Give the next line it writes."""
        assert self._process.stdout is not None
        return (await self._process.stdout.readline()).decode().strip()

    async def kill(self) -> None:
        """End it as a power cut would."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()

    async def send_away(self) -> None:
        """Let it close the office and end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert await self._process.wait() == 0


@asynccontextmanager
async def child(path: Path, *words: str) -> AsyncIterator[Child]:
    """Start a process that opens the office and does what `another.py` knows under these words."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__).with_name("another.py")),
        str(path),
        *words,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    started = Child(process)
    try:
        yield started
    finally:
        await started.kill()


@asynccontextmanager
async def several(path: Path, count: int) -> AsyncIterator[list[Office]]:
    """Open so many ways to one office; the first holds it, unless another process does."""
    async with AsyncExitStack() as opened:
        yield [await opened.enter_async_context(Office.open(path, terms=QUICK)) for _ in range(count)]
