"""The JSON form of a message, and the same for streams of lines; how people write messages by hand is `plain`.

A head that is JSON stands in its form as the very bytes received, white space included; any other head as base64.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, Final

import msgspec
from msgspec import UNSET, UnsetType

from posthouse.message.envelope import Envelope
from posthouse.message.form.content import is_textual
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
from posthouse.message.reading import UNREADABLE, Repetition, refuse_repetition


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    base64: bytes


class _Form(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    head: msgspec.Raw | UnsetType = UNSET
    head_base64: bytes | UnsetType = UNSET
    sections: tuple[_Section, ...] = ()
    text: str | UnsetType = UNSET
    base64: bytes | UnsetType = UNSET
    ref: WrittenBody | UnsetType = UNSET
    envelope: WrittenEnvelope | None = None


_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(_Form).decode


def write(message: Message, envelope: Envelope | None = None) -> bytes:
    """Write a message, and the envelope if it is to go with it."""
    return _write(message, envelope, raw=message.head[:1] == b"{")


def read(data: bytes) -> tuple[Message, Envelope | None]:
    """Read what `write` wrote, or anybody else who keeps to the form."""
    check_size(data)
    try:
        form = _decode(data)
    except UNREADABLE as fault:
        raise unreadable(fault) from None
    message = read_head(
        _head_of(form),
        _body_of(form),
        sections=tuple([Section(section.name, section.base64) for section in form.sections]),
    )
    envelope = None if form.envelope is None else envelope_of(form.envelope)
    # What is written again byte for byte says nothing twice, and nearly all forms were written here.
    if write(message, envelope) != data:
        _refuse_repetition(data, "form")
    return message, envelope


def write_many(letters: Iterable[tuple[Message, Envelope | None]]) -> Iterator[bytes]:
    """Write messages as lines, one form in each."""
    for message, envelope in letters:
        # Line breaks between the members of a head would be taken for the end of its line.
        raw = message.head[:1] == b"{" and not (b"\n" in message.head or b"\r" in message.head)
        yield _write(message, envelope, raw=raw) + b"\n"


def read_many(stream: IO[bytes]) -> Iterator[tuple[Message, Envelope | None]]:
    """Read lines of one form each; empty lines are passed over, a fault names its line."""
    number = 0
    while line := stream.readline(MAX_FORM + 2):
        number += 1
        if not line.strip():
            continue
        try:
            yield read(line.rstrip(b"\r\n"))
        except (MalformedForm, MalformedHead) as fault:
            raise type(fault)(fault.what, where=f"line {number}, {fault.where}", hint=fault.hint) from None


def _write(message: Message, envelope: Envelope | None, *, raw: bool) -> bytes:
    text: str | UnsetType = UNSET
    base64: bytes | UnsetType = UNSET
    ref: WrittenBody | UnsetType = UNSET
    if isinstance(message.body, Body):
        ref = written_body(message.body)
    elif message.body and (found := _text_of(message.body, message.content_type)) is not None:
        text = found
    elif message.body:
        base64 = message.body
    form = _Form(
        head=msgspec.Raw(message.head) if raw else UNSET,
        head_base64=UNSET if raw else message.head,
        sections=tuple([_Section(section.name, section.data) for section in message.sections]),
        text=text,
        base64=base64,
        ref=ref,
        envelope=None if envelope is None else written_envelope(envelope),
    )
    return check_size(_encode(form))


def _text_of(body: bytes, content_type: str) -> str | None:
    if not is_textual(content_type):
        return None
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def _head_of(form: _Form) -> bytes:
    if isinstance(form.head, msgspec.Raw) and form.head_base64 is UNSET:
        head = bytes(form.head)
        # The head's own reader would take anything else for MessagePack.
        if head[:1] != b"{":
            raise MalformedForm("expected an object", where="form, head")
        return head
    if isinstance(form.head_base64, bytes) and form.head is UNSET:
        return form.head_base64
    raise MalformedForm("expected one of head and head_base64", where="form")


def _body_of(form: _Form) -> bytes | Body:
    given = [part for part in (form.text, form.base64, form.ref) if part is not UNSET]
    if len(given) > 1:
        raise MalformedForm("expected one of text, base64 and ref, found more", where="form")
    if isinstance(form.text, str):
        return form.text.encode()
    if isinstance(form.ref, WrittenBody):
        return body_of(form.ref)
    return form.base64 or b""


def _refuse_repetition(data: bytes, form: str) -> None:
    try:
        refuse_repetition(data)
    except Repetition as fault:
        raise MalformedForm(str(fault), where=form) from None
