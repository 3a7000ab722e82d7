"""Wrong texts of each language and what is said of them, word by word: `LANGUAGE/faults.txt`, read by a person.

After a change of the wording, `python -m tests.unit.matching.language.test_faults` writes them anew, to be read.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from posthouse.matching.language.elvin.parse import parse_subscription
from posthouse.matching.language.pattern.parse import parse_patterns
from posthouse.matching.language.reader import UnreadableText, excerpt
from posthouse.matching.language.rule.parse import parse_rules
from posthouse.matching.language.sieve.walk import import_sieve

READERS: dict[str, Callable[[str], object]] = {
    "elvin": parse_subscription,
    "pattern": parse_patterns,
    "rule": parse_rules,
    "sieve": import_sieve,
}


def golden(language: str) -> Path:
    return Path(__file__).parent / language / "faults.txt"


def blocks(language: str) -> list[tuple[str, str]]:
    found = []
    for block in golden(language).read_text(encoding="utf-8").split("\n=====\n"):
        text, _, told = block.partition("\n-----\n")
        found.append((text, told.strip("\n")))
    return found


def faults_of(language: str, text: str) -> str:
    try:
        READERS[language](text)
    except UnreadableText as unreadable:
        return "\n".join(map(str, unreadable.problems))
    return "nothing"


@pytest.mark.parametrize(
    ("language", "text", "told"), [(language, text, told) for language in READERS for text, told in blocks(language)]
)
def test_says_what_is_wrong(language: str, text: str, told: str) -> None:
    assert faults_of(language, text) == told


@pytest.mark.parametrize("language", READERS)
def test_every_fault_has_a_mark_in_its_line(language: str) -> None:
    for text, _ in blocks(language):
        with pytest.raises(UnreadableText) as unreadable:
            READERS[language](text)
        for problem in unreadable.value.problems:
            line, mark = excerpt(text, problem).split("\n")
            assert "^" in mark
            assert len(mark) <= len(line) + problem.length


def rewrite() -> None:
    for language in READERS:
        written = [f"{text}\n-----\n{faults_of(language, text)}" for text, _ in blocks(language)]
        golden(language).write_text("\n=====\n".join(written) + "\n", encoding="utf-8")


if __name__ == "__main__":
    rewrite()
