"""The truth of one leaf for one message. What several values say is joined by `or`; what is not known, by unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from posthouse.matching.engine.single.ground import Ground
from posthouse.matching.engine.single.term import constant_value, read_term
from posthouse.matching.match import CERTAINTIES, FALSE, TRUE, UNKNOWN, Truth, all_of, any_of, negate, truth_of
from posthouse.matching.predicate.node import (
    Between,
    Compare,
    Comparison,
    Constants,
    Exists,
    Fixed,
    InList,
    IsEmpty,
    IsType,
    Leaf,
    Search,
    Term,
    Texts,
    Under,
    Words,
)
from posthouse.matching.predicate.typing import static_type
from posthouse.matching.value.fold import Collation
from posthouse.matching.value.reading import Reading
from posthouse.matching.value.regex import compile_regex, compile_wildcard
from posthouse.matching.value.type import GROUPS, ORDERED, Value, compare, type_of
from posthouse.matching.value.wordlist import WordList, word_list

MAX_PAIRS: Final = 10_000
"""Values beside values; more than that is unknown, so that the work stays bounded."""
_HITS: Final[dict[Comparison, frozenset[int]]] = {
    "=": frozenset({0}), "!=": frozenset({-1, 1, 2}), "<": frozenset({-1}), "<=": frozenset({-1, 0}),
    ">": frozenset({1}), ">=": frozenset({0, 1}),
}  # fmt: skip


def judge_leaf(leaf: Leaf, ground: Ground) -> Truth:
    """Give the truth of a leaf."""
    return _JUDGES[type(leaf)](leaf, ground)


def _over(reading: Reading, test: Callable[[Value], Truth]) -> Truth:
    """Join what each value says; a part that is not wholly known can only add truth."""
    found = any_of(map(test, reading.values))
    return found if reading.state == "whole" else any_of((found, UNKNOWN))


# --- comparisons ------------------------------------------------------------------------------------------------------


def _judge_compare(leaf: Compare, ground: Ground) -> Truth:
    sign: Comparison = "=" if leaf.sign == "!=" else leaf.sign
    truth = _judge_pairs(sign, leaf.left, leaf.right, leaf.collation, ground=ground)
    # Not equal is the contrary of equal, so that of several values none is.
    return negate(truth) if leaf.sign == "!=" else truth


def _judge_pairs(sign: Comparison, left: Term, right: Term, collation: Collation, *, ground: Ground) -> Truth:
    ours, theirs = read_term(left, ground), read_term(right, ground)
    if len(ours.values) * len(theirs.values) > MAX_PAIRS:
        return UNKNOWN
    found = any_of(
        _compare_values(sign, one, other, collation=collation, ground=ground)
        for one in ours.values
        for other in theirs.values
    )
    for reading in (ours, theirs):
        if reading.state == "cut":
            # A text that was cut may be longer than what it equals.
            return UNKNOWN
    is_whole = all(reading.state == "whole" for reading in (ours, theirs))
    # Nothing on one side is known to equal nothing, whatever the other side may be.
    if any(reading.state == "whole" and not reading.values for reading in (ours, theirs)):
        return FALSE
    return found if is_whole else any_of((found, UNKNOWN))


def _compare_values(sign: Comparison, left: Value, right: Value, *, collation: Collation, ground: Ground) -> Truth:
    """Compare two values."""
    found = compare(left, right, collation=collation, zone=ground.record.context.zone)
    if found is None or (sign not in ("=", "!=") and GROUPS.get(type_of(left)) not in ORDERED):
        return UNKNOWN
    return truth_of(found in _HITS[sign])


def _judge_between(leaf: Between, ground: Ground) -> Truth:
    low, high = read_term(leaf.low, ground), read_term(leaf.high, ground)

    def test(value: Value) -> Truth:
        at_least = _over(low, lambda limit: _compare_values(">=", value, limit, collation="exact", ground=ground))
        at_most = _over(high, lambda limit: _compare_values("<=", value, limit, collation="exact", ground=ground))
        return all_of((at_least, at_most))

    return _over(read_term(leaf.term, ground), test)


# --- text -------------------------------------------------------------------------------------------------------------


def _judge_search(leaf: Search, ground: Ground) -> Truth:
    reading = read_term(leaf.term, ground)
    words = _texts(leaf.texts, ground)
    if words is None:
        return UNKNOWN

    def test(value: Value) -> Truth:
        if not isinstance(value, str):
            return UNKNOWN
        is_cut = reading.state == "cut"
        for _, end in find_places(leaf, value, words=words, ground=ground):
            # At a cut nobody knows what follows: an end there is none, and neither is the end of a word.
            if not is_cut or leaf.sign in ("contains", "starts") or end < _length_searched(leaf, value, ground):
                return TRUE
        return FALSE

    return _over(reading, test)


def _length_searched(leaf: Search, text: str, ground: Ground) -> int:
    """Give the length of the text in which places are found."""
    searched = ground.searched if leaf.sign == "matches" else ground.folded
    return len(searched(text, leaf.collation))


def find_places(leaf: Search, text: str, *, words: WordList, ground: Ground) -> Iterator[tuple[int, int]]:
    """Give where a search is true of a text, in offsets of the text as it is compared; at least one where it is."""
    if leaf.sign == "matches":
        searched = ground.searched(text, leaf.collation)
        for pattern in words.words:
            yield from _matches(pattern, searched, has_case=leaf.collation in ("cased", "exact"))
        return
    folded = ground.folded(text, leaf.collation)
    if leaf.sign == "wildcard":
        whole = ground.searched(folded, "exact")
        for pattern in words.words:
            if compile_wildcard(pattern, leaf.collation).search(whole) is not None:
                yield 0, len(folded)
        return
    yield from _FINDERS[leaf.sign](folded, words, leaf.collation)


def _matches(pattern: str, text: str, *, has_case: bool) -> Iterator[tuple[int, int]]:
    regex = compile_regex(pattern, has_case=has_case)
    at = 0
    while at <= len(text):
        found = regex.search(text, at)
        if found is None:
            return
        yield found.start(), found.end()
        at = max(found.end(), found.start() + 1)


def _whole_words(folded: str, words: WordList, collation: Collation) -> Iterator[tuple[int, int]]:
    for start, end in words.find(folded, collation):
        if not (start and _is_letter(folded[start - 1])) and not (end < len(folded) and _is_letter(folded[end])):
            yield start, end


def _is_letter(char: str) -> bool:
    return char.isalnum() or char == "_"


def _beginnings(folded: str, words: WordList, collation: Collation) -> Iterator[tuple[int, int]]:
    for length, keys in words.lengths(collation).items():
        if folded[:length] in keys:
            yield 0, length


def _ends(folded: str, words: WordList, collation: Collation) -> Iterator[tuple[int, int]]:
    for length, keys in words.lengths(collation).items():
        if length <= len(folded) and folded[len(folded) - length :] in keys:
            yield len(folded) - length, len(folded)


_FINDERS: Final[dict[str, Callable[[str, WordList, Collation], Iterator[tuple[int, int]]]]] = {
    "contains": lambda folded, words, collation: words.find(folded, collation),
    "word": _whole_words,
    "starts": _beginnings,
    "ends": _ends,
}


def _texts(texts: Texts | Words, ground: Ground) -> WordList | None:
    return ground.lists.get(texts.name) if isinstance(texts, Words) else word_list(texts.values)


# --- lists and roles --------------------------------------------------------------------------------------------------


def _judge_in_list(leaf: InList, ground: Ground) -> Truth:
    reading = read_term(leaf.term, ground)
    if isinstance(leaf.values, Constants):
        constants = tuple(constant_value(constant) for constant in leaf.values.values)
        return _over(reading, partial(_is_one_of, constants=constants, collation=leaf.collation, ground=ground))
    words = _texts(leaf.values, ground)
    if words is None:
        return UNKNOWN
    if reading.state == "cut":
        return UNKNOWN
    keys = words.keys(leaf.collation)
    return _over(
        reading,
        lambda value: truth_of(ground.folded(value, leaf.collation) in keys) if isinstance(value, str) else UNKNOWN,
    )


def _is_one_of(value: Value, *, constants: tuple[Value, ...], collation: Collation, ground: Ground) -> Truth:
    if isinstance(value, bytes):
        return any_of(truth_of(value == other) if isinstance(other, bytes) else UNKNOWN for other in constants)
    return any_of(_compare_values("=", value, other, collation=collation, ground=ground) for other in constants)


def _judge_under(leaf: Under, ground: Ground) -> Truth:
    words = _texts(leaf.names, ground)
    if words is None:
        return UNKNOWN
    keys = words.keys(leaf.collation)
    is_role = static_type(leaf.term) == "role"
    organisation = ground.record.context.organisation

    def test(value: Value) -> Truth:
        if not isinstance(value, str):
            return UNKNOWN
        if is_role:
            if organisation is None:
                return UNKNOWN
            return truth_of(any(ground.folded(role, leaf.collation) in keys for role in organisation.above(value)))
        return truth_of(any(name in keys for name in _outer_names(ground.folded(value, leaf.collation))))

    reading = read_term(leaf.term, ground)
    return UNKNOWN if reading.state == "cut" else _over(reading, test)


def _outer_names(name: str) -> Iterator[str]:
    """Give a dotted name and all names it stands under."""
    at = len(name)
    while at > 0:
        yield name[:at]
        at = name.rfind(".", 0, at)


# --- what is there ----------------------------------------------------------------------------------------------------


def _judge_exists(leaf: Exists, ground: Ground) -> Truth:
    reading = read_term(leaf.term, ground)
    if reading.values:
        return TRUE
    return UNKNOWN if reading.state == "unreadable" else CERTAINTIES[leaf.otherwise]


def _judge_empty(leaf: IsEmpty, ground: Ground) -> Truth:
    reading = read_term(leaf.term, ground)
    if any(value not in ("", b"") for value in reading.values):
        return FALSE
    return TRUE if reading.state == "whole" else UNKNOWN


_KINDS: Final = {
    "int32": "int32", "int64": "int64", "real64": "real64", "text": "text", "bytes": "bytes", "instant": "instant",
}  # fmt: skip


def _judge_type(leaf: IsType, ground: Ground) -> Truth:
    reading = read_term(leaf.term, ground)
    if leaf.type == "list":
        if reading.state == "partial":
            return any_of((truth_of(len(reading.values) > 1), UNKNOWN))
        return truth_of(len(reading.values) > 1) if reading.state == "whole" else UNKNOWN
    if leaf.type == "nan":
        return _over(reading, lambda value: truth_of(value != value) if type(value) is float else UNKNOWN)  # noqa: PLR0124  NaN is what differs from itself
    return _over(reading, lambda value: truth_of(type_of(value) == _KINDS[leaf.type]))


def _judge_fixed(leaf: Fixed, _: Ground) -> Truth:
    return CERTAINTIES[leaf.truth]


# `...`: each judge is called with its own leaf only.
_JUDGES: Final[dict[type, Callable[..., Truth]]] = {
    Compare: _judge_compare,
    Between: _judge_between,
    Search: _judge_search,
    InList: _judge_in_list,
    Under: _judge_under,
    Exists: _judge_exists,
    IsEmpty: _judge_empty,
    IsType: _judge_type,
    Fixed: _judge_fixed,
}
