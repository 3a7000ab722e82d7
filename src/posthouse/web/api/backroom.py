"""The back room over HTTP: what waits, what was given up or set aside, the life of a message, and how the office is."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Annotated, Any, ClassVar
from uuid import UUID

import msgspec
from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from litestar.response import Stream

from posthouse.errors import PosthouseError
from posthouse.message.form import cloudevent, event, plain
from posthouse.message.message import Body, read_head
from posthouse.office.calls import (
    AskStatus,
    ListAside,
    ListDead,
    ListQueue,
    Lookup,
    ReadBody,
    RedriveDead,
    ResendAside,
    Status,
    Story,
    Tell,
)
from posthouse.office.permission import permits_story
from posthouse.office.permit import Permit
from posthouse.web.api.document import MessageBody, OneMessage
from posthouse.web.api.mailbox import Page
from posthouse.web.api.shape import (
    AsidePage,
    Count,
    DeadPage,
    Found,
    Line,
    Numbers,
    QueuePage,
    aside_of,
    dead_of,
    entry_of,
    life_of,
)
from posthouse.web.api.take import binary
from posthouse.web.front import Front

After = Annotated[int, QueryParameter(ge=0, le=2**62, description="The last number of the page before.")]
Prefix = Annotated[str, QueryParameter(min_length=1, max_length=36, description="The first digits of an id.")]
_TAGS = ["Looking after the office"]


class MessageUnknown(PosthouseError):
    """No message of this id was ever accepted here, or it is none of the asker's business."""

    code: ClassVar[str] = "message.not-found"
    public: ClassVar[str] = "There is no such message."


class OfficeStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How the office is."""

    office: str
    version: str
    started: str | None
    accepted: int
    queued: int
    dead: int
    aside: int
    waiting: int
    """Takers that wait."""
    store: str
    """`ok`, or why the store cannot write now."""
    destinations: list[OfficeElsewhere]
    """The ways to other offices that were walked in vain."""
    mail: dict[str, list[str]]
    """Where the doors for mail listen, by their names."""
    domains: list[str]
    """The domains of mail whose mailboxes are here."""


class OfficeElsewhere(msgspec.Struct, frozen=True, kw_only=True):
    """How the way to one other office is."""

    name: str
    state: str
    failures: int
    next_try: str | None
    last_fault: str


@get("/status", summary="Say how the office is", tags=_TAGS)
async def status(*, front: NamedDependency[Front], permit: NamedDependency[Permit]) -> OfficeStatus:
    """Count what was accepted, waits, was given up, and say which other offices cannot be reached."""
    found: Status = await front.ask(permit, AskStatus())
    return OfficeStatus(
        office=found.office,
        version=found.version,
        started=plain.shown_instant(found.started),
        accepted=found.accepted,
        queued=found.queued,
        dead=found.dead,
        aside=found.aside,
        waiting=found.waiting,
        store=found.store,
        destinations=[
            OfficeElsewhere(
                name=each.name,
                state=each.state,
                failures=each.failures,
                next_try=plain.shown_instant(each.next_try),
                last_fault=each.last_fault,
            )
            for each in found.destinations
        ],
        mail=found.mail,
        domains=found.domains,
    )


@get("/queue", summary="List what waits in a box", tags=_TAGS)
async def queue(
    *,
    box: FromQuery[str],
    front: NamedDependency[Front],
    permit: NamedDependency[Permit],
    after: After = 0,
    limit: Page = 100,
) -> QueuePage:
    """Give a page in order of arrival; the box of a mailbox is its name with # in front, written %23."""
    queued = await front.ask(permit, ListQueue(box=box, after=after, limit=limit))
    return QueuePage(entries=[entry_of(each) for each in queued])


@get("/dead", summary="List dead letters", tags=_TAGS)
async def dead(
    *,
    front: NamedDependency[Front],
    permit: NamedDependency[Permit],
    box: FromQuery[str | None] = None,
    kind: FromQuery[str | None] = None,
    after: After = 0,
    limit: Page = 100,
) -> DeadPage:
    """Give a page, oldest first."""
    found = await front.ask(permit, ListDead(box=box, kind=kind, after=after, limit=limit))
    return DeadPage(dead=[dead_of(each) for each in found])


@post("/dead/redrive", summary="Put dead letters back into their boxes", tags=_TAGS, status_code=200)
async def redrive(*, data: JSONBody[Numbers], front: NamedDependency[Front], permit: NamedDependency[Permit]) -> Count:
    """They are tried again from the beginning."""
    call = RedriveDead(numbers=data.numbers, box=data.box, kind=data.kind)
    return Count(count=await front.ask(permit, call))


@post("/dead/drop", summary="Drop dead letters for good", tags=_TAGS, status_code=200)
async def drop(*, data: JSONBody[Numbers], front: NamedDependency[Front], permit: NamedDependency[Permit]) -> Count:
    """Give them up for good: the journal keeps the messages, and nobody is told."""
    call = RedriveDead(numbers=data.numbers, box=data.box, kind=data.kind, drop=True)
    return Count(count=await front.ask(permit, call))


@get("/aside", summary="List the messages set aside by a bug", tags=_TAGS)
async def aside(
    *, front: NamedDependency[Front], permit: NamedDependency[Permit], after: After = 0, limit: Page = 100
) -> AsidePage:
    """Give a page, oldest first."""
    found = await front.ask(permit, ListAside(after=after, limit=limit))
    return AsidePage(aside=[aside_of(each) for each in found])


@post("/aside/resend", summary="Send messages that were set aside on their way again", tags=_TAGS, status_code=200)
async def resend(*, data: JSONBody[Numbers], front: NamedDependency[Front], permit: NamedDependency[Permit]) -> Count:
    """Those that break again stay where they are."""
    return Count(count=await front.ask(permit, ResendAside(numbers=data.numbers)))


@get("/messages", summary="Find messages by the first digits of their ids", tags=_TAGS)
async def find(
    *,
    prefix: Prefix,
    front: NamedDependency[Front],
    permit: NamedDependency[Permit],
    limit: Annotated[int, QueryParameter(ge=1, le=100)] = 10,
) -> Found:
    """Give the ids that begin so."""
    return Found(ids=await front.ask(permit, Lookup(prefix=prefix, limit=limit)))


@get("/messages/{message:uuid}", summary="Give one message with its trace", tags=_TAGS, operation_class=OneMessage)
# `Any`: the life of the message, or the event it is.
async def message(
    *,
    message: FromPath[UUID],
    front: NamedDependency[Front],
    permit: NamedDependency[Permit],
    form: FromQuery[str] = "life",
) -> Response[Any]:
    """Tell what a message says and what happened to it, to whoever sent it or may read what it was sent to.

    With `?form=event` it comes as a CloudEvent, and with `?form=binary` as its headers and body.
    """
    story = await _story(front, permit, message)
    if form == "life":
        return Response(life_of(story))
    found = cloudevent.to_event(read_head(story.head, story.body, sections=story.sections))
    if form == "event":
        return Response(event.write_event(found), media_type=event.STRUCTURED)
    return binary(found)


@get("/messages/{message:uuid}/trace", summary="Give the trace of a message", tags=_TAGS)
async def trace(
    *, message: FromPath[UUID], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> list[Line]:
    """Tell what happened to it, oldest line first."""
    return life_of(await _story(front, permit, message)).trace


@get(
    "/messages/{message:uuid}/body",
    summary="Give the body of a message",
    tags=["Messages out"],
    operation_class=MessageBody,
)
async def body(*, message: FromPath[UUID], front: NamedDependency[Front], permit: NamedDependency[Permit]) -> Stream:
    """Give it as it is, however large."""
    story = await _story(front, permit, message)
    read = read_head(story.head, story.body, sections=story.sections)
    return Stream(
        _pieces(front, read.body),
        # A browser that is handed a page shows a page, which must not run here.
        media_type="application/octet-stream",
        headers={
            "content-length": str(read.size),
            "x-content-type-options": "nosniff",
            "content-disposition": "attachment",
            "posthouse-content-type": read.content_type,
        },
    )


async def _pieces(front: Front, body: bytes | Body) -> AsyncGenerator[bytes, None]:
    if isinstance(body, bytes):
        yield body
        return
    start = 0
    while piece := await front.office.answer(ReadBody(body=body, start=start)):
        yield piece
        start += len(piece)


async def _story(front: Front, permit: Permit, message: UUID) -> Story:
    """Give a message to those who may see it; others are not told that it exists."""
    story = await front.asking.answer(permit, Tell(message=message))
    if story is None or permits_story(permit, story, office=front.name) is not None:
        raise MessageUnknown(
            f"no message {message} is here for this key", hint="compare the id, or ask with another key"
        )
    return story
