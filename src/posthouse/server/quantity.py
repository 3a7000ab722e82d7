"""Durations, sizes and the other values people write into settings and options: how each is read, and how it is told.

A reader takes what a file or a command line holds, text or already typed; ValueError where it is no such value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from posthouse.errors import PosthouseError
from posthouse.message.name import parse_office

_UNITS: Final[Mapping[str, float]] = {
    "us": 1e-6, "ms": 1e-3, "": 1.0, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0,
}  # fmt: skip
_SIZES: Final[Mapping[str, int]] = {
    "": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip
_QUANTITY: Final = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?) ?([a-z]*)", re.IGNORECASE)
_LISTEN: Final = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):([0-9]{1,5})")
_TRUTHS: Final[Mapping[str, bool]] = {
    "true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False,
}  # fmt: skip


class Kind(NamedTuple):
    """What a value may be: in words, and as the function that reads it. `Any`: each kind has its own type."""

    expected: str
    read: Callable[[object], Any]
    write: Callable[[Any], str] = str
    placed: Callable[[Any, Path], Any] | None = None
    """Gives the value with the paths in it counted from a folder, where it holds any."""


def read_duration(text: str) -> float:
    """Read `90`, `1.5s`, `15m`, `2h 30m` or `7d` as seconds."""
    parts = re.findall(r"[0-9.]+ ?[a-z]*", text.strip(), re.IGNORECASE)
    if not parts or "".join(parts).replace(" ", "") != text.replace(" ", ""):
        raise ValueError(text)
    if len(parts) > 1 and any(part[-1].isdigit() for part in parts):
        raise ValueError(text)
    return sum(_amount(part, _UNITS) for part in parts)


def read_size(text: str) -> int:
    """Read `65536`, `64KiB`, `10 MB` or `1G` as bytes."""
    return round(_amount(text.strip(), _SIZES))


def print_duration(seconds: float) -> str:
    """Write seconds the way people say them: `90s`, `15m`, `2h`, `5d`."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= length and seconds % length == 0:
            return f"{seconds / length:.0f}{unit}"
    return f"{seconds:.6f}".rstrip("0").rstrip(".") + "s"


def print_size(count: int) -> str:
    """Write bytes the way people say them: `17 B`, `1.5 KiB`, `3 MiB`."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.3g} {unit}" if amount < 1000 else f"{amount:.0f} {unit}"
        amount /= 1024
    return f"{amount:,.1f} TiB"


def seconds_within(least: float, most: float) -> Kind:
    """Make the kind of a duration."""

    def read(value: object) -> float:
        return _within(read_duration(value) if isinstance(value, str) else _number(value), least, most=most)

    span = f"{print_duration(least)} to {print_duration(most)}"
    return Kind(f"seconds or a duration such as 90s, 15m or 2h, from {span}", read, print_duration)


def bytes_within(least: int, most: int) -> Kind:
    """Make the kind of a size."""

    def read(value: object) -> int:
        return int(_within(read_size(value) if isinstance(value, str) else _whole(value), least, most=most))

    span = f"{print_size(least)} to {print_size(most)}"
    return Kind(f"bytes or a size such as 64KiB or 10MB, from {span}", read, _print_exactly)


def whole_within(least: int, most: int) -> Kind:
    """Make the kind of a count."""

    def read(value: object) -> int:
        return int(_within(_whole(value), least, most=most))

    return Kind(f"a whole number from {least:,} to {most:,}", read)


def number_within(least: float, most: float) -> Kind:
    """Make the kind of a number that may have a fraction."""

    def read(value: object) -> float:
        return _within(_number(value), least, most=most)

    return Kind(f"a number from {least:g} to {most:g}", read, "{:g}".format)


def choice(*words: str) -> Kind:
    """Make the kind of one word out of several."""

    def read(value: object) -> str:
        if value not in words:
            raise ValueError(value)
        return str(value)

    return Kind(f"one of {', '.join(words)}", read)


def _print_exactly(count: int) -> str:
    told = print_size(count)
    return told if read_size(told) == count else f"{count} B"


def _read_truth(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _TRUTHS:
        return _TRUTHS[value.lower()]
    raise ValueError(value)


def _read_path(value: object) -> str:
    if not isinstance(value, str) or not value or "\0" in value or value.endswith("/"):
        raise ValueError(value)
    try:
        return str(Path(value).expanduser())
    except RuntimeError as fault:
        raise ValueError(str(fault)) from None


def _read_office(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(value)  # noqa: TRY004 - every reader refuses with ValueError
    try:
        return str(parse_office(value))
    except PosthouseError as fault:
        raise ValueError(str(fault)) from None


def _read_listen(value: object) -> str:
    """Read `127.0.0.1:8025`, `[::1]:8025`, `post.example:443`, or nothing at all."""
    if not isinstance(value, str):
        raise ValueError(value)  # noqa: TRY004 - every reader refuses with ValueError
    if value in ("", "off"):
        return ""
    found = _LISTEN.fullmatch(value)
    if found is None or int(found[2]) > 65_535:
        raise ValueError(value)
    return value


TRUTH: Final = Kind("true or false", _read_truth, lambda value: str(value).lower())
FILE: Final = Kind("the path of a file", _read_path, placed=lambda path, folder: str(folder / path))
OPTIONAL_FILE: Final = Kind(
    'the path of a file, or ""',
    lambda value: _read_path(value) if value != "" else "",
    placed=lambda path, folder: str(folder / path) if path else "",
)
LISTEN: Final = Kind('a host and a port, such as "127.0.0.1:8025" or "[::1]:0", or "off"', _read_listen)
OFFICE: Final = Kind('the name of an office, such as "http://post.example:8025/main" or "local:"', _read_office)


def _amount(text: str, units: Mapping[str, float]) -> float:
    match = _QUANTITY.fullmatch(text)
    unit = match[2].lower() if match else ""
    if match is None or unit not in units:
        raise ValueError(text)
    return float(match[1]) * units[unit]


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str) or len(str(value)) > 40:
        raise ValueError(value)
    return float(value)


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str) or (isinstance(value, str) and len(value) > 40):
        raise ValueError(value)
    return int(value)


def _within(value: float, least: float, *, most: float) -> float:
    # Written so that what is not a number is refused too.
    if not least <= value <= most:
        raise ValueError(value)
    return value
