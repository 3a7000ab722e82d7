"""A mail made of what a program sent: its head becomes header fields, its body the text or an attachment.

What already is a mail is not touched here. Every line is ASCII and short, so that any server can take it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email.headerregistry import Address as HeaderAddress
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from posthouse.message.message import Body, Message
from posthouse.message.name import MalformedName, parse_mailbox

MAIL_TYPE: Final = "message/rfc822"
_SECOND: Final = 1_000_000
_BCC: Final = re.compile(rb"^bcc[ \t]*:.*\r\n(?:[ \t].*\r\n)*", re.IGNORECASE | re.MULTILINE)
_LINE: Final = 57
"""Bytes that base64 writes as one line of 76 characters."""


class Letterhead(msgspec.Struct, frozen=True, kw_only=True):
    """What stands at the top of a mail besides what its message says."""

    name: str
    """The mail name of this office: what a mailbox here is called by the world outside."""
    accepted: int
    """When it was written, where the message does not say so, in microseconds since 1970."""


def is_mail(message: Message) -> bool:
    """Say whether the body of a message is a mail already."""
    return message.content_type.partition(";")[0].strip().lower() == MAIL_TYPE


def address_of(name: str, office: str) -> str:
    """Give the mail address of a name: that of a mail address itself, or of a mailbox at this office."""
    try:
        parsed = parse_mailbox(name)
    except MalformedName:
        return str(HeaderAddress(username=name, domain=office).addr_spec)
    if parsed.office.protocol == "smtp":
        return parsed.mailbox
    return str(HeaderAddress(username=parsed.mailbox, domain=office).addr_spec)


def composed(message: Message, letterhead: Letterhead) -> bytes:
    """Write the whole mail of a message whose body is at hand."""
    body = message.body
    assert not isinstance(body, Body)
    mail = _header(message, letterhead)
    main, rest = _type_of(message)
    text = _text_of(body) if main == "text" else None
    if text is not None:
        mail.set_content(text, subtype=rest or "plain", cte=None if text.isascii() else "quoted-printable")
    else:
        mail.set_content(body, maintype=main, subtype=rest, disposition="attachment", filename=_file_name(message))
    return mail.as_bytes()


def begun(message: Message, letterhead: Letterhead) -> bytes:
    """Write the mail of a message up to where its body, in base64, is to follow."""
    main, rest = _type_of(message)
    mail = _header(message, letterhead)
    mail.set_content(b"", maintype=main, subtype=rest, disposition="attachment", filename=_file_name(message))
    return mail.as_bytes().rstrip(b"\r\n") + b"\r\n\r\n"


class Attached(NamedTuple):
    """A file that goes with a mail."""

    name: str
    content_type: str
    content: bytes


class Writing(msgspec.Struct, frozen=True, kw_only=True):
    """A mail as somebody writes it."""

    identity: UUID
    sender: str
    """Addresses, as they stand in a header: perhaps with a name before them."""
    to: tuple[str, ...]
    cc: tuple[str, ...] = ()
    subject: str = ""
    text: str = ""
    files: tuple[Attached, ...] = ()
    at: int


def written(writing: Writing, name: str) -> bytes:
    """Write a mail; `name` is the mail name of this office. ValueError where an address is none."""
    mail = EmailMessage(policy=SMTP.clone(cte_type="7bit"))
    try:
        mail["From"] = writing.sender
        mail["To"] = ", ".join(writing.to)
        if writing.cc:
            mail["Cc"] = ", ".join(writing.cc)
    except (IndexError, AttributeError) as fault:
        raise ValueError("an address that cannot be read") from fault
    for field in ("From", "To", "Cc"):
        if field in mail and mail[field].defects:
            raise ValueError(f"{field}: expected addresses, found {str(mail[field])[:100]!r}")
    mail["Subject"] = _in_one_line(writing.subject)
    mail["Date"] = format_datetime(datetime.fromtimestamp(writing.at // _SECOND, UTC))
    mail["Message-ID"] = f"<{writing.identity}@{name}>"
    mail.set_content(writing.text, cte=None if writing.text.isascii() else "quoted-printable")
    for file in writing.files:
        main, _, rest = file.content_type.partition("/")
        if main in {"message", "multipart"} or not rest:
            main, rest = "application", "octet-stream"
        mail.add_attachment(file.content, maintype=main, subtype=rest, filename=_in_one_line(file.name))
    return mail.as_bytes()


def mended(raw: bytes) -> bytes:
    """Give a mail from a file as it may be sent: lines end with CR LF, and nobody reads who is blind."""
    lines = re.sub(rb"\r\n|\r|\n", b"\r\n", raw)
    if lines.startswith(b"From "):
        lines = lines.partition(b"\r\n")[2]
    header, mark, body = lines.partition(b"\r\n\r\n")
    return _BCC.sub(b"", header + b"\r\n").removesuffix(b"\r\n") + mark + body if mark else lines


class Base64Lines:
    """A body goes in by pieces, its lines in base64 come out."""

    def __init__(self) -> None:
        self._rest = b""

    def add(self, piece: bytes) -> bytes:
        """Give the lines that are whole now."""
        data = self._rest + piece
        whole = len(data) - len(data) % _LINE
        self._rest = data[whole:]
        return _lines(data[:whole])

    def end(self) -> bytes:
        """Give the last line."""
        return _lines(self._rest)


def _header(message: Message, letterhead: Letterhead) -> EmailMessage:
    mail = EmailMessage(policy=SMTP.clone(cte_type="7bit"))
    _set_addresses(mail, "From", [message.sender or "postmaster"], letterhead)
    _set_addresses(mail, "To", message.recipients, letterhead)
    if message.reply_to is not None and message.reply_to != message.sender:
        _set_addresses(mail, "Reply-To", [message.reply_to], letterhead)
    mail["Subject"] = subject_of(message)
    written = datetime.fromtimestamp((message.created or letterhead.accepted) // _SECOND, UTC)
    mail["Date"] = format_datetime(written)
    mail["Message-ID"] = f"<{message.id}@{letterhead.name}>"
    if message.correlation is not None and _is_word(message.correlation):
        mail["In-Reply-To"] = f"<{message.correlation}@{letterhead.name}>"
    if message.kind != "mail":
        # Programs that answer mail by themselves leave this one alone (RFC 3834).
        mail["Auto-Submitted"] = "auto-generated"
    return mail


def subject_of(message: Message) -> str:
    """Give the subject: the attribute of that name, or what kind of message it is."""
    subject = message.attributes.get("subject")
    text = subject if isinstance(subject, str) else message.kind
    return _in_one_line(text)


def _in_one_line(text: str) -> str:
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())[:500]


def _set_addresses(mail: EmailMessage, field: str, names: Sequence[str], letterhead: Letterhead) -> None:
    addresses: list[HeaderAddress] = []
    for name in names:
        address = address_of(name, letterhead.name)
        try:
            addresses.append(HeaderAddress(addr_spec=address))
        except (ValueError, IndexError):
            # An address that headers cannot hold still gets its mail: the envelope decides.
            continue
    if addresses:
        mail[field] = addresses


def _type_of(message: Message) -> tuple[str, str]:
    main, _, rest = message.content_type.partition(";")[0].strip().lower().partition("/")
    # What is made of parts must not be wrapped in base64 (RFC 2045, section 6.4): as a file it may.
    return ("application", "octet-stream") if main in {"message", "multipart"} else (main, rest)


def _text_of(body: bytes) -> str | None:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _file_name(message: Message) -> str:
    kept = message.attributes.get("filename")
    return kept if isinstance(kept, str) and kept.isprintable() else str(message.id)


def _is_word(text: str) -> bool:
    return text.isascii() and all(sign.isalnum() or sign in "-._" for sign in text)


def _lines(data: bytes) -> bytes:
    pieces = (base64.b64encode(data[start : start + _LINE]) for start in range(0, len(data), _LINE))
    return b"".join(piece + b"\r\n" for piece in pieces)
