"""The words of the gate's commands: when a mailbag runs, what a moment is, by which digits a case is known."""

from __future__ import annotations

from datetime import UTC
from uuid import UUID
from zoneinfo import ZoneInfo

import click
import pytest

from posthouse.cli.mailbag import rhythm, rhythm_words
from posthouse.cli.moment import moment
from posthouse.cli.seat import cut, in_words, office_time, short
from posthouse.clock import SystemClock
from posthouse.message.case import Rhythm
from posthouse.testing.build import START

COPENHAGEN = ZoneInfo("Europe/Copenhagen")


# G-140
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("never", Rhythm()),
        ("2 hours", Rhythm(every="hours", count=2)),
        ("1 day", Rhythm(every="days")),
        ("3 months on 31", Rhythm(every="months", count=3, day=31)),
        ("on 2030-12-31", Rhythm(every="date", date="2030-12-31")),
        ("end of quarter", Rhythm(every="end", period="quarter")),
    ],
)
def test_a_rhythm_is_written_as_it_is_read(written: str, read: Rhythm) -> None:
    assert rhythm(written) == read
    assert rhythm_words(read) == written


def test_a_month_begins_on_its_first_day() -> None:
    assert rhythm("1 month") == Rhythm(every="months", count=1, day=1)


@pytest.mark.parametrize(
    "text", ["", "sometimes", "2 fortnights", "2 days on 5", "end of day", "1 month on", "-1 days"]
)
def test_what_is_no_rhythm_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="expected one of"):
        rhythm(text)


# G-148
def test_a_day_begins_at_midnight_in_the_office() -> None:
    summer, winter = moment("2026-07-01")(COPENHAGEN), moment("2026-01-01")(COPENHAGEN)
    assert office_time(summer, UTC) == "2026-06-30 22:00"
    assert office_time(winter, UTC) == "2025-12-31 23:00"
    assert office_time(moment("2026-01-01 17:30")(COPENHAGEN), COPENHAGEN) == "2026-01-01 17:30"
    assert moment("2026-01-01T00:00:00Z")(COPENHAGEN) == START
    assert moment("none")(COPENHAGEN) is None


def test_a_time_ahead_counts_from_now() -> None:
    now = SystemClock().now()
    ahead = moment("3d")(UTC)
    assert ahead is not None
    assert 0 <= ahead - now - 3 * 86_400_000_000 < 60_000_000
    assert in_words(ahead) == "in 3 days"


@pytest.mark.parametrize("text", ["2026-13-01", "soon", "2026-01-01 25:00"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises((click.BadParameter, click.UsageError, ValueError)):
        moment(text)


def test_how_far_away_something_is() -> None:
    now = SystemClock().now()
    assert in_words(None) == "never"
    assert in_words(now - 7_200_000_000) == "2 hours late"
    assert in_words(to_microseconds_ahead(90)) in {"in 2 minutes", "in 1 minute"}


def to_microseconds_ahead(seconds: int) -> int:
    return SystemClock().now() + seconds * 1_000_000


def test_a_case_is_known_by_as_many_digits_as_tell_it_from_others() -> None:
    one, other, far = (
        UUID("0197f7ae-1000-7001-8000-000000000001"),
        UUID("0197f7ae-1000-7002-8000-000000000001"),
        UUID(int=1),
    )
    assert short(one) == "0197f7ae-1000-7001"
    assert short(one, (one, far, other)) == "0197f7ae-1000-7001"
    assert short(one, (UUID("0197f7ae-1000-7001-8000-000000000002"),)) == str(one)


def test_text_for_a_column_is_cut_and_made_harmless() -> None:
    assert cut("a  long\nsubject\x1b[31m", 30) == "a long subject\\x1b[31m"
    assert cut("abcdefgh", 5) == "abcd…"
