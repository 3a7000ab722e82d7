from __future__ import annotations

import pytest

from posthouse.gate.firstmatch import first_match
from posthouse.gate.ruling import Ruling
from posthouse.matching.value.record import Context, History, Record
from posthouse.message.features import MailFeatures
from posthouse.testing.build import START, identity
from tests.unit.gate.books import TERMS, always, book, marks, record


def first(text: str, asked: Record | None = None) -> Ruling:
    rules = book(text, title="rules of Design")
    return first_match(rules, asked or record(), terms=TERMS, message=identity(1))


# G-55, G-56, G-12
def test_the_first_rule_that_fires_decides_and_no_other_is_asked() -> None:
    text = 'rule "own" IF sender.address is "alice" THEN release\n' + always("rest", "delete")
    found = first(text)
    assert (found.course, marks(found)) == ("release", {"own": "won"})
    other = first(text, record(sender="eve"))
    assert (other.course, marks(other)) == ("delete", {"rest": "won"})


# G-55
def test_where_no_rule_fires_nothing_is_decided() -> None:
    assert first('rule "r" IF never THEN delete') == Ruling()


# G-36
def test_rules_of_a_gatekeeper_ask_the_history() -> None:
    text = 'rule "r" IF history.fired("big-mail") is true THEN release'
    context = Context(now=START, history=History(fired=("big-mail",)))
    assert first(text, record(context=context)).course == "release"
    assert first(text).course == "deliver"


# G-71, G-72, G-73, G-62, G-63
@pytest.mark.parametrize(("action", "expected"), [
    ("release", ("release", "", "")), ("delete", ("delete", "", "")), ("review", ("review", "", "")),
    ('return saying "no"', ("return", "", "no")), ('forward to "zoe"', ("forward", "zoe", "")),
    ('file in "month end"', ("file", "month end", "")), ('gate to "G1", "G2"', ("gate", "", "")),
])  # fmt: skip
def test_what_a_rule_of_a_gatekeeper_can_decide(action: str, expected: tuple[str, str, str]) -> None:
    found = first(always("r", action))
    assert (found.course, found.to, found.saying) == expected
    assert [stop.gatekeeper for stop in found.stops] == (["G1", "G2"] if expected[0] == "gate" else [])


def test_a_rule_that_only_copies_lets_the_next_ones_be_asked() -> None:
    found = first(always("copy", 'copy to "zoe"') + always("r", 'release AND notify "yan" saying "gone"'))
    assert [side.to for side in found.sides] == [("zoe",), ("yan",)]
    assert marks(found) == {"copy": "side", "r": "won"}


# G-35
def test_what_is_unknown_does_not_fire_unless_it_gates_or_says_so() -> None:
    asked = record(mail=MailFeatures(text=None, unknown=("text",)))
    condition = 'IF message.text contains "x"'
    assert first(f'rule "r" {condition} THEN delete', asked).course == "deliver"
    found = first(f'rule "r" on unknown match {condition} THEN delete', asked)
    assert found.course == "delete"
    assert found.fired[0].is_unknown


# G-43
def test_days_and_samples_hold_here_too() -> None:
    assert first(always("r", "delete", "valid from 2026-02-01")).course == "deliver"
    drawn = {
        first_match(book(always("r", "delete", "sample 50 %")), record(), terms=TERMS, message=identity(number)).course
        for number in range(1, 40)
    }
    assert drawn == {"delete", "deliver"}
