"""Dates of mail (RFC 5322, section 3.3 and 4.3) and what people's programs write instead."""

from __future__ import annotations

import re
from datetime import date
from typing import Final, NamedTuple

_MAX: Final = 200
_EPOCH: Final = date(1970, 1, 1).toordinal()
_MICROSECONDS: Final = 1_000_000
_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
# RFC 5322, section 4.3, and names of Europe and the Pacific that mean one zone only.
_ZONES: Final = {
    "ut": 0, "utc": 0, "gmt": 0, "z": 0, "wet": 0, "west": 60, "met": 60, "cet": 60, "mez": 60, "mest": 120,
    "mesz": 120, "cest": 120, "eet": 120, "eest": 180, "msk": 180, "msd": 240, "jst": 540, "kst": 540, "hkt": 480,
    "sgt": 480, "aest": 600, "aedt": 660, "nzst": 720, "nzdt": 780, "ast": -240, "adt": -180, "est": -300, "edt": -240,
    "cst": -360, "cdt": -300, "mst": -420, "mdt": -360, "pst": -480, "pdt": -420,
}  # fmt: skip

_TIME: Final = (
    r"(?P<hour>[0-9]{1,2})(?P<colon>[:.])(?P<minute>[0-9]{1,2})"
    r"(?:[:.](?P<second>[0-9]{1,2})(?:[.,](?P<part>[0-9]{1,9}))?)?"
    r"(?:\s*(?P<half>[AaPp])\.?[Mm]\b\.?)?"
)
_ZONE: Final = (
    r"(?:\s*(?P<zone>(?:(?:GMT|UTC?)\s*)?[+-]\s?[0-9]{1,2}:?(?:[0-9]{2})?(?![0-9])"
    r"|(?<=\s)[0-9]{4}\b|\"?[A-Za-z]{1,5}\b\"?))?"
)
_DAY: Final = r"\s*(?:[A-Za-z]{2,9}\b\.?\s*,?\s*)?"
_FORMS: Final = tuple(
    re.compile(form)
    for form in (
        # Thu, 22 Aug 2002 12:36:23 +0100
        _DAY
        + r"(?P<day>[0-9]{1,2})[\s./-]{1,3}(?P<month>[A-Za-z]{3,9})\.?,?[\s./-]{1,3}(?P<year>[0-9]{2,5}),?\s+(?:at\s)?"
        + _TIME + _ZONE,
        # Thu Aug 22 12:36:23 2002, perhaps with the zone before or after the year
        _DAY + r"(?P<month>[A-Za-z]{3,9})\.?\s+(?P<day>[0-9]{1,2}),?\s+" + _TIME
        + r"(?:\s+(?P<early>[A-Z]{2,5}|[+-][0-9]{4}))?\s+(?P<year>[0-9]{4})" + _ZONE,
        # August 22, 2002 12:36
        _DAY + r"(?P<month>[A-Za-z]{3,9})\.?\s+(?P<day>[0-9]{1,2}),?\s+(?P<year>[0-9]{4}),?\s+" + _TIME + _ZONE,
        # 2002-08-22T12:36:23+01:00
        r"\s*(?P<year>[0-9]{4})[-/](?P<month>[0-9]{1,2})[-/](?P<day>[0-9]{1,2})[T\s]\s*" + _TIME + _ZONE,
    )
)  # fmt: skip


# As it stands in the standard, and in nearly every mail.
_USUAL: Final = re.compile(
    r"\s*(?:[A-Z][a-z]{2},\s)?\s?([0-9]{1,2})\s([A-Z][a-z]{2})\s([0-9]{4})\s([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])"
    r"\s([+-])([01][0-9]|2[0-3])([0-5][0-9])(?![0-9])"
)


class Written(NamedTuple):
    """An instant in microseconds since 1970, and the minutes east of Greenwich where its writer was."""

    instant: int
    zone: int | None
    """None where it does not say; the instant is then that of Greenwich."""


def read_date(text: str) -> Written | None:
    """Read a date; none where it is none."""
    if len(text) > _MAX:
        text = text[:_MAX]
    if usual := _USUAL.match(text):
        return _settle_usual(usual)
    for form in _FORMS:
        match = form.match(text)
        if match is not None:
            return _settle(match.groupdict())
    return None


def _settle_usual(found: re.Match[str]) -> Written | None:
    day, month, year, hour, minute, second, sign, east, more = found.groups()
    number = _MONTHS.get(month.lower())
    if number is None:
        return None
    try:
        days = date(int(year), number, int(day)).toordinal() - _EPOCH
    except ValueError:
        return None
    zone = 60 * int(east) + int(more)
    if sign == "-":
        zone = -zone
    seconds = days * 86_400 + int(hour) * 3600 + (int(minute) - zone) * 60 + int(second)
    return Written(seconds * _MICROSECONDS, None if sign == "-" and not zone else zone)


def _settle(found: dict[str, str | None]) -> Written | None:
    month = found["month"] or ""
    number = int(month) if month.isdigit() else _MONTHS.get(month[:3].lower(), 0)
    clock = _clock(found)
    if clock is None or not number:
        return None
    try:
        day = date(_year(found["year"] or ""), number, int(found["day"] or 0)).toordinal()
    except ValueError:
        return None
    zone = _zone(found.get("early") or found["zone"])
    seconds = (day - _EPOCH) * 86_400 + clock - 60 * (zone or 0)
    part = (found["part"] or "").ljust(6, "0")[:6]
    return Written(seconds * _MICROSECONDS + int(part), zone)


def _clock(found: dict[str, str | None]) -> int | None:
    hour, minute, second = int(found["hour"] or 0), int(found["minute"] or 0), int(found["second"] or 0)
    if found["half"] and 1 <= hour <= 12:
        hour = hour % 12 + (12 if found["half"] in "Pp" else 0)
    # The second 60 is a leap second (RFC 5322, section 3.3), the instant after it.
    if hour > 23 or minute > 59 or second > 60:
        return None
    return hour * 3600 + minute * 60 + second


def _year(digits: str) -> int:
    """Give the year two or three digits mean (RFC 5322, section 4.3)."""
    year = int(digits)
    if len(digits) == 2:
        return year + (2000 if year < 50 else 1900)
    return year + 1900 if len(digits) == 3 else year


def _zone(written: str | None) -> int | None:
    if written is None:
        return None
    name = written.strip('"').lower()
    if name.isalpha():
        return _ZONES.get(name)
    east = "-" not in name
    digits = "".join([char for char in name if char.isdigit()])
    hours, minutes = (int(digits[:-2]), int(digits[-2:])) if len(digits) > 2 else (int(digits), 0)
    # `-0000` says that nothing is known of the place (RFC 5322, section 3.3).
    if hours > 23 or minutes > 59 or (not east and hours == minutes == 0):
        return None
    return (1 if east else -1) * (60 * hours + minutes)
