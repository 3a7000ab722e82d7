"""What reading a part of a message gives: its values, or why there are none, or why there may be more."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from posthouse.matching.value.type import Value

State = Literal["whole", "missing", "unreadable", "partial", "cut"]
"""`whole`: these values and no others, perhaps none at all; `missing`: the message does not have it; `unreadable`: it
cannot be known; `partial`: these values and perhaps others; `cut`: one text, of which more may follow."""


class Reading(msgspec.Struct, frozen=True, gc=False):
    """The values of one part."""

    values: tuple[Value, ...] = ()
    state: State = "whole"
    why: str = ""
    """Why it is not whole, for a person to read."""


EMPTY: Final = Reading()


def one(value: Value) -> Reading:
    """Give a reading of a single value."""
    return Reading((value,))


def many(values: tuple[Value, ...]) -> Reading:
    """Give a reading of all values there are."""
    return Reading(values) if values else EMPTY


def missing(what: str) -> Reading:
    """Say that the message has nothing of this kind."""
    return Reading((), "missing", f"the message has no {what}")


def unreadable(why: str) -> Reading:
    """Say why it cannot be known."""
    return Reading((), "unreadable", why)


def one_or_missing(value: Value | None, what: str) -> Reading:
    """Give a reading of what may be left out."""
    return missing(what) if value is None else one(value)
