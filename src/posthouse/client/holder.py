"""Who holds the office: this process where nobody else does, else the process that serves the control socket.

When that process goes away, one of those that asked it opens the office in its place; the others ask the new one.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, TypeVar, cast

import msgspec

from posthouse.client.way import Asking, hand_in, known
from posthouse.clock import Clock
from posthouse.message.envelope import Envelope
from posthouse.message.message import Body, Message
from posthouse.message.name import LOCAL
from posthouse.office.calls import Call, TakeNext
from posthouse.office.intake import Receipt
from posthouse.office.sorting import Parcel
from posthouse.office.terms import Terms
from posthouse.office.visitor import Visitor
from posthouse.server.assemble import name_of_insider, open_house, reach_house
from posthouse.server.control import OfficeLink
from posthouse.store.ports import StoreLocked
from posthouse.transport.ports import Disconnected, Unreachable

Reply = TypeVar("Reply")

# How long to look for the office: one that starts or stops is between its lock and its socket for a moment only.
_LOOK_FOR: Final = 10.0
_LOOK_EVERY: Final = 0.02


class Holder:
    """The way from this process to its office."""

    def __init__(self, path: Path, *, terms: Terms, clock: Clock) -> None:
        self._path = path
        self._terms = terms
        self._clock = clock
        self._inside: Visitor | None = None
        self._link: OfficeLink | None = None
        self._opened = AsyncExitStack()
        self._finding = asyncio.Lock()
        self._closed = False
        self.office = None if terms.name == LOCAL else str(terms.name)
        self.principal = f"user {os.getuid()}"

    async def open(self) -> None:
        """Open the office, or reach it."""
        await self._office()

    async def close(self) -> None:
        """Let go of the office; what is still in hand goes back."""
        self._closed = True
        async with self._finding:
            if self._link is not None:
                await self._link.close()
            if self._inside is not None:
                await self._inside.house.counter.close()
                await self._inside.leave()
            await self._opened.aclose()

    async def answer(self, call: Call[Reply]) -> Reply:
        """Ask the office; a question lost with the process that held it is asked again where that does no harm."""
        asking = Asking(call, self._clock)
        while True:
            office = await self._office()
            try:
                return await office.answer(_named(asking.call) if isinstance(office, Visitor) else asking.call)
            except Disconnected:
                if not asking.is_harmless:
                    raise
                asking.go_on()

    async def put(self, batch: list[tuple[Message, Envelope]]) -> list[Receipt]:
        """Hand in messages; handing them in again is harmless, for the office knows them by their ids."""
        if self._inside is not None:
            return await self._inside.house.counter.accept([Parcel(*each) for each in batch])
        call = hand_in(batch)
        again = False
        while True:
            office = await self._office()
            try:
                receipts = await office.answer(call)
            except Disconnected:
                again = True
            else:
                return [known(receipt) for receipt in receipts] if again else receipts

    async def save_body(self, chunks: AsyncIterator[bytes]) -> Body:
        """Keep a large body; pieces already consumed cannot be sent twice, so this is not tried again."""
        office = await self._office()
        if isinstance(office, Visitor):
            return await office.house.counter.save_body(chunks)
        return await office.save_body(chunks)

    async def _office(self) -> Visitor | OfficeLink:
        return self._known_office() or await self._find()

    def _known_office(self) -> Visitor | OfficeLink | None:
        if self._closed:
            raise Disconnected("this way to the office is closed", where=str(self._path))
        if self._inside is not None:
            return self._inside
        return self._link if self._link is not None and self._link.is_open else None

    async def _find(self) -> Visitor | OfficeLink:
        """Open the office or reach it; only a store in other hands is worth looking again."""
        async with self._finding:
            loop = asyncio.get_running_loop()
            last = loop.time() + _LOOK_FOR
            while True:
                if (office := self._known_office()) is not None:
                    return office
                try:
                    opening = open_house(self._path, self._terms, clock=self._clock)
                    self._inside = Visitor(await self._opened.enter_async_context(opening))
                except StoreLocked:
                    if await self._reach():
                        continue
                    if loop.time() > last:
                        raise
                    # The kernel tells nobody that a file lock was let go.
                    await asyncio.sleep(_LOOK_EVERY)

    async def _reach(self) -> bool:
        if self._link is not None:
            await self._link.close()
            self._link = None
        try:
            self._link = await reach_house(self._path)
        except Unreachable:
            return False
        return True


def _named(call: Call[Reply]) -> Call[Reply]:
    """Name the taker as one inside the process that has the office open."""
    if isinstance(call, TakeNext):
        return cast("Call[Reply]", msgspec.structs.replace(call, holder=name_of_insider()))
    return call
