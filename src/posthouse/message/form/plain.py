"""Messages as people and programs write them by hand in JSON, and as they are shown to them: fields, and no head.

Attributes need no tag where JSON says enough: text, whole numbers (64 bits), fractions, and lists of them.
"""

from __future__ import annotations

import base64
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from posthouse.message.attribute import MAX_DEPTH, MalformedAttribute, Value, tag_all, untag
from posthouse.message.envelope import Envelope
from posthouse.message.form.content import is_textual
from posthouse.message.form.form import (
    MalformedForm,
    WrittenBody,
    body_of,
    check_envelope,
    check_size,
    unreadable,
)
from posthouse.message.instant import from_microseconds, print_instant, read_instant, to_microseconds
from posthouse.message.message import DEFAULT_PRIORITY, OCTETS, Body, Head, Keep, Message, compose
from posthouse.message.reading import UNREADABLE, Repetition, refuse_repetition

_JSON: Final = "application/json"
_TEXT: Final = "text/plain; charset=utf-8"


class Plain(
    msgspec.Struct, frozen=True, kw_only=True, rename={"sender": "from", "recipients": "to"}, forbid_unknown_fields=True
):
    """A message to send, as it is written by hand; everything but the recipients may be left out."""

    recipients: tuple[str, ...] | str = ()
    """The mailbox or mailboxes."""
    kind: str = "mail"
    """What it is: mail, event, request, response, notice, object, or any word with dotted extensions."""
    sender: str | None = None
    blind: tuple[str, ...] = ()
    """Recipients the others do not see."""
    reply_to: str | None = None
    """Where answers go, and the notice if it cannot be delivered."""
    correlation: str | None = None
    """What it belongs to; a response names the id of the message it answers."""
    priority: int = DEFAULT_PRIORITY
    """1 to 10; 10 is the most urgent."""
    expires: int | str | None = None
    """After this instant it is no longer worth delivering: RFC 3339, or microseconds since 1970."""
    not_before: int | str | None = None
    """Hold it back until this instant."""
    keep: Keep = "durable"
    content_type: str | None = None
    traceparent: str | None = None
    lane: str | None = None
    # `Any`: what a person wrote, until `_value` has looked at it.
    attributes: dict[str, Any] = {}
    id: UUID | None = None
    """An id drawn before, where the same message may be sent again after a lost answer."""
    idempotency: str | None = None
    """What is handed in twice under one key is accepted once."""
    text: str | UnsetType = UNSET
    """The body as text."""
    base64: bytes | UnsetType = UNSET
    """The body as bytes."""
    data: msgspec.Raw | UnsetType = UNSET
    """The body as a JSON value; it is kept as it is written."""
    ref: WrittenBody | UnsetType = UNSET
    """A large body that was handed in before."""


class Defaults(NamedTuple):
    """What stands where the writing says nothing."""

    mailbox: str | None = None
    sender: str | None = None


_NOTHING: Final = Defaults()

_decode: Final = msgspec.json.Decoder(Plain).decode
_decode_many: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode


def read(
    data: bytes | msgspec.Raw, *, identity: UUID, created: int, defaults: Defaults = _NOTHING
) -> tuple[Message, Envelope]:
    """Compose a new message; `identity` is used where the writing names none."""
    whole = check_size(bytes(data))
    try:
        plain = _decode(whole)
    except UNREADABLE as fault:
        raise unreadable(fault, "message") from None
    try:
        refuse_repetition(whole)
    except Repetition as fault:
        raise MalformedForm(str(fault), where="message") from None
    if defaults is not _NOTHING:
        plain = msgspec.structs.replace(
            plain, recipients=plain.recipients or defaults.mailbox or (), sender=plain.sender or defaults.sender
        )
    return compose_plain(plain, identity=identity, created=created)


def split(data: bytes) -> list[msgspec.Raw]:
    """Give the messages of a JSON list, not yet read."""
    check_size(data)
    try:
        return _decode_many(data)
    except UNREADABLE as fault:
        raise unreadable(fault, "messages") from None


def compose_plain(plain: Plain, *, identity: UUID, created: int) -> tuple[Message, Envelope]:
    """Compose a new message of what somebody wrote, and its envelope."""
    body, content_type = _body_of(plain)
    recipients = (plain.recipients,) if isinstance(plain.recipients, str) else plain.recipients
    fields = Head(
        id=plain.id or identity,
        kind=plain.kind,
        sender=plain.sender,
        recipients=recipients,
        reply_to=plain.reply_to,
        correlation=plain.correlation,
        priority=plain.priority,
        created=created,
        expires=_instant(plain.expires, "expires"),
        keep=plain.keep,
        content_type=plain.content_type or content_type,
        traceparent=plain.traceparent,
        lane=plain.lane,
    )
    message = compose(fields, body, attributes={name: _value(name, value) for name, value in plain.attributes.items()})
    envelope = Envelope(
        sender=plain.sender,
        recipients=recipients,
        blind=plain.blind,
        idempotency=plain.idempotency,
        not_before=_instant(plain.not_before, "not_before"),
    )
    check_envelope(envelope)
    return message, envelope


# `Any`: the members of a JSON object.
def fields_of(message: Message) -> dict[str, Any]:
    """Give what a message says of itself; every member is always there."""
    return {
        "id": str(message.id),
        "kind": message.kind,
        "from": message.sender,
        "to": message.recipients,
        "reply_to": message.reply_to,
        "correlation": message.correlation,
        "priority": message.priority,
        "created": shown_instant(message.created),
        "expires": shown_instant(message.expires),
        "keep": message.keep,
        "content_type": message.content_type,
        "traceparent": message.traceparent,
        "lane": message.lane,
        "attributes": tag_all(message.attributes),
        "size": message.size,
    }


def shown_body(content_type: str, body: bytes) -> dict[str, str]:
    """Give a body as `text` where it is meant to be text and is, else as `base64`."""
    if is_textual(content_type) and (text := text_of(body)) is not None:
        return {"text": text}
    return {"base64": base64.b64encode(body).decode()}


def text_of(body: bytes) -> str | None:
    """Give a body as text if it is some."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def shown_instant(instant: int | None) -> str | None:
    """Write an instant for programs: RFC 3339, in UTC."""
    if instant is None or (moment := from_microseconds(instant)) is None:
        return None
    return print_instant(moment)


def _body_of(plain: Plain) -> tuple[bytes | Body, str]:
    """Give the body, and the content type it has where nobody said one."""
    given = [name for name in ("text", "base64", "data", "ref") if getattr(plain, name) is not UNSET]
    if len(given) > 1:
        raise MalformedForm(f"expected one of text, base64, data and ref, found {' and '.join(given)}", where="message")
    if isinstance(plain.text, str):
        return plain.text.encode(), _TEXT
    if isinstance(plain.data, msgspec.Raw):
        return bytes(plain.data), _JSON
    if isinstance(plain.ref, WrittenBody):
        return body_of(plain.ref), OCTETS
    return plain.base64 or b"", OCTETS


def _instant(written: int | str | None, field: str) -> int | None:
    if not isinstance(written, str):
        return written
    try:
        return to_microseconds(read_instant(written))
    except ValueError as fault:
        raise MalformedForm(str(fault), where=f"message, {field}") from None


# `Any`: what a person wrote.
def _value(name: str, written: Any, depth: int = 0) -> Value:
    if isinstance(written, str | float) or type(written) is int:
        return written
    if isinstance(written, list):
        # `compose` counts the levels; here it is enough not to run out of them.
        return tuple([_value(name, item, depth + 1) for item in written]) if depth <= MAX_DEPTH else ()
    if isinstance(written, dict):
        try:
            return untag(written)
        except MalformedAttribute as fault:
            raise MalformedAttribute(fault.what, where=f"attribute {name!r}", hint=fault.hint) from None
    raise MalformedAttribute(
        f"expected text, a number, a list or a value under its type, found {msgspec.json.encode(written).decode()}",
        where=f"attribute {name!r}",
        hint='say {"int32": 0} or {"int32": 1}, or text; leave out what is not there',
    )
