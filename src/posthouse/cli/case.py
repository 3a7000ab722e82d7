"""`posthouse case`: the whole story of one message that was held, for people to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from typing import Any, Final

import click
import msgspec

from posthouse.cli.desk import Desk, at_any_desk
from posthouse.cli.gatelist import document as docket_document
from posthouse.cli.gatelist import next_date, text_in
from posthouse.cli.printer import clean
from posthouse.cli.seat import CaseMissing, bag_names, find_case, in_words, office_time, who, zone_of
from posthouse.message.case import Case, Docket, Fired, Review
from posthouse.message.form.plain import shown_instant
from posthouse.office.deskcalls import CaseStory, TellCase

_MOST_SHOWN: Final = 65_536
_INDENT: Final = "  "


@click.command()
@click.argument("case", metavar="ID")
@click.option("--body", is_flag=True, help="Show the text too; that you read it is recorded.")
@at_any_desk
def case(desk: Desk, case: str, *, body: bool) -> None:
    """Tell the whole story of one message that was held.

    Who sent it to whom, which rules held it and why, where it stopped, what was decided by whom, every date, and what
    else happened to it. ID is that of the case or of its message, or the first digits of it.
    """
    story, zone, bags = desk.run(_story(desk, case, with_body=body))
    if desk.as_json:
        desk.printer.document(document(story, with_body=body))
        return
    for line in tell(story, zone, bags=bags):
        desk.printer.line(line)
    if body:
        desk.printer.line("")
        desk.printer.line(clean(text_in(story), keep="\n\t"))


async def _story(desk: Desk, digits: str, *, with_body: bool) -> tuple[CaseStory, tzinfo, Mapping[str, str]]:
    async with desk.office() as office:
        found = await find_case(office, digits)
        limit = _MOST_SHOWN if with_body else 0
        story = await office.call(TellCase(case=found.id, by=who(), body_limit=limit))
        if story is None:
            raise CaseMissing(f"there is no case {found.id}, or it is none of yours")
        return story, await zone_of(office), await bag_names(office)


def tell(story: CaseStory, zone: tzinfo, *, bags: Mapping[str, str]) -> Iterator[str]:
    """Tell a case line by line, oldest things first."""
    case, wrapper, envelope = story.case, story.wrapper, story.envelope

    def at(instant: int | None) -> str:
        return office_time(instant, zone) or ""

    yield f"Case {case.id}"
    yield f"{_INDENT}message {case.message}" + (f", edited as {case.edited}" if case.edited else "")
    blind = [f"{name} (blind)" for name in envelope.blind]
    yield f"{_INDENT}from {clean(envelope.sender or 'nobody')}"
    yield f"{_INDENT}to {clean(', '.join([*envelope.recipients, *blind]))}"
    subject = next((docket.subject for docket in story.dockets if docket.subject), "")
    if subject:
        yield f"{_INDENT}about {clean(subject)}"
    yield f"{_INDENT}accepted {at(story.accepted)}, held {at(case.opened)}"
    state = "open" if case.is_open else f"closed {at(case.closed)}: {case.outcome or 'ended'}"
    held = ", under legal hold" if case.is_on_hold else ""
    yield f"{_INDENT}{state}{held}, gated {_times(wrapper.passes)}"
    if wrapper.fired:
        yield "Why"
        for fired in wrapper.fired:
            yield from _told_rule(fired, at(fired.at))
    if story.dockets:
        yield "Where it stopped"
        for docket in sorted(story.dockets, key=lambda each: each.turn):
            yield from _told_stop(docket, zone, bags)
        following = ", ".join(stop.gatekeeper for stop in wrapper.stops if stop.gatekeeper)
        if following and case.is_open:
            yield f"{_INDENT}then {clean(following)}"
    if wrapper.reviews:
        yield "What was decided"
        for review in wrapper.reviews:
            yield from _told_review(review, at(review.at))
    if wrapper.sides:
        yield "What waits for the end of it"
        for side in wrapper.sides:
            yield f"{_INDENT}{side.action} to {clean(', '.join(side.to))}"
    if story.steps:
        yield "What happened to the message"
        for step in story.steps:
            detail = " ".join(part for part in (step.happened, step.place, step.detail) if part)
            yield f"{_INDENT}{office_time(step.at, zone, seconds=True)}  {clean(detail)}"
    for other in story.others:
        yield f"Another case of it: {other.id}, {_state(other)}"


def _times(passes: int) -> str:
    return {1: "once", 2: "twice"}.get(passes, f"{passes} times")


def _state(case: Case) -> str:
    return "open" if case.is_open else (case.outcome or "closed")


def _told_rule(fired: Fired, at: str) -> Iterator[str]:
    unknown = ", not known, so it counts" if fired.is_unknown else ""
    mark = f" [{fired.mark}]" if fired.mark else ""
    yield f'{_INDENT}{at}  "{clean(fired.rule)}" of {clean(fired.book)} {fired.edition}{mark}{unknown}'
    if fired.reason:
        yield f"{_INDENT * 2}{clean(fired.reason)}"
    for value in fired.values:
        yield f"{_INDENT * 2}{clean(value)}"


def _told_stop(docket: Docket, zone: tzinfo, bags: Mapping[str, str]) -> Iterator[str]:
    arrived = office_time(docket.arrived, zone)
    yield f"{_INDENT}{docket.turn}. {clean(docket.gatekeeper)}, since {arrived}: {docket.status}"
    if docket.reason:
        more = f" (+{docket.more_reasons})" if docket.more_reasons else ""
        yield f"{_INDENT * 2}held because: {clean(docket.reason)}{more}"
    if docket.is_open:
        claimed = f", claimed by {clean(docket.claimed_by)}" if docket.claimed_by else ""
        folder = clean(bags.get(docket.folder, docket.folder))
        yield f"{_INDENT * 2}in {folder}, due {in_words(next_date(docket))}{claimed}"
    expiry = "the mailbag runs on" if docket.folder in bags else "automatic review on"
    for what, instant in ((expiry, docket.expires), ("deleted from inbox on", docket.retain)):
        if instant is not None and docket.is_open:
            yield f"{_INDENT * 2}{what} {office_time(instant, zone)}"
    if docket.decided_by:
        by_itself = ", by itself" if docket.is_automatic else ""
        decided = office_time(docket.decided_at, zone)
        yield f"{_INDENT * 2}{docket.last_action} by {clean(docket.decided_by)}, {decided}{by_itself}"
    if docket.fault:
        yield f"{_INDENT * 2}fault: {clean(docket.fault)}"


def _told_review(review: Review, at: str) -> Iterator[str]:
    by_rule = f', by the rule "{clean(review.rule)}"' if review.rule else ""
    yield f"{_INDENT}{at}  {review.action} by {clean(review.person)} as {clean(review.gatekeeper)}{by_rule}"
    if review.recipients:
        yield f"{_INDENT * 2}to {clean(', '.join(review.recipients))} only"
    if review.content_before != review.content_after:
        yield f"{_INDENT * 2}the text was changed"
    for what, text in (("note", review.comment), ("asked", review.instructions)):
        if text:
            yield f"{_INDENT * 2}{what}: {clean(text)}"


# `Any`: the members of a JSON object.
def document(story: CaseStory, *, with_body: bool) -> dict[str, Any]:
    """Give a case for programs."""
    case = story.case
    told: dict[str, Any] = {
        "case": str(case.id),
        "message": str(case.message),
        "edited": None if case.edited is None else str(case.edited),
        "open": case.is_open,
        "outcome": case.outcome,
        "opened": shown_instant(case.opened),
        "closed": shown_instant(case.closed),
        "on_hold": case.is_on_hold,
        "accepted": shown_instant(story.accepted),
        "sender": story.envelope.sender,
        "recipients": list(story.envelope.recipients),
        "blind": list(story.envelope.blind),
        "passes": story.wrapper.passes,
        "rules": [_plain(fired) for fired in story.wrapper.fired],
        "stops": [stop.gatekeeper for stop in story.wrapper.stops],
        "dockets": [docket_document(docket) for docket in story.dockets],
        "reviews": [_plain(review) for review in story.wrapper.reviews],
        "trace": [
            {"at": shown_instant(step.at), "happened": step.happened, "place": step.place, "detail": step.detail}
            for step in story.steps
        ],
        "others": [str(other.id) for other in story.others],
    }
    return told | ({"text": text_in(story)} if with_body else {})


def _plain(part: Fired | Review) -> dict[str, Any]:
    fields = msgspec.structs.asdict(part)
    return {name: shown_instant(value) if name == "at" else value for name, value in fields.items() if name != "more"}
