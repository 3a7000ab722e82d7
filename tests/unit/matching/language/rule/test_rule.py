"""Rules as text and as data: reading what is printed gives the same, however it was typed."""

from __future__ import annotations

import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.matching.language.reader import UnreadableText
from posthouse.matching.language.rule.layout import print_condition
from posthouse.matching.language.rule.literal import print_text, read_text
from posthouse.matching.language.rule.parse import parse_condition, parse_rules
from posthouse.matching.language.rule.printer import print_rule, print_rules
from posthouse.matching.language.rule.rule import Action, Example, Fact, Note, Rule, RuleFile, WordSource
from posthouse.matching.predicate.node import (
    And,
    Boolean,
    Compare,
    Exists,
    InList,
    Moment,
    Not,
    Number,
    Or,
    Part,
    Predicate,
    Quantified,
    Search,
    Text,
    Texts,
    Under,
    Words,
    Xor,
)
from posthouse.testing.predicate import PREDICATES, draw_predicate

SIZE, SUBJECT, ROLE = Part("message.size"), Part("subject"), Part("recipient.role")
BIG = Compare(">", SIZE, Number(1_000_000, "size"))
PLAN = Search("contains", SUBJECT, Texts(("plan",)))
CEO = Compare("=", ROLE, Text("CEO"))

WHOLE = """\
# What the compliance desk wants.
words "partners" from "partners.txt"

words "secrets" =
    "plan",
    "merger"

rule "big-mail"  # the oldest one
    disabled
    reason "Large mail is looked at first"
    policy "CP-12"
    owner "compliance"
    checkpoint submit, relay
    scope recipient
    priority 100
    on unknown gate
    tell sender with reason
    valid from 2026-01-01 until 2026-12-31T23:59:59Z
    sample 12.5 %
# a megabyte is a million bytes
IF message.size > 1 MB  # strictly
    # design is trusted
    AND NOT sender.role is or under "Design"
    AND (
        subject contains any of words "secrets"
        # or somebody else's
        OR subject contains word "their plan" with case
    )
# then it waits
THEN gate to "Compliance@main", "Legal" within 2 days because "too large"
    AND copy to "audit@example.com" immediately
    AND notify "postmaster" saying "look \\"here\\""
EXAMPLE match "two megabytes"
    # a size
    message.size = 2 MB
    subject = "a plan"
    recipient.address = "bob@beta.example", "eve@far.example"
EXAMPLE no match file "small.eml"

rule "night"
IF now.time not between 08:00 and 18:00
THEN defer until 08:00

# the end
"""


def test_a_whole_file_is_printed_as_it_was_read() -> None:
    assert print_rules(parse_rules(WHOLE)) == WHOLE


def test_a_rule_is_the_data_it_says() -> None:
    partners, secrets, big, night = parse_rules(WHOLE).items
    assert partners == WordSource("partners", "partners.txt", (), (Note("rule", "What the compliance desk wants."),))
    assert secrets == WordSource("secrets", None, ("plan", "merger"))
    assert isinstance(big, Rule)
    assert isinstance(night, Rule)
    assert big.name == "big-mail"
    assert (big.reason, big.policy, big.owner) == ("Large mail is looked at first", "CP-12", "compliance")
    assert (big.is_enabled, big.checkpoints, big.priority, big.on_unknown) == (False, ("submit", "relay"), 100, "gate")
    assert (big.scope, big.tell_sender) == ("recipient", "with reason")
    assert (big.valid_from, big.sample) == (Moment(20454, "date"), 12.5)
    assert big.actions[0] == Action(
        name="gate", to=("Compliance@main", "Legal"), within=2 * 86_400_000_000, because="too large"
    )
    assert big.actions[1:] == (
        Action(name="copy", to=("audit@example.com",), is_immediate=True),
        Action(name="notify", to=("postmaster",), saying='look "here"'),
    )
    assert big.examples == (
        Example(
            "match",
            "two megabytes",
            None,
            (
                Fact(SIZE, (Number(2_000_000, "size"),)),
                Fact(SUBJECT, (Text("a plan"),)),
                Fact(Part("recipient.address"), (Text("bob@beta.example"), Text("eve@far.example"))),
            ),
        ),
        Example("no match", None, "small.eml"),
    )
    assert night.actions == (Action(name="defer", until=Moment(8 * 3600, "time")),)
    assert night.on_unknown is None


@pytest.mark.parametrize(
    ("text", "predicate", "printed"),
    [
        ("message.size > 1 MB", BIG, None),
        ("size>1000kB", BIG, "message.size > 1 MB"),
        ("MESSAGE.SIZE > 1000000 B", BIG, "message.size > 1 MB"),
        ("message.size = 1 MiB", Compare("=", SIZE, Number(2**20, "size")), None),
        ("message.size = 1.5 kB", Compare("=", SIZE, Number(1500, "size")), "message.size = 1500 B"),
        ("subject contains 'plan'", PLAN, 'subject contains "plan"'),
        ('NOT subject contains "plan"', Not(PLAN), 'subject does not contain "plan"'),
        ('not not subject contains ("plan")', Not(Not(PLAN)), 'NOT subject does not contain "plan"'),
        ('recipient.role is "CEO"', CEO, None),
        (
            'recipient.role is not "CEO"',
            Quantified("recipient", "any", Compare("!=", ROLE, Text("CEO"))),
            'any recipient (recipient.role is not "CEO")',
        ),
        ('recipient.role excludes "CEO"', Compare("!=", ROLE, Text("CEO")), None),
        ('all recipients (recipient.role is "CEO")', Quantified("recipient", "all", CEO), None),
        ('no recipient.role is "CEO"', Quantified("recipient", "none", CEO), 'no recipient (recipient.role is "CEO")'),
        (
            "recipient.external",
            Compare("=", Part("recipient.external"), Boolean(value=True)),
            "recipient.external is true",
        ),
        (
            'sender.domain in words "partners"',
            InList(Part("sender.domain"), Words("partners")),
            None,
        ),
        (
            'sender.domain in list ("a.example", "b.example",)',
            InList(Part("sender.domain"), Texts(("a.example", "b.example"))),
            'sender.domain in ("a.example", "b.example")',
        ),
        ('sender.role is or under "VP"', Under(Part("sender.role"), Texts(("VP",))), None),
        ('header("X-A") does not exist', Not(Exists(Part("header", "X-A"))), None),
        ("office.stat.gated.1h > 5", Compare(">", Part("office.stat", "gated.1h"), Number(5)), None),
        ('office.stat("odd name") > 5', Compare(">", Part("office.stat", "odd name"), Number(5)), None),
        ('subject matches "\\bplan\\d"', Search("matches", SUBJECT, Texts(("\\bplan\\d",))), None),
        ("created.weekday is saturday", Compare("=", Part("created.weekday"), Moment(6, "weekday")),
         "created.weekday is Saturday"),
        ("history.age > 36 hours", Compare(">", Part("history.age"), Number(129_600_000_000, "duration")), None),
        ("arrived >= 2026-01-31T13:00:00+01:00", Compare(">=", Part("arrived"), Moment(1_769_860_800_000_000)),
         "arrived >= 2026-01-31T12:00:00Z"),
    ],
)  # fmt: skip
def test_conditions(text: str, predicate: Predicate, printed: str | None) -> None:
    assert parse_condition(text) == predicate
    assert print_condition(predicate) == (printed or text)


def test_and_binds_tighter_than_xor_and_that_than_or() -> None:
    a, b, c, d = (Exists(Part("header", name)) for name in "abcd")
    text = " ".join(
        f'header("{name}") exists {word}' for name, word in zip("abcd", ("or", "xor", "and", ""), strict=True)
    )
    assert parse_condition(text) == Or((a, Xor((b, And((c, d))))))


@given(PREDICATES)
def test_what_is_printed_is_read_as_the_same(predicate: Predicate) -> None:
    text = print_condition(predicate)
    assert parse_condition(text) == predicate
    assert print_condition(parse_condition(text)) == text


@given(st.text())
def test_texts_keep_every_character(text: str) -> None:
    printed = print_text(text)
    assert "\n" not in printed
    assert read_text(printed) == text


WORDS = st.sampled_from(WHOLE.split())


@given(st.lists(WORDS | st.text(max_size=5), max_size=60).map(" ".join))
def test_whatever_is_typed_is_read_or_told(text: str) -> None:
    for parse in (parse_rules, parse_condition):
        try:
            parse(text)
        except UnreadableText:
            pass


@given(st.integers(0, len(WHOLE)), st.integers(0, 40), st.sampled_from(("", "(", '"', "AND", "§", "5", "rule")))
def test_a_torn_file_is_read_or_told(at: int, length: int, instead: str) -> None:
    try:
        file = parse_rules(WHOLE[:at] + instead + WHOLE[at + length :])
    except UnreadableText:
        return
    assert parse_rules(print_rules(file)) == file


@given(st.integers(0, 2**32), st.lists(st.integers(0, 60), max_size=6))
def test_comments_anywhere_stay_where_they_are(seed: int, places: list[int]) -> None:
    chance = Random(seed)
    rule = Rule(name="r", condition=draw_predicate(chance, 3), actions=(Action(name="release"),), owner="me")
    lines = print_rule(rule).splitlines()
    for number, place in enumerate(places):
        at = place % (len(lines) + 1)
        # Behind a list that is opened out a comment would stand inside of it, which it does not survive unmoved.
        if chance.random() < 0.5 or at == len(lines) or lines[at].startswith("#"):
            lines.insert(at, f"# comment {number}")
        else:
            lines[at] += f" # comment {number}"
    first = parse_rules("\n".join(lines))
    again = parse_rules(print_rules(first))
    assert again == first
    assert sum(len(item.notes) for item in first.items) + len(first.notes) >= min(len(places), 1)


def test_the_empty_file_is_one() -> None:
    assert parse_rules("") == RuleFile()
    assert print_rules(RuleFile()) == ""
    assert print_rules(parse_rules("# alone")) == "# alone\n"


# --- size ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000 + "always" + ")" * 10_000,
        "(" * 10_000,
        "NOT " * 10_000 + "always",
        "always AND (" * 10_000,
        "message.priority > " + "(" * 10_000,
        "message.priority > " + "-" * 10_000 + "5",
        "message.priority > " + "1 + " * 10_000 + "1",
        "count(" * 10_000,
    ],
    ids=lambda text: text[:20],
)
def test_what_is_too_deep_is_told_once(text: str) -> None:
    begun = time.perf_counter()
    with pytest.raises(UnreadableText) as unreadable:
        parse_condition(text)
    assert any("at most" in str(problem) for problem in unreadable.value.problems)
    assert time.perf_counter() - begun < 5


def test_a_long_condition_is_read_up_to_the_limit() -> None:
    text = " OR ".join(f'subject contains "w{number}"' for number in range(4_000))
    assert len(getattr(parse_condition(text), "parts", ())) == 4_000
    with pytest.raises(UnreadableText, match="at most 10,000 conditions"):
        parse_condition(" OR ".join(f'subject contains "w{number}"' for number in range(11_000)))


def test_a_large_list_is_read_and_a_larger_one_refused() -> None:
    words = [f"word{number}" for number in range(20_000)]
    text = f"subject contains any of ({', '.join(map(print_text, words))})"
    predicate = parse_condition(text)
    assert predicate == Search("contains", SUBJECT, Texts(tuple(words)))
    assert parse_condition(print_condition(predicate)) == predicate


@pytest.mark.fuzz
@pytest.mark.timeout(300)
def test_ten_megabytes_of_rules_are_read_in_bounded_time() -> None:
    rule = 'rule "r{}"\nIF message.size > 1 MB\n    AND subject contains any of ("plan", "x")\nTHEN gate to "desk"\n\n'
    text = "".join(rule.format(number) for number in range(95_000))
    assert len(text) > 9_500_000
    file = parse_rules(text)
    assert print_rules(file) == text[:-1]


@pytest.mark.fuzz
@pytest.mark.timeout(300)
def test_a_million_words_are_refused_with_advice() -> None:
    text = f"subject contains any of ({', '.join(f'{chr(34)}w{number}{chr(34)}' for number in range(1_000_000))})"
    with pytest.raises(UnreadableText, match="1 to 100,000 values"):
        parse_condition(text)
    named = parse_rules('words "all" =\n' + ",\n".join(f'    "w{number}"' for number in range(1_000_000)))
    assert len(named.words[0].words) == 1_000_000
