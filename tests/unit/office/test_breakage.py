"""Rules that break: counted in a row, told once."""

from __future__ import annotations

import msgspec

from posthouse.gate.decide import Broken
from posthouse.gate.rulebook import BookRule
from posthouse.office.breakage import TOLD_AFTER, Breakage
from tests.unit.gate.books import book

TEXT = 'rule "{}" owner "Chief" IF message.size > 1 kB THEN delete'


def rule(name: str = "bad") -> BookRule:
    return book(TEXT.format(name)).rules[0]


# G-59
def test_a_rule_that_breaks_ten_times_in_a_row_is_told_once() -> None:
    breakage = Breakage()
    for _ in range(TOLD_AFTER - 1):
        breakage.hear("rules", [Broken(rule(), "a bug")])
    assert breakage.flagged() == []
    breakage.hear("rules", [Broken(rule(), "a bug")])
    (flagged,) = breakage.flagged()
    assert (flagged.book, flagged.rule, flagged.owner, flagged.fault) == ("rules", "bad", "Chief", "a bug")
    breakage.hear("rules", [Broken(rule(), "a bug")])
    assert breakage.flagged() == []


# G-59
def test_once_it_works_again_its_count_starts_anew() -> None:
    breakage = Breakage()
    nine = [Broken(rule(), "a bug")] * (TOLD_AFTER - 1)
    for works in ([], [Broken(rule(), "")], [Broken(rule("another"), "a bug")]):
        breakage.hear("rules", nine)
        breakage.hear("rules", works)
    breakage.hear("rules", nine)
    assert breakage.flagged() == []


# G-59
def test_the_rules_of_one_book_do_not_vouch_for_those_of_another() -> None:
    breakage = Breakage()
    breakage.hear("rules", [Broken(rule(), "a bug")] * (TOLD_AFTER - 1))
    breakage.hear("rules of G1", [])
    breakage.hear("rules", [Broken(rule("another"), "")], is_whole=False)
    breakage.hear("rules", [Broken(rule(), "a bug")])
    assert len(breakage.flagged()) == 1


def test_a_changed_rule_is_another_one() -> None:
    breakage = Breakage()
    breakage.hear("rules", [Broken(rule(), "a bug")] * (TOLD_AFTER - 1))
    changed = msgspec.structs.replace(rule(), digest="changed")
    breakage.hear("rules", [Broken(changed, "a bug")])
    assert breakage.flagged() == []
