"""A listener for the tests of the network way: one key, a real server, a port of its own."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn

from posthouse.office.house import House
from posthouse.server.assemble import link_site
from posthouse.server.control import Guest
from posthouse.transport.websocket.site import Denial, Scope

KEY = "a-key-that-opens"


async def authenticate(scope: Scope) -> Guest | Denial:
    """Let in whoever shows the key."""
    shown = dict(scope["headers"]).get(b"authorization")
    if shown == f"Bearer {KEY}".encode():
        return Guest("key tests")
    return Denial(401, "key.unknown", "expected a key that the office knows")


class Quiet(uvicorn.Server):
    """Leaves the signals of the process alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def listening(house: House, *, port: int = 0, certificate: Path | None = None) -> AsyncIterator[str]:
    """Serve programs over the network; gives the address."""
    site = link_site(house, authenticate)
    config = uvicorn.Config(
        site, lifespan="off", log_config=None, access_log=False, timeout_graceful_shutdown=1, ssl_certfile=certificate
    )
    server = Quiet(config)
    with socket.create_server(("127.0.0.1", port)) as listener:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"{'https' if certificate else 'http'}://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            await site.close()
            server.should_exit = True
            await serving
