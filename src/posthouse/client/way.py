"""What every way to an office has in common: what a program may ask of it, and what may be asked a second time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final, Generic, Protocol, TypeVar, cast

import msgspec

from posthouse.clock import Clock
from posthouse.message.envelope import Envelope
from posthouse.message.message import Body, Message
from posthouse.office.calls import (
    AskStatus,
    AwaitArrival,
    Call,
    Handed,
    ListAside,
    ListDead,
    ListMailboxes,
    ListQueue,
    ListSetups,
    Lookup,
    Put,
    ReadBody,
    SettleTaken,
    TakeNext,
    Tell,
)
from posthouse.office.deskcalls import (
    CountDockets,
    FindCases,
    HearCases,
    ListAccounts,
    ListActivations,
    ListAudit,
    ListBooks,
    ListDockets,
    ListEditions,
    ListMailbags,
    ReadEdition,
    TellCase,
)
from posthouse.office.intake import Receipt
from posthouse.office.terms import SECOND

Reply = TypeVar("Reply")

# Asking twice is the same as asking once, or nearly: a settled message is then told as lost.
_HARMLESS: Final = (
    TakeNext, SettleTaken, AwaitArrival, ReadBody, ListMailboxes, ListSetups, ListQueue, ListDead, ListAside, Lookup,
    Tell, AskStatus, ListDockets, CountDockets, TellCase, FindCases, ListMailbags, ListBooks, ListEditions, ReadEdition,
    ListActivations, ListAudit, ListAccounts, HearCases,
)  # fmt: skip


class Way(Protocol):
    """The way from a program to its office."""

    office: str | None
    """The name of the office, where it said it."""
    principal: str
    """Who this program is, as far as it knows; the office has the last word."""

    async def open(self) -> None:
        """Reach the office; called once."""
        ...

    async def close(self) -> None:
        """Let go of it; what is still in hand goes back."""
        ...

    async def answer(self, call: Call[Reply]) -> Reply:
        """Ask the office."""
        ...

    async def put(self, batch: list[tuple[Message, Envelope]]) -> list[Receipt]:
        """Hand in messages, each of which is answered."""
        ...

    async def save_body(self, chunks: AsyncIterator[bytes]) -> Body:
        """Keep a large body."""
        ...


class Asking(Generic[Reply]):
    """A question that may have to be asked a second time, of another process."""

    def __init__(self, call: Call[Reply], clock: Clock) -> None:
        self.call = call
        self._clock = clock
        self._asked = clock.now()

    @property
    def is_harmless(self) -> bool:
        """Say whether the question may be asked again where it is not known whether it was heard."""
        return isinstance(self.call, _HARMLESS)

    @property
    def waits(self) -> bool:
        """Say whether the one who asks is ready to wait for something to come."""
        return isinstance(self.call, TakeNext | AwaitArrival) and (self.call.wait is None or self.call.wait > 0)

    def left(self) -> float | None:
        """Give the seconds that are left to wait; None where it is for ever."""
        call = self.call
        assert isinstance(call, TakeNext | AwaitArrival)
        if call.wait is None:
            return None
        return max(0.0, call.wait - (self._clock.now() - self._asked) / SECOND)

    def go_on(self) -> None:
        """Ask again; who waits waits only as long as he said at first."""
        if isinstance(self.call, TakeNext | AwaitArrival):
            self.call = cast("Call[Reply]", msgspec.structs.replace(self.call, wait=self.left()))
        self._asked = self._clock.now()

    def nothing(self) -> Reply:
        """Give the answer that nothing came."""
        call = self.call
        return cast("Reply", call.since if isinstance(call, AwaitArrival) else [])


def hand_in(batch: list[tuple[Message, Envelope]]) -> Put:
    """Give the call that hands in messages."""
    return Put(parcels=[Handed(message.head, message.body, message.sections, envelope) for message, envelope in batch])


def known(receipt: Receipt) -> Receipt:
    """Give the receipt a message got when it was handed in first, where it was handed in again."""
    if receipt.status == "duplicate" and receipt.reason == "the message id is known":
        return Receipt(status="accepted", id=receipt.id)
    return receipt
