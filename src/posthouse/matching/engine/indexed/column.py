"""One part of the message and one kind of its values: which facts hold for them, and where facts do not decide.

A fact is a number that stands for something a leaf asks: this value equals that constant, this text holds that word.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final, Literal

import msgspec

from posthouse.matching.engine.indexed.bound import Bounds
from posthouse.matching.engine.indexed.cell import Cells
from posthouse.matching.engine.indexed.pattern import flattened
from posthouse.matching.engine.indexed.search import (
    IS_FAST,
    IS_NATIVE,
    Filed,
    PatternSearch,
    TextSearch,
    file_words,
    make_pattern_search,
    make_word_search,
)
from posthouse.matching.engine.indexed.stable import Stable, stable_of
from posthouse.matching.engine.single.ground import Ground
from posthouse.matching.engine.single.leaf import MAX_PAIRS
from posthouse.matching.predicate.node import Part
from posthouse.matching.predicate.typing import static_type
from posthouse.matching.value.fold import Collation
from posthouse.matching.value.reading import Reading
from posthouse.matching.value.type import GROUPS, type_of

Group = Literal["text", "number", "truth", "instant", "date", "time", "weekday", "under", "there"]
"""Which values a column looks at; `there` at all of them, `under` at text and at whom a role reports to."""
Facts = list[int]
Key = str | int | float

_MOST_SEEN: Final = 4_096
"""Senders and the like whose facts are remembered."""


class Asked(msgspec.Struct, frozen=True, gc=False):
    """What a column is of."""

    part: Part
    group: Group


class Column:
    """The facts about one part."""

    def __init__(self, asked: Asked, number: int, *, only_true: bool = False) -> None:
        self.asked: Final = asked
        self.bit: Final = 1 << number
        """Stands for the column where columns are told apart in one number."""
        self.there: int | None = None
        """The fact that there are values at all."""
        self.equal: Final[dict[Collation, dict[Key, Facts]]] = {}
        """Of text by collation; of all else under `exact`."""
        self.members: Final[list[tuple[Collation, frozenset[str], int]]] = []
        """Long lists of text, each asked as a whole."""
        self.starts: Final[dict[Collation, dict[int, dict[str, Facts]]]] = {}
        self.ends: Final[dict[Collation, dict[int, dict[str, Facts]]]] = {}
        self.cells: Cells | None = None
        self.bounds: Final = Bounds()
        self._words: Final[dict[Collation, list[tuple[bytes, int]]]] = {}
        self._patterns: Final[dict[Collation, list[tuple[bytes, int]]]] = {}
        self.word_searches: Final[dict[Collation, TextSearch]] = {}
        self.pattern_searches: Final[dict[Collation, PatternSearch]] = {}
        self._is_role: Final = static_type(asked.part) == "role"
        self._only_true: Final = only_true
        self._stable: Final = stable_of(asked.part)
        self._seen: dict[Hashable, tuple[Sequence[int], bool]] = {}
        self._beside: object = None

    @property
    def is_asked(self) -> bool:
        """Whether any fact is held here."""
        asked = self.there is not None or (self.cells is not None and self.cells.is_asked)
        texts = (self.starts, self.ends, self._words, self._patterns, self.word_searches, self.pattern_searches)
        return asked or bool(self.equal) or bool(self.members) or bool(self.bounds) or any(texts)

    # --- what is asked ------------------------------------------------------------------------------------------------

    def ask_more(self) -> None:
        """Hear that one more fact is about to be held: what is remembered of a value knows nothing of it."""
        self._seen.clear()

    def add_equal(self, key: Key, fact: int, *, collation: Collation = "exact") -> None:
        """Hold a fact for a value."""
        _file(self.equal.setdefault(collation, {}), key, fact)

    def add_start(self, start: str, fact: int, *, collation: Collation) -> None:
        """Hold a fact for text that begins so."""
        _file(self.starts.setdefault(collation, {}).setdefault(len(start), {}), start, fact)

    def add_end(self, end: str, fact: int, *, collation: Collation) -> None:
        """Hold a fact for text that ends so."""
        _file(self.ends.setdefault(collation, {}).setdefault(len(end), {}), end, fact)

    def add_word(self, word: str, fact: int, *, collation: Collation) -> None:
        """Hold a fact for text that holds this; it is looked for once the column is sealed."""
        self._words.setdefault(collation, []).append((word.encode("utf-8", "surrogatepass"), fact))

    def add_pattern(self, pattern: bytes, fact: int, *, collation: Collation) -> None:
        """Hold a fact for text in which a widened pattern stands."""
        self._patterns.setdefault(collation, []).append((pattern, fact))

    def seal(self, *, is_fast: bool = IS_FAST, is_native: bool = IS_NATIVE) -> None:
        """Make what is looked for in texts and the cells; nothing is added to them afterwards."""
        if self.cells is not None:
            self.cells.seal()
        self.bounds.seal()
        is_short = self.asked.part.name == "attribute"
        for collation, words in self._words.items():
            filed: Filed = file_words(words)
            self.word_searches[collation] = make_word_search(
                filed, is_short=is_short, is_fast=is_fast, is_native=is_native
            )
        for collation, patterns in self._patterns.items():
            self.pattern_searches[collation] = make_pattern_search(file_words(patterns), is_fast=is_fast)
        self._words.clear()
        self._patterns.clear()

    # --- what holds ---------------------------------------------------------------------------------------------------

    def look_at_each(self, grounds: Sequence[Ground], facts: Sequence[set[int]]) -> list[int]:
        """Add the facts that hold in each message of a batch, and give the places of those they do not decide."""
        if self._stable is None:
            look = self._look
            pairs = zip(grounds, facts, strict=True)
            return [place for place, (ground, into) in enumerate(pairs) if not look(ground, into)]
        if self._stable.is_for_a_batch:
            # It may have changed since the last one.
            self._seen.clear()
        return self._look_at_stable(self._stable, grounds, facts)

    def look(self, ground: Ground, into: set[int]) -> bool:
        """Add the facts that hold, and say whether they decide: not where values are missing, cut or of other types."""
        return not self.look_at_each((ground,), (into,))

    def _look_at_stable(self, stable: Stable, grounds: Sequence[Ground], facts: Sequence[set[int]]) -> list[int]:
        is_open = []
        key_of, beside_of = stable.key, stable.beside
        for place, (ground, into) in enumerate(zip(grounds, facts, strict=True)):
            record = ground.record
            beside = beside_of(record)
            if beside is not self._beside or len(self._seen) > _MOST_SEEN:
                self._seen.clear()
                self._beside = beside
            key = key_of(record)
            seen = self._seen.get(key)
            if seen is None:
                found: set[int] = set()
                is_decided = self._look(ground, found)
                seen = self._seen[key] = (tuple(found), is_decided)
            if seen[0]:
                into.update(seen[0])
            if not seen[1]:
                is_open.append(place)
        return is_open

    def _look(self, ground: Ground, into: set[int]) -> bool:
        reading = ground.read(self.asked.part)
        values = reading.values
        if self.there is not None and (values or reading.state != "missing"):
            into.add(self.there)
        if self.asked.group == "there":
            return reading.state == "whole"
        if not values and self._only_true:
            # What is missing is not true.
            return True
        is_decided = reading.state == "whole" and len(values) <= MAX_PAIRS
        if self.asked.group == "under":
            return self._look_under(reading, ground, into) and is_decided
        for value in values:
            if GROUPS.get(type_of(value)) != self.asked.group:
                is_decided = False
            elif isinstance(value, str):
                is_decided &= self.look_at_text(value, into, ground=ground)
            else:
                self.look_at_number(value, into)  # type: ignore[arg-type]  # groups without text hold nothing but numbers
        return is_decided

    def _look_under(self, reading: Reading, ground: Ground, into: set[int]) -> bool:
        organisation = ground.record.context.organisation
        if self._is_role and organisation is None:
            return False
        is_decided = True
        for value in reading.values:
            if not isinstance(value, str):
                is_decided = False
                continue
            for collation, keys in self.equal.items():
                if self._is_role and organisation is not None:
                    names: Iterator[str] = (ground.folded(role, collation) for role in organisation.above(value))
                else:
                    names = outer_names(ground.folded(value, collation))
                for name in names:
                    into.update(keys.get(name, ()))
        return is_decided

    def look_at_number(self, value: float, into: set[int]) -> None:
        """Add the facts about one number."""
        for keys in self.equal.values():
            into.update(keys.get(value, ()))
        if self.bounds:
            self.bounds.look(value, into)
        if self.cells is not None:
            into.update(self.cells.around(self.cells.place(value)))

    def look_at_text(self, value: str, into: set[int], *, ground: Ground) -> bool:
        """Add the facts about one text, and say whether they decide."""
        for collation, keys in self.equal.items():
            into.update(keys.get(ground.folded(value, collation), ()))
        for collation, members, fact in self.members:
            if ground.folded(value, collation) in members:
                into.add(fact)
        for collation, lengths in self.starts.items():
            folded = ground.folded(value, collation)
            for length, starts in lengths.items():
                into.update(starts.get(folded[:length], ()))
        for collation, lengths in self.ends.items():
            folded = ground.folded(value, collation)
            for length, ends in lengths.items():
                into.update(ends.get(folded[-length:], ()))
        if value.isascii():
            return self._search_ascii(value, into, ground=ground)
        for collation, search in self.word_searches.items():
            search.find(ground.folded(value, collation).encode("utf-8", "surrogatepass"), into)
        is_decided = True
        for collation, patterns in self.pattern_searches.items():
            text = flattened(ground.searched(value, collation), has_case=collation in ("cased", "exact"))
            if text is None:
                # Which of them stands there is to be asked of each.
                is_decided = False
            else:
                is_decided &= patterns.find(text, into)
        return is_decided

    def _search_ascii(self, value: str, into: set[int], *, ground: Ground) -> bool:
        """Search a text that every collation leaves as it is, but for its case."""
        written = value.encode()
        # Whoever judges a word of it asks for the same.
        small = ground.folded(value, "folded").encode()
        for collation, search in self.word_searches.items():
            search.find(small if collation in ("folded", "ascii") else written, into)
        is_decided = True
        for collation, patterns in self.pattern_searches.items():
            is_decided &= patterns.find(small if collation in ("folded", "ascii") else written, into)
        return is_decided


def outer_names(name: str) -> Iterator[str]:
    """Give a dotted name and all names it stands under."""
    at = len(name)
    while at > 0:
        yield name[:at]
        at = name.rfind(".", 0, at)


# `Any`: the keys are text here and numbers there; what is filed under them is the same.
def _file(filed: dict[Any, Facts], key: Key, fact: int) -> None:
    known = filed.get(key)
    if known is None:
        filed[key] = [fact]
    elif known[-1] != fact:
        known.append(fact)
