"""Why a rule says what it says: the conditions that decide, in the words of the rule."""

from __future__ import annotations

import pytest
from hypothesis import given

from posthouse.matching.engine.single.evaluate import evaluate
from posthouse.matching.language.rule.parse import parse_rules
from posthouse.matching.language.rule.rule import Action, Rule
from posthouse.matching.match import FALSE, TRUE, UNKNOWN
from posthouse.matching.predicate.node import Predicate
from posthouse.matching.trial.reason import Verdict, judge_rule
from posthouse.matching.value.record import Recipient, Record
from posthouse.message.features import MailFeatures
from posthouse.testing.predicate import PREDICATES
from posthouse.testing.record import LISTS, RECORDS


def judged(condition: str, *, then: str = "release", clause: str = "") -> Verdict:
    (rule,) = parse_rules(f'rule "r" {clause} IF {condition} THEN {then}').rules
    record = Record(
        kind="mail",
        size=2_000_000,
        sender="ann@alpha.example",
        recipients=(Recipient("bob@beta.example"), Recipient("cat@alpha.example")),
        mail=MailFeatures(subject="The merger", text="It is near.", attachments=()),
    )
    return judge_rule(rule, record)


@pytest.mark.parametrize(
    ("condition", "truth", "deciding"),
    [
        ('message.size > 1 MB AND subject contains "x"', FALSE, ['subject contains "x"']),
        ('message.size > 1 MB AND subject is "The merger"', TRUE, ["message.size > 1 MB", 'subject is "The merger"']),
        ('message.size > 1 MB OR subject contains "x"', TRUE, ["message.size > 1 MB"]),
        ('message.size < 1 MB OR subject contains "x"', FALSE, ["message.size < 1 MB", 'subject contains "x"']),
        ('header("X") is "a" AND message.size > 1 MB', UNKNOWN, ['header("X") is "a"', "message.size > 1 MB"]),
        ('header("X") is "a" OR message.size < 1 MB', UNKNOWN, ['header("X") is "a"']),
        ('header("X") is "a" XOR message.size < 1 MB', UNKNOWN, ['header("X") is "a"']),
        ('NOT (subject contains "x" OR message.size > 1 MB)', FALSE, ["message.size > 1 MB"]),
        ('subject does not contain "merger"', FALSE, ['subject does not contain "merger"']),
        ('NOT sender.role is "CEO"', UNKNOWN, ['NOT sender.role is "CEO"']),
    ],
)  # fmt: skip
def test_the_conditions_that_decide(condition: str, truth: object, deciding: list[str]) -> None:
    verdict = judged(condition)
    assert verdict.truth is truth
    assert [one.text for one in verdict.conditions if one.decides] == deciding


def test_a_contrary_says_its_own_truth_and_not_that_of_its_leaf() -> None:
    (one,) = judged('subject does not contain "merger"').conditions
    assert (one.truth, one.judged.truth) == (FALSE, TRUE)


def test_what_is_asked_of_each_recipient_says_so() -> None:
    (one,) = judged('any recipient (recipient.domain is "beta.example")').conditions
    assert (one.beneath, one.judged.recipients) == ("any recipient (…)", (0,))


@pytest.mark.parametrize(
    ("then", "clause", "fires"),
    [
        ('gate to "Compliance"', "", True),
        ("release", "", False),
        ("release", "on unknown match", True),
        ('gate to "Compliance"', "on unknown no match", False),
        ("release", "on unknown gate", True),
    ],
)
def test_unknown_is_what_the_rule_takes_it_for(then: str, clause: str, fires: bool) -> None:
    """G-35: a rule that gates takes unknown for a match unless it says otherwise."""
    assert judged('header("X") is "a"', then=then, clause=clause).fires is fires


@given(PREDICATES, RECORDS)
def test_every_verdict_has_a_reason_and_is_that_of_the_engine(predicate: Predicate, record: Record) -> None:
    rule = Rule(name="r", condition=predicate, actions=(Action(name="release"),))
    verdict = judge_rule(rule, record, lists=LISTS)
    assert verdict.match == evaluate(predicate, record, lists=LISTS)
    assert any(one.decides for one in verdict.conditions)
