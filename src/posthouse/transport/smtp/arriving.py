"""A mail on its way in: held in memory while it is small, stored piece by piece once it is not."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Final

from posthouse.message.message import Body
from posthouse.transport.smtp.port import Mailroom

# What may wait for the disk before the client is made to wait.
_FULL: Final = 262_144


class Arriving:
    """One mail; `slow` and `fast` are called when the disk falls behind and when it has caught up."""

    def __init__(
        self, room: Mailroom, inline_bytes: int, *, slow: Callable[[], None], fast: Callable[[], None]
    ) -> None:
        self._room = room
        self._inline_bytes = inline_bytes
        self._slow, self._fast = slow, fast
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._saving: asyncio.Task[Body] | None = None
        self._news = asyncio.Event()
        self._ended = False

    @property
    def is_large(self) -> bool:
        """It is stored while it comes."""
        return self._saving is not None

    def add(self, piece: bytes) -> None:
        """Take a piece."""
        if self._saving is not None and self._saving.done():
            # What went wrong is told at the end; until then nothing more is kept.
            return
        self._pieces.append(piece)
        self._size += len(piece)
        if self._saving is None:
            if self._size <= self._inline_bytes:
                return
            self._saving = asyncio.create_task(self._room.save_body(self._chunks()))
            self._saving.add_done_callback(lambda _: self._fast())
        self._news.set()
        if self._size > _FULL:
            self._slow()

    async def end(self) -> bytes | Body:
        """Give the whole mail; raises what kept it from being stored."""
        self._ended = True
        if self._saving is None:
            return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._news.set()
        return await self._saving

    def abandon(self) -> asyncio.Task[Body] | None:
        """Forget it; gives the task that still has to clear away what is on the disk, if there is one."""
        self._pieces.clear()
        if self._saving is not None:
            self._saving.cancel()
        return self._saving

    async def _chunks(self) -> AsyncIterator[bytes]:
        while True:
            while self._pieces:
                piece = self._pieces.popleft()
                self._size -= len(piece)
                yield piece
            if self._ended:
                return
            self._fast()
            self._news.clear()
            await self._news.wait()
