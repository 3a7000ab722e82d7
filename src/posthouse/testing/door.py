"""A door to made-up offices, for tests of those who use doors."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from posthouse.message.message import Body, Message
from posthouse.transport.ports import Outgoing, Result


@dataclass
class Elsewhere:
    """A made-up office: what it got, how often it was asked, and how it answers."""

    open: bool = True
    got: list[Outgoing] = field(default_factory=list)
    bodies: dict[Body, bytes] = field(default_factory=dict)
    walks: list[int] = field(default_factory=list)
    """How many messages each walk brought, in vain or not."""
    refusing: str = ""
    """Why it refuses everything for good."""
    full: frozenset[str] = frozenset()
    """The names of mailboxes that have no room now."""
    asking: float | None = None
    """Seconds after which it asks to come back."""
    hanging: asyncio.Event | None = None
    """Set once it answers; until then it lets postmen stand at the door."""

    @property
    def messages(self) -> list[Message]:
        """What it got, in the order of arrival."""
        return [outgoing.message for outgoing in self.got]


class FakeDoor:
    """See `ports.Door`; offices are made by being named."""

    def __init__(self, protocol: str = "local") -> None:
        self.protocol = protocol
        self.offices: dict[str, Elsewhere] = {}
        self.closed = False
        self.greeted = 0
        self._news = asyncio.Event()

    def office(self, name: str) -> Elsewhere:
        """Give the office of this name."""
        return self.offices.setdefault(name, Elsewhere())

    async def deliver(self, office: str, batch: Sequence[Outgoing]) -> list[Result]:
        there = self.office(office)
        there.walks.append(len(batch))
        self._news.set()
        if there.hanging is not None:
            await there.hanging.wait()
        if not there.open:
            raise ConnectionRefusedError("nobody is in")
        if there.asking is not None:
            return [Result("unreachable", "come back later", there.asking)] * len(batch)
        blocked: set[str | None] = set()
        return [await self._take_in(there, outgoing, blocked) for outgoing in batch]

    async def greet(self) -> None:
        self.greeted += 1

    async def close(self) -> None:
        self.closed = True

    async def walked(self, office: str, times: int) -> None:
        """Return once postmen have been at an office so often."""
        while len(self.office(office).walks) < times:
            self._news.clear()
            await self._news.wait()

    async def _take_in(self, there: Elsewhere, outgoing: Outgoing, blocked: set[str | None]) -> Result:
        if there.refusing:
            return Result("refused", there.refusing)
        if outgoing.envelope.sender in blocked or there.full & set(outgoing.envelope.everybody):
            blocked.add(outgoing.envelope.sender)
            return Result("unreachable", "the mailbox is full")
        if outgoing.message.id not in {message.id for message in there.messages}:
            body = outgoing.message.body
            if isinstance(body, Body) and outgoing.pieces is not None:
                there.bodies[body] = b"".join([piece async for piece in outgoing.pieces()])
            there.got.append(outgoing)
        return Result("delivered")
