"""What is odd about rules: conditions nobody meets, rules that are never reached, lists nobody asks for."""

from __future__ import annotations

import pytest

from posthouse.matching.language.rule.parse import parse_rules
from posthouse.matching.trial.reach import find_oddities

TODAY = 20_500
"""16 February 2026."""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('rule "a" IF never THEN release', ["no message can match it"]),
        ('rule "a" IF message.size > 2 MB AND message.size < 1 MB THEN release',
         ["no message can match it: message.size is above one value and below a smaller one"]),
        ('rule "a" IF message.size between 2 MB and 1 MB AND always THEN release',
         ["no message can match it: message.size is above one value and below a smaller one"]),
        ('rule "a" IF subject is "x" AND subject is "y" THEN release',
         ["no message can match it: subject is two different values at once"]),
        ('rule "a" IF subject is "x" AND NOT subject is "x" THEN release',
         ["no message can match it: a condition and its contrary are joined by AND"]),
        ('rule "a" IF unknown THEN release', ["its condition is always unknown, so it never applies"]),
        ('rule "a" IF subject is "x" THEN release rule "b" IF subject is "x" THEN release',
         ['it says the same as rule "a"']),
        ('rule "a" checkpoint expiry IF always THEN release rule "b" checkpoint expiry IF subject is "x" THEN delete',
         ['it is never reached: rule "a" before it takes every message at expiry']),
        ('rule "a" valid until 2026-02-15 IF always THEN release', ["it is not valid any more"]),
        ('words "w" = "x" rule "a" IF subject is "x" THEN release', ["no rule asks for this list"]),
        ('rule "a" IF subject contains any of words "w" THEN release',
         ['the list "w" is not named here: what asks for it is unknown']),
    ],
)  # fmt: skip
def test_oddities_are_told(text: str, told: list[str]) -> None:
    """G-39: what can be read and is odd all the same is warned of."""
    assert [warned.what for warned in find_oddities(parse_rules(text), today=TODAY)] == told


@pytest.mark.parametrize(
    "text",
    [
        'rule "a" IF subject is "x" AND subject is "X" THEN release',
        'rule "a" IF recipient.address is "x" AND recipient.address is "y" THEN release',
        'rule "a" IF message.size >= 1 MB AND message.size <= 1 MB THEN release',
        'rule "a" IF now.time between 18:00 and 08:00 THEN release',
        'rule "a" IF unknown THEN gate to "x"',
        'rule "a" valid until 2026-02-16 IF always THEN release',
        'rule "a" checkpoint expiry sample 50 % IF always THEN delete rule "b" IF always THEN review',
        'rule "a" IF always THEN release rule "b" IF subject is "x" THEN delete',
        'rule "a" IF subject is "x" THEN release rule "b" disabled IF subject is "x" THEN release',
    ],
)
def test_nothing_is_made_odd(text: str) -> None:
    assert not find_oddities(parse_rules(text), today=TODAY)
