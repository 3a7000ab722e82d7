"""What rules may ask of a message, extracted once at intake and journalled with it.

The record is versioned: a reader of a newer version takes older records, fields are only ever added. What the head and
the envelope say is read from them beside it and not kept twice.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from posthouse.message.envelope import Envelope
from posthouse.message.message import Body, Message

if TYPE_CHECKING:
    from posthouse.message.form.mail.content import Content
    from posthouse.message.form.mail.heading import Heading

VERSION: Final = 3
MAIL: Final = "message/rfc822"
"""The content type of a mail."""
BEGINNING: Final = 2 << 20
"""Bytes that are read of a mail whose body does not travel with its message: enough for a header and text up to their
limits."""


class Address(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One address of a header."""

    name: str
    """The display name, decoded; empty where there is none."""
    address: str
    """`local@domain` as it was written; what cannot be read as an address stands here as it is."""


class Attachment(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One part of a mail that is meant to be kept as a file."""

    name: str
    content_type: str
    size: int | None
    """Bytes after decoding; none where it could not be decoded."""
    sha256: bytes | None = None


class MailFeatures(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What a mail says of itself.

    What stands in `unknown` could not be read, or not all of it: where it is `None` nothing is known, and of addresses
    and headers there may be more. `None` that does not stand there was not said: a mail without Subject, for one.
    """

    headers: tuple[tuple[str, str], ...] = ()
    """Name in lower case and decoded value, in the order they stand."""
    sender: tuple[Address, ...] = ()
    """From."""
    to: tuple[Address, ...] = ()
    cc: tuple[Address, ...] = ()
    reply_to: tuple[Address, ...] = ()
    subject: str | None = None
    date: int | None = None
    """The instant its sender wrote."""
    zone: int | None = None
    """Minutes east of Greenwich, as its sender wrote."""
    message_id: str | None = None
    text: str | None = None
    """The text of all its text parts, that of HTML without the marks and as it is seen."""
    attachments: tuple[Attachment, ...] | None = None
    is_signed: bool | None = None
    is_encrypted: bool | None = None
    unknown: tuple[str, ...] = ()
    """Fields of this record that could not be read or are cut at a limit, by name."""
    authentication: Mapping[str, str] = {}
    """Results of spf, dkim, dmarc and arc, where they were asked for, and what the domain wants as `dmarc.policy`."""
    hidden: str | None = None
    """The text that stands in HTML and is not seen there; none where nobody looked for it."""


class Features(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The features of one message."""

    version: int
    sender: str | None
    """The envelope's sender."""
    recipient_count: int
    size: int
    accepted: int
    # Version 2.
    mail: MailFeatures | None = None
    """What a message of kind `mail` with a body of `message/rfc822` says of itself."""
    # Version 3.
    is_automatic: bool = False
    """The office wrote it itself."""


_UNASKED: Final[Mapping[str, str]] = {}


def extract(
    message: Message,
    envelope: Envelope,
    *,
    accepted: int,
    content: bytes | None = None,
    authentication: Mapping[str, str] = _UNASKED,
) -> Features:
    """Give what rules may ask of this message.

    `content` is what could be read of a body that does not travel with the message, from its beginning;
    `authentication` are the results of the checks this office made, if it made any: a mail cannot bring its own.
    """
    mail = None
    if _is_mail(message):
        body = message.body
        if not isinstance(body, Body):
            mail = features_of_mail(body)
        else:
            mail = features_of_mail(content or b"", size=body.size)
        if authentication:
            mail = msgspec.structs.replace(mail, authentication=authentication)
    return Features(VERSION, envelope.sender, len(envelope.everybody), message.size, accepted, mail)


def body_to_read(message: Message) -> Body | None:
    """Give the body whose beginning `extract` has a use for, where there is one."""
    return message.body if isinstance(message.body, Body) and _is_mail(message) else None


def _is_mail(message: Message) -> bool:
    return message.kind == "mail" and message.content_type.startswith(MAIL)


def features_of_mail(raw: bytes | memoryview, *, size: int | None = None) -> MailFeatures:
    """Give what a mail says of itself; never raises, in time linear to its size.

    `size` is that of the whole mail where `raw` is only its beginning: what the rest decides is then unknown.
    """
    whole = raw if isinstance(raw, bytes) else bytes(raw)
    said, held = _reader()(whole, is_cut=size is not None and size > len(whole))
    return MailFeatures(
        headers=tuple(said.headers),
        sender=_addresses(said.addresses.get("from", ())),
        to=_addresses(said.addresses.get("to", ())),
        cc=_addresses(said.addresses.get("cc", ())),
        reply_to=_addresses(said.addresses.get("reply-to", ())),
        subject=said.subject,
        date=said.date,
        zone=said.zone,
        message_id=said.message_id,
        text=held.text,
        attachments=None if held.files is None else tuple([Attachment(*file) for file in held.files]),
        is_signed=held.is_signed,
        is_encrypted=held.is_encrypted,
        unknown=(*said.unknown, *held.unknown),
        hidden=held.hidden,
    )


@functools.cache
def _reader() -> Callable[..., tuple[Heading, Content]]:
    """Load what reads mail with the first one: most offices never see any."""
    from posthouse.message.form.mail.reading import read_mail  # noqa: PLC0415

    return read_mail


def _addresses(mailboxes: Sequence[tuple[str, str]]) -> tuple[Address, ...]:
    return tuple([Address(name, address) for name, address in mailboxes]) if mailboxes else ()


encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Features).decode
