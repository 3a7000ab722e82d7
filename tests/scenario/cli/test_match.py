"""`posthouse match`: messages of files before an expression of each language."""

from __future__ import annotations

import json

import pytest

from posthouse.message.envelope import Envelope
from posthouse.message.form import json as form
from posthouse.message.message import Head, compose
from posthouse.testing.build import identity
from tests.scenario.cli.command import Terminal

EVENTS = """\
{"kind": "event", "attributes": {"severity": 5, "title": "a fire here, a fire there"}}
{"kind": "event", "attributes": {"severity": 1, "title": "rain"}}

{"kind": "event", "attributes": {"title": "fire"}}
"""
MAIL = (
    b"From: Ann <ann@alpha.example>\r\nTo: bob@beta.example\r\n"
    b"Cc: eve@far.example\r\nSubject: The plan\r\n\r\nIt is secret.\r\n"
)


@pytest.fixture
def files(terminal: Terminal) -> Terminal:
    (terminal.folder / "events.jsonl").write_text(EVENTS, encoding="utf-8")
    (terminal.folder / "plan.eml").write_bytes(MAIL)
    return terminal


def test_writes_the_place_of_what_matches(files: Terminal) -> None:
    ran = files.run("match", "severity >= 3", "events.jsonl", "plan.eml")
    assert (ran.code, ran.text, ran.err) == (0, "events.jsonl:1\n", "")
    assert files.run("match", "severity > 9", "events.jsonl").code == 3
    assert files.run("match", "severity > 9", "events.jsonl").text == ""


def test_explains_in_plain_words(files: Terminal) -> None:
    ran = files.run("match", "--explain", 'severity >= 3 && contains(title, "fire")', "events.jsonl")
    assert ran.text.splitlines() == [
        "events.jsonl:1 matches",
        "  yes      severity >= 3",
        "             found 5",
        '  yes      contains(title, "fire")',
        "             a [fire] here, a fire there",
        "             a fire here, a [fire] there",
        "events.jsonl:2 does not match",
        "  no       severity >= 3",
        "             found 1",
        '  no       contains(title, "fire")',
        '             found "rain"',
        "events.jsonl:4 is unknown, and so does not match",
        "  unknown  severity >= 3",
        "             the message has no attribute severity",
        '  yes      contains(title, "fire")',
        "             [fire]",
    ]
    ran = files.run("match", "--explain", '!(title == "fire")', "events.jsonl")
    assert '  yes      title == "fire", in !(…)' in ran.text


def test_answers_programs(files: Terminal) -> None:
    ran = files.run("match", "--json", "severity >= 3", "events.jsonl")
    assert ran.documents == [
        {"place": "events.jsonl:1", "verdict": "match", "recipients": None},
        {"place": "events.jsonl:2", "verdict": "no match", "recipients": None},
        {"place": "events.jsonl:4", "verdict": "unknown", "recipients": None},
    ]
    (told, *_) = files.run("match", "--json", "--explain", 'contains(title, "rain")', "events.jsonl").documents[1:]
    assert told["conditions"] == [
        {
            "condition": 'contains(title, "rain")',
            "verdict": "true",
            "decides": True,
            "within": None,
            "found": ['"rain"'],
            "why": None,
            "recipients": None,
            "places": [{"part": "attribute(title)", "value": 0, "start": 0, "end": 4}],
        }
    ]


def test_reads_mail(files: Terminal) -> None:
    """The envelope is what the headers still say of it."""
    condition = (
        'sender.address is "ann@alpha.example" AND recipient.domain is "far.example" AND subject contains "PLAN"'
    )
    ran = files.run("match", "--lang", "rule-condition", "--explain", condition, text=MAIL)
    assert ran.text.splitlines()[:2] == ["standard input matches", "  for      eve@far.example"]
    assert ran.text.splitlines()[-1] == "             The [plan]"
    assert files.run("match", '@message.size > 10 && @subject == "The plan"', "plan.eml").code == 0


def test_reads_patterns_and_named_lists(files: Terminal) -> None:
    request = '{"kind": "request", "attributes": {"switch.operation": "m", "switch.state": "sent"}}'
    ran = files.run("match", "--lang", "pattern", 'handle operation "m" state sent', text=request)
    assert ran.text == "standard input:1\n"
    (files.folder / "bad.txt").write_text("rain\nsnow\n", encoding="utf-8")
    condition = 'attribute("title") in words "bad"'
    given = ("match", "--lang", "rule-condition", condition, "events.jsonl")
    assert files.run(*given, "--words", "bad=bad.txt").text == "events.jsonl:2\n"
    assert files.run(*given).code == 3
    assert files.run(*given, "--words", "bad").code == 2


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ('{\n  "kind": "event",\n  "attributes": {"a": 1}\n}\n', "standard input\n"),
        ('[{"attributes": {"a": 1}}, {}, {"attributes": {"a": 1}}]', "standard input:1\nstandard input:3\n"),
        ('\n \n{"attributes": {"a": 1}}', "standard input:1\n"),
        ('{"attributes": {"a": {"int32": 1}}}\r\n', "standard input:1\n"),
    ],
)
def test_reads_json_as_people_write_it(terminal: Terminal, text: str, places: str) -> None:
    ran = terminal.run("match", "a == 1", text=text)
    assert (ran.code, ran.text, ran.err) == (0, places, "")


def test_reads_messages_as_they_are_kept(terminal: Terminal) -> None:
    message = compose(Head(id=identity(1), kind="event", sender="desk"), attributes={"a": 1})
    written = form.write(message, Envelope(sender="desk", recipients=("orders",)))
    assert terminal.run("match", 'a == 1 && @sender.address == "desk"', text=written).code == 0


def test_what_is_no_message_is_told_and_the_rest_is_read(terminal: Terminal) -> None:
    text = '{"attributes": {"a": 1}}\n{"colour": "red"}\n{"attributes"\n{"attributes": {"a": 1}}\n'
    ran = terminal.run("match", "a == 1", text=text)
    assert (ran.code, ran.text) == (1, "standard input:1\nstandard input:4\n")
    assert "standard input:2: message" in ran.err
    assert "standard input:3: message" in ran.err
    (terminal.folder / "one.json").write_text('{"attributes": {"a": 1}}', encoding="utf-8")
    ran = terminal.run("match", "a == 1", "nowhere.jsonl", "one.json")
    assert (ran.code, ran.text) == (1, "one.json:1\n")
    assert ran.err == "posthouse: nowhere.jsonl: no such file or directory\n"
    assert terminal.run("match", "a == 1").code == 3


def test_a_wrong_expression_is_marked_with_all_its_faults(terminal: Terminal) -> None:
    ran = terminal.run("match", "a = 5 && foo(b)")
    assert (ran.code, ran.text) == (2, "")
    assert ran.err.splitlines() == [
        "a = 5 && foo(b)",
        "  ^      ^",
        'posthouse: line 1, column 3: expected a comparison such as == or <, found "=" (did you mean ==?)',
        'posthouse: line 1, column 10: expected a function, found "foo"',
    ]
    told = terminal.run("match", "--json", "a = 5 && foo(b)")
    assert told.code == 2
    assert (told.error["where"], told.error["column"], told.error["exit"]) == ("line 1", 3, 2)
    assert told.error["more"][0]["column"] == 10
    assert terminal.run("match", "--lang", "rule-condition", "subjct is x").code == 2
    assert terminal.run("match", "--lang", "cobol", "a == 1").code == 2


def test_nothing_in_a_message_plays_with_the_terminal(terminal: Terminal) -> None:
    text = json.dumps({"attributes": {"a": "\x1b[2Jab\u202e"}})
    ran = terminal.run("match", "--explain", 'contains(a, "ab")', text=text)
    assert ran.text.splitlines()[-1:] == ["             \\x1b[2J[ab]\\u202e"]
