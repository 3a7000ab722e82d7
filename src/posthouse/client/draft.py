"""What a program says of a message it sends, before the message exists."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TypedDict
from uuid import UUID

import msgspec

from posthouse.message.attribute import Value
from posthouse.message.message import DEFAULT_PRIORITY, Body, Keep

Content = bytes | str | Path | Body | AsyncIterator[bytes]


class Draft(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One message to send. Only the recipient must be given; the office writes the id and the time."""

    to: str | tuple[str, ...]
    """The mailbox or mailboxes."""
    body: Content = b""
    """Bytes, text, a file, pieces as they come, or a body handed in before; a large one is never in memory whole."""
    kind: str = "mail"
    """What it is: mail, event, request, response, notice, object, or any word with dotted extensions."""
    sender: str | None = None
    blind: tuple[str, ...] = ()
    """Recipients the others do not see."""
    attributes: Mapping[str, Value] = {}
    content_type: str | None = None
    """`text/plain; charset=utf-8` for text, `application/octet-stream` for everything else."""
    priority: int = DEFAULT_PRIORITY
    """1 to 10; 10 is the most urgent."""
    correlation: str | None = None
    """What it belongs to; a response names the id of the message it answers."""
    reply_to: str | None = None
    """Where answers go, and the notice if it cannot be delivered."""
    lane: str | None = None
    """Messages of one lane are handled one after the other; the sender is the lane where it is left out."""
    ordered: bool = True
    """False gives the message a lane of its own: it waits for no other."""
    delay: float = 0.0
    """Seconds to hold it back."""
    not_before: datetime | None = None
    """The instant to hold it back until."""
    expires_in: float | None = None
    """Seconds after which it is no longer worth delivering."""
    expires: datetime | None = None
    """The instant after which it is no longer worth delivering."""
    keep: Keep = "durable"
    """`memory` for messages that may be lost when the office stops, such as events of the moment."""
    key: str | None = None
    """An idempotency key: what is sent twice under one key is accepted once."""
    traceparent: str | None = None
    id: UUID | None = None
    """An id drawn before, where the same message may be sent again after a lost answer."""


class Options(TypedDict, total=False):
    """The fields of a `Draft` beside its recipient and body."""

    kind: str
    sender: str | None
    blind: tuple[str, ...]
    attributes: Mapping[str, Value]
    content_type: str | None
    priority: int
    correlation: str | None
    reply_to: str | None
    lane: str | None
    ordered: bool
    delay: float
    not_before: datetime | None
    expires_in: float | None
    expires: datetime | None
    keep: Keep
    key: str | None
    traceparent: str | None
    id: UUID | None
