"""Examples of rules, run: described ones, mails in files, and what is said when they fail."""

from __future__ import annotations

import pytest

from posthouse.matching.language.rule.parse import parse_rules
from posthouse.matching.match import FALSE, TRUE
from posthouse.matching.trial.example import Trial, try_examples

MAIL = (
    b"From: Ann <ann@alpha.example>\r\nTo: bob@beta.example\r\nCc: cat@alpha.example\r\nX-Level: 3\r\n"
    b"Subject: The merger\r\n\r\nIt is near.\r\n"
)


def tried(condition: str, example: str) -> Trial:
    (rule,) = parse_rules(f'rule "r" IF {condition} THEN release EXAMPLE {example}').rules
    (trial,) = try_examples(rule, read_file=files)
    return trial


def files(name: str) -> bytes:
    if name != "merger.eml":
        raise FileNotFoundError(2, "No such file or directory")
    return MAIL


@pytest.mark.parametrize(
    ("condition", "example", "holds"),
    [
        ("message.size > 1 MB", "no match message.size = 1000000 B", True),
        ("message.size > 1 MB", "match message.size = 1000001 B", True),
        ("message.size > 1 MB", "match message.size = 1000000 B", False),
        ('subject contains "merger"', 'match file "merger.eml"', True),
        ('sender.address is "ann@alpha.example"', 'match file "merger.eml"', True),
        ('recipient.domain is "beta.example"', 'match file "merger.eml"', True),
        ('sender.role is "Clerk"', 'match file "merger.eml" sender.role = "Clerk"', True),
        ('sender.role is "Clerk"', 'unknown file "merger.eml"', False),
        ('subject is "Other"', 'match file "merger.eml" subject = "Other"', True),
        ('header("X-Level") is "3"', 'match file "merger.eml" subject = "Other"', True),
        ('recipient.domain is "beta.example"', 'no match file "merger.eml" recipient.address = "a@b.example"', True),
        ('message.hidden contains "merger"', 'match message.hidden = "The merger."', True),
        ('message.hidden contains "merger"', 'no match message.text = "The merger."', False),
        ('message.hidden contains "merger"', 'no match file "merger.eml"', True),
        ('message.hidden contains "merger"', 'match file "merger.eml" message.hidden = "The merger."', True),
        ("now.time > 18:00", 'match file "merger.eml" now.time = 19:00', True),
    ],
)
def test_examples_are_judged(condition: str, example: str, holds: bool) -> None:
    """G-34: 1,000,000 bytes are no match of "over 1 MB", 1,000,001 are."""
    assert tried(condition, example).holds is holds


def test_a_mail_that_is_not_there_is_told() -> None:
    trial = tried('subject is "x"', 'match file "gone.eml"')
    assert (trial.holds, trial.verdict, trial.fault) == (False, None, "no such file or directory")


def test_a_failed_example_says_why() -> None:
    verdict = tried('subject is "x"', 'match "title" subject = "y"').verdict
    assert verdict is not None
    assert verdict.truth is FALSE
    assert verdict.conditions[0].judged.found == ('"y"',)


def test_the_ceo_sends_two_megabytes() -> None:
    """G-48: a rule that releases does not keep another one from gating; both match."""
    file = parse_rules(
        """
        rule "big" IF message.size > 1 MB THEN gate to "Compliance"
        EXAMPLE match message.size = 2 MB sender.role = "CEO"
        rule "the CEO" IF sender.role is "CEO" THEN release
        EXAMPLE match message.size = 2 MB sender.role = "CEO"
        """
    )
    for rule in file.rules:
        (trial,) = try_examples(rule, read_file=files)
        assert trial.verdict is not None
        assert trial.verdict.truth is TRUE
