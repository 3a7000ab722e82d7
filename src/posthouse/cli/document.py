"""Messages as people write them in JSON: one document, or one in each line of a stream."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import IO, Final

import msgspec

from posthouse.cli.blocking import apart
from posthouse.client import Draft
from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.message.form import plain
from posthouse.message.form.form import MAX_FORM, MalformedForm
from posthouse.message.instant import from_microseconds

_PIECE: Final = 1_048_576


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a stream: a message to send, or what is wrong with it."""

    number: int
    draft: Draft | None = None
    fault: PosthouseError | None = None


def read_document(document: bytes, clock: Clock) -> Draft:
    """Read one message, and say how it is to be sent."""
    message, envelope = plain.read(document, identity=clock.new_id(), created=clock.now())
    return Draft(
        to=message.recipients,
        blind=envelope.blind,
        body=message.body,
        kind=message.kind,
        sender=message.sender,
        attributes=message.attributes,
        content_type=message.content_type,
        priority=message.priority,
        correlation=message.correlation,
        reply_to=message.reply_to,
        lane=message.lane,
        expires=None if message.expires is None else from_microseconds(message.expires),
        not_before=None if envelope.not_before is None else from_microseconds(envelope.not_before),
        keep=message.keep,
        key=envelope.idempotency,
        traceparent=message.traceparent,
        id=message.id,
    )


async def read_lines(stream: IO[bytes], clock: Clock) -> AsyncIterator[list[Line]]:
    """Read the lines of a stream, as many at a time as are there; empty ones are passed over."""
    number = 0
    async for texts in _whole_lines(stream):
        lines: list[Line] = []
        for text in texts:
            number += 1
            if text is None or text.strip():
                lines.append(_read_line(text, number, clock=clock))
        yield lines


def _read_line(text: bytes | None, number: int, *, clock: Clock) -> Line:
    try:
        if text is None:
            raise MalformedForm(f"expected at most {MAX_FORM} bytes", where="message")
        return Line(number=number, draft=read_document(text, clock))
    except PosthouseError as fault:
        return Line(number=number, fault=fault)


async def _whole_lines(stream: IO[bytes]) -> AsyncIterator[list[bytes | None]]:
    """Give the lines of a stream without their ends; None for one too long to be kept."""
    pieces: list[bytes] = []
    size = 0
    while piece := await apart(lambda: stream.read(_PIECE)):
        first, *more = piece.split(b"\n")
        size += len(first)
        if size <= MAX_FORM:
            pieces.append(first)
        if more:
            yield [b"".join(pieces) if size <= MAX_FORM else None, *more[:-1]]
            pieces, size = [more[-1]], len(more[-1])
    if size:
        yield [b"".join(pieces) if size <= MAX_FORM else None]
