"""What is odd about rules that can be read: conditions that no message meets, rules that say the same, idle lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from posthouse.matching.language.rule.rule import Rule, RuleFile
from posthouse.matching.match import FALSE, TRUE, UNKNOWN, Truth, all_of, any_of, negate
from posthouse.matching.predicate.node import (
    And,
    Between,
    Boolean,
    Compare,
    Constant,
    Fixed,
    InList,
    Leaf,
    Moment,
    Not,
    Number,
    Or,
    Part,
    Predicate,
    Search,
    Term,
    Text,
    Under,
    Words,
    leaves,
)
from posthouse.matching.value.catalogue import CATALOGUE
from posthouse.matching.value.fold import fold

MAX_PAIRS: Final = 2_000
"""Conditions joined by one AND that are compared with each other."""


class Warned(msgspec.Struct, frozen=True):
    """Something odd about one rule or list."""

    item: str
    """Its name."""
    what: str
    hint: str | None = None
    kind: str = "rule"


def find_oddities(file: RuleFile, *, today: int | None = None) -> tuple[Warned, ...]:
    """Give what is odd, in the order written; `today` counts days since 1970."""
    found = [*_of_conditions(file.rules), *_of_order(file.rules), *_of_lists(file)]
    if today is not None:
        found += _of_validity(file.rules, today)
    order = {item.name: number for number, item in enumerate(file.items)}
    return tuple(sorted(found, key=lambda warned: order.get(warned.item, len(order))))


# --- conditions -------------------------------------------------------------------------------------------------------


def _of_conditions(rules: Iterable[Rule]) -> Iterator[Warned]:
    for rule in rules:
        truth = certain(rule.condition)
        if truth is FALSE:
            why = contradiction(rule.condition)
            yield Warned(rule.name, f"no message can match it{f': {why}' if why else ''}")
        elif truth is UNKNOWN and rule.on_unknown is None and all(action.name != "gate" for action in rule.actions):
            yield Warned(rule.name, "its condition is always unknown, so it never applies")


def certain(predicate: Predicate) -> Truth | None:
    """Give the truth that a predicate has whatever the message, as far as that is easily seen; None else."""
    if isinstance(predicate, Fixed):
        return {"true": TRUE, "false": FALSE, "unknown": UNKNOWN}[predicate.truth]
    if isinstance(predicate, Not):
        inner = certain(predicate.part)
        return None if inner is None else negate(inner)
    if isinstance(predicate, And | Or):
        parts = [certain(part) for part in predicate.parts]
        decisive = FALSE if isinstance(predicate, And) else TRUE
        if decisive in parts:
            return decisive
        if isinstance(predicate, And) and _excluded(predicate) is not None:
            return FALSE
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return all_of(known) if isinstance(predicate, And) else any_of(known)
    return None


def contradiction(predicate: Predicate) -> str:
    """Say which two conditions cannot both be true, where it is that."""
    return (_excluded(predicate) or "") if isinstance(predicate, And) else ""


def _excluded(both: And) -> str | None:
    """Say what excludes each other among conditions joined by AND."""
    parts = both.parts[:MAX_PAIRS]
    there = set(parts)
    for part in parts:
        if isinstance(part, Not) and part.part in there:
            return "a condition and its contrary are joined by AND"
    seen: dict[Part, Constant] = {}
    for part in parts:
        if not isinstance(part, Compare) or part.sign != "=" or not isinstance(part.left, Part):
            continue
        if CATALOGUE[part.left.name].is_many or not isinstance(part.right, Text | Number | Moment | Boolean):
            continue
        earlier = seen.setdefault(part.left, part.right)
        if _key(earlier) != _key(part.right):
            return f"{part.left.name} is two different values at once"
    return _empty_range(parts)


def _key(constant: Term) -> object:
    return fold(constant.value, "folded") if isinstance(constant, Text) else constant


def _empty_range(parts: tuple[Predicate, ...]) -> str | None:
    least: dict[tuple[Part, str], float] = {}
    most: dict[tuple[Part, str], float] = {}
    for part in parts:
        for term, sign, bound in _bounds(part):
            if CATALOGUE[term.name].is_many:
                continue
            key: tuple[Part, str] = (term, bound.type)
            if sign in (">", ">="):
                least[key] = max(least.get(key, bound.value), bound.value)
            else:
                most[key] = min(most.get(key, bound.value), bound.value)
    for key, low in least.items():
        if low > most.get(key, low):
            return f"{key[0].name} is above one value and below a smaller one"
    return None


def _bounds(part: Predicate) -> Iterator[tuple[Part, str, Number | Moment]]:
    if isinstance(part, Compare) and isinstance(part.left, Part) and isinstance(part.right, Number | Moment):
        if part.sign in ("<", "<=", ">", ">="):
            yield part.left, part.sign, part.right
    elif isinstance(part, Between) and isinstance(part.term, Part):
        for sign, bound in ((">=", part.low), ("<=", part.high)):
            # The hours of a night go over midnight: no range of times is empty.
            if isinstance(bound, Number | Moment) and bound.type not in ("time", "weekday"):
                yield part.term, sign, bound


# --- rules beside each other ------------------------------------------------------------------------------------------


def _of_order(rules: Iterable[Rule]) -> Iterator[Warned]:
    said: dict[tuple[object, ...], str] = {}
    always: str | None = None
    for rule in rules:
        if not rule.is_enabled:
            continue
        key = (rule.condition, rule.actions, rule.checkpoints, rule.valid_from, rule.valid_until, rule.sample)
        earlier = said.setdefault(key, rule.name)
        if earlier != rule.name:
            yield Warned(rule.name, f'it says the same as rule "{earlier}"')
        at_expiry = rule.checkpoints == ("expiry",)
        if always is not None and at_expiry:
            yield Warned(
                rule.name,
                f'it is never reached: rule "{always}" before it takes every message at expiry',
                "a gatekeeping office tries its rules in order until one fires",
            )
        elif at_expiry and certain(rule.condition) is TRUE and _applies_always(rule):
            always = rule.name


def _applies_always(rule: Rule) -> bool:
    return rule.valid_from is None and rule.valid_until is None and rule.sample in (None, 100)


def _of_validity(rules: Iterable[Rule], today: int) -> Iterator[Warned]:
    for rule in rules:
        end = _day(rule.valid_until)
        if end is not None and end < today:
            yield Warned(rule.name, "it is not valid any more", "move its last day, or take it out")


def _day(moment: Moment | None) -> int | None:
    if moment is None:
        return None
    return moment.value if moment.type == "date" else moment.value // 86_400_000_000


# --- named lists ------------------------------------------------------------------------------------------------------


def _of_lists(file: RuleFile) -> Iterator[Warned]:
    known = {source.name for source in file.words}
    used: set[str] = set()
    for rule in file.rules:
        names = set(names_of_lists(rule.condition))
        used |= names
        for name in sorted(names - known):
            yield Warned(
                rule.name,
                f'the list "{name}" is not named here: what asks for it is unknown',
                f'write words "{name}" from "…" beside the rules',
            )
    for name in sorted(known - used):
        yield Warned(name, "no rule asks for this list", kind="words")


def names_of_lists(predicate: Predicate) -> Iterator[str]:
    """Give the names of the lists a predicate asks for."""
    for _, leaf in leaves(predicate):
        named = _named(leaf)
        if isinstance(named, Words):
            yield named.name


def _named(leaf: Leaf) -> object:
    if isinstance(leaf, Search):
        return leaf.texts
    if isinstance(leaf, InList):
        return leaf.values
    return leaf.names if isinstance(leaf, Under) else None
