"""A clock that stands still until a test moves it: time, identities and chance are the same on every run."""

from __future__ import annotations

import asyncio
import hashlib
from uuid import UUID

from posthouse.testing.build import SECOND, START


class FakeClock:
    """See `clock.Clock`; nothing here asks for the real time, and nobody who waits for an instant waits for real."""

    def __init__(self, now: int = START) -> None:
        self._now = now
        self._drawn = 0
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._news = asyncio.Event()
        self.luck = 0.5
        """What `chance` draws."""

    def now(self) -> int:
        return self._now

    def new_id(self) -> UUID:
        self._drawn += 1
        return UUID(int=(self._now // 1000) << 80 | 0x7 << 76 | 0x2 << 62 | self._drawn)

    def chance(self) -> float:
        return self.luck

    def secret(self) -> bytes:
        self._drawn += 1
        return hashlib.sha256(self._drawn.to_bytes(8)).digest()

    async def wait_until(self, instant: int) -> None:
        while self._now < instant:
            arrival: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((instant, arrival))
            self._news.set()
            await arrival

    def advance(self, seconds: float) -> None:
        """Let time pass; whoever waits for an instant that has come by then goes on."""
        self.set_to(self._now + round(seconds * SECOND))

    def set_to(self, instant: int) -> None:
        """Set the clock, back too."""
        self._now = instant
        for due, arrival in self._waiting:
            if due <= instant and not arrival.done():
                arrival.set_result(None)
        self._waiting = [waiting for waiting in self._waiting if not waiting[1].done()]

    async def somebody_waits(self, instant: int | None = None) -> int:
        """Return once somebody waits for an instant, whichever or this one; give the earliest."""
        while not self.awaited if instant is None else instant not in self.awaited:
            self._news.clear()
            await self._news.wait()
        return self.awaited[0]

    @property
    def awaited(self) -> list[int]:
        """The instants somebody waits for, earliest first."""
        return sorted(due for due, arrival in self._waiting if not arrival.done())
