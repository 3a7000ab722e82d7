"""An office in memory that answers over HTTP on a free port of this machine, and clients for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import msgspec

from posthouse.clock import SystemClock
from posthouse.office.calls import CreateCredential, SettleTaken, TakeNext, slip_of
from posthouse.office.house import House
from posthouse.office.intake import Stores
from posthouse.office.terms import Patience, Terms
from posthouse.server.settings import HttpSettings
from posthouse.server.web import Site, over_http
from posthouse.store.memory.store import MemoryStore
from posthouse.store.ports import Store
from tests.unit.office.rig import parcel

QUICK = HttpSettings(listen="127.0.0.1:0", drain_seconds=1.0)


class Place:
    """What a test does and sees."""

    def __init__(self, house: House, site: Site, client: httpx.AsyncClient) -> None:
        self.house = house
        self.site = site
        self.client = client
        (self.url,) = site.addresses

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    async def key(self, *scopes: str, name: str = "till") -> str:
        issued = await self.house.answer(CreateCredential(name=name, scopes=list(scopes)))
        return issued.key

    async def headers(self, *scopes: str) -> dict[str, str]:
        return {"authorization": f"Bearer {await self.key(*scopes)}"}

    async def sign_in(self) -> str:
        """Sign the client in; gives the mark its forms must bear."""
        answer = await self.client.post("/pages/sign-in", data={"key": await self.key("administer")})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        page = (await self.client.get("/")).text
        return page.partition('name="mark" value="')[2].partition('"')[0]

    async def bury(self, number: int = 1, *, box: str = "bob", reason: str = "no such street") -> None:
        await self.house.counter.accept([parcel(number, to=box)])
        (taken,) = await self.house.answer(TakeNext(mailbox=box, wait=None, holder="test"))
        await self.house.answer(SettleTaken(slips=[slip_of(taken)], event="failed", reason=reason))

    async def raw(self, *pieces: bytes) -> bytes:
        """Send bytes as they are, and give all that comes back until the office hangs up."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            return await reader.read()
        finally:
            writer.close()


def _client(site: Site) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=site.addresses[0], trust_env=False)


# `Any`: the settings that are to be others.
@asynccontextmanager
async def place(*, durable: Store | None = None, mounts: Any = None, **settings: Any) -> AsyncIterator[Place]:
    """Open an office and its site."""
    stores = Stores(durable or await MemoryStore.open(), await MemoryStore.open())
    house = House(SystemClock(), Terms(patience=Patience(attempts=1)), stores=stores)
    await house.start()
    try:
        chosen = msgspec.structs.replace(QUICK, **settings)
        async with over_http(house, chosen, mounts=mounts or {}) as site, _client(site) as client:
            yield Place(house, site, client)
    finally:
        await house.stop()
