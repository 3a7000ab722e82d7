"""Lists of words that stay fast when they are long: a million words cost a lookup, not a million comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from posthouse.matching.value.fold import Collation, fold

MAX_WORDS: Final = 2_000_000
MAX_WORD: Final = 10_000
"""Characters in one word."""


class WordList:
    """Words in the order given; the folded forms are made when they are first asked for."""

    __slots__ = ("_by_length", "_keys", "words")

    def __init__(self, words: Iterable[str]) -> None:
        self.words: Final = tuple(dict.fromkeys(words))
        self._keys: Final[dict[Collation, frozenset[str]]] = {}
        self._by_length: Final[dict[Collation, dict[int, frozenset[str]]]] = {}

    def keys(self, collation: Collation) -> frozenset[str]:
        """Give all words as they are compared."""
        found = self._keys.get(collation)
        if found is None:
            found = self._keys[collation] = frozenset(fold(word, collation) for word in self.words)
        return found

    def lengths(self, collation: Collation) -> Mapping[int, frozenset[str]]:
        """Give the words as they are compared, by their length, the shortest first."""
        found = self._by_length.get(collation)
        if found is None:
            sorted_out: dict[int, set[str]] = {}
            for key in self.keys(collation):
                sorted_out.setdefault(len(key), set()).add(key)
            found = {length: frozenset(sorted_out[length]) for length in sorted(sorted_out)}
            self._by_length[collation] = found
        return found

    def find(self, folded: str, collation: Collation) -> Iterator[tuple[int, int]]:
        """Give where words stand in a folded text, each place once for each length."""
        for length, words in self.lengths(collation).items():
            if len(words) <= 4:
                for word in words:
                    yield from places(folded, word)
            else:
                for start in range(len(folded) - length + 1):
                    if folded[start : start + length] in words:
                        yield start, start + length


def places(text: str, word: str) -> Iterator[tuple[int, int]]:
    """Give where one word stands in a text; a place may begin inside the one before."""
    start = text.find(word)
    while start >= 0:
        yield start, start + len(word)
        start = text.find(word, start + 1)


@lru_cache(maxsize=1024)
def word_list(words: tuple[str, ...]) -> WordList:
    """Give the list of these words, made once."""
    return WordList(words)


Lists = Mapping[str, WordList]
"""Named lists, as the caller of an engine hands them in."""
NO_LISTS: Final[Lists] = {}
