"""An office that answers over HTTP on a port of its own, and a client with a key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec

from posthouse.office.calls import CreateCredential
from posthouse.office.house import House
from posthouse.office.terms import Terms
from posthouse.server.assemble import open_house
from posthouse.server.settings import HttpSettings
from posthouse.server.web import over_http

SETTINGS = HttpSettings(listen="127.0.0.1:0", drain_seconds=2.0)


class Town:
    """One office, its address, and clients of it."""

    def __init__(self, house: House, address: str) -> None:
        self.house = house
        self.address = address
        self.api = f"{address}/api/v1"
        self._clients: list[httpx.AsyncClient] = []

    async def key(self, *scopes: str) -> str:
        issued = await self.house.answer(CreateCredential(name="made-up", scopes=list(scopes or ("administer",))))
        return issued.key

    async def client(self, *scopes: str) -> httpx.AsyncClient:
        """Give a client with a key of its own."""
        headers = {"authorization": f"Bearer {await self.key(*scopes)}"}
        client = httpx.AsyncClient(base_url=self.api, headers=headers, trust_env=False, timeout=30)
        self._clients.append(client)
        return client

    async def takers(self, count: int) -> None:
        """Return once so many wait for something to take."""
        while len(self.house.counter.waiting) < count:  # noqa: ASYNC110 - going to wait sets no event
            await asyncio.sleep(0.001)

    async def close(self) -> None:
        for client in self._clients:
            await client.aclose()


@asynccontextmanager
async def town(folder: Path, *, terms: Terms | None = None, settings: HttpSettings = SETTINGS) -> AsyncIterator[Town]:
    """Open an office and answer over HTTP."""
    async with (
        open_house(folder / "office.db", terms or Terms(), socket=False) as house,
        over_http(house, settings) as site,
    ):
        found = Town(house, site.addresses[0])
        try:
            yield found
        finally:
            await found.close()


# `Any`: the members of a JSON object.
def json_of(response: httpx.Response, status: int = 200) -> Any:
    """Give what was answered, once it is sure that it went as meant."""
    assert response.status_code == status, response.text
    return msgspec.json.decode(response.content)
