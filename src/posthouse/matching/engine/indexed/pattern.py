"""Regular expressions as a filter may see them: wider than RE2 reads them, never narrower, and small whatever they are.

What is widened: most assertions vanish, classes of more than plain signs become any sign, long repetitions become
endless. RE2 has the last word about what such a pattern lets through. One of which nothing had to be widened is exact:
it matches where RE2 does. Patterns are for text that `flattened` gives.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

_ANY: Final = b"[\\x00-\\x7f]"
"""One sign of any kind: of a flattened text one byte."""
_NO_BREAK: Final = b"[\\x00-\\x09\\x0b-\\x7f]"
"""The same, but no line break: what a dot is."""
_MOST_REPEATED: Final = 8
"""Repetitions that are written out; more of them are as good as endless for a filter."""
_MOST_BYTES: Final = 4_000
_PUNCTUATION: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ ")
_CLASSES: Final = {"d": b"[0-9]", "w": b"[0-9A-Za-z_]", "s": b"[\\t\\n\\f\\r ]"}
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_BORDER: Final = b"\\b"
_FOREIGN: Final = ("\u212a", "\u017f")
"""What is another case of an ASCII letter to RE2, though it is none itself."""
_LONGEST_SIMPLE: Final = 60
"""Repetitions of a single sign, which a filter counts instead of writing them out."""
_SINGLE: Final = re.compile(rb"\[[^\]]+\]|\\x[0-9a-f]{2}")
_PLAIN_CLASS: Final = re.compile("(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|[0-9A-Za-z])+")


class Wide(msgspec.Struct, frozen=True, gc=False):
    """An expression that matches wherever RE2 matches a pattern."""

    pattern: bytes
    is_exact: bool
    """Whether it matches nowhere else."""


def flattened(text: str, *, has_case: bool) -> bytes | None:
    """Give the text in which patterns are looked for: a byte for each sign, whatever is not ASCII a question mark.

    Where case is of no interest letters are small, and it is None where a sign is another case of an ASCII letter.
    """
    if has_case:
        return text.encode("ascii", "replace")
    if not text.isascii() and any(letter in text for letter in _FOREIGN):
        return None
    return text.encode("ascii", "replace").lower()


class _Beyond(Exception):
    """The pattern has a construct that is not read here."""


def widen(pattern: str, *, has_case: bool) -> Wide | None:
    """Give an expression over bytes that matches wherever RE2 matches, or None where none is worth looking for."""
    if not has_case:
        pattern = pattern.removeprefix("(?i)")
    try:
        reader = _Reader(pattern, has_case=has_case)
        wide, least = reader.alternatives(0)
        if reader.at < len(pattern):
            return None
    except _Beyond:
        return None
    # What may match next to nothing is found everywhere: looking for it is work for nothing.
    return Wide(wide, reader.is_exact) if least >= 2 and len(wide) <= _MOST_BYTES else None


def quote(literal: bytes) -> bytes:
    """Give the expression that matches these bytes."""
    return b"".join(b"\\x%02x" % byte for byte in literal)


class _Reader:
    """Reads a pattern once from left to right; each reading gives the wide pattern and the least bytes it matches."""

    def __init__(self, pattern: str, *, has_case: bool) -> None:
        self._pattern = pattern
        self._has_case = has_case
        self.at = 0
        self.is_exact = True

    def _wider(self, wide: bytes, least: int) -> tuple[bytes, int]:
        """Give what matches more than was written."""
        self.is_exact = False
        return wide, least

    def alternatives(self, depth: int) -> tuple[bytes, int]:
        """Read up to the end of a group."""
        if depth > 50:
            raise _Beyond
        branches = [self._sequence(depth)]
        while self._peek() == "|":
            self.at += 1
            branches.append(self._sequence(depth))
        wide = b"(?:" + b"|".join(branch for branch, _ in branches) + b")"
        if len(wide) > 2 * _MOST_BYTES:
            raise _Beyond
        return wide, min(least for _, least in branches)

    def _sequence(self, depth: int) -> tuple[bytes, int]:
        pieces: list[bytes] = []
        least = 0
        while self._peek() not in ("", "|", ")"):
            piece, length = self._repeated(*self._atom(depth))
            pieces.append(piece)
            least += length
        return b"".join(pieces), least

    def _peek(self) -> str:
        return self._pattern[self.at : self.at + 1]

    def _atom(self, depth: int) -> tuple[bytes, int]:
        sign = self._peek()
        self.at += 1
        if sign == "(":
            return self._group(depth)
        if sign == "[":
            return self._class()
        if sign == "\\":
            return self._escape()
        if sign in "^$":
            return self._wider(b"", 0)
        if sign == ".":
            return _NO_BREAK, 1
        if sign in "*+?{":
            raise _Beyond
        return self._literal(sign)

    def _group(self, depth: int) -> tuple[bytes, int]:
        if self._peek() == "?":
            if not self._pattern.startswith("?:", self.at):
                raise _Beyond
            self.at += 2
        inner = self.alternatives(depth + 1)
        if self._peek() != ")":
            raise _Beyond
        self.at += 1
        return inner

    def _class(self) -> tuple[bytes, int]:
        """Read a class of ASCII letters, digits and ranges of them; any other becomes any sign."""
        start = self.at
        end = self._pattern.find("]", start + 1)
        inner = self._pattern[start:end]
        if end < 0 or inner == "^" or "[" in inner or "\\" in inner:
            raise _Beyond
        self.at = end + 1
        if _PLAIN_CLASS.fullmatch(inner) is None:
            return self._wider(_ANY, 1)
        if self._has_case:
            return b"[" + inner.encode() + b"]", 1
        return b"[" + inner.lower().encode() + b"]", 1

    def _escape(self) -> tuple[bytes, int]:
        sign = self._peek()
        self.at += 1
        if sign == "b":
            return _BORDER, 0
        if sign in ("B", "A", "z"):
            return self._wider(b"", 0)
        if sign in _CLASSES:
            return _CLASSES[sign], 1
        if sign in ("D", "W", "S"):
            return self._wider(_ANY, 1)
        if sign in _CONTROLS:
            return self._literal(_CONTROLS[sign])
        if sign in _PUNCTUATION and sign:
            return self._literal(sign)
        raise _Beyond

    def _literal(self, sign: str) -> tuple[bytes, int]:
        if sign == "?":
            # In the text it may stand for another sign.
            return self._wider(quote(b"?"), 1)
        if not sign.isascii():
            is_alone = self._has_case or not (sign.lower().isascii() or sign.upper().isascii())
            return self._wider(quote(b"?") if is_alone else _ANY, 1)
        return quote((sign if self._has_case else sign.lower()).encode()), 1

    def _repeated(self, piece: bytes, length: int) -> tuple[bytes, int]:
        """Read the repetition behind an atom, if there is one."""
        sign = self._peek()
        if sign == "{":
            low, high = self._counts()
        elif sign in ("*", "+", "?") and sign:
            self.at += 1
            low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        else:
            return piece, length
        if self._peek() == "?":
            self.at += 1
        if self._peek() in ("*", "+", "?", "{") and self._peek():
            raise _Beyond
        # An assertion repeated asserts nothing more, and perhaps nothing at all.
        if piece in (b"", _BORDER):
            return self._wider(b"", 0)
        return self._counted(piece, low, high), length * low

    def _counted(self, piece: bytes, low: int, high: int | None) -> bytes:
        if _SINGLE.fullmatch(piece) is not None and (low if high is None else high) <= _LONGEST_SIMPLE:
            return piece + b"{%d,%s}" % (low, b"" if high is None else b"%d" % high)
        self.is_exact = False
        low = min(low, _MOST_REPEATED)
        until = b"" if high is None or high > _MOST_REPEATED else b"%d" % high
        return b"(?:" + piece + b"){%d,%s}" % (low, until)

    def _counts(self) -> tuple[int, int | None]:
        end = self._pattern.find("}", self.at)
        low, comma, high = self._pattern[self.at + 1 : max(end, self.at + 1)].partition(",")
        if end < 0 or not low.isascii() or not low.isdigit() or (high and not (high.isascii() and high.isdigit())):
            raise _Beyond
        self.at = end + 1
        return int(low), (int(high) if high else None) if comma else int(low)
