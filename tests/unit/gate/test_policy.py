from __future__ import annotations

import re
from pathlib import Path

import pytest

from posthouse.gate.calendar import Span
from posthouse.gate.policy import DEFAULT, Habits, MalformedPolicy, Policy, read_policy, read_span

ROOT = Path(__file__).parents[3]

WHOLE = """
zone = "Europe/Berlin"
inbox = "5 days"
undo = "0 seconds"
max_passes = 3
four_eyes = ["release", "activate"]
edit_note = ""
no_rule = "extend"

[gatekeeper."Compliance"]
inbox = "12 hours"
opened_counts_as_handled = true
"""


def faults_of(text: str) -> list[str]:
    with pytest.raises(ExceptionGroup) as found:
        read_policy(text)
    assert all(isinstance(fault, MalformedPolicy) for fault in found.value.exceptions)
    return [str(fault) for fault in found.value.exceptions]


def test_a_policy_is_read_whole() -> None:
    policy = read_policy(WHOLE)
    assert str(policy.tzinfo) == "Europe/Berlin"
    assert policy.inbox == Span(5)
    assert policy.undo.microseconds == 0
    assert policy.four_eyes == ("release", "activate")


# G-160, G-171
def test_a_gatekeeper_has_habits_of_its_own_beside_the_usual_ones() -> None:
    policy = read_policy(WHOLE)
    own = policy.habits("compliance")
    assert own == Habits(inbox=Span(12, "hours"), no_rule="extend", opened_counts_as_handled=True)
    assert policy.habits("Legal") == Habits(inbox=Span(5), no_rule="extend")


# G-107, G-111, G-112, G-160, G-171, G-183, G-189, G-235
def test_an_empty_policy_is_the_usual_one() -> None:
    assert read_policy("") == DEFAULT
    assert DEFAULT.undo == Span(30, "seconds")
    assert DEFAULT.habits("anybody").no_rule == "review"
    assert (DEFAULT.max_passes, DEFAULT.max_forwards, DEFAULT.hop_limit) == (5, 5, 50)
    assert (DEFAULT.auto_release_innoculates, DEFAULT.edit_voids_innoculation) == (True, False)
    assert DEFAULT.tell_sender == "no"


def test_all_faults_are_told_at_once() -> None:
    told = faults_of('zone = "Atlantis"\nundoo = "1 day"\nmax_passes = -1\ninbox = "soon"\nfour_eyes = ["sing"]\n')
    assert len(told) == 5
    assert any("did you mean undo?" in fault for fault in told)
    assert any("Europe/Berlin" in fault and "Atlantis" in fault for fault in told)


def test_what_is_no_table_is_told() -> None:
    assert "expected TOML" in faults_of("zone = ")[0]
    assert "tables such as" in faults_of("gatekeeper = 3")[0]
    told = faults_of('[gatekeeper]\nLegal = 1\n[gatekeeper."X"]\nno_rule = "delete"\n')
    assert [fault.split(":")[0] for fault in told] == ['gatekeeper."Legal"', 'gatekeeper."X".no_rule']


# G-171
def test_nothing_is_ever_deleted_because_no_rule_fired() -> None:
    assert '"review" or "release" or "return" or "extend"' in faults_of('no_rule = "delete"')[0]


@pytest.mark.parametrize(
    ("text", "span"),
    [("1 week", Span(7)), ("90 minutes", Span(90, "minutes")), ("1 day", Span(1)), ("0 seconds", Span(0, "seconds"))],
)
def test_a_length_of_time_is_read_as_people_say_it(text: str, span: Span) -> None:
    assert read_span(text) == span


def test_every_setting_has_its_entry_in_the_reference() -> None:
    page = (ROOT / "docs/reference/policy.md").read_text()
    listed = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    known = {*Policy.__struct_fields__, *Habits.__struct_fields__} - {"gatekeepers"}
    assert listed == known
