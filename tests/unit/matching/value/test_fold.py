"""Folding says the same of what reads the same, and every place in a folded text leads back to what was written."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from posthouse.matching.value.fold import Collation, fold, origin

TEXTS = st.text(
    st.characters(exclude_categories=["Cs"])
    | st.sampled_from("aA\u0308\u0301ßﬁİ가ᄀ\u1161\u11a8\u0344\u09c7\u09be\u00ad\u200b\u3164")
)
COLLATIONS = st.sampled_from(("folded", "cased", "ascii", "exact"))


@pytest.mark.parametrize(
    ("text", "collation", "folded"),
    [
        ("Straße", "folded", "strasse"),
        ("STRASSE", "folded", "strasse"),
        ("ﬁnance", "folded", "finance"),
        ("ﬁNance", "cased", "fiNance"),
        ("nai\u0308ve", "cased", "naïve"),
        ("Ärger", "ascii", "Ärger"),
        ("ABC", "ascii", "abc"),
        ("ﬁ ABC", "exact", "ﬁ ABC"),
        ("１２", "folded", "12"),
        ("se\u200bc\u00adr\u2060e\ufefft", "folded", "secret"),
        ("\u202eSecret\u202c", "cased", "Secret"),
        ("e\u034f\u0301", "cased", "é"),
        ("se\u200bcret", "ascii", "se\u200bcret"),
        ("se\u200bcret", "exact", "se\u200bcret"),
        ("\u200b", "folded", "\u200b"),
        ("ΑΣ", "folded", "ασ"),
    ],
)
def test_folds_as_the_collation_says(text: str, collation: Collation, folded: str) -> None:
    assert fold(text, collation) == folded


@given(TEXTS, COLLATIONS)
def test_folding_twice_is_folding_once(text: str, collation: Collation) -> None:
    assert fold(fold(text, collation), collation) == fold(text, collation)


@given(TEXTS, COLLATIONS, st.data())
def test_a_place_leads_back_to_text_that_folds_to_it(text: str, collation: Collation, data: st.DataObject) -> None:
    folded = fold(text, collation)
    start = data.draw(st.integers(0, len(folded)))
    end = data.draw(st.integers(start, len(folded)))
    way = origin(text, collation)
    first, last = way.back(start, end) if way else (start, end)
    assert 0 <= first <= last <= len(text)
    assert folded[start:end] in fold(text[first:last], collation)


def test_nothing_invisible_is_left_by_folding() -> None:
    everything = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    for collation in ("folded", "cased"):
        once = fold(everything, collation)
        assert not {"\u00ad", "\u200b", "\u2066", "\ufe0f", "\U000e0041", "\u1160"} & set(once)
        assert fold(once, collation) == once


def test_the_way_back_takes_what_is_invisible_along() -> None:
    text = "\u200bThe se\u200b\u00adcr\u200bet\u200b pl\u00e1n"
    way = origin(text, "folded")
    assert way is not None
    start = fold(text, "folded").index("secret")
    first, last = way.back(start, start + len("secret"))
    assert text[first:last] == "se\u200b\u00adcr\u200bet\u200b"


def test_the_way_back_is_narrow() -> None:
    text = "Die GROSSE Straße, ﬁn und na\u0131\u0308ve"
    way = origin(text, "folded")
    assert way is not None
    start = fold(text, "folded").index("strasse")
    first, last = way.back(start, start + len("strasse"))
    assert text[first:last] == "Straße"


def test_a_mountain_of_marks_is_no_mountain_of_work() -> None:
    text = "a" + "\u0301" * 20_000 + "가" * 20_000
    way = origin(text, "folded")
    assert way is not None
    assert way.written[-1] == len(text)
    assert unicodedata.normalize("NFKC", text) == fold(text, "cased")


@example("\u0301\u00e9", "folded")
@example("\u00ad", "folded")
@example("\u0130\ud800", "cased")
@given(
    st.text(
        st.sampled_from("aZ \n\u00e9\u00c9\u00df\u0130\u0301\u0327\u00ad\u200b\ufb01\u212a\u03a3\u1100\u1161\ud800"),
        max_size=12,
    ),
    COLLATIONS,
)
def test_a_long_text_is_folded_as_its_pieces_are(strange: str, collation: Collation) -> None:
    plain = "Plain words, and more of them. " * 20
    # Between two spaces, with which nothing is joined.
    for before, behind in (("", plain), (plain, plain), (plain, ""), (plain + "Also e", "n")):
        last, first = before[-1:], behind[:1]
        wanted = fold(before[:-1], collation) + fold(last + strange + first, collation) + fold(behind[1:], collation)
        if before or not _is_unseen(strange):
            assert fold(before + strange + behind, collation) == wanted


def _is_unseen(text: str) -> bool:
    """Say whether nothing is left of a text that stands beside others."""
    return len(fold("-" + text, "cased")) == 1
