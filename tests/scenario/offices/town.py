"""Offices in processes of their own, on ports of this machine, and the test that looks into all of them."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import uvloop

from posthouse.clock import SystemClock
from posthouse.message.attribute import Value
from posthouse.message.envelope import Envelope
from posthouse.message.message import Head, compose, read_head
from posthouse.message.name import parse_office
from posthouse.message.peer import Exchange, Peer
from posthouse.office.calls import AskStatus, Call, Handed, Put, SettleTaken, Status, Taken, TakeNext, slip_of
from posthouse.office.intake import Receipt
from posthouse.office.terms import Patience, Terms
from posthouse.server.assemble import open_house, own_public_key, reach_house
from posthouse.server.control import OfficeLink
from posthouse.testing.port import free_port
from posthouse.transport.ports import Disconnected, Unreachable
from tests.scenario.offices.listening import Mounts, listening

QUICK: Final = Patience(first_pause=0.05, growth=2.0, longest_pause=0.4)
PATIENT: Final = Patience(first_pause=300.0, longest_pause=900.0)
"""Nobody who waits for the end of a pause ends a test."""

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.scenario.offices.town"])


def live(path: str, terms: Terms, port: int) -> None:
    """Be an office until killed."""
    uvloop.run(_live(Path(path), terms, port))


async def _live(path: Path, terms: Terms, port: int) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    mounts = Mounts()
    async with open_house(path, terms, mount=mounts.mount) as house, listening(mounts, port):
        await house.announce()
        await stop.wait()


class Place:
    """One office: its process may come and go, its store, its name and its port stay."""

    def __init__(self, folder: Path, name: str) -> None:
        self.port = free_port()
        self.name = f"http://127.0.0.1:{self.port}/{name}"
        self.path = folder / f"{name}.db"
        self.key = own_public_key(self.path, Exchange())
        self.terms = Terms(name=parse_office(self.name), patience=QUICK)
        self._word = name
        self._process: multiprocessing.process.BaseProcess | None = None
        self._link: OfficeLink | None = None

    def knows(self, *peers: Peer, patience: Patience = QUICK, **exchange: Any) -> None:
        self.terms = Terms(
            name=self.terms.name, patience=patience, exchange=Exchange(peers=peers, **exchange)
        )  # fmt: skip

    def rename(self, name: str) -> None:
        self.name = name
        self.terms = msgspec.structs.replace(self.terms, name=parse_office(name))

    @property
    def link(self) -> OfficeLink:
        assert self._link is not None
        return self._link

    def resident(self) -> int:
        """Give the most memory the process has had so far, in bytes."""
        assert self._process is not None
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

    def as_peer(self, **more: Any) -> Peer:
        """Give this office as another one lists it."""
        return Peer(**({"name": self._word, "office": self.name, "keys": (self.key,)} | more))

    async def start(self) -> None:
        """Start the process and return once the office answers."""
        process = _context.Process(target=live, args=(str(self.path), self.terms, self.port))
        process.start()
        self._process = process
        while self._link is None:
            assert process.is_alive(), f"{self.name} ended with {process.exitcode}"
            try:
                self._link = await reach_house(self.path)
                await self._link.answer(AskStatus())
            except (Unreachable, Disconnected):
                self._link = None
                # A socket that is not there yet tells nobody when it comes.
                await asyncio.sleep(0.01)

    async def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End the process, gently or not."""
        process, self._process = self._process, None
        link, self._link = self._link, None
        if link is not None:
            await link.close()
        if process is not None and process.pid is not None:
            os.kill(process.pid, number)
            await asyncio.to_thread(process.join, 20)
            assert process.exitcode in {0, -number}, f"{self.name} ended with {process.exitcode}"

    async def answer(self, call: Call[Any]) -> Any:
        return await self.link.answer(call)

    async def status(self) -> Status:
        status: Status = await self.answer(AskStatus())
        return status

    async def put(self, to: str, *numbers: int, sender: str = "alice", **fields: Any) -> list[Receipt]:
        """Hand in messages that can be told from each other by their numbers."""
        clock = SystemClock()
        handed = []
        for number in numbers:
            attributes: dict[str, Value] = {"number": number}
            head = Head(id=clock.new_id(), kind="mail", sender=sender, recipients=(to,), created=clock.now(), **fields)
            message = compose(head, f"{number}".encode(), attributes=attributes)
            handed.append(
                Handed(message.head, message.body, (), Envelope(sender=sender, recipients=(to,)))
            )  # fmt: skip
        receipts: list[Receipt] = await self.answer(Put(parcels=handed))
        assert all(receipt.status == "accepted" for receipt in receipts), receipts
        return receipts

    async def take(self, mailbox: str, count: int, *, wait: float = 30.0) -> list[Taken]:
        """Take so many messages and be done with them."""
        taken: list[Taken] = []
        while len(taken) < count:
            more = await self.answer(TakeNext(mailbox=mailbox, limit=count - len(taken), wait=wait, holder="test"))
            assert more, f"{len(taken)} of {count} messages came to {mailbox}"
            await self.answer(SettleTaken(slips=[slip_of(one) for one in more], event="acknowledged"))
            taken += more
        return taken

    async def rest(self, mailbox: str) -> list[Taken]:
        """Take what else there is."""
        taken: list[Taken] = await self.answer(TakeNext(mailbox=mailbox, limit=1_000, holder="test"))
        return taken

    async def until(self, condition: Any) -> Status:
        """Return once a condition holds for the status of the office."""
        while True:
            status = await self.status()
            if condition(status):
                return status
            # The status of another process tells nobody when it changes.
            await asyncio.sleep(0.01)


def number_of(taken: Taken) -> int:
    letter = taken.leased.letter
    number = read_head(letter.head, letter.body).attributes["number"]
    assert isinstance(number, int)
    return number


def numbers(taken: Sequence[Taken]) -> list[int]:
    return [number_of(one) for one in taken]


@asynccontextmanager
async def town(*places: Place, started: bool = True) -> AsyncIterator[None]:
    """Have offices run, and see that none outlives the test."""
    try:
        if started:
            for place in places:
                await place.start()
        yield
    finally:
        for place in places:
            with contextlib.suppress(ProcessLookupError):
                await place.end(signal.SIGKILL)


def neighbours(folder: Path, **exchange: Any) -> tuple[Place, Place]:
    """Give two offices that know each other."""
    north, south = Place(folder, "north"), Place(folder, "south")
    north.knows(south.as_peer(), **exchange)
    south.knows(north.as_peer(), **exchange)
    return north, south
