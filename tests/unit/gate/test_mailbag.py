from __future__ import annotations

from typing import Any

import msgspec
import pytest

from posthouse.gate.calendar import Span, later
from posthouse.gate.mailbag import back_in_inbox, changed, filed, first_run, in_review, jumped, next_run, ran
from posthouse.message.case import INBOX, REVIEW, Case, Mailbag, Rhythm
from posthouse.testing import gated
from tests.unit.gate.slips import BERLIN, at

MONTHLY = Rhythm(every="months", count=1, day=5)
THIRTY = Rhythm(every="days", count=30)
DAY = 86_400_000_000


def bag(rhythm: Rhythm, *, last: str, **given: Any) -> Mailbag:
    """Give a mailbag that deletes, and ran last on a day."""
    made = gated.mailbag("delete", function="delete", rhythm=rhythm, created=at(last))
    known = {"last_run": at(last), "next_run": first_run(rhythm, at(last), zone=BERLIN), **given}
    return msgspec.structs.replace(made, **known)


def expiry_of(docket_in: Mailbag, when: str) -> int | None:
    """Give the expiry of what is moved into a mailbag."""
    return filed(gated.docket(), docket_in, warns=at(when)).expires


# G-139, G-141, G-142
def test_t1_the_inbox_counts_ten_days_from_the_arrival() -> None:
    assert later(at("1998-01-01T09:30"), Span(10), zone=BERLIN) == at("1998-01-11T09:30")


# G-139, G-143
@pytest.mark.parametrize(
    ("rhythm", "expected"), [(MONTHLY, "1998-02-05"), (THIRTY, "1998-02-04")], ids=["monthly", "30 days"]
)
def test_t2_and_t3_all_in_one_mailbag_expire_on_its_date(rhythm: Rhythm, expected: str) -> None:
    mailbag = bag(rhythm, last="1998-01-05T12:00")
    assert expiry_of(mailbag, "1998-01-06T10:00") == at(expected)
    assert expiry_of(mailbag, "1998-01-20T10:00") == at(expected)


# G-139, G-147
@pytest.mark.parametrize(("rhythm", "is_due"), [(MONTHLY, False), (THIRTY, True)], ids=["monthly", "30 days"])
def test_t4_on_the_fourth_only_the_thirty_days_are_over(rhythm: Rhythm, *, is_due: bool) -> None:
    due = bag(rhythm, last="1998-01-05T12:00").next_run
    assert due is not None
    assert (due <= at("1998-02-04T00:00")) is is_due


# G-139, G-144, G-145
def test_t5_and_t6_the_date_goes_on_at_the_run() -> None:
    after = ran(bag(MONTHLY, last="1998-01-05T12:00"), at("1998-02-05T00:00"), zone=BERLIN)
    assert after.last_run == at("1998-02-05T00:00")
    assert expiry_of(after, "1998-02-06T10:00") == at("1998-03-05")
    thirty = ran(bag(THIRTY, last="1998-01-05T12:00"), at("1998-02-04T00:00"), zone=BERLIN)
    assert expiry_of(thirty, "1998-02-06T10:00") == at("1998-03-06")
    late = ran(bag(THIRTY, last="1998-01-05T12:00"), at("1998-02-05T08:00"), zone=BERLIN)
    assert expiry_of(late, "1998-02-06T10:00") == at("1998-03-07")


# G-139
def test_t7_what_is_moved_in_before_the_run_goes_the_same_day() -> None:
    assert expiry_of(bag(MONTHLY, last="1998-01-05T12:00"), "1998-02-05T07:00") == at("1998-02-05")


# G-145
def test_a_missed_run_is_made_up_once() -> None:
    after = ran(bag(MONTHLY, last="1998-01-05T12:00"), at("1998-03-20T16:00"), zone=BERLIN)
    assert after.next_run == at("1998-04-05")


# G-145
def test_a_series_of_several_months_keeps_its_months() -> None:
    quarterly = Rhythm(every="months", count=3, day=5)
    before = bag(quarterly, last="1998-01-05T12:00")
    assert before.next_run == at("1998-04-05")
    assert next_run(before, at("1998-05-20T00:00"), zone=BERLIN) == at("1998-07-05")
    # A run that somebody asked for before its date does not use it up.
    assert next_run(before, at("1998-03-01T00:00"), zone=BERLIN) == at("1998-04-05")


# G-140, G-146
@pytest.mark.parametrize(
    ("rhythm", "expected"),
    [
        (Rhythm(every="hours", count=36), "2026-01-21T21:00"),
        (Rhythm(every="days", count=7), "2026-01-27"),
        (Rhythm(every="months", day=31), "2026-01-31"),
        (Rhythm(every="months", day=20), "2026-02-20"),
        (Rhythm(every="months", day=1, count=2), "2026-03-01"),
        (Rhythm(every="date", date="2026-07-01"), "2026-07-01"),
        (Rhythm(every="end", period="week"), "2026-01-25"),
        (Rhythm(every="end", period="month"), "2026-01-31"),
        (Rhythm(every="end", period="quarter"), "2026-03-31"),
        (Rhythm(every="end", period="year"), "2026-12-31"),
        (Rhythm(), None),
    ],
)
def test_every_kind_has_a_first_date(rhythm: Rhythm, expected: str | None) -> None:
    found = first_run(rhythm, at("2026-01-20T09:00"), zone=BERLIN)
    assert found == (None if expected is None else at(expected))


# G-140
def test_a_short_month_ends_on_its_last_day() -> None:
    last = Rhythm(every="months", day=31)
    assert first_run(last, at("2026-01-31T09:00"), zone=BERLIN) == at("2026-02-28")
    assert first_run(last, at("2028-01-31T09:00"), zone=BERLIN) == at("2028-02-29")
    end = Rhythm(every="end", period="month")
    assert first_run(end, at("2026-01-31T09:00"), zone=BERLIN) == at("2026-02-28")
    assert first_run(Rhythm(every="end", period="week"), at("2026-01-25T00:00"), zone=BERLIN) == at("2026-02-01")


# G-148
def test_days_are_those_of_the_calendar_when_clocks_change() -> None:
    # The night to 29 March 2026 has 23 hours in Berlin, that to 25 October has 25.
    assert first_run(Rhythm(every="days", count=1), at("2026-03-28T12:00"), zone=BERLIN) == at("2026-03-29")
    week = first_run(Rhythm(every="days", count=7), at("2026-03-25T12:00"), zone=BERLIN)
    assert week == at("2026-04-01")
    assert (at("2026-04-01") - at("2026-03-25")) == 7 * DAY - 3_600_000_000
    assert later(at("2026-10-24T08:00"), Span(1), zone=BERLIN) == at("2026-10-25T08:00")
    assert later(at("2026-10-24T08:00"), Span(24, "hours"), zone=BERLIN) == at("2026-10-25T07:00")


def test_a_date_is_over_after_it() -> None:
    once = bag(Rhythm(every="date", date="2026-07-01"), last="2026-01-01T00:00")
    assert ran(once, at("2026-07-01T00:00"), zone=BERLIN).next_run is None


# G-151
def test_a_new_rhythm_makes_a_new_date() -> None:
    before = bag(MONTHLY, last="1998-01-05T12:00")
    assert changed(before, msgspec.structs.replace(before, name="old"), zone=BERLIN).next_run == before.next_run
    after = changed(before, msgspec.structs.replace(before, rhythm=THIRTY), zone=BERLIN)
    assert after.next_run == at("1998-02-04")
    assert changed(before, msgspec.structs.replace(before, function="none"), zone=BERLIN).next_run is None


# G-153
def test_back_in_the_inbox_the_time_begins_anew_and_the_retain_date_is_kept() -> None:
    in_bag = filed(gated.docket(retain=at("1998-06-01")), bag(MONTHLY, last="1998-01-05T12:00"), warns=0)
    now = at("1998-01-20T10:00")
    back = back_in_inbox(in_bag, now, inbox=Span(10), zone=BERLIN, case=gated.case())
    assert (back.folder, back.expires, back.retain) == (INBOX, at("1998-01-30T10:00"), at("1998-06-01"))
    assert back.due == back.expires


# G-156
def test_where_nothing_happens_somebody_is_told() -> None:
    plain = bag(Rhythm(), last="1998-01-05T12:00", function="none", next_run=None)
    assert filed(gated.docket(), plain, warns=at("1998-01-15")).due == at("1998-01-15")
    listed = in_review(gated.docket(), warns=at("1998-01-15"), is_expired=True)
    assert (listed.folder, listed.expires, listed.due) == (REVIEW, None, at("1998-01-15"))


# G-10
def test_filing_changes_the_folder_and_nothing_of_the_message() -> None:
    docket = gated.docket()
    after = filed(docket, bag(MONTHLY, last="1998-01-05T12:00"), warns=0)
    assert after.message == docket.message
    assert after.folder == "bag-delete"


# G-217
def test_a_clock_that_jumps_is_noticed() -> None:
    assert jumped(at("2026-01-01T12:00"), at("2026-01-02T12:30")) is None
    ahead = jumped(at("2026-01-01T12:00"), at("2026-01-02T13:00") + 1)
    assert ahead is not None
    assert ahead.way == "ahead"
    back = jumped(at("2026-01-01T12:00"), at("2026-01-01T11:00"))
    assert back is not None
    assert back.way == "back"
    # A clock that is put right by seconds has not jumped.
    assert jumped(at("2026-01-01T12:00:30"), at("2026-01-01T12:00")) is None


def test_a_case_on_hold_keeps_its_expiry() -> None:
    held: Case = gated.case(is_on_hold=True)
    back = back_in_inbox(gated.docket(retain=1), at("1998-01-20"), inbox=Span(10), zone=BERLIN, case=held)
    assert back.due == back.expires
