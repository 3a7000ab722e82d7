"""What everything that answers over HTTP is given of the office behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

from posthouse.clock import Clock
from posthouse.message.message import Body
from posthouse.message.name import OfficeName
from posthouse.office.asking import Asking
from posthouse.office.calls import Call
from posthouse.office.intake import Receipt
from posthouse.office.keyring import Keyring
from posthouse.office.meter import Meter
from posthouse.office.permit import Permit
from posthouse.office.sorting import Parcel
from posthouse.web.guard import Watch
from posthouse.web.look import Answers, Watchman
from posthouse.web.session import Sessions

Reply = TypeVar("Reply")


class Counter(Protocol):
    """Where messages and large bodies are handed in without being written as bytes first."""

    async def accept(self, parcels: Sequence[Parcel]) -> list[Receipt]:
        """Hand in messages; each is answered."""
        ...

    async def save_body(self, chunks: AsyncIterator[bytes]) -> Body:
        """Keep a large body."""
        ...


class Front(NamedTuple):
    """The front of one office."""

    office: Answers
    asking: Asking
    counter: Counter
    name: OfficeName
    keyring: Keyring
    clock: Clock
    watch: Watch
    watchman: Watchman
    meter: Meter
    sessions: Sessions
    closing: asyncio.Event
    """Set when the office is told to stop: streams and long waits end with an answer of their own."""

    async def ask(self, permit: Permit, call: Call[Reply]) -> Reply:
        """Ask the office in somebody's name; `NotPermitted` where the permit does not reach."""
        return await self.asking.ask(permit, call)
