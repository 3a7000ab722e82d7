"""Extended regular expressions of POSIX, which Sieve has, written as RE2 reads them."""

from __future__ import annotations

import re
from typing import Final

_GNU: Final = {"<": r"\b", ">": r"\b", "`": r"\A", "'": r"\z", "b": r"\b", "B": r"\B"}
_CLASSES: Final = {"w": r"[0-9A-Za-z_]", "W": r"[^0-9A-Za-z_]", "s": r"[\t-\r ]", "S": r"[^\t-\r ]"}
_BOUND: Final = re.compile(r"\{(\d*)(,?)(\d*)\}")
_SPECIAL: Final = frozenset(r"\.+*?()|[]{}^$")


class NoCounterpart(ValueError):
    """The expression says something RE2 cannot say; the text says what."""


def from_posix(pattern: str) -> str:
    """Give the expression for RE2, or raise NoCounterpart."""
    pieces: list[str] = ["(?s)"]
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            piece, at = _escape(pattern, at)
        elif sign == "[":
            piece, at = _bracket(pattern, at)
        elif sign == "{":
            piece, at = _bound(pattern, at)
        else:
            if pattern.startswith("(?", at):
                raise NoCounterpart("the group (?…), which POSIX has not")
            piece, at = sign, at + 1
        # What repeats a repetition means the same once in POSIX; RE2 refuses it, or takes the second sign as lazy.
        if piece in "*+?" and pieces[-1][:1] in ("*", "+", "?", "{") and len(pieces) > 1:
            raise NoCounterpart(f"{pieces[-1]}{piece}, a repetition of a repetition")
        pieces.append(piece)
    return "".join(pieces)


def _escape(pattern: str, at: int) -> tuple[str, int]:
    follower = pattern[at + 1 : at + 2]
    if not follower:
        raise NoCounterpart("a backslash at the end")
    if follower.isdigit():
        raise NoCounterpart(rf"\{follower}, which refers back to a group")
    known = _GNU.get(follower) or _CLASSES.get(follower)
    if known:
        return known, at + 2
    return (
        f"\\{follower}" if follower in _SPECIAL else re.escape(follower) if not follower.isalnum() else follower
    ), at + 2


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    """Take a class in brackets, in which a backslash is a backslash."""
    end = at + 1
    out = "["
    if pattern[end : end + 1] == "^":
        out, end = "[^", end + 1
    first = True
    while end < len(pattern):
        char = pattern[end]
        if char == "]" and not first:
            return f"{out}]", end + 1
        first = False
        opener = pattern[end : end + 2]
        if opener in ("[:", "[.", "[="):
            close = pattern.find(f"{opener[1]}]", end + 2)
            if close < 0:
                raise NoCounterpart(f"{opener} that is not closed")
            if opener != "[:":
                raise NoCounterpart(f"{pattern[end : close + 2]}, a collating element")
            out, end = out + pattern[end : close + 2], close + 2
            continue
        out, end = out + (f"\\{char}" if char in "[]\\^&~" else char), end + 1
    raise NoCounterpart("a class in brackets that is not closed")


def _bound(pattern: str, at: int) -> tuple[str, int]:
    found = _BOUND.match(pattern, at)
    if found is None or not (found[1] or found[2]):
        return r"\{", at + 1
    low, comma, high = found[1] or "0", found[2], found[3]
    if high and not comma:
        return r"\{", at + 1
    return f"{{{low}{comma}{high}}}", found.end()
