"""The constants of the rule language: texts, numbers with their units, days and times; read as they are printed."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Final

from posthouse.matching.language.reader import Lexicon, Reader, Token, nearest_word
from posthouse.matching.language.rule.word import KEYWORDS, OPERATORS
from posthouse.matching.predicate.node import Boolean, Constant, Moment, Number, Octets, Text
from posthouse.matching.value.catalogue import ALIASES, CATALOGUE
from posthouse.message.instant import from_microseconds, print_instant, read_instant, to_microseconds

LEXICON: Final = Lexicon(
    (
        ("text", r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''),
        ("instant", r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?"),
        ("date", r"\d{4}-\d\d-\d\d"),
        ("time", r"\d{1,2}:\d\d(?::\d\d)?"),
        ("odd", r"\d+(?:\.\d+){2,}|\d+\.(?![\w.])|\.\d+"),
        ("number", r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"),
        ("contraction", r"[A-Za-z]+n't\b"),
        ("word", r"[^\W\d]\w*(?:\.\w+)*"),
        ("sign", r"<=|>=|!=|<>|==|<<|>>>|>>|[=<>(),;+\-*/%&|^~]"),
    ),
    comment=r"\#[^\n]*",
)

SIZES: Final = {
    "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
}  # fmt: skip
DURATIONS: Final = {
    "microseconds": 1, "milliseconds": 1000, "seconds": 10**6, "minutes": 60 * 10**6, "hours": 3600 * 10**6,
    "days": 86_400 * 10**6, "weeks": 7 * 86_400 * 10**6,
}  # fmt: skip
_SINGULAR: Final = {name[:-1]: size for name, size in DURATIONS.items()}
WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_BEHIND_NUMBERS: Final = KEYWORDS | {
    *(operator.words[0] for operator in OPERATORS), "with", "as", "ignoring", "within", "because", "saying",
    "immediately", "until", "for", "file", "match", "hex", "unknown",
}  # fmt: skip
_NO_TEXTS: Final = KEYWORDS | {operator.words[0] for operator in OPERATORS}
NARROW: Final = "i32"
"""Stands behind a number of 32 bits."""
MAX_DIGITS: Final = 40

_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_ESCAPES: Final = {'"': '"', "'": "'", "\\": "\\", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPED: Final = re.compile(r"\\(u\{[0-9A-Fa-f]{1,6}\}|.)", re.DOTALL)
# What would tear a line, hide or turn the direction of writing is printed by its number.
_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]")


# --- texts ------------------------------------------------------------------------------------------------------------


def read_text(written: str) -> str:
    """Give what stands between quotation marks; a backslash before an ordinary sign is a backslash."""
    return _ESCAPED.sub(_unescape, written[1:-1]) if "\\" in written else written[1:-1]


def _unescape(found: re.Match[str]) -> str:
    sign = found.group(1)
    if sign.startswith("u{"):
        code = int(sign[2:-1], 16)
        return chr(code) if code <= 0x10FFFF else found.group()
    return _ESCAPES.get(sign, found.group())


def print_text(text: str) -> str:
    """Write a text so that it is read as the same; a backslash is doubled only where it would mean something else."""
    pieces = []
    for at, char in enumerate(text):
        if char == "\\":
            follower = text[at + 1 : at + 2]
            pieces.append("\\\\" if not follower or follower in "\"'\\nrtu" or _UNPRINTABLE.match(follower) else "\\")
        else:
            pieces.append(_print_char(char))
    return f'"{"".join(pieces)}"'


def _print_char(char: str) -> str:
    if char == '"':
        return '\\"'
    if _UNPRINTABLE.match(char):
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char) or f"\\u{{{ord(char):x}}}"
    return char


# --- reading ----------------------------------------------------------------------------------------------------------


def read_constant(reader: Reader) -> Constant | None:
    """Take a constant if one comes next."""
    token = reader.token
    if token.kind == "text":
        return Text(read_text(reader.take().text))
    if token.kind == "number":
        return read_number(reader)
    if token.kind in ("instant", "date", "time"):
        return read_moment(reader)
    if token.kind == "odd":
        is_day = token.text.count(".") > 1
        reader.stumble("a day, such as 2026-01-31" if is_day else "a number with digits on both sides of its point")
    return _read_word(reader) if token.kind == "word" else None


def quote_hint(token: Token) -> str | None:
    """Give the hint for a text that lacks its quotes."""
    if token.kind not in ("word", "number", "odd") or token.text.lower() in _NO_TEXTS:
        return None
    return f'text stands in quotes: "{token.text[:40]}"'


def _read_word(reader: Reader) -> Constant | None:
    word = reader.token.text.lower()
    if word in ("true", "false"):
        reader.take()
        return Boolean(word == "true")
    if word.capitalize() in WEEKDAYS:
        reader.take()
        return Moment(WEEKDAYS.index(word.capitalize()) + 1, "weekday")
    if word == "hex":
        reader.take()
        if reader.token.kind != "text":
            reader.stumble('hexadecimal digits, such as hex "00ff"')
        try:
            octets = bytes.fromhex(read_text(reader.token.text))
        except ValueError:
            reader.stumble('hexadecimal digits, two for each byte, such as hex "00ff"')
        reader.take()
        return Octets(octets)
    return None


def read_number(reader: Reader, *, is_negative: bool = False) -> Number:
    """Take a number with its unit, if it has one."""
    token = reader.token
    if len(token.text) > MAX_DIGITS:
        reader.stumble(f"a number of at most {MAX_DIGITS} characters")
    reader.take()
    figure = Decimal(token.text) * (-1 if is_negative else 1)
    unit = reader.token
    if unit.kind == "word" and unit.text in SIZES:
        reader.take()
        return Number(_whole(reader, figure, SIZES[unit.text], token.start), "size")
    if unit.kind == "word" and unit.text.lower() in DURATIONS | _SINGULAR:
        reader.take()
        return Number(_whole(reader, figure, (DURATIONS | _SINGULAR)[unit.text.lower()], token.start), "duration")
    if unit.text == NARROW and "." not in token.text:
        reader.take()
        return Number(int(figure), "int32")
    if unit.kind == "word" and _is_meant_as_unit(reader, token):
        reader.stumble("a unit such as MB or days", hint=nearest_word(unit.text, (*SIZES, *DURATIONS)))
    if not token.text.isdigit():
        return Number(float(figure), "real64")
    return Number(int(figure), "int64")


def _is_meant_as_unit(reader: Reader, number: Token) -> bool:
    """Say whether the word behind a number can only be a unit that nobody knows."""
    unit = reader.token
    if unit.start == number.end:
        return True
    word = unit.text.lower()
    is_known = word in _BEHIND_NUMBERS or word in CATALOGUE or word in ALIASES or "." in word
    return not is_known and "\n" not in reader.text[number.end : unit.start]


def _whole(reader: Reader, figure: Decimal, unit: int, start: int) -> int:
    # The exponent of what was written is bounded, so the product is too.
    if abs(figure) > 10**20:
        reader.note("a smaller number", found=str(figure), at=start)
        return 0
    product = figure * unit
    if product != product.to_integral_value():
        reader.note("a whole number of the smallest unit", found=f"{product.normalize():f}", at=start)
    return int(product)


def read_moment(reader: Reader) -> Moment:
    """Take a day, a time of day or an instant."""
    token = reader.token
    try:
        moment = _moment_of(token)
    except ValueError:
        reader.note(_EXAMPLES[token.kind])
        moment = Moment(0, "date" if token.kind == "date" else "time" if token.kind == "time" else "instant")
    reader.take()
    return moment


_EXAMPLES: Final = {
    "date": "a day of the calendar, such as 2026-01-31",
    "time": "a time of day from 00:00 to 23:59, such as 18:00",
    "instant": "a time with its zone, such as 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00",
}


def _moment_of(token: Token) -> Moment:
    if token.kind == "date":
        return Moment(date.fromisoformat(token.text).toordinal() - _EPOCH_DAY, "date")
    if token.kind == "instant":
        return Moment(to_microseconds(read_instant(token.text)), "instant")
    moment = time.fromisoformat(token.text.zfill(5) if token.text.count(":") == 1 else token.text.zfill(8))
    return Moment(moment.hour * 3600 + moment.minute * 60 + moment.second, "time")


# --- printing ---------------------------------------------------------------------------------------------------------


def print_constant(constant: Constant) -> str:
    """Write a constant so that it is read as the same."""
    if isinstance(constant, Text):
        return print_text(constant.value)
    if isinstance(constant, Boolean):
        return "true" if constant.value else "false"
    if isinstance(constant, Octets):
        return f'hex "{constant.value.hex()}"'
    return print_moment(constant) if isinstance(constant, Moment) else print_number(constant)


def print_number(number: Number) -> str:
    """Write a number with the largest unit that divides it."""
    if number.type == "real64":
        return repr(float(number.value))
    value = int(number.value)
    if number.type == "size":
        return _print_unit(value, SIZES)
    if number.type == "duration":
        return print_duration(value)
    return f"{value} {NARROW}" if number.type == "int32" else str(value)


def print_duration(value: int) -> str:
    """Write a length of time with the largest unit that divides it."""
    text = _print_unit(value, DURATIONS)
    return text[:-1] if abs(int(text.split()[0])) == 1 else text


def _print_unit(value: int, units: dict[str, int]) -> str:
    smallest = next(iter(units))
    fitting = [(abs(value) // size, name) for name, size in units.items() if value % size == 0] if value else []
    count, unit = min(fitting, default=(0, smallest))
    return f"{'-' if value < 0 else ''}{count} {unit}"


def print_moment(moment: Moment) -> str:
    """Write a day, a time of day, a weekday or an instant."""
    if moment.type == "weekday":
        return WEEKDAYS[moment.value - 1]
    if moment.type == "date":
        return date.fromordinal(moment.value + _EPOCH_DAY).isoformat()
    if moment.type == "time":
        hours, rest = divmod(moment.value, 3600)
        text = f"{hours:02}:{rest // 60:02}"
        return f"{text}:{rest % 60:02}" if rest % 60 else text
    instant = from_microseconds(moment.value) or datetime.max.replace(tzinfo=UTC)
    return print_instant(instant)
