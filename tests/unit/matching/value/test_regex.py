"""What RE2 takes, what is refused and how that is told; wildcards."""

from __future__ import annotations

import pytest

from posthouse.matching.value.regex import (
    MAX_PATTERN,
    RefusedPattern,
    compile_regex,
    compile_wildcard,
    literal,
    searchable,
)


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("(", "a group that is not closed"),
        ("a)", "closes nothing"),
        ("[a", "a character class that is not closed"),
        ("(?=a)b", "look-ahead"),
        (r"(a)\1", "back-references"),
        ("*a", "with nothing before it"),
        ("a**", "a repetition of a repetition"),
        ("(a{500}){3}", "1000"),
        (r"(\pL{100}){10}", "{100} multiplies"),
        (r"(\w{99}|[^a-z]{99}){10}", "{99} multiplies"),
        ("a" * (MAX_PATTERN + 1), "at most 10,000"),
        ("\ud800", "surrogates"),
    ],
)
def test_refuses_what_it_cannot_judge_in_bounds(pattern: str, told: str) -> None:
    with pytest.raises(RefusedPattern) as refused:
        compile_regex(pattern, has_case=True)
    assert told in str(refused.value)


def test_a_pattern_that_makes_others_hang_is_no_work() -> None:
    assert compile_regex("(a+)+$", has_case=True).search("a" * 100_000 + "b") is None


@pytest.mark.parametrize("char", [chr(code) for code in range(128)])
def test_every_literal_is_itself(char: str) -> None:
    found = compile_regex(f"\\A{literal(char)}\\z", has_case=True).search(char)
    assert found is not None


@pytest.mark.parametrize(
    ("pattern", "text", "is_found"),
    [
        ("*", "", True),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("*.exe", "plan.exe", True),
        ("*.exe", "plan.exe.txt", False),
        (r"\*", "*", True),
        (r"\*", "a", False),
        ("a*c", "a\nb\nc", True),
        ("", "", True),
        ("\\", "\\", True),
    ],
)
def test_a_wildcard_matches_the_whole(pattern: str, text: str, is_found: bool) -> None:
    assert (compile_wildcard(pattern, "exact").search(text) is not None) == is_found


def test_what_cannot_be_said_in_utf8_keeps_its_length() -> None:
    assert searchable("a\ud800b") == "a?b"
