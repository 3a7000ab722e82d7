"""A line to a mail server: bytes there and back, encrypted from the moment that is wanted. It knows no SMTP."""

from __future__ import annotations

import asyncio
import ssl
from typing import Final, cast

# A server that is not asked anything and still talks is not listened to for ever.
_MOST_UNREAD: Final = 262_144


class Line(asyncio.Protocol):
    """One connection."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._unread = bytearray()
        self._news = asyncio.Event()
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._is_over = False
        self._paused = False
        self._is_gone = asyncio.Event()

    @property
    def is_open(self) -> bool:
        """Say whether the server is still there, as far as is known, and has said nothing unasked."""
        return not (self._is_over or self._unread)

    @property
    def is_encrypted(self) -> bool:
        """Say whether the line is encrypted."""
        return self._transport is not None and self._transport.get_extra_info("ssl_object") is not None

    @property
    def has_news(self) -> bool:
        """Say whether something came that was not read yet."""
        return bool(self._unread)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not of the class, though they are one.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._unread += data
        if len(self._unread) > _MOST_UNREAD and self._transport is not None:
            self._transport.pause_reading()
            self._paused = True
        self._news.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's own shape
        self._is_over = True
        self._is_gone.set()
        self._news.set()
        self._may_write.set()

    def eof_received(self) -> bool:
        self._is_over = True
        self._news.set()
        return False

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    async def read(self) -> bytes:
        """Give what came since the last time, at least a byte; empty once the server has gone."""
        while not self._unread and not self._is_over:
            self._news.clear()
            await self._news.wait()
        data = bytes(self._unread)
        self._unread.clear()
        if self._paused and self._transport is not None:
            self._transport.resume_reading()
            self._paused = False
        return data

    async def write(self, *data: bytes) -> None:
        """Send, and wait while too much is on its way already."""
        if self._transport is None or self._is_over:
            raise ConnectionResetError("the server closed the connection")
        self._transport.writelines(data)
        await self._may_write.wait()

    async def encrypt(self, context: ssl.SSLContext, host: str) -> None:
        """Encrypt the line from here on; what came in the open and was not read is an attempt to be read later."""
        if self._unread:
            raise ssl.SSLError("more came in the open before the line was encrypted")
        assert self._transport is not None
        loop = asyncio.get_running_loop()
        transport = await loop.start_tls(self._transport, self, context, server_hostname=host or None)
        assert transport is not None
        self._transport = transport

    async def close(self, seconds: float) -> None:
        """Hang up once everything is sent, or after so long."""
        self._is_over = True
        if self._transport is None:
            return
        self._transport.close()
        try:
            async with asyncio.timeout(seconds):
                await self._is_gone.wait()
        except TimeoutError:
            self._transport.abort()

    def abort(self) -> None:
        """Hang up without waiting for what is on its way."""
        self._is_over = True
        if self._transport is not None:
            self._transport.abort()
