"""What is refused before it is used, all of it at once, each with its place."""

from __future__ import annotations

import pytest

from posthouse.matching.predicate.check import MAX_DEPTH, MAX_NODES, check_predicate
from posthouse.matching.predicate.node import (
    And,
    Arithmetic,
    Between,
    Boolean,
    Compare,
    Constants,
    Exists,
    Fixed,
    InList,
    Moment,
    Not,
    Number,
    Octets,
    Or,
    Part,
    Predicate,
    Quantified,
    Search,
    Term,
    Text,
    Texts,
    Under,
    Words,
)

SIZE, SUBJECT = Part("message.size"), Part("subject")


@pytest.mark.parametrize(
    ("predicate", "told"),
    [
        (Exists(Part("subjet")), "did you mean subject?"),
        (Exists(Part("domain")), "did you mean"),
        (Exists(Part("header")), 'header("…")'),
        (Exists(Part("office.stat")), "office.stat.…"),
        (Exists(Part("subject", "x")), "takes no name"),
        (
            Compare("=", SIZE, Text("big")),
            "to compare with a size, found text (it stands without quotes, such as 5 MB)",
        ),
        (Compare("<", SUBJECT, Text("a")), "something with an order before <, found text"),
        (Compare("<", Part("is_signed"), Boolean(value=True)), "order"),
        (Between(SUBJECT, Text("a"), Text("b")), "order"),
        (Compare("=", SIZE, Number(5)), "a size with its unit, such as 5 MB, found a number"),
        (Between(SIZE, Number(5, "size"), Number(5)), "5 MB"),
        (Compare(">", Part("message.priority"), Number(5, "size")), "a number to compare with, found a size"),
        (Compare(">", Number(5), Number(4)), "constants alone"),
        (Compare(">", Part("history.age"), Number(5)), "2 days"),
        (InList(SUBJECT, Constants((Text("a"),))), "as texts"),
        (Compare("=", SIZE, Number(2**63)), "fits into int64"),
        (Compare("=", SIZE, Number(-1, "size")), "fits into size"),
        (Compare("=", SIZE, Number(float("nan"), "real64")), "finite"),
        (Compare("=", SIZE, Number(1.5)), "whole number"),
        (Compare("=", Part("now.time"), Moment(86_400, "time")), "between 0 and 86399"),
        (Search("contains", SIZE, Texts(("x",))), "text before contains"),
        (Search("contains", SUBJECT, Texts(())), "1 to 100,000 values"),
        (Search("matches", SUBJECT, Texts(("(",))), "a group that is not closed"),
        (Search("matches", SUBJECT, Words("partners")), "written out"),
        (InList(SUBJECT, Constants((Number(1),))), "to compare with text, found a number"),
        (InList(SIZE, Texts(("a",))), "text before in"),
        (Under(SIZE, Texts(("a",))), "is or under"),
        (And((Fixed("true"),)), "two conditions"),
        (Or(()), "found 0"),
        (Quantified("recipient", "any", Not(Quantified("recipient", "all", Fixed("true")))), "no second all recipient"),
    ],
)
def test_says_what_is_wrong(predicate: Predicate, told: str) -> None:
    (fault,) = check_predicate(predicate)
    assert told in f"{fault.what} ({fault.hint})"


@pytest.mark.parametrize(
    "predicate",
    [
        Compare("=", Part("attribute", "x"), Text("a")),
        Compare("<", Part("attribute", "x"), Part("attribute", "y")),
        InList(Part("attribute", "x"), Constants((Octets(b"a"), Number(1), Text("a")))),
        Compare("<=", Part("arrived"), Moment(20_000, "date")),
        Compare(">", Arithmetic("*", SIZE, Number(2)), Number(5, "size")),
        Quantified("recipient", "any", Quantified("attachment", "all", Fixed("true"))),
        Compare("=", Part("sender.role"), Text("CEO")),
    ],
)
def test_takes_what_can_be_judged(predicate: Predicate) -> None:
    assert check_predicate(predicate) == ()


def test_tells_all_faults_with_their_places() -> None:
    wrong = And((Exists(Part("a")), Not(Or((Exists(Part("b")), Fixed("true"))))))
    assert [fault.path for fault in check_predicate(wrong)] == [(0,), (1, 0, 0)]


def test_depth_and_number_are_bounded() -> None:
    deep: Predicate = Fixed("true")
    for _ in range(50_000):
        deep = Not(deep)
    assert f"at most {MAX_DEPTH}" in check_predicate(deep)[-1].what
    wide = And(tuple(Fixed("true") for _ in range(MAX_NODES + 1)))
    assert "at most 10,000" in check_predicate(wide)[-1].what
    term: Term = Number(1)
    for _ in range(5_000):
        term = Arithmetic("+", term, Number(1))
    assert "terms inside each other" in check_predicate(Compare("=", term, Number(1)))[-1].what
