"""`posthouse rules`: checked, printed, tried and explained, by people and by programs."""

from __future__ import annotations

import json
import time

import pytest

from tests.scenario.cli.command import Terminal

RULES = """\
words "secrets" from "secrets.txt"

rule "secrets go out"
    on unknown gate
IF message.whole contains word any of words "secrets"
    AND any recipient (recipient.domain is "other.example")
THEN gate to "Compliance"
EXAMPLE match "a clerk"
    subject = "The takeover"
    message.text = "It is near."
    recipient.address = "bob@other.example"
EXAMPLE no match file "merger.eml"
    recipient.address = "cat@example.com"
"""
MAIL = b"From: ann@example.com\r\nTo: bob@other.example\r\nSubject: News\r\n\r\nThe merger is near.\r\n"


@pytest.fixture
def desk(terminal: Terminal) -> Terminal:
    (terminal.folder / "secrets.txt").write_text("takeover\nmerger\n")
    (terminal.folder / "merger.eml").write_bytes(MAIL)
    (terminal.folder / "a.rules").write_text(RULES)
    return terminal


def test_sound_rules(desk: Terminal) -> None:
    checked = desk.run("rules", "check", "a.rules")
    assert (checked.code, checked.text) == (0, "a.rules: 1 rule in order\n")
    tried = desk.run("rules", "test", "a.rules")
    assert (tried.code, tried.text) == (0, "2 examples, 0 failed\n")
    printed = desk.run("rules", "print", "a.rules")
    assert (printed.code, printed.text) == (0, RULES)
    assert desk.run("rules", "print", "--check", "a.rules").code == 0


def test_all_faults_are_told_with_their_places(desk: Terminal) -> None:
    wrong = 'rule "x"\nIF message.size > 5 Mb\n    AND subjct is "a"\nTHEN gat to "b"\n'
    checked = desk.run("rules", "check", "-", text=wrong)
    assert checked.code == 1
    assert checked.text.splitlines()[:3] == [
        'standard input:2:21: expected a unit such as MB or days, found "Mb" (did you mean MB?)',
        "    IF message.size > 5 Mb",
        "                        ^^",
    ]
    assert checked.text.splitlines()[-1] == "3 faults, 0 warnings"
    (told,) = desk.run("rules", "check", "-", "--json", text=wrong).documents
    assert [(fault["line"], fault["column"]) for fault in told["faults"]] == [(2, 21), (3, 9), (4, 6)]
    assert desk.run("rules", "print", "-", "--json", text=wrong).error["code"] == "rules.faulty"


def test_lists_that_cannot_be_read_are_faults(desk: Terminal) -> None:
    (desk.folder / "secrets.txt").unlink()
    checked = desk.run("rules", "check", "a.rules")
    assert checked.code == 1
    assert 'a.rules: words "secrets": secrets.txt: no such file or directory\n' in checked.text
    assert desk.run("rules", "test", "a.rules").code == 2


def test_names_that_stand_in_two_files_are_warned_of(desk: Terminal) -> None:
    (desk.folder / "b.rules").write_text(RULES)
    checked = desk.run("rules", "check", "a.rules", "b.rules")
    assert (checked.code, "a rule in a.rules has this name too" in checked.text) == (0, True)
    assert desk.run("rules", "check", "--strict", "a.rules", "b.rules").code == 1


def test_print_writes_the_form_into_files(desk: Terminal) -> None:
    path = desk.folder / "odd.rules"
    path.write_text('rule "x" if message.size>5 MB then release')
    odd = desk.run("rules", "print", "--check", "odd.rules")
    assert (odd.code, odd.text) == (1, "odd.rules:1: written otherwise\n")
    assert desk.run("rules", "print", "--write", "odd.rules").code == 0
    assert path.read_text() == 'rule "x"\nIF message.size > 5 MB\nTHEN release\n'
    assert desk.run("rules", "print", "--check", "odd.rules").code == 0


def test_a_failed_example_is_told_in_plain_words(desk: Terminal) -> None:
    rules = 'rule "x"\nIF message.size > 5 MB\nTHEN release\nEXAMPLE match "small" message.size = 1 MB\n'
    tried = desk.run("rules", "test", "-", text=rules)
    assert tried.code == 1
    assert tried.text.splitlines()[:3] == [
        "standard input: rule \"x\", example 1 'small': expected match, found no match",
        "    no       message.size > 5 MB",
        "               found 1000000",
    ]
    (told,) = desk.run("rules", "test", "-", "--json", text=rules).documents
    assert (told["expected"], told["found"], told["holds"]) == ("match", "no match", False)


def test_explain_marks_the_words_that_decided(desk: Terminal) -> None:
    told = desk.run("rules", "explain", "a.rules", "merger.eml")
    assert told.code == 0, told.err
    assert told.text.splitlines() == [
        "secrets go out: matches",
        '  then     gate to "Compliance"',
        '  yes      message.whole contains word any of words "secrets"',
        "             News The [merger] is near.",
        '  yes      recipient.domain is "other.example", in any recipient (…)',
        '             found "other.example"',
        "             for bob@other.example",
        "1 of 1 rule applies",
    ]
    (found,) = desk.run("rules", "explain", "a.rules", "merger.eml", "--recipient", "x@y.example", "--json").documents
    assert (found["verdict"], found["fires"]) == ("no match", False)


def test_explain_takes_documents_and_messages_of_the_office(desk: Terminal) -> None:
    (desk.folder / "size.rules").write_text('rule "x"\nIF message.text contains "loaves"\nTHEN release\n')
    document = json.dumps({"to": ["orders"], "text": "two loaves"})
    (told,) = desk.run("rules", "explain", "size.rules", "-", "--json", text=document).documents
    assert told["verdict"] == "match"
    sent = desk.run("send", "orders", "two loaves").text.strip()
    (told,) = desk.run("rules", "explain", "size.rules", sent, "--json").documents
    assert told["verdict"] == "match"
    assert desk.run("rules", "explain", "size.rules", "0" * 36).code in (2, 3)
    assert desk.run("rules", "explain", "size.rules", "gone.eml").code == 1


def test_a_million_words_behave(desk: Terminal) -> None:
    (desk.folder / "secrets.txt").write_text("".join(f"word{number}\n" for number in range(1_000_000)) + "merger\n")
    begun = time.monotonic()
    told = desk.run("rules", "explain", "a.rules", "merger.eml", "--json")
    assert told.document["verdict"] == "match"
    assert time.monotonic() - begun < 20


def test_what_is_too_large_or_no_text_is_refused(desk: Terminal) -> None:
    (desk.folder / "bytes.rules").write_bytes(b'rule "\xff"\n')
    told = desk.run("rules", "check", "bytes.rules", "--json")
    assert (told.code, told.error["code"], told.error["where"]) == (2, "file.unreadable", "bytes.rules, line 1")
    (desk.folder / "secrets.txt").write_text("x" * 10_001)
    told = desk.run("rules", "check", "a.rules")
    assert "line 1: expected a word of at most 10,000 characters, found 10,001" in told.text


SIEVE = """\
require ["fileinto", "vacation"];
# rule:[Bakery]
if header :contains "Subject" "loaves" { fileinto "Bakery"; }
"""


def test_sieve_scripts_become_rules(desk: Terminal) -> None:
    (desk.folder / "a.sieve").write_text(SIEVE)
    made = desk.run("rules", "import", "sieve", "a.sieve", "--output", "bakery.rules")
    assert (made.code, made.text) == (0, "1 rule written to bakery.rules\n")
    assert desk.run("rules", "check", "bakery.rules").code == 0
    assert desk.run("rules", "print", "--check", "bakery.rules").code == 0
    # What is there already is not overwritten.
    assert desk.run("rules", "import", "sieve", "a.sieve", "--output", "bakery.rules").code == 1


def test_what_sieve_says_beyond_rules_is_told(desk: Terminal) -> None:
    script = SIEVE + 'vacation "I am away";\n'
    made = desk.run("rules", "import", "sieve", "-", text=script)
    assert made.code == 1
    assert "standard input: line 4, column 1: vacation is not taken over: it answers a mail" in made.err
    (told,) = desk.run("rules", "import", "sieve", "-", "--json", text=script).documents
    assert [(one["line"], one["construct"]) for one in told["left"]] == [(4, "vacation")]
    assert told["text"] == made.text


def test_a_script_with_faults_is_told_so(desk: Terminal) -> None:
    made = desk.run("rules", "import", "sieve", "-", text='if header :contians "Subject" "x" { keep; }\n')
    assert made.code == 2
    assert made.text.splitlines()[-1] == "1 fault"
    assert "(did you mean :contains?)" in made.text
