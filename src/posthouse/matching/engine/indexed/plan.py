"""A set of predicates made ready: postings by fact, what remains to be judged of each, and what an open column means.

A plan is made once and read by one thread at a time. Of each predicate it keeps the nodes, shared where they are equal.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from posthouse.matching.engine.indexed.access import Access, accesses
from posthouse.matching.engine.indexed.check import Checks
from posthouse.matching.engine.indexed.clue import Clue
from posthouse.matching.engine.indexed.column import Column
from posthouse.matching.engine.indexed.kept import Kept
from posthouse.matching.engine.indexed.net import Cast, Rows, make_net
from posthouse.matching.engine.indexed.posting import Postings
from posthouse.matching.engine.indexed.question import Question, Questions
from posthouse.matching.engine.indexed.search import IS_FAST, IS_NATIVE
from posthouse.matching.engine.indexed.survey import Survey
from posthouse.matching.engine.single.evaluate import asks_for_recipients
from posthouse.matching.predicate.node import (
    LEAVES,
    And,
    Compare,
    InList,
    Leaf,
    Part,
    Predicate,
    Quantified,
    Search,
    leaves,
    terms,
)
from posthouse.matching.value.catalogue import CATALOGUE
from posthouse.matching.value.wordlist import NO_LISTS, Lists

Need = tuple[int, ...]
_IS_OPEN: Final = 1
"""A flag: something is left to be judged or said of the slot."""
_IS_DEAD: Final = 2
_CHEAP: Final = frozenset({"equal", "member", "start", "end", "range", "bound", "there"})
"""Clues that cost a lookup; where their part is read anyway they are asked before anything is judged."""


class Reserve(msgspec.Struct):
    """The predicates looked for in a column that is open: under another fact, or another column, or all of them."""

    by_fact: dict[int, list[int]]
    by_column: dict[int, list[int]]
    rest: list[int]


class Plan:
    """What `compile_plan` makes; `sweep.match` reads it."""

    def __init__(self, lists: Lists, *, only_true: bool) -> None:
        self.lists: Final = lists
        self.only_true: Final = only_true
        self.columns: tuple[Column, ...] = ()
        """Those in which predicates are looked for."""
        self.later: tuple[Column, ...] = ()
        """Those in which they are looked for only where others are open."""
        self.numbers: Final = array("q")
        """The caller's number of each slot."""
        self.dead: Final[set[int]] = set()
        """Slots that are no longer in the set."""
        self.predicates: Final = Kept()
        self.flags: Final = bytearray()
        """Of each slot what the compiled part has to know of it."""
        self.checks: Final = Checks()
        """Of each slot what is still to be asked of attributes before what remains."""
        self.rests: Final[dict[int, Predicate]] = {}
        """What is still to be judged of a predicate when all facts it needs and all checks hold, if that is not all."""
        self.asked: Final[dict[int, tuple[Question, ...] | None]] = {}
        """The same as questions, once it was judged; None where it is more than searches joined by `and`."""
        self.needs: Final = array("I")
        """The facts each predicate needs beside the one under which it is looked for and the rarest other."""
        self.need_ends: Final = array("I")
        """Of each slot, where the facts it needs end."""
        self.masks: Final[list[int]] = []
        """The columns whose facts stand for parts of the predicate."""
        self.postings: Final = Postings()
        self.always: Final = array("I")
        self.reserves: Final[dict[int, Reserve]] = {}
        """By the bit of a column."""
        self.questions: Final = Questions()
        """What is judged of messages, shared by the predicates that ask the same."""
        self.asking: Final[set[int]] = set()
        """Slots of predicates that look at single recipients."""
        self.cast: Cast | None = None
        """The compiled part's way to find; a plan that still grows has none."""

    def __len__(self) -> int:
        return len(self.numbers) - len(self.dead)

    def predicate(self, slot: int) -> Predicate:
        """Give the predicate of a slot."""
        return self.predicates.get(slot)

    def needed(self, slot: int) -> array[int]:
        """Give the facts a slot needs beside the one under which it is looked for and the rarest other."""
        return self.needs[self.need_ends[slot - 1] if slot else 0 : self.need_ends[slot]]

    def ask(self, slot: int) -> tuple[Question, ...] | None:
        """Give what remains of a predicate as questions, all of which have to be true."""
        if slot not in self.asked:
            rest = self.rests[slot]
            parts = rest.parts if isinstance(rest, And) else (rest,)
            is_flat = all(isinstance(part, Search) for part in parts)
            # What is no search has quicker ways than a question.
            self.asked[slot] = tuple(map(self.questions.ask, parts)) if is_flat else None  # type: ignore[arg-type]
        return self.asked[slot]

    def bury(self, slot: int) -> None:
        """Take a slot out of the set."""
        self.dead.add(slot)
        self.flags[slot] |= _IS_DEAD

    def slot(self, number: int) -> int | None:
        """Give the slot of a number, in a plan that was compiled: there the numbers ascend."""
        place = bisect_left(self.numbers, number)
        is_there = place < len(self.numbers) and self.numbers[place] == number and place not in self.dead
        return place if is_there else None


def compile_plan(
    predicates: Sequence[Predicate] | Mapping[int, Predicate],
    *,
    lists: Lists = NO_LISTS,
    only_true: bool = False,
    is_fast: bool = IS_FAST,
    is_native: bool = IS_NATIVE,
) -> Plan:
    """Make a plan of predicates, numbered by their place or as the mapping says.

    With `only_true` the plan finds what is true and nothing that is unknown, at no cost for what messages do not have.
    """
    numbered = dict(sorted(predicates.items()) if isinstance(predicates, Mapping) else enumerate(predicates))
    survey = Survey(lists, only_true=only_true)
    survey.read(numbered.values())
    plan = Plan(lists, only_true=only_true)
    builder = Builder(plan, survey)
    chosen = [accesses(predicate, survey) for predicate in numbered.values()]
    builder.note_parts(chosen)
    for (number, predicate), ways in zip(numbered.items(), chosen, strict=True):
        builder.add(number, predicate, ways=ways)
    builder.finish(is_fast=is_fast, is_native=is_native)
    return plan


class Split(msgspec.Struct, frozen=True, gc=False):
    """A conjunction in pieces: the facts it needs beside its access, what then remains, and the columns of all."""

    need: Need
    rest: Predicate | None
    mask: int


class Builder:
    """Puts predicates into a plan."""

    def __init__(self, plan: Plan, survey: Survey) -> None:
        self._plan: Final = plan
        self._survey: Final = survey
        self._masks: dict[int, int] = {}
        self._first = 0
        self._second = 0
        """The columns in which predicates are looked for at first, and those that stand in for open ones."""
        self._read: set[str] = {"attribute"}
        self._searched: set[tuple[object, ...]] = set()

    def note_parts(self, chosen: Sequence[tuple[Access, ...]]) -> None:
        """Note which parts are read and searched anyway, because some predicate is looked for there."""
        for ways in chosen:
            for access in ways[:1]:
                self._read.update(way.clue.part.name for way in access.ways if way.clue.part.argument is None)
                self._searched.update(_search_of(way.clue) for way in access.ways)

    def add(self, number: int, predicate: Predicate, *, ways: tuple[Access, ...] | None = None) -> int:
        """Put one predicate in; gives its slot."""
        ways = accesses(predicate, self._survey) if ways is None else ways
        plan, slot = self._plan, len(self._plan.numbers)
        flat = _conjunction(predicate)
        first = ways[0] if ways else None
        plan.numbers.append(number)
        if asks_for_recipients(predicate):
            plan.asking.add(slot)
        split = Split((), predicate, first.columns if first is not None else 0)
        if flat is not None and first is not None and len(first.ways) == 1:
            split = self._split(flat, first)
        elif flat is None:
            self._note_exact(predicate)
        rest = split.rest
        if plan.only_true:
            rest = plan.checks.take(rest)
        self._first |= split.mask
        plan.needs.extend(split.need[1:])
        plan.need_ends.append(len(plan.needs))
        plan.flags.append(0 if rest is None and slot not in plan.asking else _IS_OPEN)
        if rest is not None:
            plan.rests[slot] = rest
        plan.masks.append(self._masks.setdefault(split.mask, split.mask))
        # Where the facts are nearly everything, the predicate itself is hardly ever looked at again.
        plan.predicates.add(predicate, is_rarely_asked=plan.only_true and flat is not None)
        if first is None:
            plan.always.append(slot)
        else:
            self._post(slot, split.need[0] if split.need else 0, ways)
        return slot

    def finish(self, *, is_fast: bool = IS_FAST, is_native: bool = IS_NATIVE) -> None:
        """Seal all columns and forget what was needed to get here."""
        plan = self._plan
        for column in self._survey.columns.values():
            column.seal(is_fast=is_fast, is_native=is_native)
        plan.postings.seal(self._survey.next_fact)
        plan.checks.forget()
        self.show_columns()
        self._survey.forget()
        if is_native:
            rows = Rows(
                *(plan.numbers, plan.flags, plan.postings, plan.need_ends, plan.needs, plan.checks, plan.always),
            )
            plan.cast = make_net(plan.columns if plan.only_true else (), rows)

    def show_columns(self) -> None:
        """Let the plan look at all columns that hold a fact or may leave a predicate open."""
        columns = self._survey.columns.values()
        self._plan.columns = tuple(column for column in columns if column.bit & self._first)
        self._plan.later = tuple(column for column in columns if column.bit & self._second & ~self._first)

    def _split(self, conjunction: list[Leaf], access: Access) -> Split:
        """Give the facts a conjunction needs beside its access, what then remains of it, and the columns of all."""
        needs: list[tuple[float, int]] = []
        remaining: list[Predicate] = []
        mask = access.columns
        way = access.ways[0]
        for leaf in conjunction:
            clue = self._survey.clue(leaf)
            if not isinstance(clue, Clue) or not (leaf is way.leaf or self._is_looked_up(clue)):
                remaining.append(leaf)
                continue
            if leaf is not way.leaf:
                needs.append((self._survey.weight(clue), self._survey.fact(clue)))
            mask |= self._survey.column(clue.part, clue.group).bit
            if not clue.is_exact:
                remaining.append(leaf)
        need = tuple(dict.fromkeys(fact for _, fact in sorted(needs)))
        rest = None if not remaining else remaining[0] if len(remaining) == 1 else And(tuple(remaining))
        return Split(need, rest, mask)

    def _is_looked_up(self, clue: Clue) -> bool:
        if clue.how in _CHEAP:
            return clue.part.name in self._read
        return clue.part.name != "attribute" and _search_of(clue) in self._searched

    def _note_exact(self, predicate: Predicate) -> None:
        """Let leaves of a tree be facts where they are looked up anyway."""
        for _, leaf in leaves(predicate):
            clue = self._survey.clue(leaf)
            if isinstance(clue, Clue) and clue.is_exact and self._is_looked_up(clue):
                column = self._survey.column(clue.part, clue.group)
                self._plan.questions.exact[leaf] = self._survey.fact(clue), column.bit
                self._first |= column.bit

    def _post(self, slot: int, second: int, ways: tuple[Access, ...]) -> None:
        plan, first = self._plan, ways[0]
        for fact in self._facts(first):
            plan.postings.add(fact, slot, second=second)
        if plan.only_true:
            return
        stand_in = next((access for access in ways[1:] if not access.columns & first.columns), None)
        self._second |= stand_in.columns if stand_in is not None else 0
        for bit in _bits(first.columns):
            reserve = plan.reserves.setdefault(bit, Reserve({}, {}, []))
            if stand_in is None:
                reserve.rest.append(slot)
                continue
            for fact in self._facts(stand_in):
                reserve.by_fact.setdefault(fact, []).append(slot)
            for other in _bits(stand_in.columns):
                reserve.by_column.setdefault(other, []).append(slot)

    def _facts(self, access: Access) -> Iterable[int]:
        return dict.fromkeys(fact for way in access.ways for fact in self._survey.facts(way.clue))


def _search_of(clue: Clue) -> tuple[object, ...]:
    return clue.part, clue.how, clue.collation


def _bits(mask: int) -> list[int]:
    found = []
    while mask:
        found.append(mask & -mask)
        mask &= mask - 1
    return found


def _conjunction(predicate: Predicate) -> list[Leaf] | None:
    """Give the leaves of a predicate that is nothing but one leaf, or leaves joined by `and`."""
    if isinstance(predicate, LEAVES):
        return [predicate]
    if isinstance(predicate, Quantified):
        inner_leaf = _of_any_recipient(predicate)
        return None if inner_leaf is None else [inner_leaf]
    if not isinstance(predicate, And):
        return None
    found: list[Leaf] = []
    for part in predicate.parts:
        inner = _conjunction(part)
        if inner is None:
            return None
        found += inner
    return found


def _of_any_recipient(node: Quantified) -> Leaf | None:
    """Give the leaf that says the same: that any recipient is one of these is that a recipient is."""
    leaf = node.part
    if node.quantifier != "any" or node.over != "recipient" or not isinstance(leaf, InList | Compare):
        return None
    term = terms(leaf)[0]
    is_of_recipients = isinstance(term, Part) and CATALOGUE[term.name].scope == "recipient"
    is_told_by_each = isinstance(leaf, InList) or (leaf.sign == "=" and not isinstance(leaf.right, Part))
    return leaf if is_of_recipients and is_told_by_each else None
