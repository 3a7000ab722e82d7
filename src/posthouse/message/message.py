"""A message: one head kept as the bytes received, the sections hops appended, and a body.

The fields of a `Message` are read from its head once; the head itself is never written again, so that hashes and
signatures over it hold for ever and what a newer office wrote into it survives an older one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final, Literal, Self
from uuid import UUID

import msgspec

from posthouse.errors import PosthouseError
from posthouse.message.attribute import Attributes, MalformedAttribute, Value, settle_all, tag_all, untag_all
from posthouse.message.reading import (
    UNREADABLE,
    Repetition,
    locate,
    packed_members,
    refuse_packed_repetition,
    refuse_repetition,
)
from posthouse.message.spelling import UNSAFE

MAX_HEAD: Final = 1_048_576
MAX_SECTIONS: Final = 256
MAX_KIND: Final = 255
MAX_LABEL: Final = 1_000
LOWEST, DEFAULT_PRIORITY, MOST_URGENT = 1, 5, 10
OCTETS: Final = "application/octet-stream"
"""The content type of a body nobody has said anything about."""

Keep = Literal["durable", "memory"]

# What nearly every head says is known without looking at it letter by letter.
_USUAL_KINDS: Final = frozenset({"mail", "event", "request", "notice", "object"})
_USUAL_TYPES: Final = frozenset({
    OCTETS, "application/json", "text/plain", "text/plain; charset=utf-8", "message/rfc822",
})  # fmt: skip

_KIND: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
# https://www.w3.org/TR/trace-context/: version ff is forbidden, and only versions after 00 may say more.
_TRACEPARENT: Final = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}((?<!^00.{53})-[\x21-\x7e]*)?"
)
# RFC 9110, section 8.3.1; what the parameters say is left to who reads the body.
_CONTENT_TYPE: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+ *(;[\x20-\x7e]*)?")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_AFTER_TIME: Final = 2**62
# Recipients a message names when it is shown.
_MOST_SHOWN: Final = 3


class MalformedHead(PosthouseError):
    """A head that cannot be read, or says something a head cannot say."""

    code: ClassVar[str] = "head.malformed"
    public: ClassVar[str] = "The head of the message is malformed."


class Body(msgspec.Struct, frozen=True, gc=False):
    """A body too large to travel inline: its content address and length."""

    sha256: str
    size: int


HOP: Final = "hop"
"""The section an office appends when it sends a message on."""


class Section(msgspec.Struct, frozen=True, gc=False):
    """What one hop added below the head, as the bytes it wrote; readers keep those they do not know."""

    name: str
    data: bytes


class Head(
    msgspec.Struct,
    frozen=True,
    gc=False,
    kw_only=True,
    omit_defaults=True,
    rename={"sender": "from", "recipients": "to"},
):
    """The head as it is written, field by field; a reader ignores what it does not know and keeps its bytes."""

    id: UUID
    kind: str
    sender: str | None = None
    recipients: tuple[str, ...] = ()
    reply_to: str | None = None
    correlation: str | None = None
    priority: int = DEFAULT_PRIORITY
    created: int = 0
    expires: int | None = None
    keep: Keep = "durable"
    content_type: str = OCTETS
    traceparent: str | None = None
    lane: str | None = None
    attributes: dict[str, Any] = {}
    body: Body | None = None


class Message(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One message; `compose` writes a new one, `read_head` reads one that arrived."""

    head: bytes
    """The head as received: MessagePack, or JSON where it begins with `{`."""
    id: UUID
    kind: str
    """What it is: mail, event, request, response, notice, object, or any word with dotted extensions."""
    body: bytes | Body = b""
    sections: tuple[Section, ...] = ()
    sender: str | None = None
    recipients: tuple[str, ...] = ()
    """The recipients everybody may see; the envelope says who gets it."""
    reply_to: str | None = None
    """Where answers and notices of failure go; the sender's own mailbox where it is left out."""
    correlation: str | None = None
    priority: int = DEFAULT_PRIORITY
    """1 to 10; 10 is the most urgent."""
    created: int = 0
    expires: int | None = None
    keep: Keep = "durable"
    content_type: str = OCTETS
    traceparent: str | None = None
    lane: str | None = None
    attributes: Mapping[str, Value] = {}

    def __str__(self) -> str:
        """Say in one line what it is, whatever it carries."""
        sender = f" from {self.sender}" if self.sender is not None else ""
        names = ", ".join(self.recipients[:_MOST_SHOWN])
        more = f" and {len(self.recipients) - _MOST_SHOWN} more" if len(self.recipients) > _MOST_SHOWN else ""
        answers = f", belongs to {self.correlation}" if self.correlation is not None else ""
        return (
            f"{self.kind} {self.id}{sender} to {names or 'nobody'}{more}:"
            f" {self.size} bytes of {self.content_type}, priority {self.priority}{answers}"
        )

    @property
    def size(self) -> int:
        """Bytes of the body."""
        return self.body.size if isinstance(self.body, Body) else len(self.body)

    def with_section(self, section: Section) -> Self:
        """Give the message with what one hop appended."""
        sections = (*self.sections, section)
        _check_sections(sections)
        return msgspec.structs.replace(self, sections=sections)


_encode_packed: Final = msgspec.msgpack.Encoder(uuid_format="bytes").encode
_decode_packed: Final = msgspec.msgpack.Decoder(Head).decode
_decode_json: Final = msgspec.json.Decoder(Head).decode


def compose(fields: Head, body: bytes | Body = b"", *, attributes: Attributes | None = None) -> Message:
    """Write a new message: check its fields, encode its head once."""
    tagged = tag_all(attributes) if attributes else {}
    kept = body if isinstance(body, Body) else None
    head = msgspec.structs.replace(fields, attributes=tagged, body=kept)
    check_head(head)
    if head.id.int >> 76 & 0xF != 7:
        raise _wrong("id", "a UUID of version 7", head.id)
    encoded = _encode_packed(head)
    if len(encoded) > MAX_HEAD:
        raise MalformedHead(f"expected at most {MAX_HEAD} bytes, found {len(encoded)}", where="head")
    settled = settle_all(attributes) if attributes else {}
    return _message(head, encoded, settled, body=body)


def read_head(head: bytes, body: bytes | Body = b"", *, sections: tuple[Section, ...] = ()) -> Message:
    """Read a message whose head arrived as these bytes; a body the head names by its hash may be left out."""
    if len(head) > MAX_HEAD:
        raise MalformedHead(f"expected at most {MAX_HEAD} bytes, found {len(head)}", where="head")
    if sections:
        _check_sections(sections)
    fields = _decode(head)
    check_head(fields)
    try:
        attributes = untag_all(fields.attributes)
    except MalformedAttribute as fault:
        raise MalformedHead(str(fault), where="head") from None
    _refuse_repetition(head, fields)
    if fields.body is not None or isinstance(body, Body):
        body = _choose_body(fields.body, body)
    return _message(fields, head, attributes, body=body, sections=sections)


def recall_head(head: bytes, body: bytes | Body = b"", *, sections: tuple[Section, ...] = ()) -> Message:
    """Read a message whose head was read before: nothing is checked again, what few ask for is read late."""
    fields = _decode(head)
    if fields.body is not None and not body:
        body = fields.body
    attributes = _Unread(fields.attributes) if fields.attributes else {}
    return _message(fields, head, attributes, body=body, sections=sections)


class _Unread(Mapping[str, Value]):
    """Attributes that are read when somebody looks at them."""

    __slots__ = ("_tagged", "_values")

    def __init__(self, tagged: dict[str, Any]) -> None:
        self._tagged = tagged
        self._values: dict[str, Value] | None = None

    def __getitem__(self, name: str) -> Value:
        if self._values is None:
            self._values = untag_all(self._tagged)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tagged)

    def __len__(self) -> int:
        return len(self._tagged)

    def __repr__(self) -> str:
        return repr(dict(self))


def check_head(head: Head) -> None:
    """Refuse what a head cannot say, naming the field."""
    # RFC 9562, section 4.1: the layout all its versions share. Who composes draws version 7, others may have their own.
    if head.id.int >> 62 & 3 != 2:
        raise _wrong("id", "a UUID of RFC 9562", head.id)
    if head.kind not in _USUAL_KINDS:
        _check_kind(head)
    if not LOWEST <= head.priority <= MOST_URGENT:
        raise _wrong("priority", f"{LOWEST} to {MOST_URGENT}", head.priority)
    if not 0 <= head.created < _AFTER_TIME:
        raise _wrong("created", "microseconds since 1970", head.created)
    if head.expires is not None and not 0 <= head.expires < _AFTER_TIME:
        raise _wrong("expires", "microseconds since 1970", head.expires)
    if head.content_type not in _USUAL_TYPES and not is_content_type(head.content_type):
        raise _wrong("content_type", "a media type such as text/plain", head.content_type)
    for field, text in (
        ("from", head.sender),
        ("reply_to", head.reply_to),
        ("correlation", head.correlation),
        ("lane", head.lane),
    ):
        if text is not None and not is_label(text):
            raise _wrong(field, f"1 to {MAX_LABEL} characters without controls", text)
    for recipient in head.recipients:
        if not is_label(recipient):
            raise _wrong("to", f"1 to {MAX_LABEL} characters without controls in each", recipient)
    if head.traceparent is not None and not is_traceparent(head.traceparent):
        raise _wrong("traceparent", "a trace context of the W3C", head.traceparent)
    if head.body is not None:
        check_body(head.body)


def check_body(body: Body) -> None:
    """Refuse what cannot be the content address of a body."""
    if not _SHA256.fullmatch(body.sha256) or not 0 <= body.size < _AFTER_TIME:
        raise _wrong("body", "a SHA-256 of 64 small hexadecimal digits and a size", body)


def _decode(head: bytes) -> Head:
    try:
        if head[:1] != b"{":
            return _decode_packed(head)
        # Whoever embeds this head in a larger document finds its bytes again by its braces.
        if head[-1:] != b"}":
            raise MalformedHead("expected JSON that ends with }", where="head")
        if not head.isascii():
            head.decode()
        return _decode_json(head)
    except UNREADABLE as fault:
        what, path = locate(fault)
        raise MalformedHead(what, where=f"head, field {path}" if path else "head") from None


def _refuse_repetition(head: bytes, fields: Head) -> None:
    # Most heads were written by `compose`: written once more they are the same, so nothing stands there twice.
    if head[:1] != b"{" and _encode_packed(fields) == head:
        return
    try:
        if head[:1] == b"{":
            refuse_repetition(head)
        elif attributes := packed_members(head).get("attributes"):
            refuse_packed_repetition(attributes)
    except Repetition as fault:
        raise MalformedHead(str(fault), where="head") from None


def _choose_body(named: Body | None, body: bytes | Body) -> bytes | Body:
    """Give the body of a message whose head or whose bearer speaks of it by its hash."""
    if isinstance(body, Body):
        check_body(body)
        if named is not None and named != body:
            raise MalformedHead("expected the body that the head names, found another one", where="head, field body")
        return body
    assert named is not None
    if body and (len(body) != named.size or hashlib.sha256(body).hexdigest() != named.sha256):
        raise MalformedHead("expected the body that the head names, found another one", where="head, field body")
    return body or named


def _check_kind(head: Head) -> None:
    kind = head.kind
    if not is_kind(kind):
        raise _wrong("kind", f"words joined by dots, {MAX_KIND} characters at most", kind)
    if head.correlation is None and (kind == "response" or kind.startswith("response.")):
        raise _wrong("correlation", "the id of the request in a response", None)


def _check_sections(sections: tuple[Section, ...]) -> None:
    if len(sections) > MAX_SECTIONS:
        raise MalformedHead(f"expected at most {MAX_SECTIONS} sections, found {len(sections)}", where="sections")
    for number, section in enumerate(sections, start=1):
        if not is_label(section.name):
            raise MalformedHead(
                f"expected a name of 1 to {MAX_LABEL} characters without controls", where=f"sections, number {number}"
            )


def is_kind(text: str) -> bool:
    """Say whether this can be a kind: words joined by dots."""
    return len(text) <= MAX_KIND and _KIND.fullmatch(text) is not None


def is_label(text: str) -> bool:
    """Say whether a name, a lane or a correlation can be written like this."""
    # Names may hold what is not printable to Python, joiners in a mail address for one, but nothing that harms.
    return 0 < len(text) <= MAX_LABEL and (text.isprintable() or UNSAFE.search(text) is None)


def is_content_type(text: str) -> bool:
    """Say whether this is a media type, perhaps with parameters."""
    return len(text) <= MAX_LABEL and _CONTENT_TYPE.fullmatch(text) is not None


def is_traceparent(text: str) -> bool:
    """Say whether this is a trace context of the W3C."""
    return len(text) <= MAX_LABEL and _TRACEPARENT.fullmatch(text) is not None


def _wrong(field: str, expected: str, found: object) -> MalformedHead:
    told = "nothing" if found is None else repr(found)
    told = told if len(told) <= 60 else f"{told[:57]}..."
    return MalformedHead(f"expected {expected}, found {told}", where=f"head, field {field}")


def _message(
    fields: Head,
    head: bytes,
    attributes: Mapping[str, Value],
    *,
    body: bytes | Body,
    sections: tuple[Section, ...] = (),
) -> Message:
    return Message(
        head=head,
        id=fields.id,
        kind=fields.kind,
        body=body,
        sections=sections,
        sender=fields.sender,
        recipients=fields.recipients,
        reply_to=fields.reply_to,
        correlation=fields.correlation,
        priority=fields.priority,
        created=fields.created,
        expires=fields.expires,
        keep=fields.keep,
        content_type=fields.content_type,
        traceparent=fields.traceparent,
        lane=fields.lane,
        attributes=attributes,
    )
