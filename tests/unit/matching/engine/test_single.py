"""What is true: the rules of the reference, one by one, and laws that hold for every predicate and message."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.matching.engine.single.evaluate import evaluate, evaluate_batch
from posthouse.matching.engine.single.explain import explain
from posthouse.matching.match import FALSE, TRUE, UNKNOWN, Place, Truth, all_of, any_of, negate, odd_of
from posthouse.matching.predicate.node import (
    And,
    Arithmetic,
    ArithmeticSign,
    Between,
    Boolean,
    Call,
    Compare,
    Comparison,
    Constants,
    Exists,
    Fixed,
    InList,
    IsEmpty,
    IsType,
    Moment,
    Not,
    Number,
    NumberType,
    Octets,
    Or,
    Over,
    Part,
    Predicate,
    Quantified,
    Quantifier,
    Search,
    SearchSign,
    Term,
    Text,
    Texts,
    Unary,
    Under,
    Words,
    Xor,
)
from posthouse.matching.value.fold import Collation
from posthouse.matching.value.record import Context, Recipient, Record
from posthouse.matching.value.wordlist import WordList
from posthouse.message.attribute import Int32, Value
from posthouse.message.features import Attachment, MailFeatures
from posthouse.testing.build import START
from posthouse.testing.predicate import PREDICATES
from posthouse.testing.record import COMPANY, LISTS, RECORDS

SUBJECT, X, Y = Part("subject"), Part("attribute", "x"), Part("attribute", "y")
DESK = Context(organisation=COMPANY, now=START)


def event(**attributes: Value) -> Record:
    return Record(kind="event", attributes=attributes)


def mail(subject: str | None = None, text: str = "", *, unknown: tuple[str, ...] = ()) -> Record:
    return Record(kind="mail", mail=MailFeatures(subject=subject, text=text, unknown=unknown, attachments=()))


def to(*addresses: str, sender: str = "zoë@alpha.example") -> Record:
    return Record(sender=sender, recipients=tuple(map(Recipient, addresses)), context=DESK)


def truth(predicate: Predicate, record: Record, **lists: WordList) -> Truth:
    return evaluate(predicate, record, lists=lists).truth


# --- comparisons ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "expected"), [(1_000_000, FALSE), (1_000_001, TRUE)])
def test_a_megabyte_is_a_million_bytes_and_more_is_more(size: int, expected: Truth) -> None:
    assert truth(Compare(">", Part("message.size"), Number(1_000_000, "size")), Record(size=size)) is expected


@pytest.mark.parametrize(
    ("value", "sign", "constant", "expected"),
    [
        (Int32(5), "=", Number(5), TRUE),
        (5, "=", Number(5.0, "real64"), TRUE),
        (0.1, "<", Number(1), TRUE),
        (math.nan, "=", Number(1), FALSE),
        (math.nan, "!=", Number(1), TRUE),
        (math.nan, "<", Number(1), FALSE),
        (math.inf, ">", Number(2**63 - 1), TRUE),
        ("5", "=", Number(5), UNKNOWN),
        ("5", "!=", Number(5), UNKNOWN),
        (b"x", "=", Text("x"), UNKNOWN),
        ("Straße", "=", Text("STRASSE"), TRUE),
        ("a", "<", Text("b"), UNKNOWN),
        ((1, 5), "=", Number(5), TRUE),
        ((1, 5), "!=", Number(5), FALSE),
        ((1, "a"), "=", Number(5), UNKNOWN),
        ((5, "a"), "=", Number(5), TRUE),
        ((), "=", Number(5), FALSE),
        ((), "!=", Number(5), TRUE),
        (((5,),), "=", Number(5), UNKNOWN),
        (datetime(2026, 1, 31, 23, tzinfo=UTC), "=", Moment(20_484, "date"), TRUE),
        (datetime(2026, 1, 31, 23, tzinfo=UTC), "<=", Moment(20_484, "date"), TRUE),
        (datetime(2026, 2, 1, tzinfo=UTC), "<=", Moment(20_484, "date"), FALSE),
    ],
)
def test_values_compare(value: Value, sign: Comparison, constant: Number | Text | Moment, expected: Truth) -> None:
    assert truth(Compare(sign, X, constant), event(x=value)) is expected


@pytest.mark.parametrize("sign", ["=", "!=", "<", "<=", ">", ">="])
def test_what_is_not_there_is_neither_equal_nor_unequal(sign: Comparison) -> None:
    assert truth(Compare(sign, X, Number(1)), event()) is UNKNOWN
    assert truth(Compare(sign, X, Y), event(y=1)) is UNKNOWN


def test_between_takes_its_bounds_in() -> None:
    within = Between(X, Number(1), Number(3))
    assert [truth(within, event(x=number)) for number in (0, 1, 3, 4)] == [FALSE, TRUE, TRUE, FALSE]
    assert truth(within, event(x="2")) is UNKNOWN
    assert truth(within, event(x=(0, 4))) is FALSE


@pytest.mark.parametrize(
    ("collation", "expected"), [("folded", TRUE), ("cased", FALSE), ("ascii", FALSE), ("exact", FALSE)]
)
def test_collations(collation: Collation, expected: Truth) -> None:
    assert truth(Compare("=", X, Text("STRASSE"), collation), event(x="Straße")) is expected
    assert truth(Search("contains", X, Texts(("TRASS",)), collation), event(x="Straße")) is expected
    assert truth(InList(X, Texts(("STRASSE",)), collation), event(x="Straße")) is expected


# --- figures ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "sign", "right", "result", "kind"),
    [
        (Int32(2**31 - 1), "+", Int32(1), -(2**31), "int32"),
        (Int32(2**31 - 1), "+", 1, 2**31, "int64"),
        (2**63 - 1, "+", 1, -(2**63), "int64"),
        (Int32(-(2**31)), "/", Int32(-1), -(2**31), "int32"),
        (-7, "/", 2, -3, "int64"),
        (-7, "%", 2, -1, "int64"),
        (7, "%", -2, 1, "int64"),
        (7.5, "%", 2, 1.5, "real64"),
        (1.0, "/", 0, math.inf, "real64"),
        (-1.0, "/", 0, -math.inf, "real64"),
        (1.0, "/", -0.0, -math.inf, "real64"),
        (Int32(1), "<<", Int32(33), 2, "int32"),
        (1, "<<", 63, -(2**63), "int64"),
        (Int32(-1), ">>>", Int32(28), 15, "int32"),
        (Int32(-16), ">>", Int32(2), -4, "int32"),
        (12, "&", Int32(10), 8, "int64"),
        (12, "^", 10, 6, "int64"),
        (12, "|", 3, 15, "int64"),
        (0.5, "*", Int32(3), 1.5, "real64"),
    ],
)
def test_figures_are_those_of_machines(
    left: Value, sign: ArithmeticSign, right: Value, result: float, kind: NumberType
) -> None:
    figure: Term = Arithmetic(sign, X, Y, "wrap")
    if math.isinf(result):
        # No constant is infinite, so the figure is compared with one that a message holds.
        assert truth(Compare("=", figure, Part("attribute", "z")), event(x=left, y=right, z=result)) is TRUE
    else:
        assert truth(Compare("=", figure, Number(result, kind)), event(x=left, y=right)) is TRUE


@pytest.mark.parametrize(
    ("left", "sign", "right"),
    [(1, "/", 0), (1, "%", 0), (1, "+", "1"), (1.0, "<<", 1), (b"x", "+", 1), (2**63 - 1, "+", 1), ((1, 2), "+", 1)],
)
def test_what_is_no_figure_is_unknown(left: Value, sign: ArithmeticSign, right: Value) -> None:
    figure = Arithmetic(sign, X, Y)
    assert truth(Compare("=", figure, figure), event(x=left, y=right)) is UNKNOWN


def test_signs_turn_numbers() -> None:
    assert truth(Compare("=", Unary("-", X), Number(5)), event(x=-5)) is TRUE
    assert truth(Compare("=", Unary("~", X), Number(-6)), event(x=5)) is TRUE
    assert truth(Compare("=", Unary("~", X), Number(-6)), event(x=5.0)) is UNKNOWN
    assert truth(Compare("=", Unary("-", X), Number(-(2**63))), event(x=-(2**63))) is UNKNOWN
    assert truth(Compare("=", Unary("-", X, "wrap"), Number(-(2**63))), event(x=-(2**63))) is TRUE


def test_functions() -> None:
    assert truth(Compare("=", Call("size", X), Number(3)), event(x="äöü")) is TRUE
    assert truth(Compare("=", Call("size", X), Number(2)), event(x=b"ab")) is TRUE
    assert truth(Compare("=", Call("size", X), Number(2)), event(x=12)) is UNKNOWN
    assert truth(Compare("=", Call("count", X), Number(2)), event(x=(1, 2))) is TRUE
    assert truth(Compare("=", Call("count", X), Number(0)), event()) is TRUE
    assert truth(Compare("=", Call("fold-case", X), Text("strasse"), "exact"), event(x="Straße")) is TRUE
    assert truth(Compare("=", Call("decompose", X), Text("a\u0308"), "exact"), event(x="ä")) is TRUE
    assert truth(Compare("=", Call("decompose-compat", X), Text("fi"), "exact"), event(x="ﬁ")) is TRUE
    assert truth(Compare("=", Call("weekday", Part("now")), Moment(4, "weekday")), Record(context=DESK)) is TRUE


# --- text -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sign", "text", "expected"),
    [
        ("contains", "GEHEIM", TRUE),
        ("contains", "", TRUE),
        ("contains", "ehe", TRUE),
        ("word", "ehe", FALSE),
        ("word", "geheim", TRUE),
        ("word", "geheim, und", TRUE),
        ("starts", "das ist", TRUE),
        ("starts", "ist", FALSE),
        ("ends", "NAÏVE.", TRUE),
        ("ends", "naive.", FALSE),
        ("matches", r"\bg.h", TRUE),
        ("matches", "^ist", FALSE),
        ("wildcard", "*geheim*", TRUE),
        ("wildcard", "geheim", FALSE),
    ],
)
def test_searches(sign: SearchSign, text: str, expected: Truth) -> None:
    found = mail("Das ist GEHEIM, und nai\u0308ve.")
    assert truth(Search(sign, SUBJECT, Texts((text,))), found) is expected
    assert truth(Search(sign, SUBJECT, Texts(("zzz", text))), found) is expected
    assert truth(Search(sign, SUBJECT, Texts((text,))), mail(None)) is UNKNOWN
    assert truth(Search(sign, X, Texts((text,))), event(x=5)) is UNKNOWN


def test_regular_expressions_have_case_where_the_collation_has() -> None:
    for collation, expected in (("folded", TRUE), ("ascii", TRUE), ("cased", FALSE), ("exact", FALSE)):
        leaf = Search("matches", SUBJECT, Texts(("geheim",)), collation)  # type: ignore[arg-type]  # one of the four
        assert truth(leaf, mail("GEHEIM")) is expected


def test_a_cut_text_is_true_for_what_was_read_and_never_false() -> None:
    cut = mail("s", "begin middle end", unknown=("text",))
    body = Part("message.text")
    for leaf, expected in (
        (Search("contains", body, Texts(("middle",))), TRUE),
        (Search("contains", body, Texts(("other",))), UNKNOWN),
        (Search("starts", body, Texts(("begin",))), TRUE),
        (Search("ends", body, Texts(("end",))), UNKNOWN),
        (Search("word", body, Texts(("end",))), UNKNOWN),
        (Search("word", body, Texts(("middle",))), TRUE),
        (Search("matches", body, Texts(("end$",))), UNKNOWN),
        (Search("matches", body, Texts(("m.d",))), TRUE),
        (Compare("=", body, Text("begin middle end")), UNKNOWN),
        (InList(body, Texts(("begin middle end",))), UNKNOWN),
        (Compare(">", Call("size", body), Number(1)), UNKNOWN),
        (Exists(body), TRUE),
        (IsEmpty(body), FALSE),
    ):
        assert truth(leaf, cut) is expected, leaf


# --- lists, roles, what is there --------------------------------------------------------------------------------------


def test_lists() -> None:
    assert truth(InList(X, Texts(("a", "B"))), event(x="b")) is TRUE
    assert truth(InList(X, Texts(("a", "b"))), event(x=5)) is UNKNOWN
    assert truth(InList(X, Constants((Number(1), Text("a")))), event(x="A")) is TRUE
    assert truth(InList(X, Constants((Number(1), Text("a")))), event(x=2)) is UNKNOWN
    assert truth(InList(X, Constants((Octets(b"a"),))), event(x=b"a")) is TRUE
    assert truth(InList(X, Constants((Octets(b"a"),))), event(x=b"b")) is FALSE
    assert truth(InList(X, Words("names")), event(x="Ann"), names=WordList(["ANN"])) is TRUE
    assert truth(InList(X, Words("names")), event(x="Ann")) is UNKNOWN


def test_a_dotted_name_is_under_another_at_a_dot_only() -> None:
    floor = Under(X, Texts(("house.floor1",)))
    assert truth(floor, event(x="house.floor1.room7")) is TRUE
    assert truth(floor, event(x="House.Floor1")) is TRUE
    assert truth(floor, event(x="house.floor10")) is FALSE


def test_roles() -> None:
    role = Part("sender.role")
    assert truth(Compare("=", role, Text("ceo")), to(sender="ann@alpha.example")) is TRUE
    assert truth(Under(role, Texts(("VP",))), to(sender="zoë@alpha.example")) is TRUE
    assert truth(Under(role, Texts(("Design",))), to(sender="zoë@alpha.example")) is FALSE
    assert truth(Compare("=", Part("sender.under"), Text("VP")), to(sender="zoë@alpha.example")) is TRUE
    assert truth(Compare("=", role, Text("ceo")), Record(sender="ann@alpha.example")) is UNKNOWN


def test_an_outsider_has_no_role_and_that_is_known() -> None:
    role, outsider = Part("sender.role"), to(sender="eve@far.example")
    assert truth(Compare("=", role, Text("CEO")), outsider) is FALSE
    assert truth(Compare("!=", role, Text("CEO")), outsider) is TRUE
    assert truth(Under(role, Texts(("CEO",))), outsider) is FALSE
    assert truth(IsEmpty(role), outsider) is TRUE


def test_what_is_there() -> None:
    assert truth(Exists(X), event(x=0)) is TRUE
    assert truth(Exists(X), event()) is FALSE
    assert truth(Exists(X, "unknown"), event()) is UNKNOWN
    assert truth(Exists(Part("office.stat", "load")), event()) is UNKNOWN
    assert truth(IsEmpty(X), event(x="")) is TRUE
    assert truth(IsEmpty(X), event(x=())) is TRUE
    assert truth(IsEmpty(X), event()) is UNKNOWN
    assert truth(IsType(X, "int32"), event(x=Int32(1))) is TRUE
    assert truth(IsType(X, "int32"), event(x=1)) is FALSE
    assert truth(IsType(X, "int32"), event()) is UNKNOWN
    assert truth(IsType(X, "nan"), event(x=math.nan)) is TRUE
    assert truth(IsType(X, "nan"), event(x=1)) is UNKNOWN
    assert truth(IsType(X, "list"), event(x=(1, 2))) is TRUE


# --- recipients and attachments ---------------------------------------------------------------------------------------

EXTERNAL = Compare("=", Part("recipient.external"), Boolean(value=True))
INSIDE, OUTSIDE = "ann@alpha.example", "eve@far.example"


@pytest.mark.parametrize(
    ("quantifier", "recipients", "expected", "holding"),
    [
        ("any", (INSIDE, OUTSIDE), TRUE, (1,)),
        ("any", (INSIDE,), FALSE, None),
        ("any", (), FALSE, None),
        ("all", (OUTSIDE, OUTSIDE), TRUE, (0, 1)),
        ("all", (INSIDE, OUTSIDE), FALSE, None),
        ("all", (), TRUE, ()),
        ("none", (INSIDE, INSIDE), TRUE, (0, 1)),
        ("none", (INSIDE, OUTSIDE), FALSE, None),
        ("none", (), TRUE, ()),
    ],
)
def test_recipients(
    quantifier: Quantifier, recipients: tuple[str, ...], expected: Truth, holding: tuple[int, ...] | None
) -> None:
    match = evaluate(Quantified("recipient", quantifier, EXTERNAL), to(*recipients))
    assert (match.truth, match.recipients) == (expected, holding)


def test_alone_it_means_any() -> None:
    assert evaluate(EXTERNAL, to(INSIDE, OUTSIDE)).recipients == (1,)
    assert truth(Not(EXTERNAL), to(INSIDE, OUTSIDE)) is FALSE


def test_both_conditions_inside_mean_one_recipient_and_outside_perhaps_two() -> None:
    ann = Compare("=", Part("recipient.local"), Text("ann"))
    assert truth(Quantified("recipient", "any", And((EXTERNAL, ann))), to(INSIDE, OUTSIDE)) is FALSE
    apart = evaluate(And((EXTERNAL, ann)), to(INSIDE, OUTSIDE))
    assert (apart.truth, apart.recipients) == (TRUE, ())


def test_a_condition_on_no_recipient_is_about_everybody() -> None:
    assert evaluate(Fixed("true"), to(INSIDE)).recipients is None


def test_attachments_one_at_a_time() -> None:
    parts = (Attachment("a.exe", "x/y", 10), Attachment("b.pdf", "x/y", 2_000_000))
    record = Record(mail=MailFeatures(attachments=parts))
    name = Search("ends", Part("attachment.name"), Texts((".exe",)))
    big = Compare(">", Part("attachment.size"), Number(1_000_000, "size"))
    assert truth(And((name, big)), record) is TRUE
    over: Over = "attachment"
    assert truth(Quantified(over, "any", And((name, big))), record) is FALSE
    assert truth(Quantified(over, "any", And((Not(name), big))), record) is TRUE
    assert truth(Quantified(over, "any", name), Record(mail=MailFeatures(attachments=None))) is UNKNOWN


# --- explanations -----------------------------------------------------------------------------------------------------


def test_an_explanation_says_which_leaf_and_where() -> None:
    predicate = And((Search("contains", SUBJECT, Texts(("strasse", "plan"))), Exists(Part("header", "x-a"))))
    told = explain(predicate, mail("Großer PLAN: die Straße"))
    first, second = told.leaves
    assert (first.path, first.truth) == ((0,), TRUE)
    assert first.places == (Place("subject", 0, 7, 11), Place("subject", 0, 17, 23))
    assert (second.path, second.truth, second.why) == ((1,), FALSE, "")


@pytest.mark.parametrize(
    ("leaf", "record", "why"),
    [
        (Compare("=", SUBJECT, Text("x")), event(), "the message has no subject, as it is no mail"),
        (Compare("=", Part("header", "x-a"), Text("x")), mail("s"), "the message has no header x-a"),
        (Compare("=", X, Text("x")), event(x=5), "types that do not compare"),
        (InList(X, Words("names")), event(x="a"), "the list names"),
        (Compare("=", Part("sender.role"), Text("x")), Record(sender="a"), "the organisation"),
        (Search("contains", Part("message.text"), Texts(("x",))), mail("s", unknown=("text",)), "to its end"),
        (Compare("=", Arithmetic("/", X, Y), Number(1)), event(x=1, y=0), "no /"),
    ],
)
def test_an_explanation_says_why_it_is_unknown(leaf: Compare | InList | Search, record: Record, why: str) -> None:
    (judged,) = explain(leaf, record).leaves
    assert judged.truth is UNKNOWN
    assert why in judged.why


# --- laws -------------------------------------------------------------------------------------------------------------


@given(PREDICATES, RECORDS)
def test_an_explanation_explains_the_match(predicate: Predicate, record: Record) -> None:
    told = explain(predicate, record, lists=LISTS)
    assert told.match == evaluate(predicate, record, lists=LISTS)
    for judged in told.leaves:
        assert judged.truth is not UNKNOWN or judged.why or isinstance(judged.leaf, Fixed)
        for place in judged.places:
            assert 0 <= place.start <= place.end
    truths = {judged.path: judged.truth for judged in told.leaves}
    combined = combine(predicate, (), truths)
    assert combined is None or combined is told.match.truth


def combine(predicate: Predicate, path: tuple[int, ...], truths: Mapping[tuple[int, ...], Truth]) -> Truth | None:
    """Join the leaves' truths; None where something is asked of recipients or attachments one at a time."""
    if isinstance(predicate, Quantified):
        return None
    if isinstance(predicate, Not):
        inner = combine(predicate.part, (*path, 0), truths)
        return None if inner is None else negate(inner)
    if isinstance(predicate, And | Or | Xor):
        parts = [combine(part, (*path, place), truths) for place, part in enumerate(predicate.parts)]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return {And: all_of, Or: any_of, Xor: odd_of}[type(predicate)](known)
    return truths[path]


@given(PREDICATES, RECORDS)
def test_recipients_are_those_for_whom_it_is_true_alone(predicate: Predicate, record: Record) -> None:
    match = evaluate(predicate, record, lists=LISTS)
    assert match.recipients is None or match.truth is TRUE
    for place in match.recipients or ():
        alone = msgspec.structs.replace(record, recipients=record.recipients[place : place + 1])
        # How many they are is a fact of the message, which is another one then.
        if "recipient.count" not in repr(predicate):
            assert evaluate(predicate, alone, lists=LISTS).truth is TRUE


@given(PREDICATES, RECORDS)
def test_contraries(predicate: Predicate, record: Record) -> None:
    found = truth(predicate, record, **LISTS)
    assert truth(Not(predicate), record, **LISTS) is negate(found)
    assert truth(Or((predicate, Not(predicate))), record, **LISTS) is (UNKNOWN if found is UNKNOWN else TRUE)


@given(st.lists(PREDICATES, max_size=4), st.lists(RECORDS, max_size=4))
def test_a_batch_says_what_each_says_alone(predicates: list[Predicate], records: list[Record]) -> None:
    hits = evaluate_batch(tuple(predicates), tuple(records), lists=LISTS)
    told = {
        pair: found
        for *pair_, found in zip(hits.row, hits.predicate, hits.truth, strict=True)
        for pair in [tuple(pair_)]
    }
    for row, record in enumerate(records):
        for number, predicate in enumerate(predicates):
            assert told.get((row, number), FALSE) is truth(predicate, record, **LISTS)


def test_work_stays_bounded_for_one_message() -> None:
    text = "straße " * 100_000
    patterns = Texts(("(a+)+$", r"(\w+\s?)*x", "(s|ss|sss)*ß$"))
    assert truth(Search("matches", Part("message.text"), patterns), mail("s", text)) is FALSE
    many = event(x=tuple(range(2000)), y=tuple(range(2000, 4000)))
    assert truth(Compare("=", X, Y), many) is UNKNOWN
