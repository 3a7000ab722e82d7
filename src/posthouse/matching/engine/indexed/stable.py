"""Parts that say the same of many messages: what was found for a sender once is found for his next message too."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

import msgspec

from posthouse.matching.predicate.node import Part
from posthouse.matching.value.record import Record


class Stable(msgspec.Struct, frozen=True):
    """What a part depends on."""

    key: Callable[[Record], Hashable]
    """What of the message it is read from."""
    beside: Callable[[Record], object]
    """The snapshot it is looked up in; with another one everything is looked up anew."""
    is_for_a_batch: bool = False
    """What is handed in may be changed by its owner between two batches."""


def _nothing(_: Record) -> None:
    return None


def _organisation(record: Record) -> object:
    return record.context.organisation


def _sender(record: Record) -> Hashable:
    return record.sender


def _recipients(record: Record) -> Hashable:
    return record.recipients


def _attachments(record: Record) -> Hashable:
    return None if record.mail is None else (record.mail.attachments, record.mail.unknown)


_PIECES: Final = ("address", "local", "domain")
_STANDING: Final = ("role", "under", "location", "external")
_STABLE: Final[dict[str, Stable]] = {
    **{f"sender.{piece}": Stable(_sender, _nothing) for piece in _PIECES},
    **{f"recipient.{piece}": Stable(_recipients, _nothing) for piece in _PIECES},
    **{f"sender.{what}": Stable(_sender, _organisation) for what in _STANDING},
    **{f"recipient.{what}": Stable(_recipients, _organisation) for what in _STANDING},
    "recipient.count": Stable(_recipients, _nothing),
    "attachment.count": Stable(_attachments, _nothing),
    "message.kind": Stable(lambda record: record.kind, _nothing),
    "message.keep": Stable(lambda record: record.keep, _nothing),
    "message.priority": Stable(lambda record: record.priority, _nothing),
    "message.content_type": Stable(lambda record: record.content_type, _nothing),
    "object.type": Stable(lambda record: record.content_type, _nothing),
    "office.stat": Stable(_nothing, lambda record: record.context.office_statistics, is_for_a_batch=True),
}


def stable_of(part: Part) -> Stable | None:
    """Give what a part depends on, if that is the same for many messages."""
    return _STABLE.get(part.name)
