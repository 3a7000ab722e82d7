"""The shared reader: places, words that follow each other, faults of quotation, limits."""

from __future__ import annotations

import pytest

from posthouse.matching.language import reader as reading
from posthouse.matching.language.reader import END, Lexicon, Problem, Reader, Stumble, UnreadableText, excerpt

LEXICON = Lexicon((("text", r'"[^"\n]*"'), ("word", r"\w+"), ("sign", r"[=()]")), comment=r"\#[^\n]*")


def test_tokens_know_their_place() -> None:
    reader = Reader("one\n  two = (\n", LEXICON)
    places = []
    while reader.token.kind != END:
        places.append((reader.token.text, *reader.place(reader.take().start)))
    assert places == [("one", 1, 1), ("two", 2, 3), ("=", 2, 7), ("(", 2, 9)]


def test_several_words_are_taken_only_together() -> None:
    reader = Reader("Does  NOT # really\n contain it", LEXICON)
    assert not reader.accept("does", "contain")
    assert reader.accept("does", "not", "contain")
    assert reader.token.text == "it"


def test_comments_come_with_what_they_stand_beside() -> None:
    reader = Reader("# first\none # behind\n# last", LEXICON)
    reader.take()
    found = [(comment.text, comment.is_trailing) for _, _, comment in reader.all_comments()]
    assert found == [("first", False), ("behind", True), ("last", False)]


def test_a_stumble_is_noted_and_told_at_the_end() -> None:
    reader = Reader("one two", LEXICON)
    with pytest.raises(Stumble):
        reader.expect("tow", hint="did you mean it?")
    with pytest.raises(UnreadableText) as unreadable:
        reader.finish()
    assert unreadable.value.problems == (Problem(1, 1, "tow", '"one"', "did you mean it?", 3),)
    assert str(unreadable.value) == 'line 1, column 1: expected tow, found "one" (did you mean it?)'


@pytest.mark.parametrize("text", ['"open', "“curly”", "‘curly", "'open"])
def test_wrong_quotation_marks_still_make_a_text(text: str) -> None:
    reader = Reader(f"{text}\nnext", LEXICON)
    assert reader.take().kind == "text"
    assert reader.token.text == "next"
    assert len(reader.problems) == 1


def test_a_text_beyond_the_limit_is_not_read() -> None:
    reader = Reader("a " * reading.MAX_TEXT, LEXICON)
    assert reader.token.kind == END
    with pytest.raises(UnreadableText, match="at most 16,777,216"):
        reader.finish()


def note_all(reader: Reader) -> None:
    while reader.token.kind != END:
        reader.note("b")
        reader.take()


def test_a_hundred_faults_are_enough() -> None:
    reader = Reader("a\n" * 200, LEXICON)
    with pytest.raises(UnreadableText) as unreadable:
        note_all(reader)
    assert len(unreadable.value.problems) == 100


def test_the_mark_stands_below_the_fault() -> None:
    assert excerpt("one\ntwo three", Problem(2, 5, "x", "y", None, 5)) == "two three\n    ^^^^^"
    long = excerpt("x" * 500 + "y", Problem(1, 501, "x", "y"))
    line, mark = long.split("\n")
    assert line[mark.index("^")] == "y"
