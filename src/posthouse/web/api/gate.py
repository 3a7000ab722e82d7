"""The desk over HTTP: what lies before gatekeepers, its cases, and everything a gatekeeper decides."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

import msgspec
from litestar import get, post
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from posthouse.message.case import Command
from posthouse.office.asking import CaseUnknown
from posthouse.office.deskcalls import (
    Annotate,
    Claim,
    ConfirmClock,
    CountDockets,
    Decide,
    Decision,
    Edit,
    FindCases,
    HoldCase,
    ListDockets,
    OpenDocket,
    Recall,
    SkipStop,
    TellCase,
    Undo,
)
from posthouse.office.permit import Permit
from posthouse.store.gateports import DocketFilter, DocketOrder, place_of
from posthouse.web.api.gateshape import (
    LARGEST_TEXT,
    MOST_DECISIONS,
    Answered,
    AnsweredAll,
    CaseLife,
    CaseRows,
    FolderCount,
    FolderCounts,
    HeldMessage,
    HeldPage,
    Micros,
    Role,
    Text,
    Turn,
    Version,
    answered_of,
    held_of,
    life_of_case,
    read_place,
    row_of,
    written_place,
)
from posthouse.web.front import Front

TAGS = ["What is held"]

Page = Annotated[int, QueryParameter(ge=1, le=1_000, description="Rows of a page.")]
Digits = Annotated[
    str,
    QueryParameter(min_length=1, max_length=36, pattern="^[0-9a-fA-F-]+$", description="The first digits of an id."),
]
Gatekeeper = Annotated[str | None, QueryParameter(max_length=500, description="The role; all of yours without one.")]


class OnDocket(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which docket is meant, and in which role somebody acts."""

    case: UUID
    turn: Turn
    gatekeeper: Role


class Claiming(OnDocket, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Take a docket for oneself for a while."""

    lets_go: bool = False
    takes_over: bool = False


class Editing(OnDocket, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new text for a held message."""

    text: Annotated[str, msgspec.Meta(max_length=LARGEST_TEXT)]
    version: Version | None = None
    subject: Annotated[str, msgspec.Meta(max_length=998)] | None = None
    without_attachments: Annotated[
        list[Annotated[int, msgspec.Meta(ge=0, le=10_000)]], msgspec.Meta(max_length=100)
    ] = []
    is_confirmed: bool = False


class Noting(OnDocket, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A note on a case, or other dates of a docket, in microseconds since 1970."""

    comment: Text = ""
    expires: Micros | None = None
    retain: Micros | None = None
    drops_retain: bool = False


class Deciding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is commanded for one docket."""

    case: UUID
    turn: Turn
    command: Command
    version: Version | None = None
    """The version of the docket the decision rests on; left out, it is taken as it stands."""
    id: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """A mark of your own: nothing is done twice under one."""
    to: Text = ""
    mailbag: Text = ""
    saying: Text = ""
    comment: Text = ""
    recipients: Annotated[list[str], msgspec.Meta(max_length=1_000)] = []
    comes_back: bool = True
    within: Micros | None = None
    includes_original: bool = True
    is_confirmed: bool = False


class DecidingAll(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Commands, each for itself, all in one role."""

    gatekeeper: Role
    decisions: Annotated[list[Deciding], msgspec.Meta(min_length=1, max_length=MOST_DECISIONS)]


class Holding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A legal hold on a case, or its end."""

    case: UUID
    is_held: bool = True
    reason: Text = ""


class Recalling(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A message of one's own that is taken back."""

    message: UUID
    reason: Text = ""


class Skipping(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A case that goes on without one of its gatekeepers."""

    case: UUID
    gatekeeper: Role
    reason: Text = ""


class Confirmed(msgspec.Struct, frozen=True, kw_only=True):
    """Whether anything was in doubt."""

    confirmed: bool


def _chosen(
    *,
    gatekeeper: Gatekeeper = None,
    folder: FromQuery[str | None] = None,
    case: FromQuery[UUID | None] = None,
    sender: FromQuery[str | None] = None,
    status: FromQuery[str | None] = None,
    closed: FromQuery[bool] = False,
) -> DocketFilter:
    return DocketFilter(
        gatekeeper=gatekeeper, folder=folder, case=case, sender=sender, status=status,
        is_open=None if closed else True,
    )  # fmt: skip


@get(
    "/gate/dockets",
    summary="List what lies before gatekeepers",
    tags=TAGS,
    dependencies={"chosen": Provide(_chosen, sync_to_thread=False)},
)
async def list_dockets(
    *,
    front: NamedDependency[Front],
    permit: NamedDependency[Permit],
    chosen: NamedDependency[DocketFilter],
    order: FromQuery[DocketOrder] = "due",
    after: Annotated[str | None, QueryParameter(max_length=4_000, description="The `next` of the page before.")] = None,
    limit: Page = 100,
) -> HeldPage:
    """Give a page; without a role it is of all roles you may act in. With `closed` what was decided is there too."""
    place = None if after is None else read_place(after, order)
    found = await front.ask(permit, ListDockets(chosen=chosen, order=order, after=place, limit=limit))
    following = written_place(place_of(found[-1], order)) if len(found) == limit else None
    return HeldPage(dockets=[held_of(docket) for docket in found], next=following)


@get("/gate/counts", summary="Count what lies before gatekeepers", tags=TAGS)
async def count_dockets(
    *, front: NamedDependency[Front], permit: NamedDependency[Permit], gatekeeper: Gatekeeper = None
) -> FolderCounts:
    """Say how many messages lie in each folder of each role you may act in."""
    found = await front.ask(permit, CountDockets(gatekeeper=gatekeeper))
    return FolderCounts(
        counts=[FolderCount(gatekeeper=one.gatekeeper, folder=one.folder, count=one.count) for one in found]
    )


@get("/gate/cases", summary="Find cases by the first digits of their ids", tags=TAGS)
async def find_cases(
    *,
    prefix: Digits,
    front: NamedDependency[Front],
    permit: NamedDependency[Permit],
    limit: Annotated[int, QueryParameter(ge=1, le=100)] = 10,
) -> CaseRows:
    """Give the cases whose id, or the id of whose message, begins so: those you review, and those you sent."""
    found = await front.ask(permit, FindCases(prefix=prefix.lower(), limit=limit))
    return CaseRows(cases=[row_of(case) for case in found])


@get("/gate/cases/{case:uuid}", summary="Tell the whole story of a case", tags=TAGS)
async def tell_case(
    *,
    case: FromPath[UUID],
    front: NamedDependency[Front],
    permit: NamedDependency[Permit],
    gatekeeper: Annotated[str, QueryParameter(max_length=500)] = "",
    text_bytes: Annotated[int, QueryParameter(ge=0, le=LARGEST_TEXT, description="How much of it to read.")] = 0,
) -> CaseLife:
    """Say who sent it, why it was held, where it stopped and what was decided.

    With `text_bytes` its text is told too, and that you read it is recorded. Who sent the message is told that it is
    held, and no more.
    """
    story = await front.ask(permit, TellCase(case=case, gatekeeper=gatekeeper, body_limit=text_bytes))
    if story is None:
        raise CaseUnknown(f"no case {case} is here for this key", hint="compare the id, or ask with another key")
    return life_of_case(story, with_text=bool(text_bytes))


@post("/gate/openings", summary="Say that a message was opened", tags=TAGS, status_code=200)
async def open_docket(
    *, data: JSONBody[OnDocket], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> HeldMessage:
    """Mark what was gated as reviewed; that decides nothing."""
    call = OpenDocket(case=data.case, turn=data.turn, gatekeeper=data.gatekeeper)
    return held_of(await front.ask(permit, call))


@post("/gate/decisions", summary="Decide on what is held", tags=TAGS, status_code=200)
async def decide(
    *, data: JSONBody[DecidingAll], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> AnsweredAll:
    """Release, return, forward, file, delete or copy, one message or many; each is answered for itself.

    First decision wins. `confirm` means: ask the person, and come again with `is_confirmed`.
    """
    decisions = [_decision(one) for one in data.decisions]
    found = await front.ask(permit, Decide(decisions=decisions, gatekeeper=data.gatekeeper))
    return AnsweredAll(answers=[answered_of(one) for one in found])


def _decision(data: Deciding) -> Decision:
    # `Any`: the same fields, whose lists are tuples inside.
    fields: dict[str, Any] = {name: getattr(data, name) for name in Deciding.__struct_fields__}
    return Decision(**fields | {"recipients": tuple(data.recipients)})


@post("/gate/claims", summary="Take a message for yourself for a while", tags=TAGS, status_code=200)
async def claim(
    *, data: JSONBody[Claiming], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> Answered:
    """See that nobody else works on it, and that it does not expire while you write; or let it go."""
    call = Claim(
        case=data.case, turn=data.turn, gatekeeper=data.gatekeeper, lets_go=data.lets_go, takes_over=data.takes_over
    )
    return answered_of(await front.ask(permit, call))


@post("/gate/edits", summary="Change the text of a held message", tags=TAGS, status_code=200)
async def edit(*, data: JSONBody[Editing], front: NamedDependency[Front], permit: NamedDependency[Permit]) -> Answered:
    """Keep the original, and put this text in its place."""
    call = Edit(
        case=data.case, turn=data.turn, gatekeeper=data.gatekeeper, text=data.text, version=data.version,
        subject=data.subject, without_attachments=tuple(data.without_attachments), is_confirmed=data.is_confirmed,
    )  # fmt: skip
    return answered_of(await front.ask(permit, call))


@post("/gate/undoings", summary="Take back a decision", tags=TAGS, status_code=200)
async def undo(*, data: JSONBody[OnDocket], front: NamedDependency[Front], permit: NamedDependency[Permit]) -> Answered:
    """Undo what was decided, as long as it was not carried out."""
    call = Undo(case=data.case, turn=data.turn, gatekeeper=data.gatekeeper)
    return answered_of(await front.ask(permit, call))


@post("/gate/notes", summary="Note something on a case, or change its dates", tags=TAGS, status_code=200)
async def annotate(
    *, data: JSONBody[Noting], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> Answered:
    """Add a comment for those who look after the case, set the date of automatic review or of deletion."""
    call = Annotate(
        case=data.case, turn=data.turn, gatekeeper=data.gatekeeper, comment=data.comment, expires=data.expires,
        retain=data.retain, drops_retain=data.drops_retain,
    )  # fmt: skip
    return answered_of(await front.ask(permit, call))


@post("/gate/holds", summary="Put a legal hold on a case", tags=TAGS, status_code=200)
async def hold_case(
    *, data: JSONBody[Holding], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> Answered:
    """See that nothing of it is deleted until the hold is lifted."""
    call = HoldCase(case=data.case, is_held=data.is_held, reason=data.reason)
    return answered_of(await front.ask(permit, call))


@post("/gate/recalls", summary="Take back a message of your own that is held", tags=TAGS, status_code=200)
async def recall(
    *, data: JSONBody[Recalling], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> AnsweredAll:
    """Have it returned, as long as nothing final was decided; only with the key it was sent with."""
    found = await front.ask(permit, Recall(message=data.message, reason=data.reason))
    return AnsweredAll(answers=[answered_of(one) for one in found])


@post("/gate/skips", summary="Have a case go on without one of its gatekeepers", tags=TAGS, status_code=200)
async def skip_stop(
    *, data: JSONBody[Skipping], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> Answered:
    """Leave out a stop that nobody can make; for administrators, and recorded."""
    call = SkipStop(case=data.case, gatekeeper=data.gatekeeper, reason=data.reason)
    return answered_of(await front.ask(permit, call))


@post("/gate/clock/confirm", summary="Say that the clock is right", tags=TAGS, status_code=200)
async def confirm_clock(*, front: NamedDependency[Front], permit: NamedDependency[Permit]) -> Confirmed:
    """Let mailbags run again that stopped because the clock had jumped."""
    return Confirmed(confirmed=await front.ask(permit, ConfirmClock()))


HANDLERS = [
    list_dockets, count_dockets, find_cases, tell_case, open_docket, decide, claim, edit, undo, annotate, hold_case,
    recall, skip_stop, confirm_clock,
]  # fmt: skip
