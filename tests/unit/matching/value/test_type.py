"""Which values compare, and with what outcome."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from posthouse.matching.value.type import (
    Clock,
    Day,
    Instant,
    Value,
    Weekday,
    are_comparable,
    as_value,
    compare,
    day_of,
    start_of,
    type_of,
)
from posthouse.message.attribute import Int32
from posthouse.testing.build import START

NAN = float("nan")


@pytest.mark.parametrize(
    ("left", "right", "outcome"),
    [
        (1, 2, -1),
        (Int32(2), 2, 0),
        (2, 1.5, 1),
        (2**53 + 1, float(2**53), 1),
        (NAN, NAN, 2),
        (NAN, 1, 2),
        (-0.0, 0, 0),
        ("a", "A", 0),
        ("a", "b", 2),
        (True, True, 0),
        (True, False, 2),
        (1, "1", None),
        (True, 1, None),
        (b"a", b"a", None),
        ((1,), (1,), None),
        (Weekday(1), 1, None),
        (Clock(5), Clock(6), -1),
        (Instant(START), Day(20454), 0),
        (Day(20453), Instant(START), -1),
        (Instant(START), Instant(START + 1), -1),
        (Instant(2**61), Day(1), None),
    ],
)
def test_compares(left: Value, right: Value, outcome: int | None) -> None:
    assert compare(left, right, collation="folded", zone=UTC) == outcome


def test_a_day_is_meant_in_the_zone() -> None:
    west = timezone(timedelta(hours=-1))
    assert compare(Instant(START), Day(20453), collation="exact", zone=west) == 0
    assert day_of(start_of(Day(20453), west), west) == 20453
    assert day_of(Instant(start_of(Day(20453), west) - 1), west) == 20452


def test_attributes_become_values() -> None:
    value = as_value((datetime(2026, 1, 1, tzinfo=UTC), Int32(1), "x"))
    assert isinstance(value, tuple)
    assert [type_of(item) for item in value] == ["instant", "int32", "text"]


def test_sizes_compare_with_numbers_and_text_with_roles() -> None:
    assert are_comparable("size", "int64")
    assert are_comparable("role", "text")
    assert are_comparable("instant", "date")
    assert are_comparable("any", "bytes")
    assert not are_comparable("text", "int64")
    assert not are_comparable("bytes", "bytes")
    assert not are_comparable("date", "time")
