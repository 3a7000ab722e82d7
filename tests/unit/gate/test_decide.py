from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.gate.decide import NOTHING, Subject, decide
from posthouse.gate.rulebook import RuleBook, compile_book
from posthouse.matching.language.rule.rule import Action, OnUnknown, Rule, RuleFile
from posthouse.matching.predicate.check import check_predicate
from posthouse.matching.value.record import Context, History
from posthouse.message.case import Edition
from posthouse.message.features import Attachment, MailFeatures
from posthouse.testing.build import SECOND, START
from posthouse.testing.predicate import draw_predicate
from posthouse.testing.record import LISTS, draw_record
from tests.unit.gate.books import TERMS, always, book, marks, record, ruling, rulings, subject

HOUR = 3_600 * SECOND


# G-29, G-34, G-39
def test_a_size_is_strictly_greater_and_a_megabyte_a_million_bytes() -> None:
    text = 'rule "big" IF message.size > 1 MB THEN gate to "G1"'
    assert ruling(text, record(size=1_000_000)).course == "deliver"
    assert ruling(text, record(size=1_000_001)).course == "gate"


# G-28, G-30
def test_conditions_are_joined_by_and_and_or() -> None:
    text = 'rule "r" IF message.size > 1 MB AND (sender.address is "alice" OR sender.address is "ann") THEN delete'
    assert ruling(text, record(size=2_000_000)).course == "delete"
    assert ruling(text, record(size=2_000_000, sender="ann")).course == "delete"
    assert ruling(text, record(size=2_000_000, sender="eve")).course == "deliver"


# G-32, G-33
def test_text_is_compared_without_case_and_by_what_it_means() -> None:
    mail = MailFeatures(subject="ＭＥＲＧＥＲ now")
    assert ruling('rule "r" IF subject contains "merger" THEN delete', record(mail=mail)).course == "delete"
    assert ruling('rule "r" IF subject contains "merger" with case THEN delete', record(mail=mail)).course == "deliver"


# G-31, G-37
@pytest.mark.parametrize("condition", [
    "message.size > 5 kB", "attachment.count > 1", "attachment.size > 10 kB", "attachment.size.total > 20 kB",
    "attachment.size.largest > 12 kB", 'message.text contains "plan"', 'sender.address is "alice"',
    'recipient.address is "bob"', "recipient.count = 1", 'subject is "Report"', "created < 2027-01-01",
    "arrived < 2027-01-01", 'attachment.name ends with ".pdf"', 'attachment.type is "application/pdf"',
    "message.priority = 5", 'message.kind is "mail"', "now.time < 23:00", "now.weekday is Thursday",
    "now.date = 2026-01-01", 'header("X-List") is "a"', "is_signed is false", "is_encrypted is false",
])  # fmt: skip
def test_what_rules_can_ask_of_a_message(condition: str) -> None:
    files = tuple(Attachment(name, "application/pdf", 13_000) for name in ("a.pdf", "b.pdf"))
    mail = MailFeatures(
        headers=(("x-list", "a"),), subject="Report", text="the plan", attachments=files, is_signed=False,
        is_encrypted=False,
    )  # fmt: skip
    asked = record(size=6_000, mail=mail, created=START, arrived=START)
    assert ruling(f'rule "r" IF {condition} THEN delete', asked).course == "delete"


# G-35
@pytest.mark.parametrize(("clause", "action", "course"), [
    ("", 'gate to "G1"', "gate"), ("", "delete", "deliver"), ("on unknown no match", 'gate to "G1"', "deliver"),
    ("on unknown match", "delete", "delete"), ("on unknown gate", "delete", "gate"),
])  # fmt: skip
def test_what_cannot_be_known_fails_closed_where_it_gates(clause: str, action: str, course: str) -> None:
    text = f'rule "r" {clause} IF message.text contains "merger" THEN {action}'
    found = ruling(text, record(mail=MailFeatures(text=None, unknown=("text",))))
    assert found.course == course
    if course != "deliver":
        assert found.fired[0].is_unknown
        assert found.fired[0].values == ("message.text is unknown: the text of the mail could not be read",)


# G-35
def test_a_rule_that_takes_unknown_for_a_gate_goes_to_the_postmaster_where_it_names_nobody() -> None:
    text = 'rule "r" on unknown gate IF is_encrypted is true THEN delete'
    assert [stop.gatekeeper for stop in ruling(text).stops] == ["postmaster"]


# G-36
def test_rules_can_ask_what_has_happened_to_a_case() -> None:
    text = 'rule "r" checkpoint reprocess IF history.fired("big mail") is true AND history.passes = 2 THEN delete'
    context = Context(now=START, history=History(fired=("big mail",), passes=2))
    assert ruling(text, record(context=context), checkpoint="reprocess").course == "delete"
    assert ruling(text, checkpoint="reprocess").course == "deliver"


# G-38
@pytest.mark.parametrize(("condition", "fires"), [
    ('recipient.domain is "out.example"', True), ('all recipients (recipient.domain is "out.example")', False),
    ('no recipient (recipient.domain is "far.example")', True),
])  # fmt: skip
def test_a_condition_on_recipients_is_true_of_one_of_them_unless_it_says_otherwise(condition: str, fires: bool) -> None:
    asked = record(to=("ann@house.example", "eve@out.example"))
    assert (ruling(f'rule "r" IF {condition} THEN delete', asked).course == "delete") == fires


# G-41, G-42
@pytest.mark.parametrize(("clause", "where"), [
    ("", {"submit", "relay", "reprocess"}), ("checkpoint relay", {"relay"}), ("checkpoint submit, reprocess",
    {"submit", "reprocess"}),
])  # fmt: skip
def test_a_rule_applies_at_its_checkpoints(clause: str, where: set[str]) -> None:
    text = always("r", "delete", clause)
    for checkpoint in ("submit", "relay", "reprocess"):
        found = ruling(text, checkpoint=checkpoint)
        assert (found.course == "delete") == (checkpoint in where)
        assert all(fired.checkpoint == checkpoint for fired in found.fired)


# G-41, G-221
def test_a_rule_before_local_mailboxes_is_about_these_alone() -> None:
    text = always("r", 'gate to "G1"', "checkpoint deliver")
    asked = record(to=("bob", "eve@out.example"))
    held, free = rulings(text, asked, local=(0,))
    assert (held.course, held.recipients, held.fired[0].checkpoint) == ("gate", ("bob",), "deliver")
    assert (free.course, free.recipients) == ("deliver", ("eve@out.example",))
    assert rulings(text, asked) == NOTHING
    assert ruling(text, record(), local=(0,)).recipients is None


# G-43
def test_a_rule_applies_on_the_days_it_is_valid() -> None:
    text = always("r", "delete", "valid from 2026-01-01 until 2026-01-02")
    for hours, course in ((-1, "deliver"), (0, "delete"), (47, "delete"), (48, "deliver")):
        terms = msgspec.structs.replace(TERMS, now=START + hours * HOUR)
        assert ruling(text, terms=terms).course == course


# G-43
def test_a_sample_is_always_the_same_and_what_it_leaves_out_is_kept() -> None:
    rules = book(always("r", "delete", "sample 25 %"))
    subjects = [subject(number) for number in range(1, 401)]
    first = decide(rules, subjects, terms=TERMS).rulings
    assert first == decide(rules, subjects, terms=TERMS).rulings
    assert 60 < sum(ruled[0].course == "delete" for ruled in first) < 140
    assert {fired.mark for ruled in first for fired in ruled[0].fired} == {"won", "sampled out"}


# G-59
def test_a_rule_that_breaks_is_unknown_and_stops_no_other() -> None:
    rules = book('rule "bad" IF message.size > 1 kB THEN gate to "G1"\n' + always("good", 'copy to "zoe"'))
    broken = msgspec.structs.replace(rules, bulk=_Breaking(rules))
    found = decide(broken, [subject(asked=record(size=5))], terms=TERMS)
    assert marks(found.rulings[0][0]) == {"good": "side"}


class _Breaking:
    """A plan on which the engine breaks, whatever it is asked."""

    def __init__(self, rules: RuleBook) -> None:
        assert rules.bulk is not None
        self.numbers = rules.bulk.numbers

    @property
    def columns(self) -> Any:  # Any: it is never given
        raise ZeroDivisionError("a bug")


# G-60, G-116, G-15
def test_what_a_rule_rested_on_is_kept_with_it() -> None:
    text = 'rule "busy" reason "the house is full" IF office.stat.queue_length > 500 THEN defer for 1 hours'
    context = Context(now=START, office_statistics={"queue_length": 812})
    terms = msgspec.structs.replace(TERMS, organisation=7)
    (fired,) = ruling(text, record(context=context), terms=terms).fired
    assert fired.values == ("office.stat.queue_length = 812",)
    assert (fired.book, fired.edition, fired.organisation, fired.at) == ("rules", 1, 7, START)
    assert (fired.rule, fired.reason, fired.actions) == ("busy", "the house is full", ("defer for 1 hour",))
    assert fired.digest


# G-118
def test_a_queue_of_501_delays_and_one_of_500_does_not() -> None:
    text = 'rule "r" IF message.size > 5 MB AND office.stat.queue_length > 500 THEN defer until 20:00'
    for length, course in ((500, "deliver"), (501, "defer")):
        context = Context(now=START, office_statistics={"queue_length": length})
        assert ruling(text, record(size=6_000_000, context=context)).course == course


# G-205
def test_a_rule_about_single_recipients_divides_the_message() -> None:
    text = 'rule "r" scope recipient IF recipient.domain is "out.example" THEN gate to "G1"\n' + always(
        "all", 'copy to "zoe"'
    )
    held, free = rulings(text, record(to=("eve@out.example", "bob", "ann@out.example")))
    assert (held.course, held.recipients) == ("gate", ("eve@out.example", "ann@out.example"))
    assert (free.course, free.recipients) == ("deliver", ("bob",))
    assert [side.to for side in free.sides] == [("zoe",)]
    assert held.sides == (), "one copy is enough"
    assert len(rulings(text, record(to=("eve@out.example",)))) == 1


# G-205
def test_a_rule_about_the_message_gates_it_for_everybody() -> None:
    text = 'rule "r" IF recipient.domain is "out.example" THEN gate to "G1"'
    assert ruling(text, record(to=("eve@out.example", "bob"))).recipients is None


# G-205, G-35
def test_where_it_is_unknown_of_whom_a_rule_speaks_nobody_is_let_through() -> None:
    text = 'rule "r" scope recipient IF recipient.role is "CEO" THEN gate to "G1"'
    assert ruling(text, record(to=("eve@out.example", "bob"))).recipients is None


# G-05
def test_the_same_rule_says_the_same_in_every_book() -> None:
    condition = 'IF subject contains word "plan" AND message.size > 1 kB'
    asked = record(size=2_000, mail=MailFeatures(subject="the plan"))
    ours = book(f'rule "r" {condition} THEN release')
    theirs = book(f'rule "r" {condition} THEN release', title="rules of Compliance")
    assert ours.rules[0].rule.condition == theirs.rules[0].rule.condition
    assert decide(ours, [subject(asked=asked)], terms=TERMS).rulings[0][0].course == "release"


# G-115, G-117
def test_each_message_is_judged_on_what_those_before_it_have_changed() -> None:
    rules = book('rule "r" IF office.stat.received.1m >= 2 THEN delete')
    counts = {"received.1m": 0}
    context = Context(now=START, office_statistics=counts)

    def note(_subject: Subject, _ruled: object) -> None:
        counts["received.1m"] += 1

    subjects = [subject(number, record(number, context=context)) for number in (1, 2, 3, 4)]
    found = decide(rules, subjects, terms=TERMS, note=note).rulings
    assert [ruled[0].course for ruled in found] == ["deliver", "deliver", "delete", "delete"]


_ACTIONS = (
    Action(name="gate", to=("G1", "G2")), Action(name="gate", to=("G2", "G3")), Action(name="return", saying="no"),
    Action(name="delete"), Action(name="release"), Action(name="copy", to=("zoe",)), Action(name="defer", after=HOUR),
)  # fmt: skip


def _book_of(chance: Random) -> RuleBook:
    """Draw a rule book; predicates that no rule could be saved with are left out."""
    drawn = [draw_predicate(chance) for _ in range(chance.randint(0, 8))]
    found = [predicate for predicate in drawn if not check_predicate(predicate)]
    unknowns: tuple[OnUnknown | None, ...] = (None, "match", "no match", "gate")
    rules = tuple(
        Rule(
            name=f"r{number}",
            condition=predicate,
            actions=(chance.choice(_ACTIONS),),
            on_unknown=chance.choice(unknowns),
            scope="recipient" if chance.random() < 0.4 else "message",
            priority=chance.choice((None, 10, 90)),
        )
        for number, predicate in enumerate(found)
    )
    return compile_book(RuleFile(rules), Edition(book="rules", number=1, text=""), lists=LISTS)


# G-05, G-57
@given(st.randoms(use_true_random=False))
def test_in_bulk_and_one_by_one_the_rulings_are_the_same(chance: Random) -> None:
    rules, asked = _book_of(chance), [draw_record(chance) for _ in range(chance.randint(1, 5))]
    subjects = [subject(number, each) for number, each in enumerate(asked)]
    bulk = decide(rules, subjects, terms=TERMS).rulings
    assert bulk == tuple(decide(rules, [each], terms=TERMS).rulings[0] for each in subjects)
    slow = msgspec.structs.replace(rules, bulk=rules.bulk and _Breaking(rules), folded=None)
    if rules.folded is None:
        assert bulk == decide(slow, subjects, terms=TERMS).rulings


def test_nothing_asked_is_nothing_said() -> None:
    assert decide(book(always("r", "delete")), [], terms=TERMS).rulings == ()
