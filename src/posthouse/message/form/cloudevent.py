"""Messages as CloudEvents and back; docs/reference/messages.md has the table of what becomes what.

What has no place in an event travels in one extension, `posthouse`; what an event says that no message says is kept in
attributes that begin with `ce.`, so that it leaves the house as it came in.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID

import msgspec

from posthouse.message.attribute import Int32, MalformedAttribute, Value, tag, tag_all, untag, untag_all
from posthouse.message.form.event import (
    RESERVED,
    SHAPES,
    TYPES,
    UNSPEAKABLE,
    Event,
    Extension,
    Shape,
    check_event,
    instant_of,
    is_reference,
    is_string,
    is_uri,
    shape_of,
)
from posthouse.message.form.form import MalformedForm, unreadable
from posthouse.message.instant import from_microseconds, print_instant, to_microseconds
from posthouse.message.message import (
    DEFAULT_PRIORITY,
    OCTETS,
    Body,
    Head,
    Keep,
    Message,
    compose,
    is_kind,
    is_label,
    is_traceparent,
)
from posthouse.message.reading import UNREADABLE

OWN: Final = "posthouse"
"""The extension that holds what of a message has no place in an event."""
NOBODY: Final = "urn:posthouse:nobody"
"""The source of an event whose message names no sender."""

_REFERENCE_SAFE: Final = "._~:/?#@!$&'()*+,;=-"
_NAME: Final = re.compile(r"[a-z0-9]{1,255}")
_INTEGER: Final = re.compile(r"-?[0-9]{1,20}")
_REAL: Final = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?(e[+-]?[0-9]{1,4})?")
# Extensions that say what a field of the head says, as CloudEvents documents them.
_FIELDS: Final = {
    "correlationid": "correlation",
    "partitionkey": "lane",
    "traceparent": "traceparent",
    "expirytime": "expires",
}
# What of an event is kept as it was written, where the message alone would give it otherwise.
_KEPT: Final = ("id", "source", "type", "time", "datacontenttype", "data", "expirytime")
_BOOLEANS: Final = "ce.boolean"


class _Rest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"sender": "from"}):
    """What the extension `posthouse` holds; of the fields an event has too, only what cannot be told from it."""

    kind: str | None = None
    sender: str | None = None
    to: tuple[str, ...] = ()
    reply_to: str | None = None
    correlation: str | None = None
    lane: str | None = None
    priority: int = DEFAULT_PRIORITY
    created: int | None = None
    expires: int | None = None
    keep: Keep = "durable"
    content_type: str | None = None
    types: dict[str, str] = {}
    # `Any`: tagged values, until `untag_all` has looked at them.
    attributes: dict[str, Any] = {}
    body: Body | None = None


_encode_rest: Final = msgspec.json.Encoder().encode
_decode_rest: Final = msgspec.json.Decoder(_Rest).decode


def to_event(message: Message) -> Event:
    """Give the event that says what the message says; its head as bytes and its sections stay behind."""
    attributes = dict(message.attributes)
    kept = _take_kept(attributes)
    booleans = _take_booleans(attributes)
    extensions = _field_extensions(message, kept)
    core: dict[str, str] = {}
    rest: dict[str, Value] = {}
    types: dict[str, str] = {}
    for name, value in attributes.items():
        if name in booleans:
            extensions[name] = value == "true"
        elif name in ("subject", "dataschema") and _is_core_text(name, value):
            core[name] = str(value)
        elif (placed := _to_extension(value)) is None or _is_taken(name, placed[0], message):
            rest[name] = value
        else:
            extensions[name], kind = placed
            if kind:
                types[name] = kind
    content_type, data, shape = _data_of(message, kept)
    event = Event(
        id=kept.get("id", str(message.id)),
        source=kept.get("source", _source_of(message.sender)),
        type=kept.get("type", message.kind),
        time=kept.get("time", _print_time(message.created)) or None,
        datacontenttype=content_type,
        extensions=extensions,
        data=data,
        shape=shape,
        subject=core.get("subject"),
        dataschema=core.get("dataschema"),
    )
    left = _write_rest(_rest_of(message, event, attributes=rest, types=types))
    return msgspec.structs.replace(event, extensions={**extensions, OWN: left}) if left else event


def from_event(event: Event, *, identity: UUID, sender: str | None = None) -> Message:
    """Compose a message that says what the event says; `sender` is who hands it in, where that is not its source."""
    check_event(event)
    rest = _read_rest(event)
    fields, attributes = _read_extensions(event, rest)
    head = Head(
        id=identity,
        kind=rest.kind or _kind_of(event.type, fields.get("correlation")),
        sender=sender or rest.sender or _sender_of(event.source),
        recipients=rest.to,
        reply_to=rest.reply_to,
        priority=rest.priority,
        created=_created_of(event.time) if rest.created is None else rest.created,
        keep=rest.keep,
        content_type=rest.content_type or event.datacontenttype or OCTETS,
        **fields,
    )
    body = event.data or rest.body or b""
    message = compose(head, body, attributes=attributes)
    kept = _differences(event, to_event(message))
    return compose(head, body, attributes={**attributes, **kept}) if kept else message


# --- message to event -------------------------------------------------------------------------------------------------


def _take_kept(attributes: dict[str, Value]) -> dict[str, str]:
    kept: dict[str, str] = {}
    for name in _KEPT:
        value = attributes.get(f"ce.{name}")
        if isinstance(value, str) and is_string(value) and (value or name in ("time", "datacontenttype")):
            kept[name] = value
            del attributes[f"ce.{name}"]
    return kept


def _take_booleans(attributes: dict[str, Value]) -> frozenset[str]:
    names = attributes.get(_BOOLEANS)
    if not isinstance(names, tuple) or not all(
        isinstance(name, str) and _is_free(name) and attributes.get(name) in ("true", "false") for name in names
    ):
        return frozenset()
    del attributes[_BOOLEANS]
    return frozenset(names)


def _field_extensions(message: Message, kept: Mapping[str, str]) -> dict[str, Extension]:
    fields = {
        "correlationid": message.correlation,
        "partitionkey": message.lane,
        "traceparent": message.traceparent,
        "expirytime": None
        if message.expires is None
        else kept.get("expirytime", _print_time(message.expires, zero=True)),
    }
    return {name: value for name, value in fields.items() if value and is_string(value)}


def _is_core_text(name: str, value: Value) -> bool:
    return isinstance(value, str) and value != "" and is_string(value) and (name != "dataschema" or is_uri(value))


def _is_free(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and name not in RESERVED and name not in (OWN, TYPES)


def _is_taken(name: str, value: Extension, message: Message) -> bool:
    """Say whether an extension of this name and value would come back as something else than an attribute."""
    field = _FIELDS.get(name)
    if field is None:
        return not _is_free(name)
    return getattr(message, field) is not None or (isinstance(value, str) and _field_value(name, value) is not None)


def _to_extension(value: Value) -> tuple[Extension, str] | None:
    """Give a value as an extension can have it, and its type where that does not show."""
    match value:
        case Int32():
            return int(value), ""
        case str():
            return (value, "") if is_string(value) else None
        case int():
            return value if -(2**31) <= value < 2**31 else str(value), "int64"
        case float():
            return str(tag(value)["real64"]), "real64"
        case bytes():
            return base64.b64encode(value).decode(), "opaque"
        case datetime():
            return print_instant(value), "instant"
        case _:
            return None


def _data_of(message: Message, kept: Mapping[str, str]) -> tuple[str | None, bytes | None, Shape]:
    content_type: str | None = message.content_type
    if content_type == OCTETS and not message.body:
        content_type = None
    content_type = kept.get("datacontenttype", content_type) or None
    if isinstance(message.body, Body):
        return content_type, None, "binary"
    shape = next((shape for shape in SHAPES if shape == kept.get("data")), None)
    if not message.body and shape is None:
        return content_type, None, "binary"
    shape = shape or shape_of(content_type, message.body)
    return content_type, message.body.strip(b" \t\r\n") if shape == "json" else message.body, shape


def _rest_of(message: Message, event: Event, *, attributes: dict[str, Value], types: dict[str, str]) -> _Rest:
    kind = _kind_of(event.type, message.correlation)
    extensions = event.extensions
    expiry = extensions.get("expirytime")
    expires = _field_value("expirytime", expiry) if isinstance(expiry, str) else None
    return _Rest(
        kind=None if kind == message.kind else message.kind,
        sender=None if _sender_of(event.source) == message.sender else message.sender,
        to=message.recipients,
        reply_to=message.reply_to,
        correlation=None if extensions.get("correlationid") == message.correlation else message.correlation,
        lane=None if extensions.get("partitionkey") == message.lane else message.lane,
        priority=message.priority,
        created=None if _created_of(event.time) == message.created else message.created,
        expires=None if message.expires == expires else message.expires,
        keep=message.keep,
        content_type=None if (event.datacontenttype or OCTETS) == message.content_type else message.content_type,
        types=types,
        attributes=tag_all(attributes),
        body=message.body if isinstance(message.body, Body) else None,
    )


def _write_rest(rest: _Rest) -> str:
    if rest == _Rest():
        return ""
    return UNSPEAKABLE.sub(_escape, _encode_rest(rest).decode())


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _source_of(sender: str | None) -> str:
    if sender is None:
        return NOBODY
    spellings = (sender, quote(sender, safe=_REFERENCE_SAFE), quote(sender, safe=""))
    return next(spelling for spelling in spellings if is_reference(spelling))


def _print_time(count: int, *, zero: bool = False) -> str:
    # A head that does not know when it was written says 0.
    instant = from_microseconds(count) if count or zero else None
    return "" if instant is None else print_instant(instant)


# --- event to message -------------------------------------------------------------------------------------------------


def _read_rest(event: Event) -> _Rest:
    written = event.extensions.get(OWN)
    if written is None:
        return _Rest()
    try:
        return _decode_rest(str(written))
    except UNREADABLE as fault:
        raise unreadable(fault, f"cloud event, attribute {OWN}") from None


# `Any`: values for the fields of a head, each of the type of its field.
def _read_extensions(event: Event, rest: _Rest) -> tuple[dict[str, Any], dict[str, Value]]:
    told = {"expires": rest.expires, "correlation": rest.correlation, "lane": rest.lane}
    fields: dict[str, Any] = {name: value for name, value in told.items() if value is not None}
    attributes: dict[str, Value] = {}
    booleans = []
    for name, value in event.extensions.items():
        if name == OWN:
            continue
        if isinstance(value, bool):
            attributes[name] = "true" if value else "false"
            booleans.append(name)
        elif isinstance(value, str) and (field := _field_value(name, value)) is not None:
            fields.setdefault(_FIELDS[name], field)
        elif name in rest.types:
            attributes[name] = _read_typed(name, value, rest.types[name])
        else:
            attributes[name] = value if isinstance(value, str) else Int32(value)
    for name in ("subject", "dataschema"):
        if (text := getattr(event, name)) is not None:
            attributes[name] = text
    attributes |= untag_all(rest.attributes)
    if booleans:
        attributes[_BOOLEANS] = tuple(booleans)
    return fields, attributes


def _field_value(name: str, value: str) -> str | int | None:
    """Give what an extension says in a field of the head, or None where it cannot stand there."""
    if name == "expirytime":
        instant = instant_of(value)
        count = -1 if instant is None else to_microseconds(instant)
        return count if count >= 0 else None
    if name == "traceparent":
        return value if is_traceparent(value) else None
    return value if name in _FIELDS and is_label(value) else None


def _read_typed(name: str, value: int | str, kind: str) -> Value:
    # Numbers stand there as text too, where they are larger than an event's own.
    text = str(value)
    number: object = value
    if kind == "int64" and _INTEGER.fullmatch(text):
        number = int(text)
    elif kind == "real64" and _REAL.fullmatch(text):
        number = float(text)
    try:
        return untag({kind: number})
    except MalformedAttribute as fault:
        raise MalformedForm(fault.what, where=f"cloud event, attribute {name}") from None


def _kind_of(text: str, correlation: str | None) -> str:
    is_response = text == "response" or text.startswith("response.")
    return text if is_kind(text) and (correlation is not None or not is_response) else "event"


def _sender_of(source: str) -> str | None:
    return source if source != NOBODY and is_label(source) else None


def _created_of(time: str | None) -> int:
    instant = None if time is None else instant_of(time)
    return 0 if instant is None else max(0, to_microseconds(instant))


def _differences(event: Event, again: Event) -> dict[str, Value]:
    """Give, as attributes, what of the event the message alone would write otherwise."""
    kept: dict[str, Value] = {}
    for name in ("id", "source", "type", "time", "datacontenttype"):
        value = getattr(event, name)
        if value != getattr(again, name):
            kept[f"ce.{name}"] = value or ""
    if event.data is not None and (again.data is None or event.shape != again.shape):
        kept["ce.data"] = event.shape
    expiry = event.extensions.get("expirytime")
    if isinstance(expiry, str) and expiry != again.extensions.get("expirytime"):
        kept["ce.expirytime"] = expiry
    return kept
