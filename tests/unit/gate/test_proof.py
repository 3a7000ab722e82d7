from __future__ import annotations

import pytest

from posthouse.gate.proof import Known, Proof, prove
from tests.unit.gate.books import always

KNOWN = Known(
    roles=("Compliance", "Design"), lists=("partners",), mailbags={"design": ("month end",)},
    forwards={"compliance": ("Design",)},
)  # fmt: skip


def told(found: Proof) -> tuple[list[str], list[str]]:
    return list(map(str, found.faults)), list(map(str, found.warnings))


# G-39
@pytest.mark.parametrize(("text", "fault"), [
    (always("r", 'gate to "Complance"'), ('line 1, column 26: expected a gatekeeper whose role there is, found '
     '"Complance" (did you mean Compliance?)')),
    (always("r", 'file in "x"'), ("line 1, column 26: expected an action that the rules of an office can say, found "
     "file")),
    (always("r", "review"), "line 1, column 26: expected an action that the rules of an office can say, found review"),
    (always("r", "delete", "checkpoint expiry"), ("line 1, column 10: expected submit, relay, deliver or reprocess, "
     "found expiry (what happens on expiry stands in the rules of a gatekeeper)")),
    ('rule "r" IF sender.domain in words "partnrs" THEN delete', ('line 1, column 10: expected a list that there is, '
     'found "partnrs" (did you mean partners?)')),
    ('words "w" from "w.txt"', ('line 1, column 1: expected a list that is written out, found the file "w.txt" '
     "(keep it as the book words w, or write it out behind =)")),
    ('rule "r" IF office.stat.load > 1 THEN delete', ('line 1, column 10: expected a figure of the office, '
     'found "load" (docs/reference/statistics.md lists them)')),
    ('rule "r" IF sender.stat.letters > 1 THEN delete', ("line 1, column 10: expected messages or recipients and a "
     'window, as in messages.1h, found "letters"')),
    ('rule "r" IF message.size > 5 THEN delete', ("line 1, column 13: expected a size with its unit, such as 5 MB, "
     "found a number")),
])  # fmt: skip
def test_what_keeps_the_rules_of_an_office_from_being_kept(text: str, fault: str) -> None:
    faults, _ = told(prove("rules", text, known=KNOWN))
    assert faults == [fault]


# G-39, G-74
def test_a_mailbag_is_one_of_the_gatekeeper() -> None:
    title = "rules of Design"
    assert told(prove(title, always("r", 'file in "Month End"'), known=KNOWN)) == ([], [])
    faults, _ = told(prove(title, always("r", 'file in "mont end"'), known=KNOWN))
    assert faults == ['line 1, column 26: expected a mailbag of Design, found "mont end" (did you mean month end?)']


# G-39
def test_what_a_gatekeeper_cannot_say() -> None:
    faults, _ = told(prove("rules of Design", always("r", "defer for 1 hours", "checkpoint submit"), known=KNOWN))
    assert len(faults) == 2
    assert "found submit" in faults[0]
    assert "found defer" in faults[1]


# G-39
def test_a_rule_behind_one_that_always_fires_is_told() -> None:
    text = always("all", "release") + always("late", "delete")
    _, warnings = told(prove("rules of Design", text, known=KNOWN))
    assert warnings == [
        (
            'line 2, column 1: expected a rule before "all", which always fires, found one behind '
            "(the first rule that fires decides)"
        )
    ]
    assert told(prove("rules", text, known=KNOWN))[1] == []


# G-48
def test_a_release_that_can_never_win_is_told() -> None:
    text = 'rule "big" IF message.size > 1 MB THEN gate to "Compliance"\n' + always("chief", "release")
    _, warnings = told(prove("rules", text, known=KNOWN))
    assert warnings == [
        (
            "line 2, column 1: expected a rule that can win, found a release, which never outranks a gate "
            '(write the exception into the rule that gates, such as "big", as AND NOT …)'
        )
    ]


# G-39, G-212
def test_forwarding_that_comes_back_is_told() -> None:
    _, warnings = told(prove("rules of Design", always("r", 'forward to "Compliance"'), known=KNOWN))
    assert warnings == [
        (
            "line 1, column 26: expected a way that does not come back, found Design → compliance → design "
            "(the second time it goes to the review list)"
        )
    ]
    assert told(prove("rules of Design", always("r", 'forward to "Sales"'), known=KNOWN))[1] == []


def test_two_actions_that_decide_are_told() -> None:
    _, warnings = told(prove("rules", always("r", "delete AND return"), known=KNOWN))
    assert len(warnings) == 1
    assert "found return beside delete" in warnings[0]


# G-234
def test_without_an_organisation_a_role_is_taken_as_it_is_named() -> None:
    found = prove("rules", always("r", 'gate to "Anybody", "Chief@http://far.example/main"'), known=Known())
    assert not found.faults
    assert len(found.warnings) == 2


def test_a_text_that_cannot_be_read_has_its_faults_and_no_rules() -> None:
    found = prove("rules", 'rule "r" IF THEN', known=KNOWN)
    assert found.faults
    assert found.file is None
