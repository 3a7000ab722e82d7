"""When the function of a mailbag is due, counted in the days of the office; what is filed in it is due with it.

Everything here is about dates and a zone. A run that was missed is made up once, and the next one lies ahead again.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta, tzinfo
from typing import Final, Literal, NamedTuple

import msgspec

from posthouse.gate.calendar import SECOND, Span, day_of, later, midnight
from posthouse.gate.review import due_of
from posthouse.message.case import INBOX, REVIEW, Case, Docket, Mailbag, Rhythm

_HOUR: Final = 3_600 * SECOND
_MOST_AHEAD: Final = 25 * _HOUR
_SLACK: Final = 60 * SECOND
_MONTHS: Final[dict[str, int]] = {"month": 1, "quarter": 3, "year": 12}


class Jump(NamedTuple):
    """The clock is not where it can be."""

    way: Literal["back", "ahead"]
    by: int
    """Microseconds."""


def first_run(rhythm: Rhythm, created: int, *, zone: tzinfo) -> int | None:
    """Give when a new mailbag runs for the first time: as if it had run when it was made."""
    return _following(rhythm, last=created, series=None, zone=zone)


def next_run(bag: Mailbag, now: int, *, zone: tzinfo) -> int | None:
    """Give when a mailbag that runs now runs again: the first of its dates that lies ahead."""
    following = _following(bag.rhythm, last=now, series=bag.next_run, zone=zone)
    return None if following is None or following <= now else following


def changed(before: Mailbag, after: Mailbag, *, zone: tzinfo) -> Mailbag:
    """Give a mailbag whose function or rhythm was changed, with the date that follows."""
    if before.rhythm == after.rhythm and before.function == after.function:
        return msgspec.structs.replace(after, next_run=before.next_run)
    last = before.created if before.last_run is None else before.last_run
    following = _following(after.rhythm, last=last, series=None, zone=zone)
    return msgspec.structs.replace(after, next_run=runs_at(after, following))


def runs_at(bag: Mailbag, instant: int | None) -> int | None:
    """Give the date of a mailbag: none where it does nothing."""
    return None if bag.function == "none" else instant


def ran(bag: Mailbag, now: int, *, zone: tzinfo) -> Mailbag:
    """Give a mailbag after a run."""
    return msgspec.structs.replace(
        bag, version=bag.version + 1, last_run=now, next_run=runs_at(bag, next_run(bag, now, zone=zone))
    )


def filed(docket: Docket, bag: Mailbag, *, warns: int) -> Docket:
    """Give a docket in a mailbag: its expiry is that of the mailbag, its retain date is kept.

    The mailbag is woken, and takes all that lies in it along; in one that does nothing the gatekeeper is told.
    """
    return msgspec.structs.replace(
        docket, version=docket.version + 1, folder=bag.id, status="filed", expires=bag.next_run, pending=b"", warned=0,
        due=warns if bag.function == "none" else None, is_expired=False, claimed_by="", claimed_until=None, fault="",
        last_action=f"filed in {bag.name}",
    )  # fmt: skip


def back_in_inbox(docket: Docket, now: int, *, inbox: Span, zone: tzinfo, case: Case) -> Docket:
    """Give a docket moved back to the inbox: its time begins anew, its retain date is kept unless it is too early."""
    expires = later(now, inbox, zone=zone)
    moved = msgspec.structs.replace(
        docket, version=docket.version + 1, folder=INBOX, status="reviewed", expires=expires, pending=b"", warned=0,
        retain=None if docket.retain is None else max(docket.retain, expires), is_expired=False, fault="",
        last_action="back in the inbox",
    )  # fmt: skip
    return msgspec.structs.replace(moved, due=due_of(moved, case))


def in_review(docket: Docket, *, warns: int, is_expired: bool, fault: str = "") -> Docket:
    """Give a docket in the review list: nothing is decided there by itself, its gatekeeper is told after a while."""
    return msgspec.structs.replace(
        docket, version=docket.version + 1, folder=REVIEW, status="gated" if is_expired else "reviewed", pending=b"",
        expires=None, due=warns, is_expired=is_expired or docket.is_expired, fault=fault, warned=0,
        last_action="expired" if is_expired else "in the review list",
    )  # fmt: skip


def jumped(last: int, now: int) -> Jump | None:
    """Say whether the clock went back, or ahead by more than a day and an hour, since it was looked at last."""
    if now < last - _SLACK:
        return Jump("back", last - now)
    return Jump("ahead", now - last) if now - last > _MOST_AHEAD else None


def _following(rhythm: Rhythm, *, last: int, series: int | None, zone: tzinfo) -> int | None:
    day = day_of(last, zone)
    match rhythm.every:
        case "hours":
            return last + rhythm.count * _HOUR
        case "days":
            return midnight(day + timedelta(days=rhythm.count), zone)
        case "months":
            return midnight(_month_after(rhythm, day, None if series is None else day_of(series, zone)), zone)
        case "date":
            return midnight(date.fromisoformat(rhythm.date), zone)
        case "end":
            return midnight(_end_after(rhythm, day), zone)
        case "none":
            return None


def _month_after(rhythm: Rhythm, day: date, series: date | None) -> date:
    """Give the first date of a series of months behind a day: the series of before, or one that begins here."""
    anchor = series or day
    month = anchor.year * 12 + anchor.month - 1
    if series is None and _in_month(rhythm, month) > day:
        month -= 1
    while _in_month(rhythm, month) <= day:
        month += rhythm.count
    return _in_month(rhythm, month)


def _in_month(rhythm: Rhythm, month: int) -> date:
    """Give the day of the rhythm in a month, the last one where the month is shorter."""
    year, place = divmod(month, 12)
    return date(year, place + 1, min(rhythm.day, monthrange(year, place + 1)[1]))


def _end_after(rhythm: Rhythm, day: date) -> date:
    """Give the last day of the period that ends behind a day."""
    following = day + timedelta(days=1)
    if rhythm.period == "week":
        return following + timedelta(days=6 - following.weekday())
    length = _MONTHS[rhythm.period or "month"]
    first = (following.month - 1) // length * length
    return _in_month(Rhythm(day=31), following.year * 12 + first + length - 1)
