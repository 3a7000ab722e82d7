"""Messages as they arrive in the body of a request, in whichever form its content type says; nothing is asked here.

One message that cannot be read does not spoil the others of its batch: each is answered for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.message.envelope import Envelope
from posthouse.message.form import cloudevent, event, msgpack, plain
from posthouse.message.form import json as form
from posthouse.message.form.form import MalformedForm
from posthouse.message.message import Head, Message, compose, is_content_type, is_label
from posthouse.message.reading import UNREADABLE

MOST: Final = 1_024
"""Messages of one request."""

PLAIN: Final = "application/json"
WHOLE: Final = "application/vnd.posthouse.message+json"
PACKED: Final = "application/vnd.posthouse.message+msgpack"

_packed_many: Final = msgspec.msgpack.Decoder(list[msgspec.Raw]).decode


class Arrived(NamedTuple):
    """One message as it arrived."""

    message: Message
    envelope: Envelope


class Post(NamedTuple):
    """A request that brings messages."""

    content_type: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    mailbox: str | None = None
    """Who gets what names no recipient."""
    sender: str | None = None
    """Who sends what names no sender."""


class Bundle(NamedTuple):
    """What a request brings: messages, and what could not be read; a single one is answered by itself."""

    items: list[Arrived | PosthouseError]
    is_many: bool


def unpack(post: Post, clock: Clock) -> Bundle:
    """Read the messages of a request; raises where it cannot be said how many there are."""
    media = post.content_type.partition(";")[0].strip().lower()
    if any(name.lower() == "ce-specversion" for name, _ in post.headers):
        return Bundle([_whole(_binary_event, post, clock=clock)], is_many=False)
    reader = _READERS.get(media)
    if reader is None:
        if post.mailbox is None:
            raise MalformedForm(
                f"expected one of {', '.join(_READERS)}, found {media or 'no content type'}",
                where="content-type",
                hint="a body of any other type goes to mailboxes/NAME/messages",
            )
        return Bundle([_whole(_bare, post, clock=clock)], is_many=False)
    many = reader.split(post.body)
    if many is None:
        return Bundle([_item(reader.read, post.body, post, clock=clock)], is_many=False)
    if len(many) > MOST:
        raise MalformedForm(f"expected at most {MOST} messages in a request, found {len(many)}", where="messages")
    return Bundle([_item(reader.read, each, post, clock=clock) for each in many], is_many=True)


Read = Callable[[bytes | msgspec.Raw, Post, Clock], Arrived]


class _Reader(NamedTuple):
    split: Callable[[bytes], Sequence[bytes | msgspec.Raw] | None]
    """Gives the messages of a list, none where it is a single one."""
    read: Read


def _item(read: Read, data: bytes | msgspec.Raw, post: Post, *, clock: Clock) -> Arrived | PosthouseError:
    try:
        return read(data, post, clock)
    except PosthouseError as fault:
        return fault


def _whole(read: Callable[[Post, Clock], Arrived], post: Post, *, clock: Clock) -> Arrived | PosthouseError:
    try:
        return read(post, clock)
    except PosthouseError as fault:
        return fault


def _list_of_json(data: bytes) -> Sequence[bytes | msgspec.Raw] | None:
    return plain.split(data) if data.lstrip(b" \t\r\n")[:1] == b"[" else None


def _batch_of_events(data: bytes) -> Sequence[bytes | msgspec.Raw] | None:
    return plain.split(data)


def _list_of_packed(data: bytes) -> Sequence[bytes | msgspec.Raw] | None:
    # A map is one message, a list of maps are several.
    if not data or data[0] not in (*range(0x90, 0xA0), 0xDC, 0xDD):
        return None
    try:
        return _packed_many(data)
    except UNREADABLE:
        raise MalformedForm("expected a list of messages in MessagePack", where="messages") from None


def _plain(data: bytes | msgspec.Raw, post: Post, clock: Clock) -> Arrived:
    defaults = plain.Defaults(mailbox=post.mailbox, sender=post.sender)
    return Arrived(*plain.read(data, identity=clock.new_id(), created=clock.now(), defaults=defaults))


def _written(data: bytes | msgspec.Raw, post: Post, _clock: Clock) -> Arrived:
    return _with_envelope(*form.read(bytes(data)), post)


def _packed(data: bytes | msgspec.Raw, post: Post, _clock: Clock) -> Arrived:
    return _with_envelope(*msgpack.read(bytes(data)), post)


def _event(data: bytes | msgspec.Raw, post: Post, clock: Clock) -> Arrived:
    return _from_event(event.read_event(bytes(data)), post, clock)


def _binary_event(post: Post, clock: Clock) -> Arrived:
    return _from_event(event.read_binary(post.headers, post.body), post, clock)


def _from_event(found: event.Event, post: Post, clock: Clock) -> Arrived:
    message = cloudevent.from_event(found, identity=clock.new_id(), sender=post.sender)
    arrived = _with_envelope(message, None, post)
    # CloudEvents 1.0, section 3.1.1: events of one source and one id are the same event.
    key = f"{found.source} {found.id}"
    envelope = msgspec.structs.replace(arrived.envelope, idempotency=key) if is_label(key) else arrived.envelope
    return Arrived(message, envelope)


def _bare(post: Post, clock: Clock) -> Arrived:
    """Read a body that is nothing but a body."""
    content_type = post.content_type.strip()
    if content_type and not is_content_type(content_type):
        raise MalformedForm(f"expected a media type, found {content_type[:100]!r}", where="content-type")
    head = Head(
        id=clock.new_id(), kind="mail", sender=post.sender, recipients=(post.mailbox or "",), created=clock.now()
    )
    head = msgspec.structs.replace(head, content_type=content_type or head.content_type)
    return _with_envelope(compose(head, post.body), None, post)


def _with_envelope(message: Message, envelope: Envelope | None, post: Post) -> Arrived:
    """Give a message its envelope: the one it brings, or the one its head and the address of the request say."""
    if envelope is None:
        recipients = message.recipients or ((post.mailbox,) if post.mailbox else ())
        envelope = Envelope(sender=message.sender or post.sender, recipients=recipients)
    return Arrived(message, envelope)


_READERS: Final = {
    PLAIN: _Reader(_list_of_json, _plain),
    WHOLE: _Reader(_list_of_json, _written),
    PACKED: _Reader(_list_of_packed, _packed),
    event.STRUCTURED: _Reader(lambda _: None, _event),
    event.BATCH: _Reader(_batch_of_events, _event),
}

FORMS: Final[Iterable[str]] = tuple(_READERS)
"""The content types that are read as messages; a body of any other is a message's body."""
