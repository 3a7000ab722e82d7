"""Days and spans of time as the office counts them: a day is one of its calendar, whatever the clocks do that night."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, Literal

import msgspec

Unit = Literal["seconds", "minutes", "hours", "days"]

SECOND: Final = 1_000_000
_SECONDS: Final[dict[Unit, int]] = {"seconds": 1, "minutes": 60, "hours": 3_600, "days": 86_400}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class Span(msgspec.Struct, frozen=True):
    """A length of time as people say it; days are those of the calendar, the other units are counted by the clock."""

    count: int
    unit: Unit = "days"

    def __str__(self) -> str:
        return f"{self.count} {self.unit[:-1] if self.count == 1 else self.unit}"

    @property
    def microseconds(self) -> int:
        """How long it is where every day has 24 hours."""
        return self.count * _SECONDS[self.unit] * SECOND


def day_of(instant: int, zone: tzinfo) -> date:
    """Give the day of the office's calendar on which an instant falls."""
    return _local(instant, zone).date()


def midnight(day: date, zone: tzinfo) -> int:
    """Give the instant at which a day begins at the office."""
    return _microseconds(datetime.combine(day, time(), tzinfo=zone))


def later(instant: int, span: Span, *, zone: tzinfo) -> int:
    """Give the instant a span after another one: by days at the same time of day."""
    if span.unit != "days":
        return instant + span.microseconds
    # Arithmetic within one zone is that of the clock on the wall.
    return _microseconds(_local(instant, zone) + timedelta(days=span.count))


def _local(instant: int, zone: tzinfo) -> datetime:
    return (_EPOCH + timedelta(microseconds=instant)).astimezone(zone)


def _microseconds(moment: datetime) -> int:
    return (moment.astimezone(UTC) - _EPOCH) // _MICROSECOND
