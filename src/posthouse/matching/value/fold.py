"""Text as it is compared: Unicode's normal form KC and folded case, with a way back to the text as it was written.

What nobody sees does not count: a soft hyphen or a mark of no width inside a word hides it from no rule.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from functools import lru_cache, partial
from typing import Final, Literal

import msgspec

Collation = Literal["folded", "cased", "ascii", "exact"]
"""`folded`: NFKC without case; `cased`: NFKC with case; both without what is invisible; `ascii`: as it is, but A is a;
`exact`: as it is."""

_ASCII_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
# A run of marks longer than this is no text; it is mapped as one piece, so that the work stays bounded.
_MAX_PIECE: Final = 64
_SHORT: Final = 100
_FEW: Final = 16
"""Where of so many signs less than one is not ASCII, runs are folded one by one."""
# Default_Ignorable_Code_Point of Unicode, which its own NFKC_Casefold leaves out too: soft hyphen, spaces of no width,
# marks of direction, fillers, selectors of a variation, tags.
_UNSEEN: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_INVISIBLE: Final = re.compile(f"[{_UNSEEN}]+")


@lru_cache(maxsize=4096)
def _fold_short(text: str, collation: Collation) -> str:
    return _fold(text, collation)


def fold(text: str, collation: Collation) -> str:
    """Give the text as it is compared; folding twice gives the same as folding once."""
    if collation == "folded" and text.isascii():
        return text.lower()
    # Long texts are met once each: remembering them would only fill the memory.
    return _fold_short(text, collation) if len(text) <= _SHORT else _fold_long(text, collation)


def _fold_long(text: str, collation: Collation) -> str:
    """Fold what is nearly all ASCII run by run of what is not: no normal form reaches over the next ASCII letter."""
    if collation in ("exact", "ascii") or text.isascii():
        return _fold(text, collation)
    if len(text.encode("utf-8", "surrogatepass")) - len(text) > len(text) // _FEW:
        return _fold(text, collation)
    try:
        folded = text.encode("ascii", _HANDLERS[collation])
    except UnicodeEncodeError:
        return _fold(text, collation)
    if collation == "folded":
        # Letters that are not ASCII are folded already, and none of their bytes is one of ASCII.
        folded = folded.lower()
    return folded.decode("utf-8", "surrogatepass") or _fold(text, collation)


def _fold_run(fault: UnicodeError, collation: Collation) -> tuple[bytes, int]:
    """Give the folded bytes of a run of what is not ASCII; raises where it changes the letter before it."""
    if not isinstance(fault, UnicodeEncodeError):
        raise fault
    text, start, end = fault.object, fault.start, fault.end
    # At the beginning as behind a letter with which nothing is joined.
    run = text[start - 1 : end] if start else "-" + text[:end]
    folded = _behind_short(run, collation) if len(run) <= _SHORT else _behind(run, collation)
    if folded is None:
        raise fault
    return folded, end


def _behind(run: str, collation: Collation) -> bytes | None:
    """Give the folded bytes of what stands behind the first letter, or None where that letter is another one then."""
    before = run[0].lower() if collation == "folded" else run[0]
    folded = _fold(run, collation)
    return folded[1:].encode("utf-8", "surrogatepass") if folded.startswith(before) else None


_behind_short: Final = lru_cache(maxsize=4096)(_behind)
_HANDLERS: Final[dict[Collation, str]] = {"folded": "posthouse.folded", "cased": "posthouse.cased"}
for _collation, _name in _HANDLERS.items():
    # The encoder finds the runs at the speed of the machine, and hands over each of them.
    codecs.register_error(_name, partial(_fold_run, collation=_collation))


def _fold(text: str, collation: Collation) -> str:
    if collation == "exact":
        return text
    if collation == "ascii":
        return text.translate(_ASCII_LOWER)
    if text.isascii():
        return text.lower() if collation == "folded" else text
    normal = unicodedata.normalize("NFKC", _seen(text))
    return unicodedata.normalize("NFKC", normal.casefold()) if collation == "folded" else normal


def _seen(text: str) -> str:
    try:
        # To ask this costs next to nothing, and holds for most texts of the west.
        if b"\xad" not in text.encode("latin-1"):
            return text
    except UnicodeEncodeError:
        pass
    # A text of nothing else stays what it is: searched for as no text at all, it would be found everywhere.
    return _INVISIBLE.sub("", text) or text


class Origin(msgspec.Struct, frozen=True):
    """Where the characters of a folded text stood before: two offsets for each piece, ascending."""

    folded: tuple[int, ...]
    written: tuple[int, ...]

    def back(self, start: int, end: int) -> tuple[int, int]:
        """Give the stretch of the text as written that holds the stretch of the folded text."""
        first = _last_at_most(self.folded, start)
        if end <= start:
            return self.written[first], self.written[first]
        last = _last_at_most(self.folded, end - 1)
        return self.written[first], self.written[last + 1]


def _last_at_most(offsets: tuple[int, ...], wanted: int) -> int:
    low, high = 0, len(offsets) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if offsets[middle] <= wanted else (low, middle - 1)
    return low


def origin(text: str, collation: Collation) -> Origin | None:
    """Give the way back from the folded text, or None where nothing has moved."""
    if collation in ("exact", "ascii") or text.isascii():
        return None
    pieces = _pieces(text, collation)
    folded, written = [0], [0]
    for piece in pieces:
        folded.append(folded[-1] + len(_fold(piece, collation)))
        written.append(written[-1] + len(piece))
    whole = _fold(text, collation)
    if folded[-1] != len(whole):
        # A letter reached over the seam of two pieces: better a large true stretch than a small wrong one.
        return Origin((0, len(whole)), (0, len(text)))
    return Origin(tuple(folded), tuple(written))


def _pieces(text: str, collation: Collation) -> list[str]:
    """Cut the text where folding the pieces gives the folded whole: before each letter that joins nothing before it."""
    pieces: list[str] = []
    piece = ""
    for char in text:
        if piece and not _is_seam(piece, char, collation):
            piece += char
        else:
            if piece:
                pieces.append(piece)
            piece = char
    return [*pieces, piece] if piece else pieces


def _is_seam(piece: str, char: str, collation: Collation) -> bool:
    if len(piece) > _MAX_PIECE:
        return True
    # What is invisible goes with the letter before it, and at the beginning with the one behind it.
    if _INVISIBLE.match(char) or _INVISIBLE.fullmatch(piece):
        return False
    if char.isascii():
        return True
    if unicodedata.combining(char):
        return False
    return _fold_short(piece + char, collation) == _fold_short(piece, collation) + _fold_short(char, collation)
