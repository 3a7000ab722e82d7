"""A message on its way through the stages: what has been decided so far, and the stage it enters next.

What a stage wants done besides sending the journey on travels with it, and is written together with what becomes of it.
"""

from __future__ import annotations

from typing import Literal
from uuid import UUID

import msgspec

from posthouse.message.answer import Answer
from posthouse.message.case import AuditEntry, Case, Docket
from posthouse.message.envelope import Envelope
from posthouse.message.features import Features
from posthouse.message.message import Message
from posthouse.message.verdict import PASS, Verdict

Work = Literal["take", "deliver", "resume"]


class Target(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One place the message goes to."""

    box: str
    """`#mailbox` for a mailbox of this office, else the name of the office elsewhere."""
    work: Work
    recipients: tuple[str, ...]


class Luggage(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What a journey carries besides its message; this is what is kept while it waits."""

    envelope: Envelope
    features: Features
    stage: str
    """The stage it enters next."""
    targets: tuple[Target, ...] = ()
    verdict: Verdict = PASS
    resume_at: int | None = None
    """When a journey that waits goes on, where its verdict is `wait`."""
    since: int = 0
    """Since when its targets have been tried, where others of the same place have been dealt with."""
    tries: int = 0
    """How often they were put off."""
    answers: tuple[Answer, ...] = ()
    """What was said to its targets for good: nothing is left but to give them up."""
    case: UUID | None = None
    """The case it comes from, where gatekeepers had it."""
    released: UUID | None = None
    """The case it was in, once gatekeepers have let it go."""
    deferrals: int = 0
    """How often rules have put it off."""
    is_automatic: bool = False
    """The office wrote it itself: no rule gates it and nothing answers it."""


class Emitted(msgspec.Struct, frozen=True, gc=False):
    """A message the office writes itself; it takes the same route."""

    message: Message
    envelope: Envelope


class Effects(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What is written beside a journey: rows of the gate, acts to be recorded, messages to be sent."""

    cases: tuple[Case, ...] = ()
    dockets: tuple[Docket, ...] = ()
    audits: tuple[AuditEntry, ...] = ()
    emitted: tuple[Emitted, ...] = ()
    waiting: tuple[Luggage, ...] = ()
    """Parts of the same message that wait by themselves, each for recipients of its own."""
    happened: str = ""
    """What rules did with it, for its trace."""

    def __add__(self, other: Effects) -> Effects:
        """Give both."""
        return Effects(
            cases=self.cases + other.cases,
            dockets=self.dockets + other.dockets,
            audits=self.audits + other.audits,
            emitted=self.emitted + other.emitted,
            waiting=self.waiting + other.waiting,
            happened="; ".join(filter(None, (self.happened, other.happened))),
        )


NO_EFFECTS = Effects()


class Journey(msgspec.Struct, frozen=True, gc=False):
    """One message and its luggage."""

    message: Message
    luggage: Luggage
    effects: Effects = NO_EFFECTS

    def carrying(self, **changed: object) -> Journey:
        """Give the same journey with some of its luggage changed."""
        return Journey(self.message, msgspec.structs.replace(self.luggage, **changed), self.effects)

    def causing(self, effects: Effects) -> Journey:
        """Give the same journey with more effects."""
        return Journey(self.message, self.luggage, self.effects + effects)


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Luggage).decode


def pack(journey: Journey) -> bytes:
    """Give the luggage as bytes; the message is in the journal already."""
    return _encode(journey.luggage)


def unpack(message: Message, luggage: bytes) -> Journey:
    """Take up a journey that waited."""
    return Journey(message, _decode(luggage))
