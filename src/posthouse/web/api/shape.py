"""The shapes of what is asked and answered over HTTP, for the code and for the document that describes it."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any, ClassVar, Final, Literal
from uuid import UUID

import msgspec

from posthouse.errors import PosthouseError
from posthouse.message import envelope as envelopes
from posthouse.message.form import plain
from posthouse.message.message import Body, Message, read_head
from posthouse.message.trace import Step
from posthouse.office.calls import Slip, Story, Taken, slip_of
from posthouse.office.intake import Receipt
from posthouse.office.mailbox import MOST_AT_ONCE
from posthouse.store.ports import Aside, Dead, Queued

MOST_SLIPS: Final = 1_000
_LONGEST_SLIP: Final = 12_000
LONGEST_WAIT: Final = 60.0
"""Seconds; who wants to wait longer asks again, or opens a stream."""

Wait = Annotated[float, msgspec.Meta(ge=0, le=LONGEST_WAIT, description="Seconds to wait for a message to come.")]
Lease = Annotated[float, msgspec.Meta(gt=0, description="Seconds for which a taken message is yours.")]
Limit = Annotated[int, msgspec.Meta(ge=1, le=MOST_AT_ONCE)]
Quota = Annotated[int, msgspec.Meta(ge=0, le=2**62)]


class BadSlip(PosthouseError):
    """Text that is no slip of a taken message."""

    code: ClassVar[str] = "slip.malformed"
    public: ClassVar[str] = "The slip is malformed."


class PutAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one message that was handed in; `accepted` means that it will not be lost."""

    status: Literal["accepted", "duplicate", "refused"]
    id: UUID | None = None
    """Of a duplicate, the id of the message that came first."""
    code: str = ""
    """The stable word for why it was refused."""
    reason: str = ""
    temporary: bool = False
    """True when the same message may be accepted later."""


class PutAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the messages of one request, in their order."""

    results: list[PutAnswer]


class Taking(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to take out of a mailbox."""

    limit: Limit = 1
    kind: str | None = None
    correlation: str | None = None
    wait: Wait = 0.0
    lease: Lease | None = None


class Getting(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to take out of a mailbox for good."""

    limit: Limit = 1
    kind: str | None = None
    correlation: str | None = None
    wait: Wait = 0.0


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """Who a message is from and for, as the office delivers it."""

    sender: str | None
    recipients: tuple[str, ...]
    principal: str


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """A taken message."""

    slip: str
    """What shows that it is yours."""
    attempt: int
    """How often it has been taken; above 1, somebody may have worked on it before."""
    leased_until: str | None
    envelope: Envelope
    # `Any`: the fields of a message, as `plain.fields_of` gives them.
    message: dict[str, Any]


class Deliveries(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken; empty where nothing came."""

    deliveries: list[Delivery]


class Messages(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken for good."""

    # `Any`: the fields of a message.
    messages: list[dict[str, Any]]


class Slips(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Taken messages, by their slips."""

    slips: Annotated[list[str], msgspec.Meta(min_length=1, max_length=MOST_SLIPS)]


class Failing(Slips, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Taken messages that could not be handled."""

    reason: Annotated[str, msgspec.Meta(max_length=1_000)] = ""
    pause: Annotated[float, msgspec.Meta(ge=0, le=10**9)] | None = None
    """Seconds until they may be taken again; grows by itself where it is left out."""


class Renewing(Slips, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Leases that shall last."""

    lease: Lease | None = None


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """Which of the slips were still yours."""

    settled: list[str]
    lost: list[str]
    """The lease had run out, or somebody settled them; they may be delivered again."""


class Numbers(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Dead letters or messages set aside, by their numbers; none means all that the filter lets through."""

    numbers: Annotated[list[Quota], msgspec.Meta(max_length=10_000)] = []
    box: str | None = None
    kind: str | None = None


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """How many were meant."""

    count: int


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A large body that was handed in; name it in a message as its `ref`."""

    sha256: str
    size: int


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(Slip).decode


def written_slip(slip: Slip) -> str:
    """Write a slip as text that fits anywhere."""
    return base64.urlsafe_b64encode(_encode(slip)).rstrip(b"=").decode()


def read_slip(text: str) -> Slip:
    """Read a slip; whether it is still good the office says."""
    # The longest slip has a mailbox name of a thousand characters in it; what is longer is cut, and then is none.
    cut = text[:_LONGEST_SLIP]
    try:
        return _decode(base64.urlsafe_b64decode(cut.encode("ascii") + b"=" * (-len(cut) % 4)))
    except (ValueError, binascii.Error, msgspec.DecodeError) as fault:
        raise BadSlip(
            f"expected a slip as it came with a message, found {text[:60]!r}",
            hint="a slip is text, handed back as it is",
        ) from fault


def answer_of(receipt: Receipt) -> PutAnswer:
    """Say what became of a message the office has looked at."""
    return PutAnswer(
        status=receipt.status, id=receipt.id, code=receipt.code, reason=receipt.reason, temporary=receipt.temporary
    )


def refusal_of(fault: PosthouseError) -> PutAnswer:
    """Say what is wrong with a message that could not be read."""
    told = str(fault) if fault.hint is None else f"{fault} ({fault.hint})"
    return PutAnswer(status="refused", code=fault.code, reason=told, temporary=not fault.permanent)


# `Any`: the fields of a message.
def shown(message: Message) -> dict[str, Any]:
    """Give a message with its body; a large one stands there by its hash."""
    if isinstance(message.body, Body):
        return plain.fields_of(message) | {"ref": {"sha256": message.body.sha256, "size": message.body.size}}
    return plain.fields_of(message) | plain.shown_body(message.content_type, message.body)


def delivery_of(taken: Taken) -> Delivery:
    """Give a taken message."""
    letter = taken.leased.letter
    envelope = envelopes.decode.decode(letter.envelope)
    return Delivery(
        slip=written_slip(slip_of(taken)),
        attempt=taken.leased.attempt,
        leased_until=plain.shown_instant(taken.leased.until),
        envelope=Envelope(sender=envelope.sender, recipients=envelope.recipients, principal=envelope.principal),
        message=shown(message_of(taken)),
    )


def message_of(taken: Taken) -> Message:
    """Give the message of what was taken."""
    letter = taken.leased.letter
    return read_head(letter.head, letter.body, sections=letter.sections)


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a trace."""

    at: str | None
    happened: str
    place: str
    detail: str


class Life(msgspec.Struct, frozen=True, kw_only=True):
    """One message with its whole life."""

    # `Any`: the fields of a message.
    message: dict[str, Any]
    envelope: Envelope
    accepted: str | None
    trace: list[Line]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The ids that begin with what was asked for."""

    ids: list[UUID]


def life_of(story: Story) -> Life:
    """Give the life of a message."""
    envelope = story.envelope
    return Life(
        message=shown(read_head(story.head, story.body, sections=story.sections)),
        envelope=Envelope(sender=envelope.sender, recipients=envelope.recipients, principal=envelope.principal),
        accepted=plain.shown_instant(story.accepted),
        trace=[line_of(step) for step in story.steps],
    )


def line_of(step: Step) -> Line:
    """Give one line of a trace."""
    return Line(at=plain.shown_instant(step.at), happened=step.happened, place=step.place, detail=step.detail)


class QueueEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One message that waits."""

    entry: int
    message: UUID
    state: str
    priority: int
    kind: str
    correlation: str | None
    size: int
    arrived: str | None
    attempt: int
    failures: int
    next: str | None
    """When something happens to it by itself."""
    expires: str | None


class QueuePage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of what waits in a box; ask again with `after` as the last entry's number."""

    entries: list[QueueEntry]


class DeadLetter(msgspec.Struct, frozen=True, kw_only=True):
    """What was given up, with its reason."""

    number: int
    message: UUID
    box: str
    kind: str
    at: str | None
    attempts: int
    reason: str


class DeadPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of dead letters; ask again with `after` as the last one's number."""

    dead: list[DeadLetter]


class AsideLetter(msgspec.Struct, frozen=True, kw_only=True):
    """What was set aside because of a bug in the office."""

    number: int
    message: UUID
    at: str | None
    reason: str


class AsidePage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of messages set aside; ask again with `after` as the last one's number."""

    aside: list[AsideLetter]


def entry_of(queued: Queued) -> QueueEntry:
    """Give one message that waits."""
    return QueueEntry(
        entry=queued.entry,
        message=queued.message,
        state=queued.state,
        priority=queued.priority,
        kind=queued.kind,
        correlation=queued.correlation,
        size=queued.size,
        arrived=plain.shown_instant(queued.arrived),
        attempt=queued.attempt,
        failures=queued.failures,
        next=plain.shown_instant(queued.next_at),
        expires=plain.shown_instant(queued.expires),
    )


def dead_of(dead: Dead) -> DeadLetter:
    """Give one dead letter."""
    return DeadLetter(
        number=dead.number,
        message=dead.message,
        box=dead.box,
        kind=dead.kind,
        at=plain.shown_instant(dead.at),
        attempts=dead.attempts,
        reason=dead.reason,
    )


def aside_of(aside: Aside) -> AsideLetter:
    """Give one message set aside."""
    return AsideLetter(
        number=aside.number, message=aside.message, at=plain.shown_instant(aside.at), reason=aside.reason
    )
