"""The leaves that decide are those without which the whole might be otherwise."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.matching.engine.single.evaluate import evaluate
from posthouse.matching.engine.single.explain import explain
from posthouse.matching.engine.single.ground import Ground
from posthouse.matching.language.elvin.parse import parse_subscription
from posthouse.matching.predicate.node import And, Fixed, Not, Or, Predicate, Quantified, Xor, leaves
from posthouse.matching.trial.reason import deciding
from posthouse.matching.value.record import Record
from posthouse.testing.predicate import draw_predicate
from posthouse.testing.record import LISTS, draw_record


@pytest.mark.parametrize(
    ("text", "decide"),
    [
        ("a == 1 && b == 2", {(0,), (1,)}),
        ("a == 1 && b == 3", {(1,)}),
        ("a == 1 && b == 3 && c == 1", {(1,)}),
        ("a == 1 && c == 1", {(0,), (1,)}),
        ("a == 1 || b == 3", {(0,)}),
        ("a == 2 || b == 3", {(0,), (1,)}),
        ("a == 2 || c == 1", {(1,)}),
        ("a == 1 ^^ b == 2", {(0,), (1,)}),
        ("a == 1 ^^ c == 2", {(1,)}),
        ("!(a == 1 || b == 3)", {(0, 0)}),
        ("(a == 2 && b == 2) || a == 1", {(1,)}),
    ],
)
def test_leaves_that_decide(text: str, decide: set[tuple[int, ...]]) -> None:
    record = Record(kind="event", attributes={"a": 1, "b": 2})
    assert set(deciding(parse_subscription(text), Ground(record))) == decide


def keep(node: Predicate, paths: frozenset[tuple[int, ...]], path: tuple[int, ...] = ()) -> Predicate:
    """Give the predicate with every leaf that did not decide put to unknown."""
    if isinstance(node, Not):
        return Not(keep(node.part, paths, (*path, 0)))
    if isinstance(node, Quantified):
        return Quantified(node.over, node.quantifier, keep(node.part, paths, (*path, 0)))
    if isinstance(node, And | Or | Xor):
        return type(node)(tuple(keep(part, paths, (*path, place)) for place, part in enumerate(node.parts)))
    return node if path in paths else Fixed("unknown")


@given(st.integers(0, 2**32))
def test_what_did_not_decide_may_be_anything(seed: int) -> None:
    chance = Random(seed)
    predicate, record = draw_predicate(chance), draw_record(chance)
    paths = frozenset(deciding(predicate, Ground(record, LISTS)))
    truth = evaluate(predicate, record, lists=LISTS).truth
    assert paths
    assert paths <= {path for path, _ in leaves(predicate)}
    assert evaluate(keep(predicate, paths), record, lists=LISTS).truth is truth
    assert explain(predicate, record, lists=LISTS).match.truth is truth
