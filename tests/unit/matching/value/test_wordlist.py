"""Long lists find what short ones find."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from posthouse.matching.value.wordlist import WordList, places

TEXTS = st.text("ab ", max_size=12)


@given(st.lists(TEXTS, max_size=12), TEXTS)
def test_finds_each_place_of_each_word(words: list[str], text: str) -> None:
    found = sorted(set(WordList(words).find(text, "exact")))
    assert found == sorted({place for word in words for place in places(text, word)})


def test_a_million_words_cost_a_lookup() -> None:
    words = WordList(f"word{number}" for number in range(1_000_000))
    assert "word5" in words.keys("folded")
    words.lengths("folded")
    begun = time.perf_counter()
    assert any(words.find("and so on " * 200 + "word999999", "folded"))
    assert time.perf_counter() - begun < 1
