"""Which comparisons of a subscription made it match, not match or unknown, in its own language."""

from __future__ import annotations

from posthouse.matching.engine.single.explain import explain
from posthouse.matching.engine.single.ground import Ground
from posthouse.matching.language.elvin.printer import print_subscription
from posthouse.matching.match import Match
from posthouse.matching.predicate.node import Not, Predicate, children
from posthouse.matching.trial.reason import Condition, deciding
from posthouse.matching.value.record import Record


def judge_subscription(predicate: Predicate, record: Record) -> tuple[Match, tuple[Condition, ...]]:
    """Judge a subscription on one message, and say what became of each comparison."""
    explanation = explain(predicate, record)
    decide = set(deciding(predicate, Ground(record)))
    return explanation.match, tuple(
        Condition(
            print_subscription(judged.leaf),
            judged,
            judged.path in decide,
            judged.truth,
            "!(…)" if _is_negated(predicate, judged.path) else "",
        )
        for judged in explanation.leaves
    )


def _is_negated(predicate: Predicate, path: tuple[int, ...]) -> bool:
    node = predicate
    for place in path:
        if isinstance(node, Not):
            return True
        node = children(node)[place]
    return False
