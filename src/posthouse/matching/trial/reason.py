"""Which conditions of a rule made it match, not match or unknown: those without which it would be otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from posthouse.matching.engine.single.evaluate import truth_at
from posthouse.matching.engine.single.explain import explain
from posthouse.matching.engine.single.ground import Ground
from posthouse.matching.language.rule.phrase import print_contrary, print_leaf
from posthouse.matching.language.rule.rule import OnUnknown, Rule
from posthouse.matching.match import FALSE, TRUE, UNKNOWN, Judged, Match, Truth, negate
from posthouse.matching.predicate.node import And, Not, Or, Predicate, Quantified, Xor, children
from posthouse.matching.value.record import Record
from posthouse.matching.value.wordlist import NO_LISTS, Lists

Path = tuple[int, ...]


class Condition(msgspec.Struct, frozen=True):
    """One condition of a rule, as it is written there, and what became of it."""

    text: str
    judged: Judged
    decides: bool
    """The whole is what it is because of this one, perhaps together with others."""
    truth: Truth
    """What it is as it is written there: the contrary of the leaf where the text says the contrary."""
    beneath: str = ""
    """What it stands inside of: `any recipient (…)`, `NOT (…)`."""


class Verdict(msgspec.Struct, frozen=True):
    """What a rule says of a message, and why."""

    rule: Rule
    match: Match
    fires: bool
    """It applies: it matches, or it is unknown and takes that for a match."""
    conditions: tuple[Condition, ...]

    @property
    def truth(self) -> Truth:
        """The truth of its condition."""
        return self.match.truth


def judge_rule(rule: Rule, record: Record, *, lists: Lists = NO_LISTS) -> Verdict:
    """Judge one rule on one message, and say why it says what it says."""
    found, conditions = judge_condition(rule.condition, record, lists=lists)
    fires = found.truth is TRUE or (found.truth is UNKNOWN and takes_unknown_for(rule) != "no match")
    return Verdict(rule, found, fires, conditions)


def judge_condition(
    predicate: Predicate, record: Record, *, lists: Lists = NO_LISTS
) -> tuple[Match, tuple[Condition, ...]]:
    """Judge a condition alone, and say what became of each condition it is made of."""
    explanation = explain(predicate, record, lists=lists)
    decide = set(deciding(predicate, Ground(record, lists)))
    conditions = []
    for judged in explanation.leaves:
        above = _above(predicate, judged.path)
        within = frozenset(node.over for node in above if isinstance(node, Quantified))
        text, truth = print_leaf(judged.leaf, within).inline(), judged.truth
        if above and isinstance(above[-1], Not):
            above.pop()
            contrary = print_contrary(judged.leaf, within)
            text, truth = f"NOT {text}" if contrary is None else contrary.inline(), negate(truth)
        beneath = " in ".join(words for node in reversed(above) if (words := _words(node)))
        conditions.append(Condition(text, judged, judged.path in decide, truth, beneath))
    return explanation.match, tuple(conditions)


def _words(node: Predicate) -> str:
    if isinstance(node, Not):
        return "NOT (…)"
    if not isinstance(node, Quantified):
        return ""
    word = {"any": "any", "all": "all", "none": "no"}[node.quantifier]
    return f"{word} {node.over}{'s' if word == 'all' else ''} (…)"


def takes_unknown_for(rule: Rule) -> OnUnknown:
    """Say what a rule takes unknown for: as it says, or else a match where it gates."""
    if rule.on_unknown is not None:
        return rule.on_unknown
    return "match" if any(action.name == "gate" for action in rule.actions) else "no match"


def _above(predicate: Predicate, path: Path) -> list[Predicate]:
    """Give the branches a leaf stands in, the outermost first."""
    found = []
    node = predicate
    for place in path:
        found.append(node)
        node = children(node)[place]
    return found


def deciding(predicate: Predicate, ground: Ground) -> Iterator[Path]:
    """Give the paths of the leaves without which the truth could be another."""
    waiting: list[tuple[Path, Predicate, bool]] = [((), predicate, False)]
    while waiting:
        path, node, is_within = waiting.pop()
        inner = children(node)
        if not inner:
            yield path
        is_within = is_within or isinstance(node, Quantified)
        # What is asked of one recipient after the other has no single truth; all of it is told.
        chosen = range(len(inner)) if is_within else _decisive(node, inner, ground)
        waiting += [((*path, place), inner[place], is_within) for place in chosen]


def _decisive(node: Predicate, inner: tuple[Predicate, ...], ground: Ground) -> Sequence[int]:
    everything = range(len(inner))
    truth = truth_at(node, ground)
    if isinstance(node, And | Or):
        # Where all sides have to be so, all of them decide; else those that are so.
        if truth is (TRUE if isinstance(node, And) else FALSE):
            return everything
        if isinstance(node, And) and truth is UNKNOWN:
            # What is true beside it decides too: it is no match as soon as that were false.
            return everything
    elif not isinstance(node, Xor) or truth is not UNKNOWN:
        return everything
    return [place for place in everything if truth_at(inner[place], ground) is truth]
