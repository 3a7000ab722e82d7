"""A stream of bytes over messages: pieces come and go as whole WebSocket messages, cut anywhere.

So a large frame holds up no ping, and many small ones share a message.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Final

PIECE: Final = 262_144
"""Bytes of one message at most."""
SUBPROTOCOL: Final = "posthouse.link.1"
"""What both sides name in the handshake; the number changes with what the bytes mean."""
OFFICE: Final = "posthouse-office"
"""The header in which an office says its name."""

_MUCH: Final = 4 * PIECE
# Seconds to wait, when hanging up, for a peer that reads nothing any more.
_PATIENCE: Final = 2.0


class Inbox:
    """See `frames.Source`; messages are fetched when their bytes are wanted, so a sender cannot run ahead."""

    def __init__(self, receive: Callable[[], Awaitable[bytes]]) -> None:
        self._receive = receive
        self._waiting = bytearray()

    async def readexactly(self, n: int, /) -> bytes:
        while len(self._waiting) < n:
            self._waiting += await self._receive()
        read = bytes(self._waiting[:n])
        del self._waiting[:n]
        return read


class Outbox:
    """See `frames.Sink`; one task sends, everybody else leaves what is to be sent."""

    def __init__(self, send: Callable[[bytes], Awaitable[None]], hang_up: Callable[[], Awaitable[None]]) -> None:
        self._send = send
        self._hang_up = hang_up
        self._waiting = bytearray()
        self._more = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._closing = False
        self._sending = asyncio.create_task(self._run())

    def write(self, data: bytes, /) -> None:
        if self._closing:
            raise ConnectionResetError("the connection is closed")
        self._waiting += data
        self._more.set()
        if len(self._waiting) > _MUCH:
            self._room.clear()

    async def drain(self) -> None:
        await self._room.wait()
        if self._sending.done():
            raise ConnectionResetError("the connection is closed")

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._closing = True
        self._more.set()

    async def wait_closed(self) -> None:
        """See `frames.Sink`; whoever reads nothing is not waited for."""
        self.close()
        await asyncio.wait((self._sending,), timeout=_PATIENCE)
        self._sending.cancel()
        await asyncio.gather(self._sending, return_exceptions=True)
        with contextlib.suppress(OSError):
            await self._hang_up()

    async def _run(self) -> None:
        try:
            while self._waiting or not self._closing:
                await self._next()
        except OSError:
            # The peer has gone: whoever reads from it is told.
            pass
        finally:
            self._closing = True
            self._room.set()

    async def _next(self) -> None:
        if not self._waiting:
            self._more.clear()
            await self._more.wait()
            return
        piece = bytes(self._waiting[:PIECE])
        del self._waiting[:PIECE]
        if len(self._waiting) <= PIECE:
            self._room.set()
        await self._send(piece)
