"""What the header of a mail says of it: who wrote it to whom, when, and about what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from posthouse.message.form.mail.address import Mailbox, read_addresses
from posthouse.message.form.mail.date import read_date
from posthouse.message.form.mail.header import joined
from posthouse.message.form.mail.part import Structure
from posthouse.message.form.mail.word import decode_words

_ADDRESSES: Final = {"from": "sender", "to": "to", "cc": "cc", "reply-to": "reply_to"}

_SINGLE: Final = frozenset({"subject", "date", "message-id"})


class Heading(NamedTuple):
    """What a header says; `unknown` names what of it could not be read, or not all."""

    headers: Sequence[tuple[str, str]]
    addresses: Mapping[str, Sequence[Mailbox]]
    """By the name of their field."""
    subject: str | None
    date: int | None
    zone: int | None
    message_id: str | None
    unknown: Sequence[str]


def read_heading(structure: Structure) -> Heading:
    """Read the header of a mail whose parts are found."""
    mail = structure.parts[0]
    charset = mail.parameters.get("charset", "")
    headers: list[tuple[str, str]] = []
    addresses: dict[str, list[Mailbox]] = {}
    first: dict[str, str] = {}
    for field in mail.fields:
        name = field.name
        raw = field.value.rstrip(" \t\r")
        if "\n" in raw or not raw.isascii() or "\r" in raw:
            raw = joined(raw, charset)
        text = decode_words(raw) if "=?" in raw else raw
        headers.append((name, text))
        if name in _ADDRESSES:
            # A field that stands twice is read differently by every program: all that is said counts.
            addresses.setdefault(name, []).extend(read_addresses(raw))
        elif name in _SINGLE:
            first.setdefault(name, text)
    unknown: list[str] = []
    if not structure.header_is_whole:
        unknown += ["headers", *_ADDRESSES.values()]
        unknown += [name for name in ("subject", "date", "zone", "message_id") if name.replace("_", "-") not in first]
    date = first.get("date")
    written = None if date is None else read_date(date)
    if date is not None and (written is None or written.zone is None):
        unknown += ["zone"] if written else ["date", "zone"]
    return Heading(
        headers,
        addresses,
        first.get("subject"),
        written.instant if written else None,
        written.zone if written else None,
        first.get("message-id"),
        unknown,
    )
