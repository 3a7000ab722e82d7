"""What a predicate reads: one message as it was at its decision, with the snapshots handed in beside it.

The same record is made of a message in the office, at a gatekeeping office and, from columns, on Spark.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, tzinfo
from typing import Final, Protocol

import msgspec

from posthouse.message import attribute
from posthouse.message.envelope import Envelope
from posthouse.message.features import Features, MailFeatures
from posthouse.message.message import DEFAULT_PRIORITY, OCTETS, Body, Message

MAX_TEXT: Final = 1 << 20
"""Characters of text that are looked at; what stands behind them is unknown."""
# Python knows these as encodings, mail does not, and their work is not linear.
_NO_CHARSETS: Final = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape"})


class Organisation(Protocol):
    """Who is who, as one snapshot: asked while a predicate is judged, and gives the same answer each time."""

    def roles_of(self, address: str) -> tuple[str, ...]:
        """Give the roles an address holds, aliases resolved; none for an outsider."""

    def above(self, role: str) -> tuple[str, ...]:
        """Give the role itself and all roles above it; only the role itself where the tree does not know it."""

    def levels_between(self, lower: str, upper: str) -> int | None:
        """Give how many steps of reporting lead from one address up to the other; None where none do."""

    def location_of(self, address: str) -> str | None:
        """Give where the owner of an address works, if that is known."""

    def is_external(self, address: str) -> bool:
        """Say whether an address belongs to nobody here."""


class History(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What a gatekeeping office knows of a case beside its message."""

    fired: tuple[str, ...] = ()
    """Ids and names of the rules that fired before."""
    fired_count: int = 0
    offices: tuple[str, ...] = ()
    proposed_actions: tuple[str, ...] = ()
    gatekeepers: tuple[str, ...] = ()
    last_action: str | None = None
    auto_released: bool = False
    edited: bool = False
    passes: int = 0
    since: int | None = None
    """The instant at which the message was gated first."""
    folder: str | None = None
    status: str | None = None
    retain_until: int | None = None


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What is handed in beside a message; what is None is unknown to every predicate that asks for it."""

    now: int | None = None
    zone: tzinfo = UTC
    """The zone in which days and times of day are meant."""
    organisation: Organisation | None = None
    office_statistics: Mapping[str, int | float] | None = None
    sender_statistics: Mapping[str, int | float] | None = None
    history: History | None = None


NOTHING_BESIDE: Final = Context()


class Recipient(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One of those the envelope names."""

    address: str
    is_blind: bool = False


class Record(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One message for predicates to read; `catalogue` says under which names."""

    id: str | None = None
    kind: str = "object"
    priority: int = DEFAULT_PRIORITY
    size: int = 0
    created: int = 0
    arrived: int | None = None
    expires: int | None = None
    keep: str = "durable"
    content_type: str = OCTETS
    correlation: str | None = None
    reply_to: str | None = None
    lane: str | None = None
    sender: str | None = None
    """The envelope's sender."""
    recipients: tuple[Recipient, ...] = ()
    attributes: Mapping[str, attribute.Value] = {}
    text: str | None = None
    """The body of what is no mail, where it is text; that of a mail stands in `mail`."""
    mail: MailFeatures | None = None
    context: Context = NOTHING_BESIDE


def make_record(message: Message, envelope: Envelope, *, features: Features, context: Context) -> Record:
    """Give what predicates may read of a message at its decision."""
    return Record(
        id=str(message.id),
        kind=message.kind,
        priority=message.priority,
        size=message.size,
        created=message.created,
        arrived=features.accepted,
        expires=message.expires,
        keep=message.keep,
        content_type=message.content_type,
        correlation=message.correlation,
        reply_to=message.reply_to,
        lane=message.lane,
        sender=features.sender,
        recipients=_recipients(envelope),
        attributes=message.attributes,
        text=None if features.mail is not None else text_of(message),
        mail=features.mail,
        context=context,
    )


def _recipients(envelope: Envelope) -> tuple[Recipient, ...]:
    shown = envelope.recipients
    if len(shown) == 1 and not envelope.blind:
        return (Recipient(shown[0]),)
    blind = [address for address in dict.fromkeys(envelope.blind) if address not in shown]
    return (
        *[Recipient(address) for address in dict.fromkeys(shown)],
        *[Recipient(address, is_blind=True) for address in blind],
    )


def text_of(message: Message) -> str | None:
    """Give the body of a message whose content type is text, or None where it is none or cannot be read."""
    media_type, _, parameters = message.content_type.partition(";")
    if not media_type.strip().lower().startswith("text/") or isinstance(message.body, Body):
        return None
    charset = "utf-8"
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip().strip('"')
    if charset.lower().replace("-", "_") in _NO_CHARSETS:
        return None
    # Four bytes is the most one character takes; a character cut in two at the end is dropped with what follows.
    body = message.body[: 4 * MAX_TEXT + 4]
    try:
        text = body.decode(charset, "strict" if len(body) == len(message.body) else "ignore")
    except (LookupError, UnicodeError, ValueError):
        return None
    return text
