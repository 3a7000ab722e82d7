"""What lies before a gatekeeper: listed, shown, counted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import tzinfo
from typing import Any, Final
from uuid import UUID

import click

from posthouse.cli import exitcode
from posthouse.cli.desk import Desk, at_any_desk
from posthouse.cli.printer import Cell, clean, plural
from posthouse.cli.seat import as_role, cut, docket_of, in_words, office_time, role_of, short, who, zone_of
from posthouse.client import Office
from posthouse.message.case import Docket, Mailbag
from posthouse.message.form.composition import MAIL_TYPE
from posthouse.message.form.mail.reading import read_mail
from posthouse.message.form.plain import shown_instant
from posthouse.message.message import read_head
from posthouse.office.deskcalls import CaseStory, CountDockets, ListDockets, ListMailbags, OpenDocket, TellCase
from posthouse.server.quantity import print_size
from posthouse.store.gateports import DocketCount, DocketFilter, DocketOrder, DocketPlace, place_of

_PAGE: Final = 500
_MOST_SHOWN: Final = 65_536


@click.command("list")
@as_role
@click.option("--all-roles", is_flag=True, help="List what lies before every role.")
@click.option("--folder", metavar="NAME", help="Only what lies in this folder: inbox, review, or a mailbag.")
@click.option("--sender", metavar="ADDRESS", help="Only messages of this sender.")
@click.option("--status", metavar="WORD", help="Only those in this status: gated, reviewed, ...")
@click.option("--closed", is_flag=True, help="List what was decided as well.")
@click.option("--order", type=click.Choice(["due", "arrival", "sender"]), default="due", help="What comes first.")
@click.option("--limit", type=click.IntRange(1), help="List only so many.")
@at_any_desk
# `Any`: the options, as click read them.
def list_(desk: Desk, **given: Any) -> None:
    """List what lies before a gatekeeper, what is due first at the top."""
    role, dockets, bags = desk.run(_list(desk, given))
    if desk.as_json:
        desk.printer.documents(map(document, dockets))
        return
    headings = ("case", "sender", "subject", "reason", "status", "due", "folder")
    names = _names(dockets)
    rows = [(names[one.case], *_row(one, bags, with_role=role is None)) for one in dockets]
    empty = "nothing lies before anybody" if role is None else f"nothing lies before {clean(role)}"
    desk.printer.table(headings, rows, empty=empty)


async def _list(desk: Desk, given: dict[str, Any]) -> tuple[str | None, list[Docket], dict[str, str]]:
    async with desk.office() as office:
        role = None if given["all_roles"] else await role_of(office, given["role"])
        bags = await office.call(ListMailbags(gatekeeper=role))
        chosen = DocketFilter(
            gatekeeper=role,
            folder=folder_of(given["folder"], bags),
            sender=given["sender"],
            status=given["status"],
            is_open=None if given["closed"] else True,
        )
        found = [one async for one in all_dockets(office, chosen, order=given["order"], limit=given["limit"])]
        return role, found, {bag.id: bag.name for bag in bags}


def _names(dockets: list[Docket]) -> dict[UUID, str]:
    """Give each case the digits that tell it from the others of the list: they are few that began at one instant."""
    alike: dict[str, set[UUID]] = {}
    for docket in dockets:
        alike.setdefault(short(docket.case), set()).add(docket.case)
    return {case: short(case, others) for others in alike.values() for case in others}


def next_date(docket: Docket) -> int | None:
    """Give when something happens to it by itself: in a mailbag that is when the mailbag runs."""
    return docket.expires if docket.due is None and docket.is_open else docket.due


async def all_dockets(
    office: Office, chosen: DocketFilter, *, order: DocketOrder, limit: int | None
) -> AsyncIterator[Docket]:
    """Give dockets page by page."""
    after: DocketPlace | None = None
    left = limit
    while left is None or left > 0:
        size = _PAGE if left is None else min(_PAGE, left)
        page = await office.call(ListDockets(chosen=chosen, order=order, after=after, limit=size))
        for docket in page:
            yield docket
        if not page:
            return
        after = place_of(page[-1], order)
        left = None if left is None else left - len(page)


def folder_of(name: str | None, bags: list[Mailbag]) -> str | None:
    """Give the folder of a name: the id of a mailbag, or the name itself."""
    return next((bag.id for bag in bags if bag.name == name), name)


def document(docket: Docket) -> dict[str, Any]:
    """Give a docket for programs."""
    return {
        "case": str(docket.case),
        "turn": docket.turn,
        "message": str(docket.message),
        "gatekeeper": docket.gatekeeper,
        "folder": docket.folder,
        "status": docket.status,
        "open": docket.is_open,
        "version": docket.version,
        "sender": docket.sender,
        "location": docket.location,
        "subject": docket.subject,
        "reason": docket.reason,
        "more_reasons": docket.more_reasons,
        "recipients": docket.recipients,
        "size": docket.size,
        "attachments": docket.attachments,
        "place": docket.place,
        "places": docket.places,
        "created": shown_instant(docket.created),
        "arrived": shown_instant(docket.arrived),
        "expires": shown_instant(docket.expires),
        "retain": shown_instant(docket.retain),
        "expired": docket.is_expired,
        "due": shown_instant(docket.due),
        "claimed_by": docket.claimed_by,
        "claimed_until": shown_instant(docket.claimed_until),
        "fault": docket.fault,
        "last_action": docket.last_action,
        "decided_by": docket.decided_by,
        "decided_at": shown_instant(docket.decided_at),
        "automatic": docket.is_automatic,
    }


def _row(docket: Docket, bags: dict[str, str], *, with_role: bool) -> tuple[Cell, ...]:
    reason = cut(docket.reason, 14) + (f" +{docket.more_reasons}" if docket.more_reasons else "")
    folder = bags.get(docket.folder, docket.folder)
    if with_role:
        folder = f"{docket.gatekeeper}/{folder}"
    status = f"{docket.status}!" if docket.fault else docket.status
    return (
        cut(docket.sender or "nobody", 14), cut(docket.subject, 14), reason, cut(status, 11),
        in_words(next_date(docket)), cut(folder, 20 if with_role else 9),
    )  # fmt: skip


@click.command()
@click.argument("case", metavar="ID")
@as_role
@click.option("--body", is_flag=True, help="Show the text too; that you read it is recorded.")
@click.option("--peek", is_flag=True, help="Only look: do not mark it as reviewed.")
@at_any_desk
def show(desk: Desk, case: str, *, role: str | None, body: bool, peek: bool) -> None:
    """Open what lies before a gatekeeper: who it is from and for, why it is held, its dates.

    ID is the id of the case or of its message, or as many of the first digits as tell it from others. What was gated
    is marked as reviewed, which decides nothing.
    """
    docket, story, zone = desk.run(_show(desk, case, role, body=body, peek=peek))
    if desk.as_json:
        shown = document(docket) | {"head": story.head.decode(errors="replace")}
        desk.printer.document(shown | ({"body": story.body.decode(errors="replace")} if body else {}))
        return
    desk.printer.facts(_facts(docket, story, zone))
    if body:
        desk.printer.line("")
        desk.printer.line(clean(text_in(story) or "(no text)", keep="\n\t"))
        if story.is_cut:
            desk.printer.line(f"(cut after {print_size(_MOST_SHOWN)})")


async def _show(
    desk: Desk, digits: str, named: str | None, *, body: bool, peek: bool
) -> tuple[Docket, CaseStory, tzinfo]:
    async with desk.office() as office:
        role = await role_of(office, named)
        docket = await docket_of(office, digits, role=role)
        if not peek and docket.is_open and docket.status == "gated":
            docket = await office.call(OpenDocket(case=docket.case, turn=docket.turn, gatekeeper=role, by=who()))
        limit = _MOST_SHOWN if body else 0
        call = TellCase(case=docket.case, gatekeeper=role, by=who(), body_limit=limit)
        story = await office.call(call)
        assert story is not None
        return docket, story, await zone_of(office)


def text_in(story: CaseStory) -> str:
    """Give the text of a held message, as its reviewer reads it."""
    if read_head(story.head).content_type.startswith(MAIL_TYPE):
        return read_mail(story.body, is_cut=story.is_cut)[1].text or ""
    return story.body.decode(errors="replace")


def _facts(docket: Docket, story: CaseStory, zone: tzinfo) -> list[tuple[str, Cell]]:
    def at(instant: int | None) -> str | None:
        return office_time(instant, zone)

    head = read_head(story.head) if story.head else None
    blind = [f"{name} (blind)" for name in story.envelope.blind]
    stop = story.wrapper.current
    return [
        ("case", str(docket.case)),
        ("message", str(docket.message)),
        ("sender", docket.sender or "nobody"),
        ("recipients", ", ".join([*story.envelope.recipients, *blind])),
        ("subject", docket.subject or None),
        ("kind", None if head is None else head.kind),
        ("size", print_size(docket.size)),
        ("attachments", docket.attachments or None),
        ("created", at(docket.created)),
        ("arrived here", at(docket.arrived)),
        ("held because", "\n".join(stop.reasons) if stop is not None and stop.reasons else docket.reason),
        ("asked of you", None if stop is None else stop.instructions),
        ("before", f"{docket.gatekeeper}, stop {docket.place} of {docket.places}, in {docket.folder}"),
        ("status", docket.status),
        ("automatic review on", at(docket.expires)),
        ("deleted from inbox on", at(docket.retain)),
        ("claimed by", f"{docket.claimed_by} until {at(docket.claimed_until)}" if docket.claimed_by else None),
        ("notes", "\n".join(f"{one.person}: {one.comment}" for one in story.wrapper.reviews if one.comment) or None),
        ("fault", docket.fault or None),
        ("decided", f"{docket.last_action} by {docket.decided_by}" if docket.decided_by else None),
        ("decided on", at(docket.decided_at)),
    ]  # fmt: skip


@click.command()
@as_role
@at_any_desk
def counts(desk: Desk, role: str | None) -> int:
    """Count what lies before gatekeepers, folder by folder; the exit code is 3 where nothing does."""
    found, bags = desk.run(_counts(desk, role))
    if desk.as_json:
        desk.printer.documents(
            {"gatekeeper": one.gatekeeper, "folder": one.folder, "count": one.count} for one in found
        )
    else:
        rows = [(one.gatekeeper, bags.get(one.folder, one.folder), one.count) for one in found]
        desk.printer.table(("gatekeeper", "folder", "messages"), rows, empty="nothing lies before anybody")
        if found:
            desk.printer.line(plural(sum(one.count for one in found), "message"))
    return exitcode.OK if any(one.count for one in found) else exitcode.NOTHING


async def _counts(desk: Desk, role: str | None) -> tuple[list[DocketCount], dict[str, str]]:
    async with desk.office() as office:
        found = await office.call(CountDockets(gatekeeper=role))
        bags = await office.call(ListMailbags(gatekeeper=role))
        return found, {bag.id: bag.name for bag in bags}
