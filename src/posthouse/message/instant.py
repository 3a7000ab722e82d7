"""Instants as text: RFC 3339 to and from `datetime` and the microseconds since 1970 that heads count in."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
# Narrower than what `datetime` reads, which grows from one Python to the next; and no digit is ever cut off.
_RFC3339: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})"
)


def read_instant(text: str) -> datetime:
    """Read a time with its zone, down to microseconds, as an instant in UTC; ValueError where it is none."""
    if _RFC3339.fullmatch(text):
        try:
            instant = datetime.fromisoformat(text)
            return instant if instant.tzinfo is UTC else instant.astimezone(UTC)
        except (ValueError, OverflowError):
            pass
    raise ValueError("expected a time like 2026-01-31T12:00:00Z, to the microsecond at most")


def print_instant(instant: datetime) -> str:
    """Write an instant of UTC, with as many digits as it needs."""
    text = instant.replace(tzinfo=None).isoformat()
    return f"{text.rstrip('0')}Z" if instant.microsecond else f"{text}Z"


def to_microseconds(instant: datetime) -> int:
    """Give the microseconds from the beginning of 1970 to the instant."""
    return (instant - _EPOCH) // _MICROSECOND


def from_microseconds(count: int) -> datetime | None:
    """Give the instant so many microseconds after the beginning of 1970, or None behind the year 9999."""
    try:
        return _EPOCH + timedelta(microseconds=count)
    except OverflowError:
        return None
