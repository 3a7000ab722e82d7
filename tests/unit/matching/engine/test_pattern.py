"""A widened pattern is found wherever RE2 finds the pattern, by Hyperscan and without; an exact one nowhere else."""

from __future__ import annotations

import time
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from posthouse.matching.engine.indexed.pattern import flattened, widen
from posthouse.matching.engine.indexed.search import (
    IS_FAST,
    PatternScan,
    TextSearch,
    file_words,
    make_pattern_search,
    make_word_search,
)
from posthouse.matching.value.regex import RefusedPattern, compile_regex

ATOMS = (
    "a", "b", "k", "K", "s", "S", "ß", "é", "x", " ", "-", "_", "7", ".", r"\.", r"\d", r"\w", r"\s", r"\b", r"\B",
    r"\W", r"\D", r"\S", r"\n", r"\t", r"\A", r"\z", "^", "$", "[ab]", "[a-k]", "[^a]", "[k-s7]", "[A-Z]", "[a-]",
    "[]a]", "[^]]", r"[\d]", "[[:alpha:]]", "[é]", r"\x61", r"\pL", r"\Qa.b\E", r"\/", r"\-", "(?i)", "(?s).",
    "(?P<n>a)", "{", "}", "a{,2}",
)  # fmt: skip
LETTERS = "abkKsSßéx -_7.\n\tſ\u212aAB\0🂡{},2]"


def draw_pattern(chance: Random, depth: int = 3) -> str:
    kind = chance.random()
    if depth == 0 or kind < 0.4:
        return chance.choice(ATOMS)
    if kind < 0.7:
        return "".join(draw_pattern(chance, depth - 1) for _ in range(chance.randint(1, 4)))
    if kind < 0.8:
        return f"({draw_pattern(chance, depth - 1)}|{draw_pattern(chance, depth - 1)})"
    inner = f"(?:{draw_pattern(chance, depth - 1)})" if chance.random() < 0.5 else chance.choice(ATOMS[:20])
    return inner + chance.choice(("*", "+", "?", "{2}", "{1,3}", "{0,}", "{2,40}", "*?", "+?", "{2,3}?"))


def draw_text(chance: Random) -> str:
    return "".join(chance.choice(LETTERS) for _ in range(chance.randint(0, 30)))


def check(seed: int, *, is_fast: bool = IS_FAST) -> int:
    """Compare one pattern on a few texts; gives how many it was found in."""
    chance = Random(seed)
    pattern, has_case = draw_pattern(chance), chance.random() < 0.5
    try:
        regex = compile_regex(pattern, has_case=has_case)
    except RefusedPattern:
        return 0
    wide = widen(pattern, has_case=has_case)
    if wide is None:
        return 0
    search = make_pattern_search({wide.pattern: (1,)}, is_fast=is_fast)
    found = 0
    for _ in range(10):
        text, facts = draw_text(chance), set[int]()
        searched = flattened(text, has_case=has_case)
        if searched is None:
            continue
        is_there = regex.search(text) is not None
        found += is_there
        assert search.find(searched, facts), f"seed {seed}: {pattern!r} cannot be looked for"
        if is_there or wide.is_exact:
            assert facts == ({1} if is_there else set()), f"seed {seed}: {pattern!r} in {text!r}"
    return found


@pytest.mark.parametrize(
    "pattern",
    ["late report", "order (ab|cd|e) [a-z]{2,9}", r"\bone\b.{0,30}\btwo\b", r"\d{4}-\d\d", r"a\wb\s*c+", "free.now"],
)
def test_what_is_nowhere_wider_is_exact(pattern: str) -> None:
    for has_case in (True, False):
        wide = widen(pattern, has_case=has_case)
        assert wide is not None
        assert wide.is_exact


@pytest.mark.parametrize(
    "pattern", ["^late", "late$", "lat[^e]s", r"late\Br", r"why\?", "\u00e9tat", "(?:late){2,3}", "la{61}te", r"a\Dbc"]
)
def test_what_is_wider_somewhere_is_not_exact(pattern: str) -> None:
    wide = widen(pattern, has_case=True)
    assert wide is not None
    assert not wide.is_exact


@pytest.mark.parametrize("is_fast", [True, False])
def test_nothing_is_found_behind_the_end(is_fast: bool) -> None:
    wide = widen("late.{3}", has_case=False)
    assert wide is not None
    search = make_pattern_search({wide.pattern: (1,)}, is_fast=is_fast and IS_FAST)
    for text, wanted in (("so late", set[int]()), ("so late \u20ac", set[int]()), ("so late \u20ac\U0001f0a1", {1})):
        facts, searched = set[int](), flattened(text, has_case=False)
        assert searched is not None
        assert search.find(searched, facts)
        assert facts == wanted, text


@pytest.mark.parametrize("pattern", ["S[x-z]*b", r"S\s*b"])
def test_a_short_pattern_is_found_wherever_it_stands(pattern: str) -> None:
    wide = widen(pattern, has_case=True)
    assert wide is not None
    search = make_pattern_search({wide.pattern: (1,)})
    # The places that are looked at together begin and end at borders of 16, 32 or 64 bytes.
    for before in range(200):
        facts: set[int] = set()
        search.find(b"-" * before + b"Sb and more", facts)
        assert facts == {1}, before


def test_an_alternative_is_found_at_the_very_end() -> None:
    # Hyperscan 5.4 overlooks this one where nothing follows.
    wide = widen(r"([ab]{2}| /_é\D)", has_case=False)
    assert wide is not None
    search, facts = make_pattern_search({wide.pattern: (1,)}), set[int]()
    search.find(b"7,a\t,s .as,?_7aa", facts)
    assert facts == {1}


@settings(max_examples=400)
@given(st.integers(0, 2**32))
def test_what_re2_finds_the_filter_lets_through(seed: int) -> None:
    check(seed)
    check(seed, is_fast=False)


@pytest.mark.fuzz
@pytest.mark.timeout(1_000)
def test_what_re2_finds_the_filter_lets_through_for_long() -> None:
    seed, found, until = Random().getrandbits(48), 0, time.monotonic() + 600
    while time.monotonic() < until:
        found += check(seed)
        seed += 1
    print(f"{found:,} finds of RE2 were let through, the last of seed {seed - 1}")  # noqa: T201  a hunt says how far it went


@pytest.mark.parametrize(
    "pattern",
    ["late report", "(invoice|offer|order) [0-9]{3,8}", r"\bwin(ner)?\b.{0,40}prize",
     "free [a-z]+ now", r"\d{4}-\d{2}", "Urgent!"],
)  # fmt: skip
@pytest.mark.parametrize("has_case", [True, False])
def test_what_rules_look_for_is_filtered(pattern: str, has_case: bool) -> None:
    wide = widen(pattern, has_case=has_case)
    assert wide is not None
    search, facts = make_pattern_search({wide.pattern: (1,)}), set[int]()
    search.find(b"nothing of this kind stands here, 12 times", facts)
    assert facts == set()


@pytest.mark.parametrize("pattern", ["", "a*", ".", "^$", r"\pL+", "(" * 60 + "ab" + ")" * 60, "ab" * 3_000])
def test_what_is_everywhere_or_unknown_is_left_to_re2(pattern: str) -> None:
    assert widen(pattern, has_case=True) is None


@pytest.mark.skipif(not IS_FAST, reason="needs hyperscan")
def test_a_pattern_that_hyperscan_refuses_is_left_to_re2() -> None:
    search, facts = PatternScan({b"good": (1,), b"b(?i:A)d": (2,), rb"\C\pL": (3,), b"bad": (4,)}), set[int]()
    assert search.find(b"good", facts)
    assert facts == {1, 3}


@pytest.mark.skipif(not IS_FAST, reason="needs hyperscan")
def test_a_pattern_that_both_refuse_is_held_for_found_and_does_not_decide() -> None:
    search, facts = PatternScan({b"good": (1,), b"a(?=b)": (2,), b"bad": (3,)}), set[int]()
    assert not search.find(b"good", facts)
    assert facts == {1, 2}


WORDS = st.lists(st.text("ab é\0", min_size=1, max_size=5).map(str.encode), min_size=1, max_size=8)


@pytest.mark.parametrize("is_fast", [True, False])
@example([b"a", b"aa"], [b"", b"aa"])
@given(WORDS, st.lists(st.text("ab é\0", max_size=20).map(str.encode), max_size=4))
def test_words_are_found_where_they_stand_and_nowhere_else(
    is_fast: bool, words: list[bytes], texts: list[bytes]
) -> None:
    wanted = [{number for number, word in enumerate(words) if word in text} for text in texts]
    filed = file_words((word, number) for number, word in enumerate(words))
    search: TextSearch = make_word_search(filed, is_short=True, is_fast=is_fast and IS_FAST)
    found: list[set[int]] = [set() for _ in texts]
    search.find_in_each(texts, found)
    assert found == wanted
    alone: list[set[int]] = [set() for _ in texts]
    search = make_word_search(filed, is_fast=is_fast and IS_FAST)
    for text, facts in zip(texts, alone, strict=True):
        search.find(text, facts)
    assert alone == wanted
