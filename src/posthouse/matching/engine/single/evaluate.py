"""The truth of a predicate for a message, and for whom of its recipients it holds: what all engines have to say."""

from __future__ import annotations

from posthouse.matching.engine.single.ground import Ground
from posthouse.matching.engine.single.leaf import judge_leaf
from posthouse.matching.match import (
    TRUE,
    UNKNOWN,
    Hits,
    Match,
    Truth,
    all_of,
    any_of,
    hits_of,
    negate,
    odd_of,
    quantify,
)
from posthouse.matching.predicate.node import And, Node, Not, Or, Part, Predicate, Quantified, Xor, children, terms
from posthouse.matching.value.catalogue import CATALOGUE
from posthouse.matching.value.record import Record
from posthouse.matching.value.wordlist import NO_LISTS, Lists


def evaluate(predicate: Predicate, record: Record, *, lists: Lists = NO_LISTS) -> Match:
    """Judge one predicate on one message."""
    return judge(predicate, Ground(record, lists))


def evaluate_batch(predicates: tuple[Predicate, ...], records: tuple[Record, ...], *, lists: Lists = NO_LISTS) -> Hits:
    """Judge every predicate on every message, one after the other."""
    return hits_of(
        (row, number, judge(predicate, ground))
        for row, ground in enumerate(Ground(record, lists) for record in records)
        for number, predicate in enumerate(predicates)
    )


def judge(predicate: Predicate, ground: Ground) -> Match:
    """Judge one predicate on a ground that is shared with others."""
    truth = truth_at(predicate, ground)
    if truth is not TRUE or not asks_for_recipients(predicate):
        return Match(truth)
    return Match(truth, holding(predicate, ground))


def holding(predicate: Predicate, ground: Ground) -> tuple[int, ...]:
    """Give the recipients for whom it is true alone: whatever is asked of recipients is asked of this one only."""
    everybody = range(len(ground.record.recipients))
    return tuple(place for place in everybody if truth_at(predicate, ground.at("recipient", place)) is TRUE)


def truth_at(predicate: Predicate, ground: Ground) -> Truth:
    """Give the truth of a predicate, where the ground stands."""
    if isinstance(predicate, And):
        return all_of(truth_at(part, ground) for part in predicate.parts)
    if isinstance(predicate, Or):
        return any_of(truth_at(part, ground) for part in predicate.parts)
    if isinstance(predicate, Xor):
        return odd_of(truth_at(part, ground) for part in predicate.parts)
    if isinstance(predicate, Not):
        return negate(truth_at(predicate.part, ground))
    if isinstance(predicate, Quantified):
        return _truth_of_each(predicate, ground)
    return judge_leaf(predicate, ground)


def _truth_of_each(predicate: Quantified, ground: Ground) -> Truth:
    if predicate.over == "recipient" and ground.recipient is not None:
        return quantify(predicate.quantifier, (truth_at(predicate.part, ground),))
    count = ground.how_many(predicate.over)
    if not isinstance(count, int):
        return UNKNOWN
    each = (truth_at(predicate.part, ground.at(predicate.over, place)) for place in range(count))
    return quantify(predicate.quantifier, each)


def asks_for_recipients(predicate: Predicate) -> bool:
    """Say whether a predicate looks at single recipients."""
    waiting: list[Node] = [predicate]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Quantified) and node.over == "recipient":
            return True
        if isinstance(node, Part):
            entry = CATALOGUE.get(node.name)
            if entry is not None and entry.scope == "recipient":
                return True
        waiting += terms(node)
        if isinstance(node, And | Or | Xor | Not | Quantified):
            waiting += children(node)
    return False
