"""What a leaf asks, said so that it can be looked up instead of judged: a value, a range, a word of one part.

A clue is necessary: where its fact does not hold and its column decides, the leaf is false. An exact one is the leaf.
"""

from __future__ import annotations

import math
from typing import Final, Literal

import msgspec

from posthouse.matching.engine.indexed.bound import Sign
from posthouse.matching.engine.indexed.column import Group, Key
from posthouse.matching.engine.indexed.pattern import widen
from posthouse.matching.engine.single.term import constant_value
from posthouse.matching.predicate.node import (
    Arithmetic,
    Between,
    Boolean,
    Call,
    Compare,
    Comparison,
    Constants,
    Fixed,
    InList,
    Leaf,
    Moment,
    Number,
    Part,
    Search,
    Term,
    Text,
    Texts,
    Unary,
    Under,
    Words,
    terms,
)
from posthouse.matching.predicate.typing import static_type
from posthouse.matching.value.fold import Collation, fold
from posthouse.matching.value.type import GROUPS, ORDERED, Type
from posthouse.matching.value.wordlist import Lists, word_list

_CONSTANTS: Final = (Text, Number, Moment, Boolean)
How = Literal["equal", "member", "start", "end", "bound", "word", "pattern", "range", "there"]
MOST_TEXTS: Final = 50_000
"""Texts of one leaf that are looked up; a longer list to be searched for in a text is judged word by word."""

_MOST_KEYS: Final = 1_000
"""Words of a list that are filed one by one."""


class Clue(msgspec.Struct, frozen=True, gc=False):
    """What a leaf needs of one column."""

    part: Part
    group: Group
    how: How
    keys: tuple[Key, ...] = ()
    members: frozenset[str] = frozenset()
    """Keys that are so many that they are asked as a whole."""
    patterns: tuple[bytes, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    sign: Sign = ">"
    """Of a bound: which side of it, where the bound is both `low` and `high`."""
    collation: Collation = "exact"
    is_exact: bool = True


class Never(msgspec.Struct, frozen=True, gc=False):
    """The leaf is never what is asked for."""


NEVER: Final = Never()
_MIRRORED: Final[dict[Comparison, Comparison]] = {
    "=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=",
}  # fmt: skip
_LOOKED_UP: Final[dict[Type, Group]] = {
    "text": "text", "truth": "truth", "instant": "instant", "date": "date", "time": "time", "weekday": "weekday",
    "int32": "number", "int64": "number", "real64": "number", "size": "number", "duration": "number",
}  # fmt: skip


def clue_of(leaf: Leaf, lists: Lists, *, only_true: bool) -> Clue | Never | None:
    """Give what must hold where a leaf is true, or not false; None where nothing need."""
    if isinstance(leaf, Fixed):
        return None if leaf.truth == "true" or (leaf.truth == "unknown" and not only_true) else NEVER
    found: Clue | Never | None = None
    if isinstance(leaf, Compare):
        found = _of_comparison(leaf)
    elif isinstance(leaf, Between):
        found = _of_range(leaf.term, leaf.low, leaf.high)
    elif isinstance(leaf, Search):
        found = _of_search(leaf, lists)
    elif isinstance(leaf, InList):
        found = _of_list(leaf, lists)
    elif isinstance(leaf, Under):
        found = _of_under(leaf, lists)
    if found is NEVER:
        return NEVER if only_true else None
    return found or (presence(leaf) if only_true else None)


def presence(leaf: Leaf) -> Clue | None:
    """Give a part without which a leaf is not true."""
    if isinstance(leaf, Compare) and leaf.sign == "!=" and not isinstance(leaf.right, _CONSTANTS):
        # Nothing beside nothing differs.
        return None
    needed = [part for term in terms(leaf) for part in _needed(term)]
    return Clue(needed[0], "there", "there", is_exact=False) if needed else None


def _needed(term: Term) -> list[Part]:
    if isinstance(term, Part):
        return [term]
    if isinstance(term, Call):
        return [] if term.function == "count" else _needed(term.term)
    if isinstance(term, Unary):
        return _needed(term.term)
    return _needed(term.left) + _needed(term.right) if isinstance(term, Arithmetic) else []


def denial(leaf: Leaf, *, only_true: bool) -> Clue | Never | None:
    """Give what must hold where a leaf is false, or not true."""
    if isinstance(leaf, Fixed):
        return None if leaf.truth == "false" or (leaf.truth == "unknown" and not only_true) else NEVER
    # What is missing is false only to a leaf that asks whether it is there.
    is_plain = isinstance(leaf, Compare | Search | InList | Under) and isinstance(terms(leaf)[0], Part)
    is_plain &= not isinstance(leaf, Compare) or isinstance(leaf.right, _CONSTANTS)
    return presence(leaf) if only_true and is_plain else None


# --- numbers, and what is equal ---------------------------------------------------------------------------------------


def _of_comparison(leaf: Compare) -> Clue | None:
    part, sign, constant = leaf.left, leaf.sign, leaf.right
    if isinstance(constant, Part):
        part, sign, constant = constant, _MIRRORED[sign], part
    group = _group(part, constant)
    if sign == "!=" or group is None or not isinstance(part, Part):
        return None
    key = _key(constant, leaf.collation)
    if sign == "=":
        return Clue(part, group, "equal", (key,), collation=leaf.collation if group == "text" else "exact")
    if group not in ORDERED or isinstance(key, str):
        return None
    return Clue(part, group, "bound", low=key, high=key, sign=sign)


def as_range(bound: Clue) -> Clue:
    """Give the range that a bound leaves open to one side."""
    low = bound.low if bound.sign in (">", ">=") else -math.inf
    high = bound.high if bound.sign in ("<", "<=") else math.inf
    return Clue(bound.part, bound.group, "range", low=low, high=high, is_exact=False)


def _of_range(part: Term, low: Term, high: Term) -> Clue | None:
    group = _group(part, low)
    if group is None or group != _group(part, high) or group not in ORDERED or not isinstance(part, Part):
        return None
    least, most = _key(low, "exact"), _key(high, "exact")
    if isinstance(least, str) or isinstance(most, str):
        return None
    return Clue(part, group, "range", low=min(least, most), high=max(least, most), is_exact=False)


def _group(part: Term, constant: Term) -> Group | None:
    """Give the group of a part and a constant whose values compare by themselves, without a calendar."""
    if not isinstance(part, Part) or not isinstance(constant, _CONSTANTS):
        return None
    group = _LOOKED_UP[static_type(constant)]
    kind = static_type(part)
    if kind == "any":
        return None if group in ("date", "time", "weekday") else group
    return group if GROUPS.get(kind) == group else None


def _key(constant: Term, collation: Collation) -> Key:
    assert isinstance(constant, _CONSTANTS)
    value = constant_value(constant)
    assert isinstance(value, str | int | float)
    return fold(value, collation) if isinstance(value, str) else value


# --- text -------------------------------------------------------------------------------------------------------------


def _of_search(leaf: Search, lists: Lists) -> Clue | Never | None:
    texts = _texts(leaf.texts, lists)
    if texts is None:
        return NEVER
    part = leaf.term
    if not isinstance(part, Part) or not _is_text(part) or len(texts) > MOST_TEXTS:
        return None
    collation = leaf.collation
    if leaf.sign == "matches":
        wide = [widen(text, has_case=collation in ("cased", "exact")) for text in texts]
        known = [pattern for pattern in wide if pattern is not None]
        if len(known) < len(wide):
            return None
        patterns, is_exact = tuple(pattern.pattern for pattern in known), all(pattern.is_exact for pattern in known)
        return Clue(part, "text", "pattern", patterns=patterns, collation=collation, is_exact=is_exact)
    if leaf.sign == "wildcard":
        words = tuple(_longest_run(text, collation) for text in texts)
        return Clue(part, "text", "word", words, collation=collation, is_exact=False) if all(words) else None
    keys = tuple(dict.fromkeys(fold(text, collation) for text in texts))
    if not all(keys):
        return None
    hows: dict[str, How] = {"starts": "start", "ends": "end", "contains": "word", "word": "word"}
    return Clue(part, "text", hows[leaf.sign], keys, collation=collation, is_exact=leaf.sign != "word")


def _longest_run(pattern: str, collation: Collation) -> str:
    """Give the longest text that stands in whatever a wildcard matches."""
    runs, signs = [""], iter(pattern)
    for sign in signs:
        plain = next(signs, sign) if sign == "\\" else sign
        # What is no UTF-8 is searched as a question mark: no run goes over one.
        if plain == "?" or (sign == "*" and plain == "*"):
            runs.append("")
        else:
            runs[-1] += plain
    longest = max((fold(run, collation) for run in runs), key=len)
    return longest if "?" not in longest else max(longest.split("?"), key=len)


def _of_list(leaf: InList, lists: Lists) -> Clue | Never | None:
    part = leaf.term
    if isinstance(leaf.values, Constants):
        groups = {_group(part, constant) for constant in leaf.values.values}
        group = groups.pop()
        if groups or group is None or not isinstance(part, Part):
            return None
        collation = leaf.collation if group == "text" else "exact"
        keys = tuple(dict.fromkeys(_key(constant, collation) for constant in leaf.values.values))
        return Clue(part, group, "equal", keys, collation=collation)
    words = lists.get(leaf.values.name) if isinstance(leaf.values, Words) else word_list(leaf.values.values)
    if words is None:
        return NEVER
    if not isinstance(part, Part) or not _is_text(part):
        return None
    listed = words.keys(leaf.collation)
    if len(listed) > _MOST_KEYS:
        return Clue(part, "text", "member", members=listed, collation=leaf.collation)
    return Clue(part, "text", "equal", tuple(listed), collation=leaf.collation)


def _of_under(leaf: Under, lists: Lists) -> Clue | Never | None:
    texts = _texts(leaf.names, lists)
    if texts is None:
        return NEVER
    if not isinstance(leaf.term, Part):
        return None
    keys = tuple(dict.fromkeys(fold(text, leaf.collation) for text in texts))
    return Clue(leaf.term, "under", "equal", keys, collation=leaf.collation)


def _texts(texts: Texts | Words, lists: Lists) -> tuple[str, ...] | None:
    if isinstance(texts, Texts):
        return texts.values
    known = lists.get(texts.name)
    return None if known is None else known.words


def _is_text(part: Part) -> bool:
    kind = static_type(part)
    return kind == "any" or GROUPS.get(kind) == "text"
