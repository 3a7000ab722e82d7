"""Mailboxes over HTTP: how full they are, and their settings."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import delete, get, put
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from posthouse.message.changes import Setup
from posthouse.office.calls import ListMailboxes, ListSetups, SetUp
from posthouse.office.permit import Permit
from posthouse.web.api.path import mailbox_in
from posthouse.web.api.shape import Quota
from posthouse.web.front import Front

Page = Annotated[int, QueryParameter(ge=1, le=10_000, description="Rows of a page.")]
_TAGS = ["Looking after the office"]


class Box(msgspec.Struct, frozen=True, kw_only=True):
    """How full a mailbox is; names without # in front are lines to places elsewhere."""

    box: str
    messages: int
    bytes: int


class Boxes(msgspec.Struct, frozen=True, kw_only=True):
    """The boxes that hold something, by name; ask again with `after` as the last one's name."""

    boxes: list[Box]


class Rules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a mailbox."""

    closed: bool = False
    """A closed mailbox takes nothing in and gives nothing out; what it holds is kept."""
    max_messages: Quota | None = None
    max_bytes: Quota | None = None


class SetMailbox(Rules, frozen=True, kw_only=True):
    """A mailbox with settings of its own."""

    mailbox: str


class SetMailboxes(msgspec.Struct, frozen=True, kw_only=True):
    """The mailboxes with settings of their own."""

    mailboxes: list[SetMailbox]


@get("/mailboxes", summary="List what holds something", tags=_TAGS)
async def list_boxes(
    *, front: NamedDependency[Front], permit: NamedDependency[Permit], after: FromQuery[str] = "", limit: Page = 1_000
) -> Boxes:
    """Say how full each mailbox is, and each line to a place elsewhere."""
    depths = await front.ask(permit, ListMailboxes(after=after, limit=limit))
    return Boxes(boxes=[Box(box=depth.box, messages=depth.messages, bytes=depth.bytes) for depth in depths])


@get("/mailboxes/set-up", summary="List the mailboxes with settings of their own", tags=_TAGS)
async def list_set_up(*, front: NamedDependency[Front], permit: NamedDependency[Permit]) -> SetMailboxes:
    """Give their settings."""
    setups = await front.ask(permit, ListSetups())
    return SetMailboxes(
        mailboxes=[
            SetMailbox(
                mailbox=setup.mailbox,
                closed=setup.closed,
                max_messages=setup.max_messages,
                max_bytes=setup.max_bytes,
            )
            for setup in setups
        ]
    )


@put("/mailboxes/{mailbox:str}", summary="Write the settings of a mailbox", tags=_TAGS, status_code=200)
async def set_up(
    *, mailbox: FromPath[str], data: JSONBody[Rules], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> SetMailbox:
    """Close it or open it, and say how much it may hold."""
    name = mailbox_in(mailbox)
    setup = Setup(mailbox=name, closed=data.closed, max_messages=data.max_messages, max_bytes=data.max_bytes)
    await front.ask(permit, SetUp(setup=setup))
    return SetMailbox(mailbox=name, closed=data.closed, max_messages=data.max_messages, max_bytes=data.max_bytes)


@delete("/mailboxes/{mailbox:str}", summary="Remove the settings of a mailbox", tags=_TAGS)
async def remove_set_up(
    *, mailbox: FromPath[str], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> None:
    """Treat it like any other mailbox again; what it holds stays in it."""
    await front.ask(permit, SetUp(setup=Setup(mailbox=mailbox_in(mailbox), removed=True)))
