"""How Sieve compares one value with one key: match types and comparators, and numbers as regular expressions."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Final

import msgspec

# `...`: numbers beside numbers, or bytes beside bytes.
RELATIONS: Final[dict[str, Callable[..., bool]]] = {
    "gt": operator.gt, "ge": operator.ge, "lt": operator.lt, "le": operator.le, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip
NUMERIC: Final = "i;ascii-numeric"
MAX_DIGITS: Final = 40
MAX_UNEQUAL: Final = 100
"""Characters of a text that a value may have to differ from."""
_NO_DIGIT: Final = r"(?:[^0-9]|\z)"


class Comparing(msgspec.Struct, frozen=True):
    """A match type with its comparator."""

    match: str = ":is"
    comparator: str = "i;ascii-casemap"
    relation: str = ""
    """`gt` and so on behind `:value` and `:count`."""

    def holds(self, value: str, key: str) -> bool:
        """Say whether a value that is known already matches a key; regular expressions are not asked here."""
        if self.comparator == NUMERIC:
            return RELATIONS[self.relation or "eq"](number_of(value), number_of(key))
        left, right = self.fold(value), self.fold(key)
        if self.match == ":contains":
            return right in left
        if self.match == ":matches":
            return wildcard(right).fullmatch(left) is not None
        if self.match in (":value", ":count"):
            return RELATIONS[self.relation](left.encode(errors="replace"), right.encode(errors="replace"))
        return left == right

    def fold(self, text: str) -> str:
        """Give a text as this comparator sees it; RFC 4790 folds to capital letters, which orders `_` behind `Z`."""
        if self.comparator != "i;ascii-casemap":
            return text
        return "".join(char.upper() if char.isascii() else char for char in text)


def wildcard(pattern: str) -> re.Pattern[str]:
    """Give the expression of a wildcard, in which `*` is any text, `?` one sign, and a backslash takes the meaning."""
    pieces: list[str] = []
    signs = iter(pattern)
    for sign in signs:
        # Stars beside each other say no more than one, and would be tried in all ways.
        if sign == "*":
            pieces += [] if pieces[-1:] == [".*"] else [".*"]
        else:
            pieces.append("." if sign == "?" else re.escape(next(signs, sign) if sign == "\\" else sign))
    return re.compile("".join(pieces), re.DOTALL)


# --- numbers ----------------------------------------------------------------------------------------------------------


def number_of(text: str) -> float:
    """Give the number a text begins with, as RFC 4790 says; one that begins with no digit is beyond all numbers."""
    digits = re.match("[0-9]*", text)
    assert digits is not None
    return int(digits.group()[:MAX_DIGITS]) if digits.group() else float("inf")


def numeric_pattern(relation: str, key: str) -> str | None:
    """Give the expression that finds texts whose number stands so to that of the key; None where there are none."""
    number = number_of(key)
    infinite = rf"\A{_NO_DIGIT}"
    if number == float("inf"):
        return {
            "eq": infinite, "ge": infinite, "ne": r"\A[0-9]", "lt": r"\A[0-9]", "le": r"", "gt": None,
        }[relation]  # fmt: skip
    digits = str(int(number))
    equal = rf"\A0*{digits}{_NO_DIGIT}" if digits != "0" else rf"\A0+{_NO_DIGIT}"
    more, less = _more(digits), _less(digits)
    pieces = {
        "eq": [equal], "gt": [infinite, *more], "ge": [infinite, equal, *more],
        "lt": less, "le": [equal, *less], "ne": [infinite, *more, *less],
    }[relation]  # fmt: skip
    return "|".join(pieces) or None


def _more(digits: str) -> list[str]:
    longer = [rf"\A0*[1-9]{_many(len(digits))}[0-9]*"]
    return longer + [
        rf"\A0*{digits[:place]}[{int(digit) + 1}-9]{_many(len(digits) - place - 1)}{_NO_DIGIT}"
        for place, digit in enumerate(digits)
        if digit != "9"
    ]


def _less(digits: str) -> list[str]:
    if digits == "0":
        return []
    shorter = [rf"\A0+{_NO_DIGIT}"]
    if len(digits) > 1:
        shorter.append(rf"\A0*[1-9][0-9]{{0,{len(digits) - 2}}}{_NO_DIGIT}")
    least = ["1", *("0" for _ in digits[1:])]
    return shorter + [
        rf"\A0*{digits[:place]}[{least[place]}-{int(digit) - 1}]{_many(len(digits) - place - 1)}{_NO_DIGIT}"
        for place, digit in enumerate(digits)
        if int(digit) > int(least[place])
    ]


def _many(count: int) -> str:
    return "" if count == 0 else "[0-9]" if count == 1 else f"[0-9]{{{count}}}"


# --- what differs -----------------------------------------------------------------------------------------------------


def unequal_pattern(key: str, *, has_case: bool) -> str:
    """Give the expression that finds every text but one: it ends too early, goes on too long, or differs at a sign."""
    pattern = "."
    for char in reversed(key):
        cases = {char} if has_case or not char.isascii() else {char.lower(), char.upper()}
        signs = "".join(f"\\x{{{ord(case):x}}}" for case in sorted(cases))
        pattern = rf"(?:\z|[^{signs}]|[{signs}]{pattern})"
    return rf"(?s)\A{pattern}"
