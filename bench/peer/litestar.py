"""A bare endpoint: the same requests into a Litestar application of one route that reads the JSON and keeps nothing."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from litestar import Litestar, Request, post

WHO = "bare Litestar"


@post("/messages", status_code=201)
# `Any`: nobody signs in.
async def take(request: Request[Any, Any, Any]) -> dict[str, int]:
    """Read what comes and count it."""
    messages = await request.json()
    return {"count": len(messages) if isinstance(messages, list) else 1}


class _Server(uvicorn.Server):
    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        print(self.servers[0].sockets[0].getsockname()[1], flush=True)


def run() -> None:
    """Serve on a free port of this machine, and say which."""
    app = Litestar([take], openapi_config=None, logging_config=None)
    _Server(uvicorn.Config(app, port=0, log_level="error", access_log=False, loop="uvloop", lifespan="off")).run()


@asynccontextmanager
async def bare_litestar() -> AsyncIterator[int]:
    """Run it in a process of its own; gives its port."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "bench.peer.litestar", stdout=PIPE)
    try:
        assert process.stdout is not None
        yield int(await process.stdout.readline())
    finally:
        process.terminate()
        await process.wait()


if __name__ == "__main__":
    run()
