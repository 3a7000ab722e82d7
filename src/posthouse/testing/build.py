"""Builders of letters and queue entries: say what matters to a test, the rest is sensible and the same on every run."""

from __future__ import annotations

from typing import Final, TypedDict, Unpack
from uuid import UUID

import msgspec

from posthouse.message import features
from posthouse.message.changes import Entry, Letter, Post, lane_of
from posthouse.message.envelope import Envelope
from posthouse.message.journey import Work
from posthouse.message.message import DEFAULT_PRIORITY, Body, Head, Section, compose
from posthouse.message.trace import Step

SECOND: Final = 1_000_000
START: Final = 1_767_225_600 * SECOND
"""The instant at which everything built here is accepted unless told otherwise: 1 January 2026, midnight UTC."""

SENDER, RECIPIENT = "alice", "bob"


class Given(TypedDict, total=False):
    """What else an entry may be told, each under its name in `Entry`."""

    priority: int
    correlation: str | None
    size: int
    not_before: int | None
    expires: int | None
    work: Work
    luggage: bytes


def identity(number: int) -> UUID:
    """Give the UUIDv7 of the message with this number; a larger number makes a later one."""
    milliseconds = START // 1000 + number
    return UUID(int=milliseconds << 80 | 0x7 << 76 | 0x2 << 62 | number)


def number_of(message: UUID) -> int:
    """Give the number of a message that `identity` named."""
    return message.int & ((1 << 62) - 1)


def letter(
    number: int = 1,
    *,
    kind: str = "mail",
    body: bytes | Body = b"",
    sections: tuple[Section, ...] = (),
    at: int = START,
    message_id: UUID | None = None,
) -> Letter:
    """Give a letter whose head, envelope and features can all be read."""
    message = compose(Head(id=message_id or identity(number), kind=kind, created=at), body)
    envelope = Envelope(sender=SENDER, recipients=(RECIPIENT,))
    return Letter(
        id=message.id,
        accepted=at,
        head=message.head,
        body=body,
        envelope=msgspec.msgpack.encode(envelope),
        features=features.encode(features.extract(message, envelope, accepted=at)),
        step=Step(at, "accepted"),
        sections=sections,
    )


def entry(box: str = "#inbox", *, kind: str = "mail", lane: str = SENDER, **given: Unpack[Given]) -> Entry:
    """Give a place in a queue; entries of one lane text share a lane."""
    known: Given = {"work": "take", "priority": DEFAULT_PRIORITY, **given}
    return Entry(box=box, kind=kind, lane=lane_of(lane), **known)


def post(number: int, *entries: Entry, at: int = START, body: bytes | Body = b"", aside: str | None = None) -> Post:
    """Give a letter with its entries; where none is given, one in `#inbox`, or none if it is set aside."""
    kind = entries[0].kind if entries else "mail"
    placed = entries if entries or aside is not None else (entry(),)
    return Post(letter=letter(number, kind=kind, body=body, at=at), entries=placed, aside=aside)
