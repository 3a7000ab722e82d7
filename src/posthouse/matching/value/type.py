"""The types of values, which of them compare, and what a comparison gives: None for what does not compare.

Values carry their type themselves: text, numbers by width, and small kinds of `int` for what a calendar knows.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final, Literal

from posthouse.matching.value.fold import Collation, fold
from posthouse.message.attribute import Int32
from posthouse.message.instant import from_microseconds, to_microseconds

Type = Literal[
    "text", "role", "address", "int32", "int64", "real64", "size", "duration", "truth",
    "instant", "date", "time", "weekday", "bytes", "list", "any",
]  # fmt: skip
"""`size` counts bytes, `duration` microseconds; `any` is known only when the message is there."""

SECOND: Final = 1_000_000
"""In microseconds, in which instants and durations are counted."""
_EPOCH_DAY: Final = datetime(1970, 1, 1, tzinfo=UTC).toordinal()


class Instant(int):
    """Microseconds since 1970."""

    __slots__ = ()


class Day(int):
    """Days since the first of January 1970, in the zone of who asks."""

    __slots__ = ()


class Clock(int):
    """Seconds since midnight, in the zone of who asks."""

    __slots__ = ()


class Weekday(int):
    """1 for Monday to 7 for Sunday."""

    __slots__ = ()


Value = str | Int32 | int | float | bool | bytes | Instant | Day | Clock | Weekday | tuple[Any, ...]
"""One value; the elements of a tuple are values again."""

_TYPES: Final[dict[type, Type]] = {
    str: "text", Int32: "int32", int: "int64", float: "real64", bool: "truth", Instant: "instant",
    Day: "date", Clock: "time", Weekday: "weekday", bytes: "bytes", tuple: "list",
}  # fmt: skip

# What compares with what; within a group by value, between groups never. Only an instant also compares with a date.
GROUPS: Final[dict[Type, str]] = {
    "text": "text", "role": "text", "address": "text",
    "int32": "number", "int64": "number", "real64": "number", "size": "number", "duration": "number",
    "truth": "truth", "instant": "instant", "date": "date", "time": "time", "weekday": "weekday",
}  # fmt: skip
ORDERED: Final = frozenset({"number", "instant", "date", "time", "weekday"})
"""Groups that have a smaller and a larger; text has none, as every language sorts it otherwise."""


def type_of(value: Value) -> Type:
    """Give the type of a value."""
    return _TYPES[type(value)]


def as_value(attribute: object) -> Value:
    """Give the value of an attribute as it is compared: instants as counts, all else as it is."""
    if isinstance(attribute, datetime):
        return Instant(to_microseconds(attribute))
    if isinstance(attribute, tuple):
        return tuple(as_value(item) for item in attribute)
    assert type(attribute) in _TYPES, f"no value: {type(attribute)}"
    return attribute  # type: ignore[return-value]  # the assertion says it, where mypy cannot follow


def are_comparable(left: Type, right: Type) -> bool:
    """Say whether values of these types can be equal at all."""
    if "any" in (left, right):
        return True
    groups = {GROUPS.get(left), GROUPS.get(right)}
    return None not in groups and (len(groups) == 1 or groups == {"instant", "date"})


def compare(left: Value, right: Value, *, collation: Collation, zone: tzinfo) -> int | None:
    """Give -1, 0 or 1 as left is smaller, equal or larger, 2 where it is neither, and None where they do not compare.

    Text is 0 or 2, and so is a truth: equal or not, never smaller. NaN is 2 beside every number.
    """
    left, right = _on_one_calendar(left, right, zone)
    group = GROUPS.get(type_of(left))
    if group is None or group != GROUPS.get(type_of(right)):
        return None
    if group == "text":
        return 0 if fold(str(left), collation) == fold(str(right), collation) else 2
    if left == right:
        return 0
    if group == "truth" or left != left or right != right:  # noqa: PLR0124  NaN is what differs from itself
        return 2
    return -1 if left < right else 1  # type: ignore[operator]  # one group of numbers on both sides


def _on_one_calendar(left: Value, right: Value, zone: tzinfo) -> tuple[Value, Value]:
    """Beside a date, an instant is the day on which it falls."""
    if type(left) is Instant and type(right) is Day:
        day = day_of(left, zone)
        return (left if day is None else day), right
    if type(right) is Instant and type(left) is Day:
        day = day_of(right, zone)
        return left, (right if day is None else day)
    return left, right


def day_of(instant: Instant, zone: tzinfo) -> Day | None:
    """Give the day on which an instant falls, or None behind the end of the calendar."""
    local = _local(instant, zone)
    return None if local is None else Day(local.toordinal() - _EPOCH_DAY)


def clock_of(instant: Instant, zone: tzinfo) -> Clock | None:
    """Give the time of day of an instant, to the second."""
    local = _local(instant, zone)
    return None if local is None else Clock(local.hour * 3600 + local.minute * 60 + local.second)


def weekday_of(instant: Instant, zone: tzinfo) -> Weekday | None:
    """Give the day of the week of an instant."""
    local = _local(instant, zone)
    return None if local is None else Weekday(local.isoweekday())


def start_of(day: Day, zone: tzinfo) -> Instant:
    """Give the first instant of a day."""
    local = datetime(1970, 1, 1, tzinfo=zone) + timedelta(days=day)
    return Instant(to_microseconds(local.astimezone(UTC)))


def _local(instant: Instant, zone: tzinfo) -> datetime | None:
    try:
        there = from_microseconds(instant)
        return None if there is None else there.astimezone(zone)
    except OverflowError:
        return None
