"""A leaf that a plan asks again and again: made ready once, whichever predicates ask it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import msgspec

from posthouse.matching.predicate.node import Leaf, Part, Quantified, Search, Texts
from posthouse.matching.value.fold import Collation, fold
from posthouse.matching.value.regex import Regex, compile_regex


def stands_alone(text: str, word: str) -> bool:
    """Say whether a word stands in a text with no letter, digit or underscore beside it."""
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        before, behind = text[start - 1 : start] if start else "", text[end : end + 1]
        if not (before.isalnum() or before == "_" or behind.isalnum() or behind == "_"):
            return True
        start = text.find(word, start + 1)
    return False


def _matches(text: bytes, pattern: Regex) -> bool:
    # Bytes for text: the place is of no interest here, and need not be counted in characters.
    return pattern.search(text) is not None  # type: ignore[arg-type]


_FINDS: Final[dict[str, Callable[..., bool]]] = {
    "contains": operator.contains, "word": stands_alone, "starts": str.startswith, "ends": str.endswith,
    "matches": _matches,
}  # fmt: skip


class Form(msgspec.Struct, frozen=True, gc=False):
    """A part, and how its texts are read before they are searched."""

    part: Part
    collation: Collation
    is_pattern: bool
    number: int


# `Any`: words for some searches, patterns for others.
class Finder(msgspec.Struct, frozen=True):
    """A search that can be asked of many messages."""

    form: Form
    finds: Callable[..., bool]
    wanted: tuple[Any, ...]


class Question(msgspec.Struct, frozen=True, eq=False):
    """A leaf. Equal leaves are one question, so that questions are told apart without reading what they say."""

    leaf: Leaf | Quantified
    fact: int
    """The fact that the leaf is, or 0."""
    bit: int
    """The bit of the fact's column."""
    finder: Finder | None


class Questions:
    """The questions of a plan."""

    def __init__(self) -> None:
        self.exact: Final[dict[Leaf, tuple[int, int]]] = {}
        """Leaves inside of trees that are facts: the fact and the bit of its column."""
        self._asked: Final[dict[Leaf | Quantified, Question]] = {}
        self._by_identity: Final[dict[int, tuple[Leaf | Quantified, Question]]] = {}
        self._forms: Final[dict[tuple[Part, Collation, bool], Form]] = {}

    def ask(self, leaf: Leaf | Quantified) -> Question:
        """Give the question of a leaf."""
        question = self._asked.get(leaf)
        if question is None:
            fact, bit = (0, 0) if isinstance(leaf, Quantified) else self.exact.get(leaf, (0, 0))
            finder = self._prepare(leaf) if isinstance(leaf, Search) else None
            question = self._asked[leaf] = Question(leaf, fact, bit, finder)
        return question

    def ask_again(self, leaf: Leaf | Quantified) -> Question:
        """Give the question of a leaf that lives as long as the plan: what it says is read only once."""
        known = self._by_identity.get(id(leaf))
        if known is None:
            # The leaf is held, so that no other is ever taken for it.
            known = self._by_identity[id(leaf)] = leaf, self.ask(leaf)
        return known[1]

    def _prepare(self, leaf: Search) -> Finder | None:
        """Make a search ready to be asked of many messages; None for one that is left to `single`."""
        part, texts = leaf.term, leaf.texts
        finds = _FINDS.get(leaf.sign)
        if finds is None or not isinstance(part, Part) or not isinstance(texts, Texts):
            return None
        key = part, leaf.collation, finds is _matches
        form = self._forms.setdefault(key, Form(*key, number=len(self._forms)))
        if finds is not _matches:
            return Finder(form, finds, tuple(fold(text, leaf.collation) for text in texts.values))
        has_case = leaf.collation in ("cased", "exact")
        return Finder(form, finds, tuple(compile_regex(text, has_case=has_case) for text in texts.values))
