"""Figures, times and sizes in the words of the pages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

_SECOND: Final = 1_000_000


def count(number: float) -> str:
    """Write a count: `12,345`."""
    return f"{number:,.0f}"


def rate(per_second: float) -> str:
    """Write how often something happens: `0/s`, `0.3/s`, `1,204/s`."""
    figure = f"{per_second:,.0f}" if per_second >= 10 or per_second == 0 else f"{per_second:.1f}"
    return f"{figure}/s"


def size(count: int) -> str:
    """Write bytes: `17 B`, `1.5 KiB`."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1000:
            return f"{amount:.3g} {unit}"
        amount /= 1024
    return f"{amount:,.1f} TiB"


def ago(instant: int, now: int) -> str:
    """Write how long ago an instant was."""
    return f"{span((now - instant) / _SECOND)} ago"


def span(seconds: float) -> str:
    """Write a length of time, roughly: `4 s`, `3 min`, `2 h`, `5 d`."""
    seconds = max(0.0, seconds)
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def stamp(instant: int) -> str:
    """Write an instant in full."""
    return datetime.fromtimestamp(instant / _SECOND, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
