"""Sieve scripts become rules: what stands in them, under which condition, and what is left with its reason."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.matching.engine.single.evaluate import evaluate
from posthouse.matching.language.reader import UnreadableText
from posthouse.matching.language.rule.parse import parse_rules
from posthouse.matching.language.rule.printer import print_rules
from posthouse.matching.language.sieve.regular import NoCounterpart, from_posix
from posthouse.matching.language.sieve.relation import RELATIONS, number_of, numeric_pattern, unequal_pattern
from posthouse.matching.language.sieve.walk import import_sieve
from posthouse.matching.match import TRUE
from posthouse.matching.trial.example import record_of_mail
from posthouse.matching.value.regex import compile_regex

ALL = (
    'require ["fileinto", "envelope", "body", "relational", "regex", "date", "variables", "reject", "copy", '
    '"vacation", "encoded-character", "comparator-i;ascii-numeric", "imap4flags", "subaddress", "index"];\n'
)
MAIL = b"From: Ann <ann@alpha.example>\r\nTo: bob@beta.example\r\nSubject: Big news\r\nX-N: 007\r\n\r\nIt is near.\r\n"


def rules(script: str) -> str:
    imported = import_sieve(ALL + script)
    assert not imported.left
    printed = print_rules(imported.file)
    assert print_rules(parse_rules(printed)) == printed
    return printed


def left(script: str) -> list[str]:
    return [f"{one.construct}: {one.why}" for one in import_sieve(ALL + script).left]


def done(script: str, mail: bytes = MAIL, *, sender: str | None = None) -> list[str]:
    file = import_sieve(ALL + script).file
    record = record_of_mail(mail, sender=sender)
    return [
        action.to[0] if action.to else action.name
        for rule in file.rules
        if evaluate(rule.condition, record).truth is TRUE
        for action in rule.actions
    ]


def test_a_branch_becomes_a_rule_with_the_name_of_its_comment() -> None:
    assert rules('# rule:[Big things]\nif header :contains "Subject" "big" { fileinto "Big"; }') == (
        '# line 3\nrule "Big things"\nIF header("Subject") contains "big" ignoring ascii case\nTHEN file in "Big"\n'
    )


@pytest.mark.parametrize(
    ("block", "actions"),
    [
        ("keep;", ["release"]),
        ("discard;", ["delete"]),
        ('redirect "a@b.example";', ["a@b.example"]),
        ('redirect "a@b.example"; keep;', ["a@b.example", "release"]),
        ('reject "no";', ["return"]),
        ('fileinto "x"; fileinto "y"; discard;', ["x", "y"]),
        ('redirect "a@b.example"; redirect "c@d.example";', ["a@b.example", "c@d.example"]),
        ('redirect :copy "a@b.example";', ["a@b.example"]),
    ],
)
def test_actions_are_those_of_the_whole_block(block: str, actions: list[str]) -> None:
    assert done(f"if true {{ {block} }}") == actions


def test_what_is_sent_on_and_stays_is_a_copy() -> None:
    names = [action.name for action in import_sieve('redirect "a@b.example"; keep;').file.rules[0].actions]
    assert names == ["copy", "release"]
    assert import_sieve('redirect "a@b.example";').file.rules[0].actions[0].name == "forward"


@pytest.mark.parametrize(
    ("script", "folders"),
    [
        ('if header :is "Subject" "x" { stop; } fileinto "a";', ["a"]),
        ('if header :is "Subject" "big news" { stop; } fileinto "a";', []),
        ('if header :is "Subject" "big news" { if size :over 1 { stop; } fileinto "b"; } fileinto "a";', []),
        ('if header :is "Subject" "big news" { fileinto "b"; } elsif true { fileinto "c"; } fileinto "a";', ["b", "a"]),
        ('if header :is "None" "x" { fileinto "b"; } else { fileinto "c"; stop; } fileinto "a";', ["c"]),
        ('if false { fileinto "b"; } if true { stop; } fileinto "a";', []),
        ('set "f" "Work"; if true { set "f" "${F}/a"; } fileinto "${f}";', ["Work/a"]),
        ('set :upper :length "f" "abc"; fileinto "${f}${none}";', ["3"]),
        ('set "f" "a"; if string :is "${f}" ["b", "A"] { fileinto "x"; }', ["x"]),
        ('if header :is "subject" "Big${unicode: 20}news" { fileinto "x"; }', ["x"]),
        ('if not header :is "none" "x" { fileinto "x"; }', ["x"]),
        ('if header :matches "subject" "BIG*" { fileinto "x"; }', ["x"]),
        ('if header :comparator "i;octet" :matches "subject" "BIG*" { fileinto "x"; }', []),
        ('if header :value "gt" :comparator "i;ascii-numeric" "x-n" "6" { fileinto "x"; }', ["x"]),
        ('if address :count "eq" :comparator "i;ascii-numeric" ["from", "to"] "2" { fileinto "x"; }', ["x"]),
        ('if body :contains "IS NEAR" { fileinto "x"; }', ["x"]),
        ("fileinto text:\n..x\n.\n;", [".x\n"]),
    ],
)  # fmt: skip
def test_the_way_through_a_script_is_the_condition(script: str, folders: list[str]) -> None:
    assert done(script) == folders


def test_a_notice_has_an_empty_sender() -> None:
    script = 'if envelope :is "from" "" { fileinto "notice"; } else { fileinto "mail"; }'
    mail = MAIL.replace(b"From: Ann <ann@alpha.example>\r\n", b"")
    assert done(script, mail) == ["notice"]
    assert done(script, mail, sender="ann@alpha.example") == ["mail"]


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ('vacation "x";', ["vacation: it answers a mail"]),
        ('addflag "x"; keep :flags "x";',
         ["addflag: mailboxes here have no flags", ":flags: mailboxes here have no flags"]),
        ('if header :matches "Subject" "*" { fileinto "${1}"; }',
         ["${1}: it is what a wildcard matched, which a rule cannot hand on"]),
        ('if size :over 1 { set "f" "x"; } fileinto "${f}";', ["${f}: its value depends on the message"]),
        ('if address "sender" "x" { keep; } elsif true { discard; }',
         ['address "sender": rules know the addresses in From, To, Cc and Reply-To',
          "keep: it depends on the test in line 2", "discard: it depends on the test in line 2"]),
        ('if body :raw "x" { stop; } keep;',
         ["body :raw: rules see the text of a mail and not its bytes", "keep: it depends on the test in line 2"]),
        ('if date :originalzone "date" "hour" "01" { keep; }',
         [":originalzone: rules mean days and hours in the zone of the office",
          "keep: it depends on the test in line 2"]),
        ('if header :regex "x" "(a)\\\\1" { keep; }',
         [":regex: its pattern has \\1, which refers back to a group",
          "keep: it depends on the test in line 2"]),
        ('if header :value "gt" "x" "b" { keep; }',
         [':value "gt": text has no order here', "keep: it depends on the test in line 2"]),
        ('fileinto "a"; keep;', ["keep beside fileinto: a mail is filed or delivered, not both"]),
        ('if address :detail "to" "x" { keep; }',
         [":detail: rules do not take local parts apart", "keep: it depends on the test in line 2"]),
    ],
)  # fmt: skip
def test_what_has_no_counterpart_is_told_with_its_reason(script: str, told: list[str]) -> None:
    assert left(script) == told


def test_what_is_left_stands_at_the_end_of_the_rules_too() -> None:
    printed = print_rules(import_sieve(f'{ALL}vacation "x"; keep;').file)
    assert printed.endswith("(a program that reads the mailbox can answer)\n")
    assert "# NOT TAKEN OVER: line 2, column 1: vacation is not taken over: it answers a mail" in printed


NUMBERS = ["", "x", "0", "00", "1", "7", "007", "8x", "9", "10", "10.5", "19", "70", "99", "100", "101", "123456", "-3"]


@pytest.mark.parametrize("relation", RELATIONS)
def test_numbers_in_texts_compare_as_numbers(relation: str) -> None:
    for key in NUMBERS:
        pattern = numeric_pattern(relation, key)
        for value in NUMBERS:
            expected = RELATIONS[relation](number_of(value), number_of(key))
            found = pattern is not None and compile_regex(pattern, has_case=True).search(value) is not None
            assert found is expected, f"{value!r} {relation} {key!r}: {pattern}"


@pytest.mark.parametrize("key", ["", "a", "ab", "a.b", "grün", "A]"])
def test_what_differs_is_everything_but_one(key: str) -> None:
    pattern = compile_regex(unequal_pattern(key, has_case=False), has_case=True)
    for value in ("", "a", "A", "ab", "aB", "abc", "a.b", "a\nb", "GRün", "grÜn", "a]", "b"):
        ascii_equal = [char.lower() if char.isascii() else char for char in value] == [
            char.lower() if char.isascii() else char for char in key
        ]
        assert (pattern.search(value) is None) is ascii_equal, value


@pytest.mark.parametrize(
    ("posix", "re2"),
    [
        ("a.b", "(?s)a.b"),
        (r"a\.b\<c\>", r"(?s)a\.b\bc\b"),
        (r"[\n]", r"(?s)[\\n]"),
        ("[]a]", r"(?s)[\]a]"),
        ("[^]a-z]", r"(?s)[^\]a-z]"),
        ("[[:alpha:][:digit:]]", "(?s)[[:alpha:][:digit:]]"),
        ("a{,3}b{2}c{x", r"(?s)a{0,3}b{2}c\{x"),
        (r"\d", "(?s)d"),
    ],
)
def test_expressions_of_posix_are_written_for_re2(posix: str, re2: str) -> None:
    assert from_posix(posix) == re2
    compile_regex(re2, has_case=True)


@pytest.mark.parametrize("posix", [r"(a)\1", "[[.x.]]", "a**", "[a", "a\\", "(?i)x", "[[:alpha"])
def test_what_re2_cannot_say_is_no_guess(posix: str) -> None:
    with pytest.raises(NoCounterpart):
        from_posix(posix)


WORDS = st.sampled_from(
    [
        "if", "elsif", "else", "not", "anyof", "true", "header", "size", "keep", "stop", "fileinto", "set", "require",
        "(", ")", "{", "}", "[", "]", ",", ";", ":is", ":value", ":over", '"a"', '"', "5M", "5", "text:\n.\n", "text:",
        "/*", "*/", "#", "\n", "me@example.com", "&&", "-", '"fileinto"', "\u201c", "vacation", "${",
    ]
)  # fmt: skip


@given(st.lists(WORDS, max_size=40))
def test_any_text_is_a_script_or_has_faults(words: list[str]) -> None:
    with contextlib.suppress(UnreadableText):
        import_sieve(" ".join(words))


def test_deep_and_long_scripts_behave() -> None:
    with pytest.raises(UnreadableText, match="at most 50"):
        import_sieve("if " + "not " * 10_000 + "true { keep; }")
    with pytest.raises(UnreadableText):
        import_sieve("if anyof (" * 10_000)
    with pytest.raises(UnreadableText):
        import_sieve("{" * 100_000)
    with pytest.raises(UnreadableText):
        import_sieve('if header "' + "x" * 1_000_000)
    words = ", ".join(f'"w{number}"' for number in range(50_000))
    assert len(import_sieve(f'if header :contains "Subject" [{words}] {{ keep; }}').file.rules) == 1


def test_many_stops_do_not_grow_beyond_the_limit_in_silence() -> None:
    script = ALL + "".join(
        f'if header :is "A{number}" "x" {{ fileinto "f{number}"; stop; }}\n' for number in range(2_500)
    )
    imported = import_sieve(script)
    assert len(imported.file.rules) + len(imported.left) == 2_500
    assert all("more than 500" in one.why for one in imported.left)
