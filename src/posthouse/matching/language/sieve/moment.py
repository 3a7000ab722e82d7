"""The date tests of Sieve as conditions on days, times of day and weekdays."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Final

from posthouse.matching.language.sieve.left import Untaken
from posthouse.matching.language.sieve.relation import NUMERIC, Comparing
from posthouse.matching.predicate.node import (
    Between,
    Compare,
    Comparison,
    Constants,
    Fixed,
    InList,
    Moment,
    MomentType,
    Not,
    Or,
    Part,
    Predicate,
)

_EPOCH: Final = date(1970, 1, 1).toordinal()
_JULIAN: Final = 40_587
"""1 January 1970 as a modified Julian day."""
_SIGNS: Final[dict[str, Comparison]] = {"eq": "=", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}
_PARTS: Final = ("date", "time", "weekday", "hour", "year", "julian")
_ELSEWHERE: Final = {
    "month": "rules know whole days", "day": "rules know whole days", "minute": "rules know the time of day as a whole",
    "second": "rules know the time of day as a whole", "zone": "rules know the zone of the office only",
    "iso8601": "rules compare points in time and not their writing",
    "std11": "rules compare points in time and not their writing",
}  # fmt: skip


def on_date(base: str, part: str, *, comparing: Comparing, keys: tuple[str, ...], at: int) -> Predicate:
    """Give the condition on `now` or `mail.date`; raise Untaken where rules have no such part of a date."""
    name = part.lower()
    if name not in _PARTS:
        why = _ELSEWHERE.get(name, "there is no such part of a date")
        raise Untaken(
            at, f'the date part "{part[:40]}"', why=why, what_to_do=f"{base}.date, .time and .weekday are known"
        )
    if comparing.match == ":count":
        raise Untaken(at, ":count of a date", why="a date is one value")
    if name in ("hour", "weekday"):
        return _of_few(base, name, comparing, keys)
    if comparing.match in (":contains", ":matches"):
        raise Untaken(at, f"{comparing.match} of a date", why="rules compare days and times and not their writing")
    relation = comparing.relation or "eq"
    found = [_compared(base, name, relation, key, comparing=comparing, at=at) for key in keys]
    return found[0] if len(found) == 1 else Or(tuple(found))


def _of_few(base: str, name: str, comparing: Comparing, keys: tuple[str, ...]) -> Predicate:
    """Try every value there is: 24 hours, 7 weekdays."""
    values = [f"{hour:02d}" for hour in range(24)] if name == "hour" else [str(day) for day in range(7)]
    chosen = [place for place, value in enumerate(values) if any(comparing.holds(value, key) for key in keys)]
    if not chosen:
        return Fixed("false")
    if name == "weekday":
        # Sieve counts from Sunday, which is 0; here Monday is 1.
        days = tuple(Moment(day or 7, "weekday") for day in chosen)
        term = Part(f"{base}.weekday")
        return Compare("=", term, days[0]) if len(days) == 1 else InList(term, Constants(days))
    spans: list[tuple[int, int]] = []
    for hour in chosen:
        if spans and spans[-1][1] == hour:
            spans[-1] = (spans[-1][0], hour + 1)
        else:
            spans.append((hour, hour + 1))
    term = Part(f"{base}.time")
    ranges = [
        Between(term, Moment(begin * 3600, "time"), Moment(end * 3600 - 1, "time")) for begin, end in spans
    ]  # fmt: skip
    return ranges[0] if len(ranges) == 1 else Or(tuple(ranges))


def _compared(base: str, name: str, relation: str, key: str, *, comparing: Comparing, at: int) -> Predicate:
    if comparing.comparator == NUMERIC and name in ("date", "time"):
        raise Untaken(at, f'{NUMERIC} of "{name}"', why="it compares the digits before the first sign only")
    bounds = _BOUNDS[name](key)
    if bounds is None:
        if relation == "eq":
            return Fixed("false")
        if relation == "ne":
            return Fixed("true")
        raise Untaken(at, f'"{key[:40]}"', why=f"it is no {_WRITTEN[name]}")
    kind: MomentType = "time" if name == "time" else "date"
    term, low, high = Part(f"{base}.{kind}"), Moment(bounds[0], kind), Moment(bounds[1], kind)
    if relation in ("eq", "ne"):
        equal = Compare("=", term, low) if low == high else Between(term, low, high)
        return equal if relation == "eq" else Not(equal)
    return Compare(_SIGNS[relation], term, high if relation in ("gt", "le") else low)


_WRITTEN: Final = {
    "date": "day such as 2026-01-31", "time": "time such as 18:00:00", "year": "year of four digits",
    "julian": "number of a day",
}  # fmt: skip


def _day(key: str) -> tuple[int, int] | None:
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", key, re.ASCII):
        return None
    try:
        count = date.fromisoformat(key).toordinal() - _EPOCH
    except ValueError:
        return None
    return count, count


def _time(key: str) -> tuple[int, int] | None:
    found = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d):([0-5]\d)", key, re.ASCII)
    if found is None:
        return None
    count = int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3])
    return count, count


def _year(key: str) -> tuple[int, int] | None:
    if not re.fullmatch(r"\d{4}", key, re.ASCII) or key == "0000":
        return None
    return date(int(key), 1, 1).toordinal() - _EPOCH, date(int(key), 12, 31).toordinal() - _EPOCH


def _julian(key: str) -> tuple[int, int] | None:
    if not re.fullmatch(r"[1-9]\d{4}", key, re.ASCII):
        return None
    return int(key) - _JULIAN, int(key) - _JULIAN


_BOUNDS: Final[dict[str, Callable[[str], tuple[int, int] | None]]] = {
    "date": _day, "time": _time, "year": _year, "julian": _julian,
}  # fmt: skip
