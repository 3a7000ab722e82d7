"""Where a predicate is looked for: the fewest and rarest facts without which it cannot be what is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from posthouse.matching.engine.indexed.clue import Clue, Never
from posthouse.matching.engine.indexed.survey import Survey
from posthouse.matching.predicate.node import (
    And,
    Compare,
    Leaf,
    Not,
    Number,
    Or,
    Over,
    Part,
    Predicate,
    Quantified,
    Xor,
)

MOST_WAYS: Final = 200
"""Facts of one access; where more are joined by `or`, another condition is looked for, or the predicate is judged."""
_MOST_ACCESSES: Final = 3
_NOBODY: Final[dict[Over, Leaf]] = {
    "recipient": Compare("=", Part("recipient.count"), Number(0), "exact"),
    "attachment": Compare("=", Part("attachment.count"), Number(0), "exact"),
}


class Way(msgspec.Struct, frozen=True, gc=False):
    """One leaf to be looked for, with its clue."""

    leaf: Leaf
    clue: Clue


class Access(msgspec.Struct, frozen=True, gc=False):
    """Ways of which one at least must hold, or a column must leave it open, for the predicate to matter."""

    ways: tuple[Way, ...]
    columns: int
    """The bits of the columns that may leave it open."""
    weight: float


def accesses(predicate: Predicate, survey: Survey) -> tuple[Access, ...]:
    """Give the ways to a predicate, the rarest first; none where it has to be judged on every message."""
    return tuple(_ways_to(predicate, survey, is_denied=False))


def _ways_to(node: Predicate, survey: Survey, *, is_denied: bool) -> list[Access]:
    if isinstance(node, Not):
        return _ways_to(node.part, survey, is_denied=not is_denied)
    if isinstance(node, And | Or):
        each = (_ways_to(part, survey, is_denied=is_denied) for part in node.parts)
        return _rarest(each) if isinstance(node, And) != is_denied else _joined(each)
    if isinstance(node, Xor):
        return [] if is_denied else _joined(_ways_to(part, survey, is_denied=False) for part in node.parts)
    if isinstance(node, Quantified):
        return _ways_to_each(node, survey, is_denied=is_denied)
    return _way_to_leaf(node, survey, is_denied=is_denied)


def _way_to_leaf(leaf: Leaf, survey: Survey, *, is_denied: bool) -> list[Access]:
    clue = survey.denial(leaf) if is_denied else survey.clue(leaf)
    if clue is None:
        return []
    if isinstance(clue, Never):
        return [Access((), 0, 0.0)]
    return [Access((Way(leaf, clue),), survey.column(clue.part, clue.group).bit, survey.weight(clue))]


def _ways_to_each(node: Quantified, survey: Survey, *, is_denied: bool) -> list[Access]:
    # None is the contrary of any: all of them are denied. All and none are true of nobody.
    is_denied_inside = is_denied != (node.quantifier == "none")
    is_any = is_denied if node.quantifier == "all" else not is_denied_inside
    inner = _ways_to(node.part, survey, is_denied=is_denied_inside)
    empty = msgspec.structs.replace(_way_to_leaf(_NOBODY[node.over], survey, is_denied=False)[0], weight=0.05)
    if is_any:
        return [msgspec.structs.replace(access, columns=access.columns | empty.columns) for access in inner]
    return _joined([inner, [empty]])


def _rarest(each: Iterable[list[Access]]) -> list[Access]:
    found = sorted((access for accesses_ in each for access in accesses_), key=lambda access: access.weight)
    return found[:_MOST_ACCESSES]


def _joined(each: Iterable[list[Access]]) -> list[Access]:
    ways: tuple[Way, ...] = ()
    columns, weight = 0, 0.0
    for found in each:
        if not found:
            return []
        ways += found[0].ways
        columns |= found[0].columns
        weight += found[0].weight
        if len(ways) > MOST_WAYS:
            return []
    return [Access(ways, columns, weight)]
