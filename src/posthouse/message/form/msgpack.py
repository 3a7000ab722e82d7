"""The MessagePack form of a message, and the same for streams: the compact form, for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, Final

import msgspec

from posthouse.message.envelope import Envelope
from posthouse.message.form.form import (
    MAX_FORM,
    MalformedForm,
    WrittenBody,
    WrittenEnvelope,
    body_of,
    check_size,
    envelope_of,
    unreadable,
    written_body,
    written_envelope,
)
from posthouse.message.message import Body, MalformedHead, Message, Section, read_head
from posthouse.message.reading import UNREADABLE, Repetition, refuse_packed_repetition

# In a stream each form stands inside a `bin`: what says how many bytes follow, by its first byte.
_LENGTHS: Final = {0xC4: 1, 0xC5: 2, 0xC6: 4}


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    data: bytes


class _Form(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    head: bytes
    sections: tuple[_Section, ...] = ()
    body: bytes = b""
    ref: WrittenBody | None = None
    envelope: WrittenEnvelope | None = None


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(_Form).decode


def write(message: Message, envelope: Envelope | None = None) -> bytes:
    """Write a message, and the envelope if it is to go with it."""
    body = message.body
    form = _Form(
        head=message.head,
        sections=tuple([_Section(section.name, section.data) for section in message.sections]),
        body=b"" if isinstance(body, Body) else body,
        ref=written_body(body) if isinstance(body, Body) else None,
        envelope=None if envelope is None else written_envelope(envelope),
    )
    return check_size(_encode(form))


def read(data: bytes) -> tuple[Message, Envelope | None]:
    """Read what `write` wrote, or anybody else who keeps to the form."""
    check_size(data)
    try:
        form = _decode(data)
    except UNREADABLE as fault:
        raise unreadable(fault) from None
    if form.ref is not None and form.body:
        raise MalformedForm("expected one of body and ref, found both", where="form")
    message = read_head(
        form.head,
        form.body if form.ref is None else body_of(form.ref),
        sections=tuple([Section(section.name, section.data) for section in form.sections]),
    )
    envelope = None if form.envelope is None else envelope_of(form.envelope)
    # What is written again byte for byte says nothing twice, and nearly all forms were written here.
    if write(message, envelope) != data:
        try:
            refuse_packed_repetition(data)
        except Repetition as fault:
            raise MalformedForm(str(fault), where="form") from None
    return message, envelope


def write_many(letters: Iterable[tuple[Message, Envelope | None]]) -> Iterator[bytes]:
    """Write messages one behind the other, each form inside a `bin`, so that a reader knows where it ends."""
    for message, envelope in letters:
        yield _encode(write(message, envelope))


def read_many(stream: IO[bytes]) -> Iterator[tuple[Message, Envelope | None]]:
    """Read what `write_many` wrote, one form at a time; a fault names the message by its number from 1."""
    number = 0
    while first := stream.read(1):
        number += 1
        try:
            yield read(_next_form(stream, first[0]))
        except (MalformedForm, MalformedHead) as fault:
            raise type(fault)(fault.what, where=f"message {number}, {fault.where}", hint=fault.hint) from None


def _next_form(stream: IO[bytes], first: int) -> bytes:
    length = _LENGTHS.get(first)
    if length is None:
        raise MalformedForm("expected a bin of MessagePack with a form in it", where="form")
    written = stream.read(length)
    size = int.from_bytes(written)
    if len(written) == length and size > MAX_FORM:
        raise MalformedForm(f"expected at most {MAX_FORM} bytes, found {size}", where="form")
    form = stream.read(size) if len(written) == length else b""
    if len(written) < length or len(form) < size:
        raise MalformedForm("input data was truncated", where="form")
    return form
