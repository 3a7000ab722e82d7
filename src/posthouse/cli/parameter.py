"""The kinds of values that options take: durations, sizes, limits, typed attributes, names of mailboxes."""

from __future__ import annotations

import math
import re
from typing import Any, Final

import click
import msgspec

from posthouse.message.attribute import MalformedAttribute, Value, untag
from posthouse.message.name import MailboxName, MalformedName, parse_mailbox
from posthouse.server.quantity import read_duration, read_size

_TYPES: Final = ("text", "int32", "int64", "real64", "instant", "opaque", "list")
_ATTRIBUTE: Final = re.compile(r"([^=]+?)(?::([^=:]*))?=(.*)", re.DOTALL)
_MOST_SECONDS: Final = 10**9


# `Any`, here and below: click hands over what the user typed, or a default that is converted already.
def duration(value: Any) -> float:
    """Read seconds."""
    return _duration(value, "")


def duration_or_forever(value: Any) -> float:
    """Read seconds, or `forever`, which is infinite."""
    return math.inf if value == "forever" else _duration(value, ", or forever")


def size(value: Any) -> int:
    """Read bytes."""
    try:
        return value if isinstance(value, int) else read_size(value)
    except ValueError:
        raise click.BadParameter(f"expected a size such as 65536, 64KiB or 10MB, found {value!r}") from None


def size_or_none(value: Any) -> float:
    """Read bytes, or `none` for no limit, which is infinite."""
    return math.inf if value == "none" else size(value)


def count_or_none(value: Any) -> float:
    """Read a count, or `none` for no limit, which is infinite."""
    if value == "none":
        return math.inf
    if not re.fullmatch("[0-9]{1,15}", str(value)):
        raise click.BadParameter(f"expected a whole number or none, found {value!r}")
    return int(value)


def mailbox_name(value: Any) -> MailboxName:
    """Read the name of a mailbox in any of its forms."""
    try:
        return value if isinstance(value, MailboxName) else parse_mailbox(value)
    except MalformedName as fault:
        raise click.BadParameter(str(fault)) from None


def attribute(value: Any) -> tuple[str, Value]:
    """Read `name=text` or `name:type=value`."""
    parts = _ATTRIBUTE.fullmatch(value)
    if parts is None:
        raise click.BadParameter(f"expected name=value or name:type=value, found {value!r}")
    name, kind, text = parts.groups()
    if kind is not None and kind not in _TYPES:
        raise click.BadParameter(f"{name!r}: expected one of the types {', '.join(_TYPES)}, found {kind!r}")
    try:
        return name, _typed(kind or "text", text)
    except MalformedAttribute as fault:
        raise click.BadParameter(f"{name!r}: {fault.what}, found {text[:60]!r}") from None


def seconds_or_none(duration: float | None) -> float | None:
    """Give a wait as the office wants it, where none is for ever."""
    return None if duration is None or math.isinf(duration) else duration


def _typed(kind: str, text: str) -> Value:
    if kind in ("text", "instant", "opaque"):
        return untag({kind: text})
    if kind == "list":
        return untag(_tagged(_json(text)))
    try:
        return untag({kind: float(text) if kind == "real64" else int(text[:40])})
    except ValueError:
        raise MalformedAttribute(f"expected a number under {kind}") from None


# `Any`: JSON as it was written.
def _json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        raise MalformedAttribute("expected a JSON list under list") from None


def _tagged(written: Any) -> object:
    if isinstance(written, list):
        return {"list": [_tagged(item) for item in written]}
    tag = {str: "text", int: "int64", float: "real64"}.get(type(written))
    return {tag: written} if tag else written


def _duration(value: Any, more: str) -> float:
    if isinstance(value, float):
        return value
    try:
        seconds = read_duration(value)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= _MOST_SECONDS:
        raise click.BadParameter(f"expected a duration such as 500ms, 5s, 2m or 1h{more}, found {value!r}")
    return seconds
