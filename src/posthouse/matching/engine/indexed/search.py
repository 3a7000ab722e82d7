"""Many words and patterns in one text at once: by Hyperscan where it is, else by the trigrams of the text.

What is found is exact: the words, and the patterns as they were widened before.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol

from posthouse.matching.engine.indexed.pattern import quote
from posthouse.matching.value.regex import RefusedPattern, Regex, compile_regex

# `Any`: a library without complete types; what is used of it stands in the two classes below.
hyperscan: Any
try:
    import hyperscan
except ImportError:  # pragma: no cover  # this platform has no wheel of it
    hyperscan = None

# `Any`: None where it was not compiled; its types stand in `native.pyi`.
native: Any
try:
    from posthouse.matching.engine.indexed import native
except ImportError:  # pragma: no cover  # no compiler was there when Posthouse was installed
    native = None

IS_FAST: Final = hyperscan is not None
IS_NATIVE: Final = native is not None
_SEPARATOR: Final = b"\xff"
"""A byte that stands in no text of UTF-8, and so in no word."""
_TAIL: Final = _SEPARATOR * 16
"""Hyperscan overlooks some alternatives in the last bytes of a text: behind these no byte of ours is the last."""

Filed = dict[bytes, tuple[int, ...]]
"""Words or patterns, each with the facts it stands for."""


class TextSearch(Protocol):
    """Words and patterns, each with the facts it stands for. One thread at a time may search."""

    def find(self, text: bytes, into: set[int]) -> None:
        """Add the facts whose words or patterns stand in the text."""

    def find_in_each(self, texts: Sequence[bytes], into: Sequence[set[int]]) -> None:
        """Do the same for many short texts, each with a set of its own."""


class PatternSearch(Protocol):
    """Patterns, each with the facts it stands for. One thread at a time may search."""

    def find(self, text: bytes, into: set[int]) -> bool:
        """Add the facts whose patterns stand in the text; False where not all patterns could be looked for."""


def file_words(words: Iterable[tuple[bytes, int]]) -> Filed:
    """Put the facts of the same word together."""
    filed: dict[bytes, list[int]] = {}
    for word, fact in words:
        filed.setdefault(word, []).append(fact)
    return {word: tuple(dict.fromkeys(facts)) for word, facts in filed.items()}


def make_word_search(
    filed: Filed, *, is_short: bool = False, is_fast: bool = IS_FAST, is_native: bool = IS_NATIVE
) -> TextSearch:
    """Give the search for words; short texts are best searched many at a time, or without Hyperscan."""
    if is_short and is_native and native is not None:
        lexicon: TextSearch = native.Lexicon(filed)
        return lexicon
    return WordScan(filed, is_short=is_short) if is_fast else Trigrams(filed)


def make_pattern_search(filed: Filed, *, is_fast: bool = IS_FAST) -> PatternSearch:
    """Give the search for patterns, each an expression of `pattern.widen`."""
    return PatternScan(filed) if is_fast else OneByOne(filed)


class WordScan:
    """Words in a Hyperscan database."""

    def __init__(self, filed: Filed, *, is_short: bool) -> None:
        self._facts: Final = list(filed.values())
        # Of a long text each word is told once; of many short ones in one piece, with each place.
        # The library takes a word to end at its first zero byte.
        is_literal = not any(b"\0" in word for word in filed)
        words = list(filed) if is_literal else [quote(word) for word in filed]
        self._database: Final = _compile(words, is_literal=is_literal, is_told_once=not is_short)

    def find(self, text: bytes, into: set[int]) -> None:
        self._database.scan(text + _TAIL, match_event_handler=_NOTE, context=(self._facts, into))

    def find_in_each(self, texts: Sequence[bytes], into: Sequence[set[int]]) -> None:
        ends: list[int] = []
        length = 0
        for text in texts:
            length += len(text) + 1
            ends.append(length)
        found: list[tuple[int, int]] = []
        self._database.scan(_SEPARATOR.join(texts) + _TAIL, match_event_handler=_note_place, context=found)
        for number, end in found:
            into[bisect_right(ends, end)].update(self._facts[number])


class PatternScan:
    """Patterns in a Hyperscan database; what it does not take is left to RE2."""

    def __init__(self, filed: Filed) -> None:
        self._beside: PatternSearch | None = None
        self._facts: list[tuple[int, ...]] = list(filed.values())
        try:
            self._database = _compile(list(filed), is_literal=False, is_told_once=True)
        except hyperscan.HyperscanError:
            taken = {pattern: facts for pattern, facts in filed.items() if _is_taken(pattern)}
            self._beside = OneByOne({pattern: facts for pattern, facts in filed.items() if pattern not in taken})
            self._facts = list(taken.values())
            self._database = _compile(list(taken), is_literal=False, is_told_once=True) if taken else None

    def find(self, text: bytes, into: set[int]) -> bool:
        if self._database is not None:
            self._database.scan(text + _TAIL, match_event_handler=_NOTE, context=(self._facts, into))
        return self._beside is None or self._beside.find(text, into)


def _note(number: int, _start: int, _end: int, _flags: int, found: tuple[list[tuple[int, ...]], set[int]]) -> None:
    found[1].update(found[0][number])


_NOTE: Final = _note if native is None else native.note


def _note_place(number: int, _start: int, end: int, _flags: int, found: list[tuple[int, int]]) -> None:
    found.append((number, end))


def _is_taken(pattern: bytes) -> bool:
    try:
        _compile([pattern], is_literal=False, is_told_once=True)
    except hyperscan.HyperscanError:
        return False
    return True


# `Any`: the database of a library without complete types.
def _compile(expressions: list[bytes], *, is_literal: bool, is_told_once: bool) -> Any:
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=expressions,
        ids=list(range(len(expressions))),
        elements=len(expressions),
        flags=hyperscan.HS_FLAG_SINGLEMATCH if is_told_once else 0,
        literal=is_literal,
    )
    return database


class Trigrams:
    """Words filed under one of their runs of three bytes; a text with none of a word's run does not hold it."""

    def __init__(self, filed: Filed) -> None:
        counts: dict[bytes, int] = {}
        for word in filed:
            for gram in _trigrams(word):
                counts[gram] = counts.get(gram, 0) + 1
        self._tiny: Final = [(word, facts) for word, facts in filed.items() if len(word) < 3]
        self._by_gram: Final[dict[bytes, list[tuple[bytes, tuple[int, ...]]]]] = {}
        for word, facts in filed.items():
            if len(word) >= 3:
                rarest = min(_trigrams(word), key=counts.__getitem__)
                self._by_gram.setdefault(rarest, []).append((word, facts))

    def find(self, text: bytes, into: set[int]) -> None:
        for word, facts in self._tiny:
            if word in text:
                into.update(facts)
        for gram in self._by_gram.keys() & _trigrams(text):
            for word, facts in self._by_gram[gram]:
                if word in text:
                    into.update(facts)

    def find_in_each(self, texts: Sequence[bytes], into: Sequence[set[int]]) -> None:
        for text, facts in zip(texts, into, strict=True):
            self.find(text, facts)


def _trigrams(text: bytes) -> set[bytes]:
    return {text[at : at + 3] for at in range(len(text) - 2)}


class OneByOne:
    """Patterns that RE2 judges, each of them on each text."""

    def __init__(self, filed: Filed) -> None:
        self._everywhere: Final[set[int]] = set()
        """The facts of patterns that cannot be judged, which are held for found."""
        self._each: Final[list[tuple[Regex, tuple[int, ...]]]] = []
        for pattern, facts in filed.items():
            try:
                self._each.append((compile_regex(pattern.decode("ascii"), has_case=True), facts))
            except RefusedPattern:
                self._everywhere.update(facts)

    def find(self, text: bytes, into: set[int]) -> bool:
        into |= self._everywhere
        for regex, facts in self._each:
            # Bytes for text: the place is of no interest here, and need not be counted in characters.
            if regex.search(text) is not None:  # type: ignore[arg-type]
                into.update(facts)
        return not self._everywhere
