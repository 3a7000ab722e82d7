"""CloudEvents 1.0 as values and as bytes: structured JSON, batches of it, and headers with a body.

Nothing here knows of messages; `cloudevent` does. The specification, version 1.0.2: https://github.com/cloudevents/spec
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, Literal
from urllib.parse import quote, unquote

import msgspec

from posthouse.message.form.content import charset_of, is_json, is_textual
from posthouse.message.form.form import MalformedForm, check_size, unreadable
from posthouse.message.instant import read_instant
from posthouse.message.message import is_content_type
from posthouse.message.reading import UNREADABLE, Repetition, plain, refuse_repetition

Extension = bool | int | str
Shape = Literal["json", "text", "binary"]
SHAPES: Final[tuple[Shape, ...]] = ("json", "text", "binary")

STRUCTURED: Final = "application/cloudevents+json"
BATCH: Final = "application/cloudevents-batch+json"

TYPES: Final = "posthousetypes"
"""In headers everything is text; this one names the extensions that are not, for a reader who knows of it."""

_OPTIONAL: Final = ("subject", "time", "datacontenttype", "dataschema")
_CORE: Final = ("specversion", "id", "source", "type", *_OPTIONAL)
RESERVED: Final = frozenset({"data", *_CORE})
_NAME: Final = re.compile(r"[a-z0-9]+")
# What a String must not hold: controls, halves of surrogate pairs, and the last two characters of each plane.
UNSPEAKABLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef"
    + "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
    + "]"
)
# RFC 3986: the characters of a reference; what they say is the source's own business.
_REFERENCE: Final = re.compile(r"(?:[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_TIME: Final = re.compile(r"(.{10})T(..:..):([0-9]{2})(\.[0-9]+)?(Z|[+-].{5})")
_SECOND: Final = timedelta(seconds=1)

_HEADER_SAFE: Final = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"%')
_HEADER: Final = re.compile(r"[\x20-\x7e\t]*")

_decode: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_batch: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_raw: Final = msgspec.json.Decoder(msgspec.Raw).decode
_decode_value: Final = msgspec.json.Decoder().decode
_encode: Final = msgspec.json.Encoder().encode


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One event; `check_event` says whether it keeps to the specification."""

    id: str
    source: str
    type: str
    subject: str | None = None
    time: str | None = None
    """As it was written, since its digits and its zone are the sender's."""
    datacontenttype: str | None = None
    dataschema: str | None = None
    extensions: Mapping[str, Extension] = {}
    data: bytes | None = None
    shape: Shape = "binary"
    """How the data stands in JSON: as a value, as text, or as base64."""


def write_event(event: Event) -> bytes:
    """Write one event as structured JSON."""
    check_event(event)
    members: dict[str, object] = {"specversion": "1.0", "id": event.id, "source": event.source, "type": event.type}
    members |= {name: value for name in _OPTIONAL if (value := getattr(event, name)) is not None}
    members |= event.extensions
    if event.data is not None:
        if event.shape == "json":
            members["data"] = msgspec.Raw(event.data)
        elif event.shape == "text":
            members["data"] = event.data.decode(charset_of(event.datacontenttype) or "utf-8")
        else:
            members["data_base64"] = event.data
    return check_size(_encode(members))


def read_event(data: bytes) -> Event:
    """Read one event of structured JSON."""
    check_size(data)
    try:
        members = _decode(data)
        event = _read_members(members)
    except UNREADABLE as fault:
        raise unreadable(fault, "cloud event") from None
    check_event(event)
    try:
        # What repeats itself inside the data is for the reader of the data.
        refuse_repetition(data, outermost=True)
    except Repetition as fault:
        raise MalformedForm(str(fault), where="cloud event") from None
    return event


def write_batch(events: Iterable[Event]) -> bytes:
    """Write events as a JSON batch."""
    return check_size(b"[%s]" % b",".join(map(write_event, events)))


def read_batch(data: bytes) -> tuple[Event, ...]:
    """Read a JSON batch; a fault names the event by its number from 1."""
    check_size(data)
    try:
        members = _decode_batch(data)
    except UNREADABLE as fault:
        raise unreadable(fault, "batch") from None
    events = []
    for number, member in enumerate(members, start=1):
        try:
            events.append(read_event(bytes(member)))
        except MalformedForm as fault:
            raise MalformedForm(fault.what, where=f"event {number} of the batch, {fault.where}") from None
    return tuple(events)


def write_binary(event: Event) -> tuple[list[tuple[str, str]], bytes]:
    """Write one event as headers and a body, for a protocol that has both."""
    check_event(event)
    texts = {"specversion": "1.0", "id": event.id, "source": event.source, "type": event.type}
    texts |= {name: value for name in _OPTIONAL if (value := getattr(event, name)) is not None}
    content_type = texts.pop("datacontenttype", None)
    types = []
    for name, value in event.extensions.items():
        if isinstance(value, bool):
            types.append(f"{name}:boolean")
            texts[name] = "true" if value else "false"
        elif isinstance(value, int):
            types.append(f"{name}:integer")
            texts[name] = str(value)
        else:
            texts[name] = value
    if types:
        texts[TYPES] = ",".join(types)
    headers = [(f"ce-{name}", quote(text, safe=_HEADER_SAFE)) for name, text in texts.items()]
    if content_type is not None:
        headers.append(("content-type", content_type))
    return headers, event.data or b""


def read_binary(headers: Iterable[tuple[str, str]], body: bytes) -> Event:
    """Read one event from headers and a body; headers that are not the event's are passed over."""
    texts: dict[str, str] = {}
    for header, value in headers:
        name = header.lower()
        if name == "content-type":
            name = "datacontenttype"
        elif name.startswith("ce-") and name != "ce-datacontenttype":
            name = name[3:]
        elif name.startswith("ce-"):
            raise _fault("datacontenttype", "expected it as the header content-type")
        else:
            continue
        if name in texts:
            raise _fault(name, "expected its header once, found it twice")
        texts[name] = value.strip(" \t") if name == "datacontenttype" else _read_header(name, value)
    content_type = texts.get("datacontenttype")
    if content_type is not None and content_type.lower().startswith("application/cloudevents"):
        raise _fault("datacontenttype", "expected headers and a body, found an event in JSON")
    types = texts.pop(TYPES, "")
    values: dict[str, Extension] = {**texts}
    for name, kind in [entry.partition(":")[::2] for entry in types.split(",") if entry]:
        if name in texts:
            values[name] = _read_typed(name, texts[name], kind)
    shape = shape_of(content_type, body)
    event = _build(values, body.strip(b" \t\r\n") if shape == "json" else body or None, shape=shape)
    check_event(event)
    return event


def check_event(event: Event) -> None:
    """Refuse what the specification refuses, naming the attribute."""
    for name in ("id", "source", "type", *_OPTIONAL):
        value = getattr(event, name)
        if value == "":
            raise _fault(name, "expected it to say something, found it empty")
        if value is not None:
            _check_text(name, value)
    if not is_reference(event.source):
        raise _fault("source", "expected a URI reference", event.source)
    if event.dataschema is not None and not is_uri(event.dataschema):
        raise _fault("dataschema", "expected a URI", event.dataschema)
    if event.time is not None and instant_of(event.time) is None:
        raise _fault("time", "expected a time like 2026-01-31T12:00:00Z", event.time)
    if event.datacontenttype is not None and not is_content_type(event.datacontenttype):
        raise _fault("datacontenttype", "expected a media type such as text/plain", event.datacontenttype)
    for name, extension in event.extensions.items():
        _check_extension(name, extension)
    _check_data(event)


def instant_of(time: str) -> datetime | None:
    """Give the instant of an event's time, cut to the microsecond, or None where it is no time."""
    parts = _TIME.fullmatch(time.upper())
    if parts is None:
        return None
    day, minute, second, fraction, zone = parts.groups()
    # A leap second is the end of the second before it.
    leap = second == "60"
    try:
        instant = read_instant(f"{day}T{minute}:{'59' if leap else second}{(fraction or '')[:7]}{zone}")
        return instant + _SECOND if leap else instant
    except (ValueError, OverflowError):
        return None


def shape_of(content_type: str | None, data: bytes) -> Shape:
    """Say how data of this type stands in JSON when its sender has not said so."""
    if content_type is None or not data:
        return "binary"
    if is_json(content_type):
        return "json" if _is_value(data) else "binary"
    return "text" if is_textual(content_type) and _is_text(content_type, data) else "binary"


def is_string(text: str) -> bool:
    """Say whether an attribute of an event may hold this text."""
    return UNSPEAKABLE.search(text) is None


def is_reference(text: str) -> bool:
    """Say whether this can be a reference of RFC 3986."""
    before, _, fragment = text.partition("#")
    return text != "" and _REFERENCE.fullmatch(before) is not None and _REFERENCE.fullmatch(fragment) is not None


def is_uri(text: str) -> bool:
    """Say whether this can be a URI with its scheme."""
    return is_reference(text) and _SCHEME.match(text) is not None


def _read_members(members: dict[str, msgspec.Raw]) -> Event:
    raw, packed = members.pop("data", None), members.pop("data_base64", None)
    values: dict[str, Extension] = {}
    for name, member in members.items():
        if memoryview(member)[0] in b"{[":
            raise _fault(name, "expected text, a whole number, true or false")
        value = _decode_value(member)
        if value is not None:
            values[name] = value
    encoded = None if packed is None else _decode_value(packed)
    content_type = values.get("datacontenttype")
    if encoded is not None:
        if raw is not None:
            raise _fault("data", "expected one of data and data_base64, found both")
        return _build(values, _read_base64(encoded))
    if raw is None:
        return _build(values, None)
    if not isinstance(content_type, str) or is_json(content_type):
        return _build({"datacontenttype": "application/json", **values}, bytes(raw), shape="json")
    text = _decode_value(raw)
    if not isinstance(text, str):
        raise _fault("data", f"expected text, as {plain(content_type)} is not JSON")
    try:
        return _build(values, text.encode(charset_of(content_type) or "utf-8"), shape="text")
    except UnicodeEncodeError:
        raise _fault("data", "expected text that its character set can hold") from None


# The values are checked by `check_event`; only what would not fit into an `Event` at all is refused here.
def _build(values: Mapping[str, Extension], data: bytes | None, *, shape: Shape = "binary") -> Event:
    if values.get("specversion") != "1.0":
        raise _fault("specversion", 'expected "1.0"', values.get("specversion"))
    core: dict[str, Any] = {name: values[name] for name in ("id", "source", "type", *_OPTIONAL) if name in values}
    for name in ("id", "source", "type"):
        if name not in core:
            raise _fault(name, "expected it to be there")
    for name, value in core.items():
        if not isinstance(value, str):
            raise _fault(name, "expected text", value)
    extensions = {name: value for name, value in values.items() if name not in _CORE}
    return Event(**core, extensions=extensions, data=data, shape=shape)


def _check_extension(name: str, value: Extension) -> None:
    if name in RESERVED or name == TYPES or not _NAME.fullmatch(name) or len(name) > 255:
        raise _fault(name, "expected a name of small letters and digits that is not taken")
    if isinstance(value, str):
        _check_text(name, value)
    elif type(value) not in (int, bool) or not -(2**31) <= value < 2**31:
        raise _fault(name, "expected text, a whole number of 32 bits, true or false", value)


def _check_text(name: str, value: str) -> None:
    if not is_string(value):
        raise _fault(name, "expected text without control characters", value)


def _check_data(event: Event) -> None:
    if event.data is None or event.shape == "binary":
        return
    content_type = event.datacontenttype
    if event.shape == "json":
        # White space around the value would be lost.
        if content_type is None or not is_json(content_type) or event.data.strip(b" \t\r\n") != event.data:
            raise _fault("data", "expected a value of JSON under a media type of JSON")
        if not _is_value(event.data):
            raise _fault("data", "expected a value of JSON")
    elif content_type is None or is_json(content_type) or not _is_text(content_type, event.data):
        raise _fault("data", "expected text in its character set, under a media type that is not JSON")


def _is_text(content_type: str, data: bytes) -> bool:
    charset = charset_of(content_type)
    try:
        return charset is not None and data.decode(charset) is not None
    except UnicodeDecodeError:
        return False


def _is_value(data: bytes) -> bool:
    try:
        data.decode()
        _decode_raw(data)
    except UNREADABLE:
        return False
    return True


def _read_base64(text: object) -> bytes:
    try:
        if isinstance(text, str):
            return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        pass
    raise _fault("data_base64", "expected base64")


def _read_header(name: str, value: str) -> str:
    text = value.strip(" \t")
    if not _HEADER.fullmatch(text):
        raise _fault(name, "expected a header of printable ASCII", value)
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = re.sub(r"\\(.)", r"\1", text[1:-1])
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise _fault(name, "expected UTF-8 behind the percent signs", value) from None


def _read_typed(name: str, text: str, kind: str) -> Extension:
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    if kind == "integer" and re.fullmatch(r"-?[0-9]{1,10}", text):
        return int(text)
    raise _fault(name, f"expected the {plain(kind)} that {TYPES} promises", text)


def _fault(name: str, what: str, found: object = None) -> MalformedForm:
    told = "" if found is None else f", found {plain(repr(found)[:60])}"
    return MalformedForm(f"{what}{told}", where=f"cloud event, attribute {plain(name[:60])}")
