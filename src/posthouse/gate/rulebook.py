"""An edition of a rule book made ready: rules read, their predicates planned, and everything a decision asks of them.

Two kinds of book: `rules` is the office's own, of which all rules are asked; `rules of ROLE` is a gatekeeper's, of
which the first that fits decides. Nothing here looks at a message.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Final, Literal

import msgspec

from posthouse.matching.engine.indexed.plan import Plan, compile_plan
from posthouse.matching.language.rule.action import print_action
from posthouse.matching.language.rule.parse import parse_rules
from posthouse.matching.language.rule.printer import print_rule
from posthouse.matching.language.rule.rule import Checkpoint, OnUnknown, Rule, RuleFile, WordSource
from posthouse.matching.predicate.node import (
    Between,
    Compare,
    Moment,
    Node,
    Number,
    Part,
    Predicate,
    Words,
    children,
    leaves,
    terms,
)
from posthouse.matching.trial.reason import takes_unknown_for
from posthouse.matching.value.wordlist import Lists, WordList
from posthouse.message.case import Edition
from posthouse.message.instant import to_microseconds

RULES: Final = "rules"
"""The book of the office itself."""
_OF: Final = "rules of "
_WORDS: Final = "words "
USUAL: Final[frozenset[Checkpoint]] = frozenset({"submit", "relay", "reprocess"})
"""Where a rule of an office applies that says nothing about it."""
SAMPLE: Final = 1 << 32
"""The whole of which a sample is a share."""

Kind = Literal["office", "gatekeeper"]


class BookRule(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One rule at its place in its book."""

    number: int
    """Its place among the rules of the book, from 0."""
    rule: Rule
    digest: str
    """Of the rule as it is printed, with its lists: the same as long as nobody changes it."""
    checkpoints: frozenset[Checkpoint]
    unknown: OnUnknown
    """What it takes unknown for."""
    begins: int | None = None
    ends: int | None = None
    """It applies from the one instant up to the other, which does not belong to it any more."""
    share: int | None = None
    """Of `SAMPLE`, where it is applied to a sample only."""
    actions: tuple[str, ...] = ()
    """As they are printed."""

    @property
    def name(self) -> str:
        """Its name."""
        return self.rule.name

    def is_valid(self, now: int) -> bool:
        """Say whether it applies at an instant."""
        return (self.begins is None or self.begins <= now) and (self.ends is None or now < self.ends)


class RuleBook(msgspec.Struct, frozen=True, kw_only=True):
    """One edition, ready to be asked; `decide` and `firstmatch` ask it, one thread at a time."""

    title: str
    edition: int
    rules: tuple[BookRule, ...]
    """Those that are enabled, in their order."""
    lists: Lists
    bulk: Plan | None
    """Rules that ask nothing but the message and the snapshots beside it; None where there are none."""
    folded: Plan | None
    """Rules that ask for figures, which earlier messages of the same batch have changed."""
    checkpoints: frozenset[Checkpoint]
    """Where any of the rules applies."""
    figures: frozenset[str]
    """The names of the figures of the office that are asked for."""
    asks_for_senders: bool
    """Figures of senders are asked for."""
    bounds: Mapping[str, tuple[float, ...]] | None = None
    """What each figure of the office is compared with, ascending; None where figures are asked otherwise, too."""

    @property
    def gatekeeper(self) -> str:
        """Whose rules these are; empty for those of the office."""
        return owner_of(self.title) or ""


def kind_of(title: str) -> Kind | None:
    """Say what kind of rule book a title is of; None for books of other things."""
    return "office" if title == RULES else "gatekeeper" if owner_of(title) else None


def owner_of(title: str) -> str | None:
    """Give the role whose rules a book holds."""
    return title[len(_OF) :] if title.startswith(_OF) else None


def list_of(title: str) -> str | None:
    """Give the name of the list a book holds."""
    return title[len(_WORDS) :] if title.startswith(_WORDS) else None


def read_words(text: str) -> tuple[str, ...]:
    """Give the words of a book of words: one to a line, blanks around it and empty lines do not count."""
    return tuple(dict.fromkeys(word for line in text.splitlines() if (word := line.strip())))


def compile_edition(edition: Edition, *, lists: Lists | None = None, zone: tzinfo = UTC) -> RuleBook:
    """Make an edition ready, with the lists of the books of words; raises UnreadableText where it has faults."""
    return compile_book(parse_rules(edition.text), edition, lists=lists or {}, zone=zone)


def compile_book(file: RuleFile, edition: Edition, *, lists: Lists, zone: tzinfo = UTC) -> RuleBook:
    """Make rules ready that were read already."""
    kind = kind_of(edition.book) or "office"
    known = dict(lists) | {source.name: WordList(source.words) for source in file.words if source.file is None}
    told = {source.name: source for source in file.words}
    enabled = [rule for rule in file.rules if rule.is_enabled]
    rules = tuple(_made(number, rule, kind, told, zone=zone) for number, rule in enumerate(enabled))
    asked = [frozenset(_figures(rule.rule.condition)) for rule in rules]
    return RuleBook(
        title=edition.book,
        edition=edition.number,
        rules=rules,
        lists=known,
        bulk=_plan(rules, [not names for names in asked], known),
        folded=_plan(rules, [bool(names) for names in asked], known),
        checkpoints=frozenset(checkpoint for rule in rules for checkpoint in rule.checkpoints),
        figures=frozenset(name for names in asked for part, name in names if part == "office.stat"),
        asks_for_senders=any(part == "sender.stat" for names in asked for part, _ in names),
        bounds=_bounds([rule.rule.condition for rule, names in zip(rules, asked, strict=True) if names]),
    )


def named_lists(predicate: Predicate) -> set[str]:
    """Give the names of the lists a condition asks."""
    found = set()
    for _, leaf in leaves(predicate):
        values = [getattr(leaf, field, None) for field in ("texts", "values", "names")]
        found |= {value.name for value in values if isinstance(value, Words)}
    return found


def _made(
    number: int, rule: Rule, kind: Kind, lists: Mapping[str, WordSource], *, zone: tzinfo
) -> BookRule:  # fmt: skip
    usual: frozenset[Checkpoint] = USUAL if kind == "office" else frozenset({"expiry"})
    return BookRule(
        number=number,
        rule=rule,
        digest=_digest(rule, lists),
        checkpoints=frozenset(rule.checkpoints) or usual,
        unknown=takes_unknown_for(rule),
        begins=_edge(rule.valid_from, zone, days=0),
        ends=_edge(rule.valid_until, zone, days=1),
        share=None if rule.sample is None else round(rule.sample / 100 * SAMPLE),
        actions=tuple(map(print_action, rule.actions)),
    )


def _digest(rule: Rule, lists: Mapping[str, WordSource]) -> str:
    """Give a mark of what a rule does: its comments and examples do nothing."""
    bare = msgspec.structs.replace(rule, notes=(), examples=())
    hashed = hashlib.blake2b(print_rule(bare).encode(), digest_size=12)
    for name in sorted(named_lists(rule.condition) & lists.keys()):
        hashed.update("\n".join(lists[name].words).encode())
    return hashed.hexdigest()


def _edge(moment: Moment | None, zone: tzinfo, *, days: int) -> int | None:
    """Give the instant of a bound; of a day its beginning, or that of the next day."""
    if moment is None or moment.type == "instant":
        return None if moment is None else moment.value + (1 if days else 0)
    try:
        # Days of a predicate are counted from 1970.
        day = datetime(1970, 1, 1, tzinfo=UTC).date() + timedelta(days=moment.value + days)
        return to_microseconds(datetime.combine(day, time(), tzinfo=zone))
    except OverflowError:
        return None


def _plan(rules: tuple[BookRule, ...], chosen: list[bool], lists: Lists) -> Plan | None:
    """Make a plan of some rules, by their numbers."""
    mine = {rule.number: rule for rule, is_chosen in zip(rules, chosen, strict=True) if is_chosen}
    if not mine:
        return None
    # Where unknown never fires a rule, what messages do not have costs nothing.
    only_true = all(rule.unknown == "no match" for rule in mine.values())
    return compile_plan(
        {number: rule.rule.condition for number, rule in mine.items()}, lists=lists, only_true=only_true
    )


def _bounds(predicates: list[Predicate]) -> dict[str, tuple[float, ...]] | None:
    """Give the numbers figures are compared with: between two of them a figure may move, and no rule says otherwise."""
    found: dict[str, set[float]] = {}
    for predicate in predicates:
        for _, leaf in leaves(predicate):
            names = {name for _, name in _figures(leaf)}
            if not names:
                continue
            sides = terms(leaf)
            numbers = [side.value for side in sides if isinstance(side, Number)]
            parts = [side for side in sides if isinstance(side, Part)]
            if not isinstance(leaf, Compare | Between) or len(parts) != 1 or len(numbers) != len(sides) - 1:
                return None
            found.setdefault(parts[0].argument or "", set()).update(numbers)
    return {name: tuple(sorted(numbers)) for name, numbers in found.items()}


def _figures(predicate: Predicate) -> Iterator[tuple[str, str]]:
    """Give the figures a condition asks for, each with the part it is asked by."""
    waiting: list[Node] = [predicate]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Part) and node.name in ("office.stat", "sender.stat"):
            yield node.name, node.argument or ""
        waiting += terms(node)
        # A leaf has terms and no children, a term has neither.
        waiting += children(node)  # type: ignore[arg-type]
