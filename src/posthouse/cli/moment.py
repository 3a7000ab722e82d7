"""A moment as people give it to a command: a day, a day and a time, or how far off it is; in the time of the office."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final

import click

from posthouse.cli.parameter import duration
from posthouse.message.instant import to_microseconds

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")

Moment = Callable[[tzinfo], int | None]
"""Gives the instant once it is known in which time zone it was meant."""


# `Any`: what click hands on, a text or what was read of it before.
def moment(value: Any) -> Moment:
    """Read `2026-12-01`, `2026-12-01 17:00`, `3d`, or `none`."""
    if callable(value):
        given: Moment = value
        return given
    text = str(value).strip()
    if text == "none":
        return lambda _zone: None
    if not _DAY.match(text):
        ahead = timedelta(seconds=duration(text))
        return lambda _zone: to_microseconds(datetime.now(UTC) + ahead)
    try:
        local = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(
            f"expected a day such as 2026-12-01, or a time ahead such as 3d, found {text!r}"
        ) from None
    return lambda zone: to_microseconds((local if local.tzinfo else local.replace(tzinfo=zone)).astimezone(UTC))
