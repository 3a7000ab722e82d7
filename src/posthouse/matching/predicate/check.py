"""What is refused before a predicate is used: unknown names, types that never compare, what is beyond a limit.

All faults are told at once, each with the path of its node, so that a language can say the line and column.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from posthouse.matching.predicate.node import (
    And,
    Between,
    Compare,
    Constants,
    Exists,
    Fixed,
    InList,
    IsEmpty,
    IsType,
    Leaf,
    Moment,
    Node,
    Number,
    Or,
    Part,
    Predicate,
    Quantified,
    Search,
    Text,
    Texts,
    Under,
    Words,
    Xor,
    children,
    terms,
)
from posthouse.matching.predicate.typing import LEAST, MOST, static_type
from posthouse.matching.value.catalogue import ALIASES, CATALOGUE
from posthouse.matching.value.regex import RefusedPattern, compile_regex, compile_wildcard
from posthouse.matching.value.type import GROUPS, ORDERED, Type, are_comparable

MAX_DEPTH: Final = 100
"""Branches and terms inside each other."""
MAX_NODES: Final = 10_000
MAX_TEXTS: Final = 100_000
"""Texts in one list that is written out; longer ones are named and handed in."""
MAX_TEXT: Final = 100_000
"""Characters of one constant."""
MAX_FAULTS: Final = 100

Path = tuple[int, ...]


class Fault(msgspec.Struct, frozen=True):
    """One thing that is wrong with a predicate."""

    path: Path
    what: str
    hint: str | None = None


def check_predicate(predicate: Predicate) -> tuple[Fault, ...]:
    """Give everything that is wrong with a predicate, up to a hundred faults; nothing means that it can be used."""
    faults: list[Fault] = []
    count = 0
    waiting: list[tuple[Path, Predicate, frozenset[str]]] = [((), predicate, frozenset())]
    while waiting and len(faults) < MAX_FAULTS:
        path, node, within = waiting.pop()
        count += 1
        if len(path) >= MAX_DEPTH:
            return (*faults, Fault(path, f"expected at most {MAX_DEPTH} conditions inside each other"))
        inner = children(node)
        if isinstance(node, Quantified):
            if node.over in within:
                faults.append(Fault(path, f"expected no second {node.quantifier} {node.over} inside of one"))
            within |= {node.over}
        elif isinstance(node, And | Or | Xor) and len(inner) < 2:
            faults.append(Fault(path, f"expected two conditions to join, found {len(inner)}"))
        if not inner and not isinstance(node, And | Or | Xor):
            leaf_faults, terms_seen = _check_leaf(node)  # type: ignore[arg-type]  # what has no children is a leaf
            faults += [Fault(path, fault.what, fault.hint) for fault in leaf_faults]
            count += terms_seen
        waiting += [((*path, place), inner[place], within) for place in reversed(range(len(inner)))]
        if count > MAX_NODES:
            return (*faults, Fault(path, f"expected at most {MAX_NODES:,} conditions and terms"))
    return tuple(faults[:MAX_FAULTS])


def _check_leaf(leaf: Leaf) -> tuple[list[Fault], int]:
    faults: list[Fault] = []
    seen = 0
    waiting: list[tuple[int, Node]] = [(0, term) for term in terms(leaf)]
    while waiting:
        depth, term = waiting.pop()
        seen += 1
        if depth >= MAX_DEPTH:
            return [*faults, Fault((), f"expected at most {MAX_DEPTH} terms inside each other")], seen
        if seen > MAX_NODES:
            return faults, seen
        faults += _check_term(term)
        waiting += [(depth + 1, inner) for inner in terms(term)]
    if not faults and not isinstance(leaf, Fixed) and not any(isinstance(term, Part) for term in _all_terms(leaf)):
        return [Fault((), "expected a part of the message, found constants alone", _quoted_part(leaf))], seen
    # What a wrong name means is not known, so nothing is said about the types beside it.
    return (faults or list(_LEAF_CHECKS[type(leaf)](leaf))), seen


def _quoted_part(leaf: Leaf) -> str | None:
    """Give the hint for the name of a part that stands in quotes."""
    texts = (term.value for term in _all_terms(leaf) if isinstance(term, Text))
    name = next((text for text in texts if text.lower() in CATALOGUE or text.lower() in ALIASES), None)
    return None if name is None else f"{name} stands without quotes"


def _all_terms(leaf: Leaf) -> Iterator[Node]:
    waiting: list[Node] = list(terms(leaf))
    while waiting:
        term = waiting.pop()
        yield term
        waiting += terms(term)


# --- terms ------------------------------------------------------------------------------------------------------------


def _check_term(term: Node) -> Iterator[Fault]:
    if isinstance(term, Part):
        yield from check_part(term)
    elif isinstance(term, Number):
        yield from _check_number(term)
    elif isinstance(term, Text):
        yield from _check_text(term.value)
    elif isinstance(term, Moment):
        yield from _check_moment(term)


def check_part(part: Part) -> Iterator[Fault]:
    """Give what is wrong with the name of a part."""
    entry = CATALOGUE.get(part.name)
    if entry is None:
        yield Fault((), f"expected a part of the message, found {_shown(part.name)}", nearest(part.name))
    elif entry.argument and not part.argument:
        example = f'{part.name}("…")' if entry.argument == "name" else f"{part.name}.…"
        yield Fault((), f"expected a name behind {part.name}, as in {example}")
    elif not entry.argument and part.argument is not None:
        yield Fault((), f"expected {part.name} alone, as it takes no name")
    elif part.argument is not None:
        yield from _check_text(part.argument)


def nearest(name: str, among: tuple[str, ...] = ()) -> str | None:
    """Give the hint with the name that was perhaps meant."""
    known = among or (*CATALOGUE, *ALIASES)
    close = difflib.get_close_matches(name[:100], known, n=3, cutoff=0.65)
    best = max((_likeness(name, other) for other in close), default=0)
    close = [other for other in close if _likeness(name, other) >= best - 0.1]
    if not close:
        close = sorted(other for other in known if other.endswith(f".{name}"))[:3]
    return f"did you mean {' or '.join(close)}?" if close else None


def _likeness(name: str, other: str) -> float:
    return difflib.SequenceMatcher(None, other, name[:100]).ratio()


def _check_number(number: Number) -> Iterator[Fault]:
    value = number.value
    if number.type == "real64":
        if not math.isfinite(value):
            yield Fault((), "expected a finite number")
    elif not isinstance(value, int):
        yield Fault((), f"expected a whole number of {number.type}, found {value}")
    elif not LEAST[number.type] <= value <= MOST[number.type]:
        yield Fault((), f"expected a number that fits into {number.type}, found {_shown(str(value))}")


_MOMENTS: Final = {
    "instant": (0, 253_402_300_799_999_999),
    "date": (-719_162, 2_932_896),
    "time": (0, 86_399),
    "weekday": (1, 7),
}


def _check_moment(moment: Moment) -> Iterator[Fault]:
    low, high = _MOMENTS[moment.type]
    if not low <= moment.value <= high:
        yield Fault((), f"expected a {moment.type} between {low} and {high}, found {moment.value}")


def _check_text(text: str) -> Iterator[Fault]:
    if len(text) > MAX_TEXT:
        yield Fault((), f"expected text of at most {MAX_TEXT:,} characters, found {len(text):,}")


# --- leaves -----------------------------------------------------------------------------------------------------------


def _check_compare(leaf: Compare) -> Iterator[Fault]:
    left, right = static_type(leaf.left), static_type(leaf.right)
    yield from _check_pair(left, right)
    if are_comparable(left, right) and leaf.sign not in ("=", "!="):
        yield from _check_order(left if left != "any" else right, leaf.sign)


def _check_between(leaf: Between) -> Iterator[Fault]:
    kinds = static_type(leaf.term), static_type(leaf.low), static_type(leaf.high)
    for bound in kinds[1:]:
        yield from _check_pair(kinds[0], bound)
    yield from _check_order(next((kind for kind in kinds if kind != "any"), "any"), sign="between")


def _check_pair(left: Type, right: Type) -> Iterator[Fault]:
    if not are_comparable(left, right):
        example = _UNQUOTED.get(left, _UNQUOTED.get(GROUPS.get(left, ""))) if right == "text" else None
        hint = f"it stands without quotes, such as {example}" if example else None
        yield Fault((), f"expected a value to compare with {_kind(left)}, found {_kind(right)}", hint)
    elif left != right and "any" not in (left, right):
        for kind, unit in (("size", "5 MB"), ("duration", "2 days")):
            # A number without its unit is a thousand times too small for somebody.
            if left == kind:
                yield Fault((), f"expected {_kind(left)} with its unit, such as {unit}, found {_kind(right)}")
                return
            if right == kind:
                yield Fault((), f"expected {_kind(left)} to compare with, found {_kind(right)}")
                return


_UNQUOTED: Final = {
    "number": "5", "size": "5 MB", "duration": "2 days", "instant": "2026-01-31", "date": "2026-01-31",
    "time": "18:00", "weekday": "Monday", "truth": "true",
}  # fmt: skip


def _check_order(kind: Type, sign: str) -> Iterator[Fault]:
    if kind != "any" and GROUPS.get(kind) not in ORDERED:
        hint = "text is equal or not, begins, ends, contains or matches" if GROUPS.get(kind) == "text" else None
        yield Fault((), f"expected something with an order before {sign}, found {_kind(kind)}", hint)


def _check_search(leaf: Search) -> Iterator[Fault]:
    yield from _check_is_text(leaf.term, leaf.sign)
    if isinstance(leaf.texts, Words):
        if leaf.sign in ("matches", "wildcard"):
            yield Fault((), f"expected patterns that are written out behind {leaf.sign}, found a named list")
        return
    yield from _check_list(leaf.texts)
    for text in leaf.texts.values:
        try:
            if leaf.sign == "matches":
                compile_regex(text, has_case=leaf.collation in ("cased", "exact"))
            elif leaf.sign == "wildcard":
                compile_wildcard(text, leaf.collation)
        except RefusedPattern as refused:
            yield Fault((), refused.what, refused.hint)


def _check_in_list(leaf: InList) -> Iterator[Fault]:
    kind = static_type(leaf.term)
    if isinstance(leaf.values, Constants):
        yield from _check_list(leaf.values)
        if leaf.values.values and all(isinstance(constant, Text) for constant in leaf.values.values):
            yield Fault((), "expected a list of texts as texts, found one of constants")
        for constant in leaf.values.values:
            yield from _check_term(constant)
            if "bytes" not in (kind, static_type(constant)):
                yield from _check_pair(kind, static_type(constant))
    else:
        yield from _check_is_text(leaf.term, "in")
        if isinstance(leaf.values, Texts):
            yield from _check_list(leaf.values)


def _check_under(leaf: Under) -> Iterator[Fault]:
    yield from _check_is_text(leaf.term, "is or under")
    if isinstance(leaf.names, Texts):
        yield from _check_list(leaf.names)


def _check_is_text(term: Node, sign: str) -> Iterator[Fault]:
    kind = static_type(term)
    if kind != "any" and GROUPS.get(kind) != "text":
        yield Fault((), f"expected text before {sign}, found {_kind(kind)}")


def _check_list(values: Texts | Constants) -> Iterator[Fault]:
    if not 0 < len(values.values) <= MAX_TEXTS:
        yield Fault((), f"expected a list of 1 to {MAX_TEXTS:,} values, found {len(values.values):,}")
    if isinstance(values, Texts) and sum(map(len, values.values)) > MAX_TEXT * 100:
        yield Fault((), f"expected a list of at most {MAX_TEXT * 100:,} characters")


def _check_nothing(_: Leaf) -> Iterator[Fault]:
    return iter(())


# `Any` of the leaf's own type: each check is called with its own leaf only.
_LEAF_CHECKS: Final[dict[type, Callable[..., Iterator[Fault]]]] = {
    Compare: _check_compare,
    Between: _check_between,
    Search: _check_search,
    InList: _check_in_list,
    Under: _check_under,
    Exists: _check_nothing,
    IsEmpty: _check_nothing,
    IsType: _check_nothing,
    Fixed: _check_nothing,
}


def _kind(kind: Type) -> str:
    return {
        "int32": "a number",
        "int64": "a number",
        "real64": "a number",
        "size": "a size",
        "duration": "a length of time",
        "truth": "true or false",
        "instant": "a point in time",
        "time": "a time of day",
        "weekday": "a day of the week",
        "address": "an address",
    }.get(kind, f"a {kind}" if kind not in ("text", "bytes", "any") else kind)


def _shown(text: str) -> str:
    return f'"{text}"' if len(text) <= 60 else f'"{text[:57]}…"'
