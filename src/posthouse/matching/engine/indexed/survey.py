"""All leaves of a set before it is compiled: which columns there are, what is asked of them, how rare an answer is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from posthouse.matching.engine.indexed.bound import MOST_BOUNDS
from posthouse.matching.engine.indexed.cell import Cells
from posthouse.matching.engine.indexed.clue import Clue, Never, as_range, clue_of, denial
from posthouse.matching.engine.indexed.column import Asked, Column, Group
from posthouse.matching.predicate.node import Leaf, Part, Predicate, leaves
from posthouse.matching.value.wordlist import NO_LISTS, Lists

# How often a part is missing or cannot be read, by the first word of its name; what is not here hardly ever.
_OPEN: Final = {
    "header": 0.5, "attribute": 0.5, "history": 0.5, "authentication": 0.3, "attachment": 0.02, "cc": 0.1,
    "reply_to": 0.1, "mail": 0.1, "from": 0.05, "to": 0.05, "subject": 0.03, "message": 0.01, "sender": 0.01,
    "recipient": 0.01, "levels_between": 0.3, "office": 0.1, "is_signed": 0.1, "is_encrypted": 0.1,
}  # fmt: skip
_LONG_TEXTS: Final = frozenset({"message.text", "message.hidden", "message.whole"})


class Survey:
    """The columns of a plan that is being made, and the facts about them."""

    def __init__(self, lists: Lists = NO_LISTS, *, only_true: bool = False, is_loose: bool = False) -> None:
        self.lists: Final = lists
        self.only_true: Final = only_true
        self._is_loose: Final = is_loose
        """Nothing is sealed later, so that predicates may be added one by one."""
        self.columns: Final[dict[Asked, Column]] = {}
        self.next_fact = 0
        self._bounds: Final[dict[Asked, list[float]]] = {}
        self._beyond: Final[dict[Asked, set[tuple[str, float]]]] = {}
        self._keys: Final[dict[Asked, set[object]]] = {}
        # By the identity of leaves, which live while they are compiled: to hash them would make each of them larger.
        self._clues: dict[int, Clue | Never | None] = {}
        self._facts: dict[Clue, int] = {}

    def read(self, predicates: Iterable[Predicate]) -> None:
        """Look at all leaves, so that the weights and the cells are known."""
        for predicate in predicates:
            for _, leaf in leaves(predicate):
                self.clue(leaf)
        crowded = {asked for asked, beyond in self._beyond.items() if len(beyond) > MOST_BOUNDS}
        for place, clue in self._clues.items() if crowded else ():
            if isinstance(clue, Clue) and clue.how == "bound" and Asked(clue.part, clue.group) in crowded:
                self._clues[place] = as_range(clue)
                self._bounds.setdefault(Asked(clue.part, clue.group), []).append(clue.low)
        self._beyond.clear()
        for asked, bounds in self._bounds.items():
            self.column(asked.part, asked.group).cells = Cells(bounds)
        self._bounds.clear()

    def forget(self) -> None:
        """Drop what only the making of a plan needs."""
        self._clues = {}
        self._facts = {}
        self._keys.clear()

    def column(self, part: Part, group: Group) -> Column:
        """Give the column of a part."""
        asked = Asked(part, group)
        column = self.columns.get(asked)
        if column is None:
            column = self.columns[asked] = Column(asked, len(self.columns), only_true=self.only_true)
        return column

    def clue(self, leaf: Leaf) -> Clue | Never | None:
        """Give what a leaf needs, as far as it is looked up here."""
        if id(leaf) in self._clues:
            return self._clues[id(leaf)]
        clue = clue_of(leaf, self.lists, only_true=self.only_true)
        if self._is_loose and isinstance(clue, Clue) and clue.how in ("word", "pattern", "range", "bound"):
            clue = Clue(clue.part, "there", "there", is_exact=False) if self.only_true else None
        if not self._is_loose:
            self._clues[id(leaf)] = clue
        if isinstance(clue, Clue):
            asked = Asked(clue.part, clue.group)
            if clue.how == "range":
                bounds = self._bounds.setdefault(asked, [])
                bounds += [bound for bound in (clue.low, clue.high) if abs(bound) != float("inf")]
            elif clue.how == "bound":
                self._beyond.setdefault(asked, set()).add((clue.sign, clue.low))
            elif clue.how == "equal":
                self._keys.setdefault(asked, set()).update(clue.keys[:100])
        return clue

    def denial(self, leaf: Leaf) -> Clue | Never | None:
        """Give what a leaf needs to be false."""
        return denial(leaf, only_true=self.only_true)

    def weight(self, clue: Clue) -> float:
        """Give how often a clue may be found, between 0 and 1."""
        asked = Asked(clue.part, clue.group)
        often = 1.0
        if clue.how == "equal":
            often = len(clue.keys) / max(len(self._keys.get(asked, ())), 2)
        elif clue.how in ("member", "bound"):
            often = 0.3
        elif clue.how == "range":
            cells = self.column(clue.part, clue.group).cells
            often = 1.0 if cells is None else cells.width(clue.low, clue.high)
        elif clue.how in ("start", "end"):
            often = len(clue.keys) * 12.0 ** -_shortest(clue)
        elif clue.how == "word":
            room = 500.0 if clue.part.name in _LONG_TEXTS else 10.0
            often = len(clue.keys) * room * 6.0 ** -_shortest(clue)
        elif clue.how == "pattern":
            often = 0.05 * len(clue.patterns)
        open_too = 0.0 if self.only_true else _OPEN.get(clue.part.name.partition(".")[0], 0.02)
        return min(often, 1.0) + open_too

    def fact(self, clue: Clue) -> int:
        """Give the fact of a clue, and have it looked for."""
        if clue.how == "there":
            return self._register(clue)
        known = self._facts.get(clue)
        if known is None:
            known = self._facts[clue] = self._register(clue)
        return known

    def facts(self, clue: Clue) -> tuple[int, ...]:
        """Give facts of which one holds where a clue may be found, to look for it where one alone would be too wide."""
        if clue.how != "range":
            return (self.fact(clue),)
        cells = self.column(clue.part, clue.group).cells
        assert cells is not None
        return cells.cover(clue.low, clue.high, make=self.new_fact)

    def _register(self, clue: Clue) -> int:
        column = self.column(clue.part, clue.group)
        column.ask_more()
        if clue.how == "there":
            if column.there is None:
                column.there = self.new_fact()
            return column.there
        if clue.how == "range":
            assert column.cells is not None
            return column.cells.fact(clue.low, clue.high, make=self.new_fact)
        if clue.how == "bound":
            return column.bounds.add(clue.sign, clue.low, fact=self.new_fact())
        fact = self.new_fact()
        if clue.how == "member":
            column.members.append((clue.collation, clue.members, fact))
        for key in clue.keys:
            if clue.how == "equal":
                column.add_equal(key, fact, collation=clue.collation)
            elif clue.how == "start":
                column.add_start(str(key), fact, collation=clue.collation)
            elif clue.how == "end":
                column.add_end(str(key), fact, collation=clue.collation)
            else:
                column.add_word(str(key), fact, collation=clue.collation)
        for pattern in clue.patterns:
            column.add_pattern(pattern, fact, collation=clue.collation)
        return fact

    def new_fact(self) -> int:
        """Give a number that stands for nothing yet."""
        self.next_fact += 1
        return self.next_fact


def _shortest(clue: Clue) -> int:
    return min(len(str(key)) for key in clue.keys)
