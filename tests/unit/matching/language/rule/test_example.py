"""What an example says is what the record of its message says, and rules judge it so."""

from __future__ import annotations

import pytest

from posthouse.matching.engine.single.evaluate import evaluate
from posthouse.matching.language.reader import UnreadableText
from posthouse.matching.language.rule.example import SETTABLE, record_of
from posthouse.matching.language.rule.parse import parse_condition, parse_rules
from posthouse.matching.match import FALSE, TRUE, UNKNOWN
from posthouse.matching.value.catalogue import CATALOGUE, read_part

RULE = """\
rule "r"
IF always
THEN release
EXAMPLE match
    message.size = 2 MB
    subject = "late"
    header("X-Spam") = "yes", "no"
    attribute("tags") = "a", 5
    attribute("flag") = true
    attribute("due") = 2026-01-31T12:00:00Z
    from.address = "ann@alpha.example"
    recipient.address = "bob@alpha.example", "eve@far.example"
    recipient.external = false, true
    recipient.role = "VP"
    sender.role = "Clerk"
    sender.under = "Manager", "VP"
    levels_between = 2
    attachment.name = "a.exe", "b.pdf"
    attachment.size = 1 MB
    office.stat.queue_length = 501
    now.time = 18:30
    now.weekday = Saturday
    history.fired("big-mail") = true
    history.age = 2 days
    authentication("spf") = "pass"
"""


@pytest.mark.parametrize(
    "condition",
    [
        "message.size = 2 MB",
        'subject is "late"',
        'message.kind is "mail"',
        'header("x-spam") is "no"',
        'attribute("tags") is "a" and attribute("tags") = 5',
        'attribute("flag") = 1',
        'attribute("due") = 2026-01-31',
        'from.domain is "alpha.example"',
        "recipient.count = 2",
        'any recipient (recipient.external is true and recipient.domain is "far.example")',
        'any recipient (recipient.role is "VP" and recipient.local is "bob")',
        'sender.role is or under "VP"',
        "levels_between = 2",
        'attachment.count = 2 and attachment.size.largest must exist or attachment.name is like "*.exe"',
        "office.stat.queue_length > 500",
        "now.time between 18:00 and 19:00 and now.weekday is Saturday",
        'history.fired("big-mail") and history.age > 1 day',
        'authentication("SPF") is "pass"',
    ],
)
def test_what_is_said_is_so(condition: str) -> None:
    (example,) = parse_rules(RULE).rules[0].examples
    assert evaluate(parse_condition(condition), record_of(example)).truth is TRUE


def test_what_is_not_said_is_not_there() -> None:
    (example,) = parse_rules('rule "r" IF always THEN release EXAMPLE match subject = "a"').rules[0].examples
    record = record_of(example)
    for condition, truth in (
        ('header("X-Spam") is "yes"', UNKNOWN),
        ("attachment.count = 0", TRUE),
        ('sender.role is "CEO"', UNKNOWN),
        ("recipient.external", FALSE),
        ("office.stat.queue_length > 5", UNKNOWN),
        ('history.fired("x")', UNKNOWN),
    ):
        assert evaluate(parse_condition(condition), record).truth is truth, condition


def test_what_follows_from_others_cannot_be_said() -> None:
    with pytest.raises(UnreadableText, match=r"a part that an example can say, found sender\.domain"):
        parse_rules('rule "r" IF always THEN release EXAMPLE match sender.domain = "a"')
    assert set(CATALOGUE) >= SETTABLE


def test_every_part_that_can_be_said_alone_is_read_as_said() -> None:
    values = {
        "text": '"alpha"', "role": '"alpha"', "address": '"ann@alpha.example"', "int64": "5", "size": "5 kB",
        "duration": "2 days", "truth": "true", "instant": "2026-01-31T12:00:00Z", "time": "18:00", "weekday": "Friday",
        "any": "5",
    }  # fmt: skip
    for name in sorted(SETTABLE):
        entry = CATALOGUE[name]
        written = f'{name}("x")' if entry.argument else name
        value = '"00ff"' if name == "attachment.sha256" else values[entry.type]
        text = f'rule "r" IF always THEN release EXAMPLE match {written} = {value}'
        (example,) = parse_rules(text).rules[0].examples
        reading = read_part(record_of(example), name, argument="x" if entry.argument else None)
        assert reading.state == "whole", (name, reading)
        assert len(reading.values) == 1
