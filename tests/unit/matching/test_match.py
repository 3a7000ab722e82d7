"""Kleene's three values, and what leaf numbers and sparse hits promise."""

from __future__ import annotations

import itertools

from posthouse.matching.match import (
    FALSE,
    TRUE,
    UNKNOWN,
    Hits,
    Match,
    Truth,
    all_of,
    any_of,
    hits_of,
    leaf_id,
    negate,
    odd_of,
    quantify,
)
from posthouse.matching.predicate.node import Compare, Exists, Number, Part

BOTH: dict[Truth, tuple[bool, ...]] = {TRUE: (True,), FALSE: (False,), UNKNOWN: (True, False)}


def possible(outcomes: set[bool]) -> Truth:
    return UNKNOWN if len(outcomes) > 1 else TRUE if outcomes == {True} else FALSE


def test_three_values_are_what_every_filling_in_of_the_unknown_agrees_on() -> None:
    for truths in itertools.product(Truth, repeat=3):
        fillings = list(itertools.product(*(BOTH[truth] for truth in truths)))
        assert all_of(truths) is possible({all(filling) for filling in fillings})
        assert any_of(truths) is possible({any(filling) for filling in fillings})
        assert odd_of(truths) is possible({sum(filling) % 2 == 1 for filling in fillings})
    assert [negate(truth) for truth in (TRUE, UNKNOWN, FALSE)] == [FALSE, UNKNOWN, TRUE]


def test_of_nobody_all_and_none_are_true() -> None:
    assert [quantify(quantifier, ()) for quantifier in ("any", "all", "none")] == [FALSE, TRUE, TRUE]


def test_what_is_false_is_not_told() -> None:
    matches = [(1, 0, Match(FALSE)), (1, 2, Match(UNKNOWN)), (0, 5, Match(TRUE, (0, 2)))]
    assert hits_of(matches) == Hits((0, 1), (5, 2), (TRUE, UNKNOWN), ((0, 2), None))
    assert hits_of([]) == Hits()


def test_the_number_of_a_leaf_never_changes() -> None:
    leaf = Compare(">", Part("message.size"), Number(1_000_000, "size"))
    assert leaf_id(leaf) == LEAF_NUMBER
    assert leaf_id(Exists(Part("subject"))) != leaf_id(Exists(Part("subject"), "unknown"))


# Stored beside messages: another number would make what is stored worthless.
LEAF_NUMBER = 8388128377676527679
