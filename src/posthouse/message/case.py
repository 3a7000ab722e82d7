"""A gated message as values: its wrapper, the dockets it lies under, the mailbags dockets are filed in.

A case is one gated message with its wrapper. A docket is its row in the index of one gatekeeper: one each time the case
stops there. Nothing here decides; `gate` does, and `store` keeps what it decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal
from uuid import UUID

import msgspec

from posthouse.errors import PosthouseError

Mark = Literal["", "won", "side", "outranked", "void", "sampled out"]
"""What became of the action a rule proposed."""
Status = Literal["gated", "reviewed", "released", "returned", "deleted", "filed", "awaiting response", "in progress"]
Command = Literal["release", "return", "delete", "forward", "file", "copy", "review", "gate", "recall", "purge"]
"""What a gatekeeper, a rule, a mailbag, a retain date or the sender can ask for."""

INBOX: Final = "inbox"
REVIEW: Final = "review"
"""The two folders every gatekeeper has; others are the ids of mailbags."""


VERSION: Final = 1
"""The newest form of a wrapper that is understood here."""


class UnreadableWrapper(PosthouseError):
    """A wrapper that is broken, or written by a newer version; its message goes nowhere, its bytes are kept."""

    code: ClassVar[str] = "wrapper.unreadable"
    public: ClassVar[str] = "The wrapper of a message cannot be read."


class Written(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a wrapper, as some version of this house wrote it."""

    more: Mapping[str, Any] = {}
    """What a newer version wrote that this one does not know: kept for those that do, looked at by nobody here."""


class Fired(Written, frozen=True, kw_only=True, omit_defaults=True):
    """One rule found applicable on the way of a message, as the rule history keeps it."""

    office: str
    checkpoint: str
    book: str
    """The rule book it stands in: `rules`, or `rules of ROLE` for a gatekeeper's own."""
    edition: int
    rule: str
    """Its name."""
    digest: str = ""
    """Of the rule as it is printed: the same in two editions between which nobody changed it."""
    reason: str = ""
    actions: tuple[str, ...] = ()
    """What it proposed, as the rule language writes it."""
    mark: Mark = ""
    at: int = 0
    values: tuple[str, ...] = ()
    """What made it true, for a person to read: `office.stat.queue_length = 812`, `sender.role = Clerk`."""
    is_unknown: bool = False
    """It could not be judged, and fired because unknown means a match."""
    organisation: int = 0
    """The edition of the organisation it was judged on."""


class Stop(Written, frozen=True, kw_only=True, omit_defaults=True):
    """One gatekeeper still to visit; the last stop is the origin office, which has no gatekeeper."""

    gatekeeper: str
    """The role; empty for the origin."""
    office: str = ""
    """The office of the gatekeeper; empty for this one."""
    reasons: tuple[str, ...] = ()
    within: int | None = None
    """Microseconds within which the gatekeeper is to decide, where the rule says so."""
    instructions: str | None = None
    """What the one who forwarded it asks for."""
    is_comeback: bool = False
    named: str = ""
    """The role the rule named, where a fallback stands in for it."""
    via: tuple[str, ...] = ()
    """Who was passed over on the way to this gatekeeper, with why."""


class Review(Written, frozen=True, kw_only=True, omit_defaults=True):
    """What one gatekeeper, or the rules of one, did with a case."""

    gatekeeper: str
    person: str
    """Who acted; the gatekeeper's rules where nobody did."""
    action: Command
    at: int
    decision: str
    """The id of the decision: nothing is done twice under one."""
    office: str = ""
    comment: str = ""
    instructions: str = ""
    """What a forwarder asks of the next one; shown to gatekeepers only."""
    is_automatic: bool = False
    rule: str = ""
    """The rule that decided, where one did."""
    edition: int = 0
    content_before: str = ""
    content_after: str = ""
    """SHA-256 of the message before and after, where it was edited."""
    recipients: tuple[str, ...] = ()
    """Those it was released to, where it was not all."""


class Side(Written, frozen=True, kw_only=True, omit_defaults=True):
    """A copy or a notice that waits for what becomes of the case."""

    action: Literal["copy", "notify"]
    to: tuple[str, ...]
    saying: str | None = None
    rule: str = ""


class Wrapper(Written, frozen=True, kw_only=True, omit_defaults=True):
    """What is put around a gated message: where it goes, where it has been, and why."""

    version: int = VERSION
    case: UUID
    origin: str = ""
    """The office whose rules gated it; empty for this one."""
    sender: str | None = None
    recipients: tuple[str, ...] = ()
    """The specified recipients that still wait for it."""
    blind: tuple[str, ...] = ()
    current: Stop | None = None
    stops: tuple[Stop, ...] = ()
    """The stops after the current one, in their order; the last is the origin."""
    fired: tuple[Fired, ...] = ()
    """The rule history; it only grows."""
    reviews: tuple[Review, ...] = ()
    """The routing history; it only grows."""
    sides: tuple[Side, ...] = ()
    passes: int = 1
    """How often the origin's rules gated it."""
    hops: int = 0
    forwards: int = 0
    content: str = ""
    """SHA-256 of the message as it stands."""
    is_edited: bool = False
    created: int = 0
    deadline: int | None = None
    tell_sender: Literal["no", "yes", "with reason"] = "no"


class Case(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One gated message as the store keeps it."""

    id: UUID
    message: UUID
    """The message as it came in."""
    edited: UUID | None = None
    """The message as a gatekeeper changed it, where one did: a letter of its own."""
    version: int = 1
    """Counts the changes; a decision names the one it rests on."""
    is_open: bool = True
    outcome: str = ""
    """How it ended: released, returned, deleted, recalled."""
    opened: int = 0
    closed: int | None = None
    turn: int = 0
    """The turn of the newest docket."""
    is_on_hold: bool = False
    """A legal hold: nothing may be deleted."""
    luggage: bytes = b""
    """Of its journey, which goes on from here."""
    wrapper: bytes = b""


class Docket(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One row in the index of a gatekeeper."""

    case: UUID
    turn: int
    """The how manyth stop of the case this is, from 1."""
    message: UUID
    """The message as it came in."""
    gatekeeper: str
    folder: str = INBOX
    status: Status = "gated"
    version: int = 1
    is_open: bool = True
    """False once something final was decided; the row stays as a record."""
    sender: str = ""
    location: str = ""
    subject: str = ""
    reason: str = ""
    """Of the winning rule."""
    more_reasons: int = 0
    recipients: int = 0
    size: int = 0
    attachments: int = 0
    place: int = 1
    """Which stop of the chain it is, of `places`."""
    places: int = 1
    created: int = 0
    arrived: int = 0
    expires: int | None = None
    """When the gatekeeper's own rules are asked; none in a mailbag without a function."""
    retain: int | None = None
    """When the message is deleted from the inbox."""
    is_postponed: bool = False
    """Its expiry was put off once, as somebody was writing."""
    is_expired: bool = False
    extensions: int = 0
    """How often it was given one interval more because no rule fired."""
    fault: str = ""
    """Why what was to be done with it could not be done."""
    claimed_by: str = ""
    claimed_until: int | None = None
    pending: bytes = b""
    """The decision that was recorded and is not carried out yet."""
    due: int | None = None
    """When the office looks at it by itself: the earliest of what is above, or the end of the time for undoing."""
    last_action: str = ""
    decided_by: str = ""
    decided_at: int | None = None
    is_automatic: bool = False
    warned: int = 0
    """How often somebody was told that it lies in a mailbag for long."""


Every = Literal["none", "hours", "days", "months", "date", "end"]
Function = Literal["none", "release", "delete", "return", "forward", "review"]


class Rhythm(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The time parameter of a mailbag.

    hours, days  `count` of them after the last run
    months       every `count` calendar months on day `day`, the last day where a month is shorter
    date         once, on `date` (YYYY-MM-DD)
    end          at the end of the current `period`
    none         never
    """

    every: Every = "none"
    count: int = 1
    day: int = 1
    date: str = ""
    period: Literal["week", "month", "quarter", "year", ""] = ""


class Mailbag(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of one gatekeeper with what is done to all that lies in it, and when."""

    id: str
    gatekeeper: str
    name: str
    function: Function = "none"
    to: str = ""
    """Whom `forward` goes to."""
    saying: str = ""
    """What `return` or `forward` says."""
    rhythm: Rhythm = Rhythm()
    created: int = 0
    last_run: int | None = None
    next_run: int | None = None
    """None where it never runs."""
    formerly: tuple[str, ...] = ()
    """What it was called before: rules that name it so still mean it."""
    version: int = 1
    is_removed: bool = False


class Edition(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a book of the office, which is never changed: a rule set, an organisation, a policy."""

    book: str
    """`rules`, `rules of ROLE`, `organisation`, `policy`, `words NAME`."""
    number: int
    """From 1, without gaps."""
    text: str
    author: str = ""
    note: str = ""
    at: int = 0


class Activation(msgspec.Struct, frozen=True, kw_only=True):
    """From when an edition of a book is the one in force; the newest activation counts."""

    book: str
    number: int
    """0 ends the book: nothing is in force."""
    at: int
    by: str = ""
    second: str = ""
    """Who agreed, where two are needed."""


class AuditEntry(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One act to be recorded; the store numbers it and adds it to the chain."""

    at: int
    actor: str
    act: str
    """A fixed word, such as `case.released` or `rules.activated`."""
    subject: str
    """The case, message, book or account it is about."""
    commitment: bytes
    """SHA-256 of salt and payload: it stays when the payload is erased."""
    salt: bytes = b""
    payload: bytes = b""
    """MessagePack; what is said of persons stands here, so that it can be erased."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Wrapper).decode
_decode_any = msgspec.msgpack.Decoder().decode
_PARTS: Final[Mapping[str, type[Written]]] = {
    "current": Stop, "stops": Stop, "fired": Fired, "reviews": Review, "sides": Side,
}  # fmt: skip


def pack_wrapper(wrapper: Wrapper) -> bytes:
    """Give a wrapper as bytes; what a newer version wrote stands again where it stood."""
    parts = (wrapper, wrapper.current, *wrapper.stops, *wrapper.fired, *wrapper.reviews, *wrapper.sides)
    if not any(part.more for part in parts if part is not None):
        return _encode(wrapper)
    return _encode(_spread(_decode_any(_encode(wrapper))))


def unpack_wrapper(data: bytes) -> Wrapper:
    """Take up a wrapper; one that says more than this version knows is read all the same, a newer form is not."""
    try:
        wrapper = _decode(data)
        if wrapper.version <= VERSION and _encode(wrapper) != data:
            wrapper = msgspec.convert(_gathered(_decode_any(data), Wrapper), Wrapper)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        raise UnreadableWrapper(f"expected a wrapper, found {len(data)} bytes that are none: {fault}") from None
    if wrapper.version > VERSION:
        what = f"expected a wrapper of version {VERSION} at most, found version {wrapper.version}"
        raise UnreadableWrapper(what, hint="a newer version of this house reads it")
    return wrapper


# `Any`: MessagePack as it comes, before it is known what it says.
def _gathered(packed: Any, kind: type[Written]) -> Any:
    """Put what a part says beyond its fields into its `more`."""
    if isinstance(packed, list):
        return [_gathered(one, kind) for one in packed]
    if not isinstance(packed, dict):
        return packed
    known = {name: packed[name] for name in kind.__struct_fields__ if name in packed and name != "more"}
    if kind is Wrapper:
        known |= {name: _gathered(known[name], part) for name, part in _PARTS.items() if name in known}
    more = {name: value for name, value in packed.items() if name not in kind.__struct_fields__}
    return known | {"more": more} if more else known


def _spread(packed: Any) -> Any:
    """Put what stands in the `more` of every part beside its fields again."""
    if isinstance(packed, list):
        return [_spread(one) for one in packed]
    if not isinstance(packed, dict):
        return packed
    more = packed.get("more", {})
    # What is not known here is handed on as it is, even where it has a `more` of its own.
    return {
        name: _spread(value) if name in _PARTS else value for name, value in packed.items() if name != "more"
    } | more
