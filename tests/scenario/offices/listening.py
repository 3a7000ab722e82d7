"""A port of this machine at which something answers HTTP, for as long as a test lasts."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

# `Any`: ASGI is untyped by its own definition.
Asgi = Callable[..., Any]


class Mounts:
    """Gives each request to what answers below its path."""

    def __init__(self) -> None:
        self._below: dict[str, Asgi] = {}

    def mount(self, path: str, answerer: Asgi) -> None:
        self._below[path] = answerer

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        answerer = next(each for path, each in self._below.items() if scope["path"].startswith(path))
        await answerer(scope, receive, send)


@asynccontextmanager
async def listening(answerer: Asgi, port: int = 0, **options: Any) -> AsyncIterator[int]:
    """Answer at a port, one that is free where none is named; gives the port."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    config = uvicorn.Config(
        answerer, lifespan="off", log_config=None, access_log=False, timeout_graceful_shutdown=2, **options
    )
    server = uvicorn.Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[listener])
    running = asyncio.create_task(server.main_loop())
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await running
        await server.shutdown(sockets=[listener])
