"""The offices at the other end of the doors: what arrives there, and how a test makes them answer otherwise."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

import httpx
import msgspec

from posthouse.message import envelope as envelopes
from posthouse.message.changes import Setup
from posthouse.message.envelope import Envelope
from posthouse.message.message import Body, Message, read_head
from posthouse.message.name import parse_office
from posthouse.message.passage import Limits
from posthouse.message.peer import Exchange, Peer
from posthouse.office.calls import ReadBody, SetUp, TakeNext
from posthouse.office.house import House
from posthouse.office.intake import Stores
from posthouse.office.terms import Terms
from posthouse.store.memory.store import MemoryStore
from posthouse.testing.clock import FakeClock
from posthouse.testing.door import FakeDoor
from posthouse.testing.key import a_key
from posthouse.transport.http.entrance import Inside
from posthouse.transport.http.exchange import Post
from posthouse.transport.inprocess import InProcessDoor, Street
from posthouse.transport.ports import Door


class Arrived(msgspec.Struct, frozen=True):
    """One message as the other office has it."""

    message: Message
    envelope: Envelope


class Neighbour(Protocol):
    """An office elsewhere with a door that leads to it."""

    @property
    def door(self) -> Door:
        """The door."""
        ...

    @property
    def name(self) -> str:
        """The name of the office."""
        ...

    async def arrived(self, mailbox: str) -> list[Arrived]:
        """Give what has arrived in one of its mailboxes since the last time, in order."""
        ...

    async def body(self, body: Body) -> bytes:
        """Give a large body the office has."""
        ...

    async def fill(self, mailbox: str) -> None:
        """Leave no room in a mailbox, for now."""
        ...

    async def empty(self, mailbox: str) -> None:
        """Make room in it again."""
        ...

    async def lock_up(self) -> None:
        """Make the office answer nobody."""
        ...


class Recording:
    """The office behind a `FakeDoor`."""

    def __init__(self) -> None:
        self.door = FakeDoor("local")
        self.name = "local:west"
        self._there = self.door.office(self.name)
        self._seen = 0

    async def arrived(self, mailbox: str) -> list[Arrived]:
        new, self._seen = self._there.got[self._seen :], len(self._there.got)
        return [
            Arrived(outgoing.message, outgoing.envelope)
            for outgoing in new
            if f"{self.name}#{mailbox}" in outgoing.envelope.everybody
        ]

    async def body(self, body: Body) -> bytes:
        return self._there.bodies[body]

    async def fill(self, mailbox: str) -> None:
        self._there.full |= {f"{self.name}#{mailbox}"}

    async def empty(self, mailbox: str) -> None:
        self._there.full -= {f"{self.name}#{mailbox}"}

    async def lock_up(self) -> None:
        self._there.open = False


class NextDoor:
    """A real office in the same process, and how to make it answer nobody."""

    def __init__(self, house: House, door: Door, *, lock: Callable[[], None]) -> None:
        self.door = door
        self.name = str(house.terms.name)
        self._house = house
        self._lock = lock

    async def arrived(self, mailbox: str) -> list[Arrived]:
        taken = await self._house.answer(TakeNext(mailbox=mailbox, limit=1000))
        letters = [one.leased.letter for one in taken]
        return [
            Arrived(
                read_head(letter.head, letter.body, sections=letter.sections), envelopes.decode.decode(letter.envelope)
            )
            for letter in letters
        ]

    async def body(self, body: Body) -> bytes:
        read = b""
        while piece := await self._house.answer(ReadBody(body=body, start=len(read))):
            read += piece
        return read

    async def fill(self, mailbox: str) -> None:
        await self._house.answer(SetUp(setup=Setup(mailbox=mailbox, max_messages=0)))

    async def empty(self, mailbox: str) -> None:
        await self._house.answer(SetUp(setup=Setup(mailbox=mailbox)))

    async def lock_up(self) -> None:
        self._lock()


@asynccontextmanager
async def recording() -> AsyncIterator[Neighbour]:
    yield Recording()


@asynccontextmanager
async def in_process() -> AsyncIterator[Neighbour]:
    street = Street()
    terms = Terms(name=parse_office("local:west"), limits=Limits(body_bytes=1_000_000))
    house = House(FakeClock(), terms, stores=Stores(await MemoryStore.open(), await MemoryStore.open()))
    await house.start()
    street.move_in("west", house.letterbox.take_in)
    try:
        yield NextDoor(house, InProcessDoor(street), lock=lambda: street.move_out("west"))
    finally:
        await house.stop()


@asynccontextmanager
async def over_http() -> AsyncIterator[Neighbour]:
    """A real office behind its entrance; what is between is HTTP, but for the socket."""
    clock, key, there = FakeClock(), a_key(1), a_key(2)
    name, west = parse_office("http://east.example:8025/east"), parse_office("http://west.example:8025/west")
    stores = Stores(await MemoryStore.open(), await MemoryStore.open())
    house = House(clock, Terms(name=west, limits=Limits(body_bytes=1_000_000)), stores=stores)
    await house.start()
    inside = Inside(west, house.letterbox.take_in, stores.durable.bodies, 1_000_000, house.hear)
    with tempfile.TemporaryDirectory() as folder:
        peer = Exchange(peers=(Peer(name="east", office=str(name), keys=(str(key.public),)),), piece_bytes=100_000)
        entrance = await Post(clock, peer, name=west, key=there, folder=Path(folder) / "arriving").entrance(inside)
        peer = Exchange(peers=(Peer(name="west", office=str(west), keys=(str(there.public),)),), piece_bytes=100_000)
        post = Post(clock, peer, name=name, key=key, folder=Path(folder) / "unused")
        post.caller.transport = httpx.ASGITransport(entrance)
        try:
            yield NextDoor(house, post.doors()[0], lock=entrance.close)
        finally:
            await post.caller.close()
            await house.stop()


Opening = Callable[[], AbstractAsyncContextManager[Neighbour]]

ADAPTERS: dict[str, Opening] = {
    "fake": recording,
    "in process": in_process,
    "http": over_http,
}
"""The doors that must keep the contract; another one joins by a line here."""
