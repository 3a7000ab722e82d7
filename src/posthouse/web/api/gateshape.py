"""The shapes of what is asked and answered over HTTP about what is held, for the code and for the document."""

from __future__ import annotations

import base64
from typing import Annotated, Final
from uuid import UUID

import msgspec

from posthouse.message.case import Case, Docket, Fired, Review
from posthouse.message.form.composition import MAIL_TYPE
from posthouse.message.form.mail.reading import read_mail
from posthouse.message.form.plain import shown_instant, text_of
from posthouse.message.message import read_head
from posthouse.office.deskcalls import CaseStory, Decided
from posthouse.store.gateports import DocketOrder, DocketPlace
from posthouse.web.admission import BadWebRequest
from posthouse.web.api.shape import Line, line_of

MOST_DECISIONS: Final = 1_000
LARGEST_TEXT: Final = 1_048_576

Text = Annotated[str, msgspec.Meta(max_length=10_000)]
Role = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
Turn = Annotated[int, msgspec.Meta(ge=1, le=2**31)]
Version = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
Micros = Annotated[int, msgspec.Meta(ge=0, le=2**53, description="Microseconds.")]

_place: Final = msgspec.json.Decoder(tuple[int | str, str, int]).decode


class HeldMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One row of what lies before a gatekeeper."""

    case: str
    turn: int
    """Which stop of the case this is; it is named together with the case."""
    message: str
    gatekeeper: str
    folder: str
    """`inbox`, `review`, or the id of a mailbag."""
    status: str
    open: bool
    version: int
    sender: str
    location: str
    subject: str
    reason: str
    more_reasons: int
    recipients: int
    size: int
    attachments: int
    place: int
    places: int
    created: str | None
    arrived: str | None
    expires: str | None
    """When the gatekeeper's own rules are asked: the date of automatic review, not of release."""
    retain: str | None
    due: str | None
    expired: bool
    claimed_by: str
    claimed_until: str | None
    fault: str
    last_action: str
    decided_by: str
    decided_at: str | None
    automatic: bool


class HeldPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of what lies before gatekeepers; ask again with `after` as `next`, until that is null."""

    dockets: list[HeldMessage]
    next: str | None


class FolderCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many messages lie in one folder of one gatekeeper."""

    gatekeeper: str
    folder: str
    count: int


class FolderCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many messages lie before gatekeepers, folder by folder."""

    counts: list[FolderCount]


class CaseRow(msgspec.Struct, frozen=True, kw_only=True):
    """One case."""

    case: str
    message: str
    edited: str | None
    open: bool
    outcome: str
    opened: str | None
    closed: str | None
    on_hold: bool
    version: int


class CaseRows(msgspec.Struct, frozen=True, kw_only=True):
    """The cases that were found."""

    cases: list[CaseRow]


class FiredRule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule that was found applicable on the way of a message."""

    office: str
    checkpoint: str
    book: str
    edition: int
    rule: str
    reason: str
    actions: list[str]
    mark: str
    at: str | None
    values: list[str]
    unknown: bool


class Reviewed(msgspec.Struct, frozen=True, kw_only=True):
    """What one gatekeeper, or the rules of one, did with a case."""

    gatekeeper: str
    person: str
    action: str
    at: str | None
    decision: str
    comment: str
    instructions: str
    automatic: bool
    rule: str
    recipients: list[str]
    edited: bool


class CaseLife(msgspec.Struct, frozen=True, kw_only=True):
    """One case with everything the asker may know of it."""

    case: CaseRow
    sender: str | None
    recipients: list[str]
    blind: list[str]
    accepted: str | None
    gatekeeper: str
    """Where it stops now."""
    reasons: list[str]
    instructions: str
    """What the one who forwarded it asks for."""
    following: list[str]
    """The gatekeepers after that."""
    passes: int
    rules: list[FiredRule]
    reviews: list[Reviewed]
    dockets: list[HeldMessage]
    trace: list[Line]
    kind: str
    content_type: str
    text: str | None
    """What the message says, where that was asked for."""
    cut: bool
    others: list[str]
    """Other cases of the same message."""


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a command for one docket."""

    case: str
    turn: int
    status: str
    """`done`, or why not: `already`, `stale`, `refused`, `confirm`, `unknown`."""
    text: str
    undo_until: str | None
    docket: HeldMessage | None


class AnsweredAll(msgspec.Struct, frozen=True, kw_only=True):
    """What became of each command, in their order."""

    answers: list[Answered]


def held_of(docket: Docket) -> HeldMessage:
    """Give one row of what lies before a gatekeeper."""
    return HeldMessage(
        case=str(docket.case), turn=docket.turn, message=str(docket.message), gatekeeper=docket.gatekeeper,
        folder=docket.folder, status=docket.status, open=docket.is_open, version=docket.version, sender=docket.sender,
        location=docket.location, subject=docket.subject, reason=docket.reason, more_reasons=docket.more_reasons,
        recipients=docket.recipients, size=docket.size, attachments=docket.attachments, place=docket.place,
        places=docket.places, created=shown_instant(docket.created), arrived=shown_instant(docket.arrived),
        expires=shown_instant(docket.expires), retain=shown_instant(docket.retain), due=shown_instant(docket.due),
        expired=docket.is_expired, claimed_by=docket.claimed_by, claimed_until=shown_instant(docket.claimed_until),
        fault=docket.fault, last_action=docket.last_action, decided_by=docket.decided_by,
        decided_at=shown_instant(docket.decided_at), automatic=docket.is_automatic,
    )  # fmt: skip


def row_of(case: Case) -> CaseRow:
    """Give one case."""
    return CaseRow(
        case=str(case.id), message=str(case.message), edited=None if case.edited is None else str(case.edited),
        open=case.is_open, outcome=case.outcome, opened=shown_instant(case.opened), closed=shown_instant(case.closed),
        on_hold=case.is_on_hold, version=case.version,
    )  # fmt: skip


def life_of_case(story: CaseStory, *, with_text: bool) -> CaseLife:
    """Give one case with everything the asker may know of it."""
    wrapper, envelope = story.wrapper, story.envelope
    head = read_head(story.head) if story.head else None
    stop = wrapper.current
    return CaseLife(
        case=row_of(story.case),
        sender=envelope.sender,
        recipients=list(envelope.recipients),
        blind=list(envelope.blind),
        accepted=shown_instant(story.accepted),
        gatekeeper="" if stop is None else stop.gatekeeper,
        reasons=[] if stop is None else list(stop.reasons),
        instructions="" if stop is None else stop.instructions or "",
        following=[each.gatekeeper for each in wrapper.stops if each.gatekeeper],
        passes=wrapper.passes,
        rules=[_fired(fired) for fired in wrapper.fired],
        reviews=[_review(review) for review in wrapper.reviews],
        dockets=[held_of(docket) for docket in story.dockets],
        trace=[line_of(step) for step in story.steps],
        kind="" if head is None else head.kind,
        content_type="" if head is None else head.content_type,
        text=text_in(story) if with_text and story.head else None,
        cut=story.is_cut,
        others=[str(other.id) for other in story.others],
    )


def text_in(story: CaseStory) -> str | None:
    """Give the text of a held message, as its reviewer reads it."""
    if read_head(story.head).content_type.startswith(MAIL_TYPE):
        return read_mail(story.body, is_cut=story.is_cut)[1].text
    return text_of(story.body)


def _fired(fired: Fired) -> FiredRule:
    return FiredRule(
        office=fired.office, checkpoint=fired.checkpoint, book=fired.book, edition=fired.edition, rule=fired.rule,
        reason=fired.reason, actions=list(fired.actions), mark=fired.mark, at=shown_instant(fired.at),
        values=list(fired.values), unknown=fired.is_unknown,
    )  # fmt: skip


def _review(review: Review) -> Reviewed:
    return Reviewed(
        gatekeeper=review.gatekeeper, person=review.person, action=review.action, at=shown_instant(review.at),
        decision=review.decision, comment=review.comment, instructions=review.instructions,
        automatic=review.is_automatic, rule=review.rule, recipients=list(review.recipients),
        edited=review.content_before != review.content_after,
    )  # fmt: skip


def answered_of(decided: Decided) -> Answered:
    """Say what became of a command."""
    return Answered(
        case=str(decided.case),
        turn=decided.turn,
        status=decided.status,
        text=decided.text,
        undo_until=shown_instant(decided.undo_until),
        docket=None if decided.docket is None else held_of(decided.docket),
    )


def written_place(place: DocketPlace) -> str:
    """Write where a page begins as text that fits into an address."""
    packed = msgspec.json.encode((place.key, str(place.case), place.turn))
    return base64.urlsafe_b64encode(packed).rstrip(b"=").decode()


def read_place(text: str, order: DocketOrder) -> DocketPlace:
    """Read where a page begins."""
    try:
        key, case, turn = _place(base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4)))
        place = DocketPlace(key, UUID(case), turn)
    except (ValueError, msgspec.MsgspecError):
        place = None
    if place is None or not _fits(place, order):
        raise BadWebRequest(
            "expected `after` as it came as `next`, in the same order", hint="leave it out to begin anew"
        )
    return place


def _fits(place: DocketPlace, order: DocketOrder) -> bool:
    if not 0 <= place.turn < 2**31 or isinstance(place.key, str) != (order == "sender"):
        return False
    return isinstance(place.key, str) or -(2**63) <= place.key < 2**63
