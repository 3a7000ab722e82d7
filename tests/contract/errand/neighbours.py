"""Two offices with a way from one to the mailboxes of the other; another way joins by a line at the end."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import httpx

from posthouse.clock import SystemClock
from posthouse.message.name import OfficeName, parse_office
from posthouse.message.passage import Limits
from posthouse.message.peer import Exchange, Peer
from posthouse.office.house import House
from posthouse.office.intake import Stores
from posthouse.office.terms import Terms
from posthouse.server.assemble import neighbours_window, peers_window
from posthouse.store.memory.store import MemoryStore
from posthouse.testing.key import a_key
from posthouse.transport.http.entrance import Inside
from posthouse.transport.http.exchange import Post
from posthouse.transport.inprocess import InProcessErrand, Street
from posthouse.transport.ports import Errand


class Neighbours(NamedTuple):
    """The office that asks, the one that is asked, and how to make that one answer nobody."""

    east: House
    west: House
    lock: Callable[[], None]

    @property
    def place(self) -> str:
        """The mailbox there that the tests are about."""
        return f"{self.west.terms.name}#bob"


async def house(name: OfficeName) -> House:
    stores = Stores(await MemoryStore.open(), await MemoryStore.open())
    return House(SystemClock(), Terms(name=name, limits=Limits(body_bytes=10_000_000)), stores=stores)


@asynccontextmanager
async def working(east: House, west: House, errands: dict[str, Errand]) -> AsyncIterator[None]:
    await west.start()
    await east.start(errands=errands)
    try:
        yield
    finally:
        await east.stop()
        await west.stop()


@asynccontextmanager
async def in_process() -> AsyncIterator[Neighbours]:
    street = Street()
    east, west = await house(parse_office("local:east")), await house(parse_office("local:west"))
    street.move_in("west", west.letterbox.take_in, window=neighbours_window(west))
    async with working(east, west, {"local": InProcessErrand(street, "local:east")}):
        yield Neighbours(east, west, lambda: street.move_out("west"))


@asynccontextmanager
async def over_http() -> AsyncIterator[Neighbours]:
    """Ask over HTTP; all of it is real but for the socket."""
    here, there = parse_office("http://east.example:8025/east"), parse_office("http://west.example:8025/west")
    east, west = await house(here), await house(there)
    own, other = a_key(1), a_key(2)
    known = Exchange(peers=(Peer(name="east", office=str(here), keys=(str(own.public),), read=("bo*", "dave")),))
    listed = Exchange(peers=(Peer(name="west", office=str(there), keys=(str(other.public),)),))
    with tempfile.TemporaryDirectory() as folder:
        bodies = west._stores.durable.bodies
        inside = Inside(
            there, west.letterbox.take_in, bodies, 10_000_000, west.hear, ask=peers_window(west, known)
        )  # fmt: skip
        entrance = await Post(SystemClock(), known, name=there, key=other, folder=Path(folder) / "in").entrance(inside)
        post = Post(SystemClock(), listed, name=here, key=own, folder=Path(folder) / "unused")
        post.asker.transport = httpx.ASGITransport(entrance)
        async with working(east, west, {"http": post.errand()}):
            yield Neighbours(east, west, entrance.close)
            # What the other office still works on is part of its own stopping.
            await asyncio.sleep(0)


Opening = Callable[[], AbstractAsyncContextManager[Neighbours]]

ADAPTERS: dict[str, Opening] = {"in process": in_process, "http": over_http}
"""The ways that must keep the contract."""
