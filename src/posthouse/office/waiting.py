"""Waiting for something to take: whoever waits for a box is woken by the commit that put something there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from posthouse.clock import Clock


class WaitingRoom:
    """The takers that wait, by box; used on the event loop only."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._bells: dict[str, set[asyncio.Event]] = {}
        # Counts begin at the time of day, so that one handed out by an earlier process means something came since.
        self._first = clock.now()
        self._counts: dict[str, int] = {}

    def stir(self, boxes: frozenset[str]) -> None:
        """Wake everybody who waits for one of these boxes."""
        for box in boxes & self._bells.keys():
            for bell in self._bells[box]:
                bell.set()
        for box in boxes & self._counts.keys():
            self._counts[box] += 1

    def ring_out(self) -> None:
        """Wake everybody: nothing more will come."""
        for bells in self._bells.values():
            for bell in bells:
                bell.set()

    def count(self, box: str) -> int:
        """Give a number that changes whenever something may have come to a box."""
        return self._counts.setdefault(box, self._first)

    @contextmanager
    def bell(self, box: str) -> Iterator[asyncio.Event]:
        """Give an event that is set whenever something may have come to a box."""
        bell = asyncio.Event()
        self._bells.setdefault(box, set()).add(bell)
        try:
            yield bell
        finally:
            waiting = self._bells[box]
            waiting.discard(bell)
            if not waiting:
                del self._bells[box]

    async def hear(self, bell: asyncio.Event, last: int | None) -> bool:
        """Wait for a bell until an instant, or for ever; say whether it rang."""
        return await heard(bell, self._clock, until=last)

    def __len__(self) -> int:
        return sum(map(len, self._bells.values()))


async def heard(bell: asyncio.Event, clock: Clock, *, until: int | None) -> bool:
    """Wait until an event is set or an instant has come; say whether the event is set."""
    if bell.is_set():
        return True
    if until is None:
        return await bell.wait()
    if clock.now() >= until:
        return False
    ringing = asyncio.ensure_future(bell.wait())
    passing = asyncio.ensure_future(clock.wait_until(until))
    try:
        await asyncio.wait((ringing, passing), return_when=asyncio.FIRST_COMPLETED)
    finally:
        ringing.cancel()
        passing.cancel()
    return bell.is_set()
