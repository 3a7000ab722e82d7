"""The mark on copies of held messages: by it the office knows its own copy again when that comes back by itself."""

from __future__ import annotations

import re
from typing import Final
from uuid import UUID

from posthouse.message.attribute import Attributes
from posthouse.message.form.composition import is_mail
from posthouse.message.message import Body, Message

ATTRIBUTE: Final = "copy-of-case"
HEADER: Final = b"X-Posthouse-Case"
_HEAD: Final = 65_536
_FOUND: Final = re.compile(rb"^X-Posthouse-Case:[ \t]*([0-9a-f-]{36})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


def marked(message: Message, mark: UUID) -> tuple[bytes | Body, Attributes]:
    """Give body and attributes of a copy with the mark; the body of a large mail lies elsewhere and stays as it is."""
    body, attributes = message.body, {**message.attributes, ATTRIBUTE: str(mark)}
    if not is_mail(message) or isinstance(body, Body):
        return body, attributes
    return HEADER + b": " + str(mark).encode() + (b"\r\n" if b"\r\n" in body else b"\n") + body, attributes


def mark_of(message: Message) -> UUID | None:
    """Give the mark a message bears; in a mail it stands in the header, whatever other offices put before it."""
    written = message.attributes.get(ATTRIBUTE)
    if not isinstance(written, str) and is_mail(message) and not isinstance(message.body, Body):
        head = re.split(rb"\r?\n\r?\n", message.body[:_HEAD], maxsplit=1)[0]
        found = _FOUND.search(head)
        written = found[1].decode() if found is not None else None
    try:
        return UUID(written) if isinstance(written, str) else None
    except ValueError:
        return None
