"""The way to an office over the network; a lost connection is made again, and what may be asked again is.

The office has given back by then what was taken over the lost one, unless it stopped itself: then the leases go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final, TypeVar

from posthouse.client.way import Asking, hand_in, known
from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.message.envelope import Envelope
from posthouse.message.message import Body, Message
from posthouse.office.calls import Call
from posthouse.office.counter import Unavailable
from posthouse.office.intake import Receipt
from posthouse.server.assemble import FarOffice
from posthouse.server.control import OfficeLink
from posthouse.transport.ports import Disconnected, Unreachable

Reply = TypeVar("Reply")

# Seconds one attempt to connect may take.
_ATTEMPT: Final = 10.0
# Seconds between attempts to connect: often at first, for an office that starts anew is away for a moment only.
_FIRST_PAUSE: Final = 0.02
_LONGEST_PAUSE: Final = 2.0


class Remote:
    """See `way.Way`."""

    def __init__(self, far: FarOffice, *, clock: Clock, timeout: float) -> None:
        self._far = far
        self._clock = clock
        self._timeout = timeout
        self._link: OfficeLink | None = None
        self._reaching = asyncio.Lock()
        self._fault: PosthouseError | None = None
        self._closed = False
        self.office: str | None = None
        self.principal = ""

    async def open(self) -> None:
        """Connect, or say at once what is in the way."""
        async with self._reaching:
            self._link = await self._far.reach(seconds=min(self._timeout, _ATTEMPT))
            self.office = self._far.name

    async def close(self) -> None:
        self._closed = True
        async with self._reaching:
            if self._link is not None:
                await self._link.close()

    async def answer(self, call: Call[Reply]) -> Reply:
        asking = Asking(call, self._clock)
        tries = _Tries(self._clock, self._timeout)
        while True:
            try:
                link = await self._office(asking.left() if asking.waits else tries.left())
            except Unreachable:
                if asking.waits:
                    return asking.nothing()
                raise
            try:
                return await link.answer(asking.call)
            except (Disconnected, Unavailable) as fault:
                # An office that cannot do it now, for it closes perhaps, has not done it.
                harmless = asking.is_harmless or isinstance(fault, Unavailable)
                if not harmless or (not asking.waits and tries.left() <= 0):
                    raise
                waited = asking.waits
                await tries.pause(asking.left() if waited else None)
                asking.go_on()
                if waited and not asking.waits:
                    return asking.nothing()

    async def put(self, batch: list[tuple[Message, Envelope]]) -> list[Receipt]:
        """Hand in messages; handing them in again is harmless, for the office knows them by their ids."""
        call = hand_in(batch)
        again = False
        tries = _Tries(self._clock, self._timeout)
        while True:
            link = await self._office(tries.left())
            try:
                receipts = await link.answer(call)
            except Disconnected:
                if tries.left() <= 0:
                    raise
                again = True
                await tries.pause(None)
            else:
                return [known(receipt) for receipt in receipts] if again else receipts

    async def save_body(self, chunks: AsyncIterator[bytes]) -> Body:
        """Keep a large body; pieces already consumed cannot be sent twice, so this is not tried again."""
        return await (await self._office(self._timeout)).save_body(chunks)

    async def _office(self, seconds: float | None) -> OfficeLink:
        """Give the connection, made anew where it was lost; `Unreachable` when the time is over."""
        if self._link is not None and self._link.is_open and not self._closed:
            return self._link
        try:
            async with asyncio.timeout(seconds), self._reaching:
                return await self._reach()
        except TimeoutError:
            raise self._fault or Unreachable("the office does not answer", where=self._far.url) from None

    async def _reach(self) -> OfficeLink:
        tries = _Tries(self._clock, self._timeout)
        while True:
            if self._closed:
                raise Disconnected("this way to the office is closed", where=self._far.url)
            if self._link is not None and self._link.is_open:
                return self._link
            if self._link is not None:
                link, self._link = self._link, None
                await link.close()
            try:
                self._link = await self._far.reach(seconds=min(self._timeout, _ATTEMPT))
            except Unreachable as fault:
                self._fault = fault
                await tries.pause(None)


class _Tries:
    """How often something is tried: at first soon, then less and less, for so many seconds in all."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._ends = asyncio.get_running_loop().time() + seconds
        self._next = _FIRST_PAUSE

    def left(self) -> float:
        """Give the seconds that are left."""
        return max(0.0, self._ends - asyncio.get_running_loop().time())

    async def pause(self, most: float | None) -> None:
        """Wait: nobody tells when an office listens again, and a crowd must not ask for it all at once."""
        pause = self._next * (0.5 + self._clock.chance())
        self._next = min(self._next * 2, _LONGEST_PAUSE)
        await asyncio.sleep(pause if most is None else min(pause, most))
