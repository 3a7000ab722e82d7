"""A bad link: a proxy between two offices that cuts, delays, stops and swallows."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from posthouse.testing.port import free_port


class Link:
    """What connects a port of its own with another one."""

    def __init__(self, target: int) -> None:
        self.port = free_port()
        self.delay = 0.0
        """Seconds each piece of a conversation takes."""
        self.allowance: int | None = None
        """Bytes from the caller after which the connection breaks; each connection has as many."""
        self.deaf = False
        """Whether answers are swallowed."""
        self.down = False
        self.carried = 0
        """Bytes brought to the target so far."""
        self._target = target
        self._open: set[asyncio.StreamWriter] = set()
        self._news = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.down:
            writer.close()
            return
        with contextlib.suppress(OSError):
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
            self._open |= {writer, back}
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._carry(reader, back, forth=True))
                    group.create_task(self._carry(there, writer, forth=False))
            except* OSError:
                pass
            finally:
                self._open -= {writer, back}
                back.close()
        writer.close()

    def cut(self) -> None:
        """Break everything that is under way."""
        for writer in self._open:
            writer.transport.abort()

    async def has_carried(self, size: int) -> None:
        """Return once so many bytes were brought to the target."""
        while self.carried < size:
            self._news.clear()
            await self._news.wait()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, forth: bool) -> None:
        left = self.allowance
        while piece := await reader.read(16_384):
            if self.delay:
                await asyncio.sleep(self.delay)
            if forth:
                self.carried += len(piece)
                self._news.set()
                if left is not None:
                    piece, left = piece[:left], left - len(piece)
            elif self.deaf:
                continue
            writer.write(piece)
            await writer.drain()
            if left is not None and left <= 0:
                raise ConnectionResetError("the allowance is used up")
        # One side has said all it will: so has the other.
        raise ConnectionResetError("the end")


@asynccontextmanager
async def link(target: int) -> AsyncIterator[Link]:
    """Connect a free port with another one."""
    between = Link(target)
    server = await asyncio.start_server(between.serve, "127.0.0.1", between.port)
    try:
        yield between
    finally:
        server.close()
        between.cut()
