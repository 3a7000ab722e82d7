"""What stands in the payload of a frame: messages with their envelopes, a piece of a large body, or an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from posthouse.message.envelope import Envelope
from posthouse.message.message import Body, Message, Section, check_body, read_head
from posthouse.message.reading import UNREADABLE, locate
from posthouse.transport.http.frame import MalformedFrame

MOST_LETTERS: Final = 1_024
"""Messages of one frame, whatever its office would like."""


class Letter(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One message; of its envelope, what concerns the office it goes to."""

    head: bytes
    body: bytes | Body
    sections: tuple[Section, ...] = ()
    sender: str | None = None
    recipients: tuple[str, ...] = ()
    blind: tuple[str, ...] = ()


class Piece(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Part of a large body; with no bytes at all it only asks how much is there."""

    body: Body
    start: int
    data: bytes = b""


class Fate(msgspec.Struct, frozen=True, gc=False, array_like=True, omit_defaults=True):
    """What became of one message."""

    status: Literal["delivered", "unreachable", "deferred", "refused"]
    reason: str = ""


class Answer(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What an office says to a frame.

    taken       each message has its fate, the piece was kept, or the call has its reply
    clock       the clocks of the two offices differ too much
    busy        come back later
    unreadable  the payload is none
    too large   more than this office takes at once; `most_bytes` and `most_letters` say how much it does
    refused     the body will never be taken
    """

    verdict: Literal["taken", "clock", "busy", "unreadable", "too large", "refused"] = "taken"
    fates: tuple[Fate, ...] = ()
    have: int = 0
    """Bytes of the body that are there."""
    reason: str = ""
    pause: float = 0.0
    """Seconds after which to come back."""
    most_bytes: int = 0
    most_letters: int = 0
    reply: bytes = b""
    """What a call is answered, as offices read it."""


encode: Final = msgspec.msgpack.Encoder().encode
_letters: Final = msgspec.msgpack.Decoder(list[Letter]).decode
_piece: Final = msgspec.msgpack.Decoder(Piece).decode
_answer: Final = msgspec.msgpack.Decoder(Answer).decode


def letter_of(message: Message, envelope: Envelope) -> Letter:
    """Give a message as it stands in a frame."""
    return Letter(
        message.head, message.body, message.sections, envelope.sender, envelope.recipients, envelope.blind
    )  # fmt: skip


def weight_of(letter: Letter) -> int:
    """Give about how many bytes a message takes in a frame."""
    weight = 128 + len(letter.head) + (96 if isinstance(letter.body, Body) else len(letter.body))
    for section in letter.sections:
        weight += len(section.data) + len(section.name) + 24
    for names in (letter.recipients, letter.blind):
        for name in names:
            weight += 4 * len(name) + 3
    return weight


def opened(letter: Letter, principal: str) -> tuple[Message, Envelope]:
    """Give the message of a letter; `principal` is the office that brought it."""
    message = read_head(letter.head, letter.body, sections=letter.sections)
    envelope = Envelope(
        sender=letter.sender, recipients=letter.recipients, blind=letter.blind, principal=principal
    )  # fmt: skip
    return message, envelope


def read_letters(payload: bytes) -> Sequence[Letter]:
    """Read messages."""
    try:
        return _letters(payload)
    except UNREADABLE as fault:
        raise _unreadable(fault) from None


def read_piece(payload: bytes) -> Piece:
    """Read a piece of a large body."""
    try:
        piece = _piece(payload)
    except UNREADABLE as fault:
        raise _unreadable(fault) from None
    check_body(piece.body)
    if not 0 <= piece.start <= piece.body.size or len(piece.data) > piece.body.size - piece.start:
        raise MalformedFrame("expected a piece that lies within its body", where="piece")
    return piece


def read_answer(payload: bytes) -> Answer:
    """Read an answer."""
    try:
        return _answer(payload)
    except UNREADABLE as fault:
        raise _unreadable(fault) from None


def _unreadable(fault: Exception) -> MalformedFrame:
    what, path = locate(fault)
    return MalformedFrame(what, where=f"payload, {path}" if path else "payload")
