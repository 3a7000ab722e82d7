"""The only module that asks for the time or draws chance; everything else is handed a `Clock`."""

from __future__ import annotations

import asyncio
import os
import random
import time
from typing import Final, Protocol
from uuid import UUID


class Clock(Protocol):
    """Time, identity and chance, so that a test can set all three."""

    def now(self) -> int:
        """Give the wall clock in microseconds since 1970, UTC."""
        ...

    def new_id(self) -> UUID:
        """Draw a fresh UUIDv7; identities drawn by one clock never go backwards."""
        ...

    def chance(self) -> float:
        """Draw a number in [0, 1)."""
        ...

    def secret(self) -> bytes:
        """Draw 32 bytes that nobody can guess."""
        ...

    async def wait_until(self, instant: int) -> None:
        """Return once `now()` has reached the instant."""
        ...


_DRAWN_AT_ONCE: Final = 256


class SystemClock:
    """The machine's own clock and entropy."""

    def __init__(self) -> None:
        self._last = 0
        self._drawn = b""
        self._process = 0

    def now(self) -> int:
        return time.time_ns() // 1000

    def new_id(self) -> UUID:
        # RFC 9562, method 3: 48 bits of milliseconds, 12 bits of the fraction of the millisecond, 62 random bits.
        # Stepping the 60 time bits forward by one keeps the identities of one process in the order they were drawn.
        nanoseconds = time.time_ns()
        milliseconds, rest = divmod(nanoseconds, 1_000_000)
        stamp = (milliseconds << 12) | (rest * 4096 // 1_000_000)
        if stamp <= self._last:
            stamp = self._last + 1
        self._last = stamp
        if not self._drawn or self._process != os.getpid():
            # Asking the kernel costs as much as all the rest; a child process must not draw what its parent holds.
            self._drawn, self._process = os.urandom(_DRAWN_AT_ONCE), os.getpid()
        chance = int.from_bytes(self._drawn[-8:]) & 0x3FFF_FFFF_FFFF_FFFF
        self._drawn = self._drawn[:-8]
        high = ((stamp >> 12) << 16) | 0x7000 | (stamp & 0xFFF)
        return UUID(int=(high << 64) | 0x8000_0000_0000_0000 | chance)

    def chance(self) -> float:
        return random.random()

    def secret(self) -> bytes:
        return os.urandom(32)

    async def wait_until(self, instant: int) -> None:
        while (left := instant - self.now()) > 0:  # noqa: ASYNC110 - the passing of time sets no event
            await asyncio.sleep(min(left / 1_000_000, 3600.0))
