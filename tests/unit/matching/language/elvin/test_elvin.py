"""The subscription language, construct by construct, as part 4.9 of the requirements and its decisions say it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.matching.engine.indexed.plan import compile_plan
from posthouse.matching.engine.indexed.sweep import match
from posthouse.matching.engine.single.evaluate import evaluate, evaluate_batch
from posthouse.matching.language.elvin import fault
from posthouse.matching.language.elvin.fault import UnreadableSubscription, UnsayablePredicate
from posthouse.matching.language.elvin.parse import parse_subscription
from posthouse.matching.language.elvin.printer import print_subscription
from posthouse.matching.match import FALSE, TRUE, UNKNOWN, Truth
from posthouse.matching.predicate import node
from posthouse.matching.predicate.check import check_predicate
from posthouse.matching.predicate.form import decode_packed, encode_packed
from posthouse.matching.predicate.node import (
    And,
    Arithmetic,
    Boolean,
    Call,
    Compare,
    Exists,
    InList,
    IsType,
    Not,
    Number,
    Or,
    Part,
    Predicate,
    Search,
    Text,
    Texts,
    Unary,
    Xor,
)
from posthouse.matching.value.record import Record
from posthouse.message.attribute import Int32, Value
from posthouse.testing.predicate import draw_predicate
from posthouse.testing.subscription import draw_event, draw_subscription


def name(text: str) -> Part:
    return Part("attribute", text)


def equal(text: str, value: int) -> Compare:
    return Compare("=", name(text), Number(value, "int32"), "exact")


A, B, C = equal("a", 1), equal("b", 2), equal("c", 3)


def truth(text: str, **attributes: Value) -> Truth:
    return evaluate(parse_subscription(text), Record(kind="event", attributes=attributes)).truth


def codes(text: str) -> tuple[int, ...]:
    with pytest.raises(UnreadableSubscription) as unreadable:
        parse_subscription(text)
    return unreadable.value.codes


# --- what is read -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "predicate", "printed"),
    [
        ("a == 1 && b == 2 || c == 3", Or((And((A, B)), C)), "(a == 1 && b == 2) || c == 3"),
        ("a == 1 || b == 2 ^^ c == 3", Or((A, Xor((B, C)))), "a == 1 || (b == 2 ^^ c == 3)"),
        ("a == 1 ^^ b == 2 && c == 3", Xor((A, And((B, C)))), "a == 1 ^^ (b == 2 && c == 3)"),
        ("(a == 1 || b == 2) && c == 3", And((Or((A, B)), C)), None),
        ("(a == 1 && b == 2) && c == 3", And((And((A, B)), C)), None),
        ("! a == 1 && b == 2", And((Not(A), B)), "!(a == 1) && b == 2"),
        ("!!require(a)", Not(Not(Exists(name("a"), "unknown"))), None),
    ],
)
def test_joins_conditions(text: str, predicate: Predicate, printed: str | None) -> None:
    """P-031: `||` is looser than `^^`, that than `&&`; `!` turns a whole comparison round."""
    assert parse_subscription(text) == predicate
    assert print_subscription(predicate) == (printed or text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a - b + c", Arithmetic("+", Arithmetic("-", name("a"), name("b"), "wrap"), name("c"), "wrap")),
        ("a - (b + c)", Arithmetic("-", name("a"), Arithmetic("+", name("b"), name("c"), "wrap"), "wrap")),
        ("a * b | c", Arithmetic("*", name("a"), Arithmetic("|", name("b"), name("c"), "wrap"), "wrap")),
        ("a << b * c", Arithmetic("*", Arithmetic("<<", name("a"), name("b"), "wrap"), name("c"), "wrap")),
        ("a | b ^ c", Arithmetic("|", name("a"), Arithmetic("^", name("b"), name("c"), "wrap"), "wrap")),
        ("a ^ b & c", Arithmetic("^", name("a"), Arithmetic("&", name("b"), name("c"), "wrap"), "wrap")),
        ("-a & b", Arithmetic("&", Unary("-", name("a"), "wrap"), name("b"), "wrap")),
        ("a >>> b >> c", Arithmetic(">>", Arithmetic(">>>", name("a"), name("b"), "wrap"), name("c"), "wrap")),
        ("~+a", Unary("~", Unary("+", name("a"), "wrap"), "wrap")),
        ("-(5)", Unary("-", Number(5, "int32"), "wrap")),
        ("a - -5", Arithmetic("-", name("a"), Number(-5, "int32"), "wrap")),
    ],
)
def test_figures_bind_as_written(text: str, left: node.Term) -> None:
    """P-031, D-P5: bits bind tighter than shifts, shifts than products, products than sums; then left to right."""
    parsed = parse_subscription(f"{text} > x")
    assert parsed == Compare(">", left, name("x"), "exact")
    assert print_subscription(parsed) == f"{text} > x"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("5", Number(5, "int32")),
        ("5L", Number(5, "int64")),
        ("5l", Number(5, "int64")),
        ("0x1F", Number(31, "int32")),
        ("0xffL", Number(255, "int64")),
        ("017", Number(15, "int32")),
        ("0", Number(0, "int32")),
        ("-2147483648", Number(-(2**31), "int32")),
        ("2147483647", Number(2**31 - 1, "int32")),
        ("-9223372036854775808L", Number(-(2**63), "int64")),
        ("2.5", Number(2.5, "real64")),
        ("1.0e16", Number(1e16, "real64")),
        ("-1.5E-7", Number(-1.5e-7, "real64")),
    ],
)
def test_numbers_have_their_width(text: str, number: Number) -> None:
    """P-030, D-P10: a number is 32 bits wide, with an L 64; the least of each can be written."""
    parsed = parse_subscription(f"a == {text}")
    assert parsed == Compare("=", name("a"), number, "exact")
    assert parse_subscription(print_subscription(parsed)) == parsed


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('"plain"', "plain"),
        ("'plain'", "plain"),
        (r'"a \"b\" \\ \n"', r'a "b" \ n'),
        ("'it\\'s'", "it's"),
        ('"it\'s"', "it's"),
        ('"two\nlines"', "two\nlines"),
        ('""', ""),
    ],
)
def test_a_backslash_means_the_character_behind_it(text: str, meant: str) -> None:
    """D-P9: there is no \\n; strings stand in either quotes, and may hold line breaks."""
    assert parse_subscription(f"a == {text}") == Compare("=", name("a"), Text(meant), "exact")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("i==5", "i==5"),
        ("a.b-c/d", "a.b-c/d"),
        ("_x", "_x"),
        (r"odd\ name", "odd name"),
        (r"\(x\)", "(x)"),
        (r"\1st", "1st"),
        (r"a\,b", "a,b"),
        ("größe", "größe"),
        ("require", "require"),
        ("Case", "Case"),
        (r"\@subject", "@subject"),
    ],
)
def test_signs_belong_to_names(text: str, meant: str) -> None:
    """P-031, D-P18: a name goes on to the next blank, bracket, quotation mark or comma."""
    parsed = parse_subscription(f"{text} == 1")
    assert parsed == equal(meant, 1)
    assert print_subscription(parsed) == f"{text} == 1"


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("require(a)", Exists(name("a"), "unknown")),
        ("exists(a)", Exists(name("a"), "false")),
        ("int32(a)", IsType(name("a"), "int32")),
        ("int64(a)", IsType(name("a"), "int64")),
        ("real64(a)", IsType(name("a"), "real64")),
        ("string(a)", IsType(name("a"), "text")),
        ("opaque(a)", IsType(name("a"), "bytes")),
        ("nan(a)", IsType(name("a"), "nan")),
        ('equals(a, "x", "y")', InList(name("a"), Texts(("x", "y")), "exact")),
        (
            'equals(a, 1, "y", 2.5)',
            InList(name("a"), node.Constants((Number(1, "int32"), Text("y"), Number(2.5, "real64"))), "exact"),
        ),
        ('begins-with(a, "x", "y")', Search("starts", name("a"), Texts(("x", "y")), "exact")),
        ('ends-with(a, "x")', Search("ends", name("a"), Texts(("x",)), "exact")),
        ('contains(a, "x")', Search("contains", name("a"), Texts(("x",)), "exact")),
        ('wildcard(a, "x*")', Search("wildcard", name("a"), Texts(("x*",)), "exact")),
        ('regex(a, "x.")', Search("matches", name("a"), Texts(("x.",)), "exact")),
        ('fold-case(a) == "x"', Compare("=", Call("fold-case", name("a")), Text("x"), "exact")),
        (
            'contains(fold-case(decompose(a)), "x")',
            Search("contains", Call("fold-case", Call("decompose", name("a"))), Texts(("x",)), "exact"),
        ),
        ('decompose-compat(a) != "x"', Compare("!=", Call("decompose-compat", name("a")), Text("x"), "exact")),
        ("size(a) > 3", Compare(">", Call("size", name("a")), Number(3, "int32"), "exact")),
    ],
)
def test_functions(text: str, predicate: Predicate) -> None:
    """P-031: every function of the language."""
    assert parse_subscription(text) == predicate
    assert print_subscription(predicate) == text


def test_equals_of_names_is_an_or() -> None:
    """P-031: `equals` is the or of `==`."""
    parsed = parse_subscription("equals(a, 1, b)")
    assert parsed == Or((A, Compare("=", name("a"), name("b"), "exact")))


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ('@subject == "x"', Compare("=", Part("subject"), Text("x"), "exact")),
        ('@header("X-Spam") == "yes"', Compare("=", Part("header", "X-Spam"), Text("yes"), "exact")),
        ("@message.size > 1000", Compare(">", Part("message.size"), Number(1000, "size"), "exact")),
        ("@message.size > 5000000000L", Compare(">", Part("message.size"), Number(5_000_000_000, "size"), "exact")),
        ("@is_signed", Compare("=", Part("is_signed"), Boolean(value=True), "exact")),
        ("!@is_signed", Not(Compare("=", Part("is_signed"), Boolean(value=True), "exact"))),
        ("require(@sender.address)", Exists(Part("sender.address"), "unknown")),
    ],
)
def test_other_parts_begin_with_an_at_sign(text: str, predicate: Predicate) -> None:
    """P-025, P-027: any field can be asked for; no name of Elvin begins with @, so none is taken away."""
    assert parse_subscription(text) == predicate
    assert print_subscription(predicate) == text


def test_nobody_asks_for_recipients() -> None:
    """P-001: a subscription never learns who else gets a message."""
    assert codes('@recipient.address == "x"') == (fault.PARSE,)
    with pytest.raises(UnsayablePredicate):
        print_subscription(Compare("=", Part("recipient.address"), Text("x"), "exact"))


# --- what is true -----------------------------------------------------------------------------------------------------


def test_the_example_of_the_chat() -> None:
    """P-032: the event matches by its source and a regular expression on its user."""
    text = 'TICKERTAPE == "Elvin" && regex(USER, "^(ann|bob)") && TIMEOUT > 5'
    assert truth(text, TICKERTAPE="Elvin", USER="bob@far", TICKERTEXT="hi", TIMEOUT=Int32(10)) is TRUE
    assert truth(text, TICKERTAPE="Elvin", USER="eve", TICKERTEXT="hi", TIMEOUT=Int32(10)) is FALSE
    assert truth(text, TICKERTAPE="Elvin", USER="bob") is UNKNOWN


THREE = {TRUE: "a == 1", FALSE: "a == 2", UNKNOWN: "m == 1"}


@pytest.mark.parametrize("left", THREE)
@pytest.mark.parametrize("right", THREE)
def test_three_values_of_truth(left: Truth, right: Truth) -> None:
    """P-031: and is the least, or the greatest, xor is not known as soon as one side is not."""
    a = Int32(1)
    assert truth(f"{THREE[left]} && {THREE[right]}", a=a) is min(left, right)
    assert truth(f"{THREE[left]} || {THREE[right]}", a=a) is max(left, right)
    xor = UNKNOWN if UNKNOWN in (left, right) else TRUE if left is not right else FALSE
    assert truth(f"{THREE[left]} ^^ {THREE[right]}", a=a) is xor
    assert truth(f"! {THREE[left]}", a=a) is Truth(2 - left)


NAN = math.nan


@pytest.mark.parametrize(
    ("text", "attributes", "expected"),
    [
        ("x != 1", {}, UNKNOWN),
        ("x + 1 > 0 || a == 1", {"a": Int32(1)}, TRUE),
        ("require(x)", {}, UNKNOWN),
        ("require(x)", {"x": 1}, TRUE),
        ("! require(x)", {}, UNKNOWN),
        ("exists(x)", {}, FALSE),
        ("! exists(x)", {}, TRUE),
        ("int32(x)", {"x": Int32(1)}, TRUE),
        ("int32(x)", {"x": 1}, FALSE),
        ("int64(x)", {"x": 1}, TRUE),
        ("int32(x)", {}, UNKNOWN),
        ("string(x)", {"x": b""}, FALSE),
        ("opaque(x)", {"x": b""}, TRUE),
        ("nan(x)", {"x": NAN}, TRUE),
        ("nan(x)", {"x": 1.0}, FALSE),
        ("nan(x)", {"x": 1}, UNKNOWN),
        ("nan(x)", {}, UNKNOWN),
        ("x == 1", {"x": 1.0}, TRUE),
        ("x == 1L", {"x": Int32(1)}, TRUE),
        ("x < y", {"x": Int32(1), "y": 1.5}, TRUE),
        ('x == "1"', {"x": 1}, UNKNOWN),
        ("x == y", {"x": b"a", "y": b"a"}, UNKNOWN),
        ("x < y", {"x": "a", "y": "b"}, UNKNOWN),
        ("x == x", {"x": NAN}, FALSE),
        ("x != x", {"x": NAN}, TRUE),
        ("x > 1.0", {"x": NAN}, FALSE),
        ('x == "Abc"', {"x": "abc"}, FALSE),
        ('x == "e\u0301"', {"x": "é"}, FALSE),
        ('fold-case(x) == "strasse"', {"x": "STRAßE"}, TRUE),
        ('decompose(x) == "e\u0301"', {"x": "é"}, TRUE),
        ('decompose-compat(x) == "fi"', {"x": "ﬁ"}, TRUE),
        ("size(x) == 1", {"x": "é"}, TRUE),
        ("size(x) == 3", {"x": b"abc"}, TRUE),
        ("size(x) == 3", {"x": 123}, UNKNOWN),
        ('begins-with(x, "")', {"x": "abc"}, TRUE),
        ('contains(x, "")', {"x": ""}, TRUE),
        ('ends-with(x, "z", "c")', {"x": "abc"}, TRUE),
        ('begins-with(x, "a")', {"x": 5}, UNKNOWN),
        ('begins-with(x, "a")', {}, UNKNOWN),
        ('wildcard(x, "a*c?")', {"x": "abbcd"}, TRUE),
        ('wildcard(x, "b*")', {"x": "abc"}, FALSE),
        ('wildcard(x, "a[bc]")', {"x": "ab"}, FALSE),
        (r'wildcard(x, "a\\*")', {"x": "a*"}, TRUE),
        ('regex(x, "b+")', {"x": "abbc"}, TRUE),
        ('regex(x, "B")', {"x": "abbc"}, FALSE),
        ('equals(x, 1, "one")', {"x": "one"}, TRUE),
        ('equals(x, 1, "one")', {"x": 1.0}, TRUE),
        ('equals(x, 2, "one")', {"x": 1}, UNKNOWN),
        ("equals(x, 2, 3)", {"x": 1}, FALSE),
        ("x / 0 == 1 || x == 1", {"x": 1}, TRUE),
        ("x / 0 == 1", {"x": 1}, UNKNOWN),
        ("x % 0 == 1", {"x": 1}, UNKNOWN),
        ("x / 0.0 > 1", {"x": 1}, TRUE),
        ("x % 1.5 == 1.0", {"x": 2.5}, TRUE),
        ("-7 / x == -3", {"x": 2}, TRUE),
        ("-7 % x == -1", {"x": 2}, TRUE),
        ("x + 1 == -2147483648", {"x": Int32(2**31 - 1)}, TRUE),
        ("x + 1L == 2147483648L", {"x": Int32(2**31 - 1)}, TRUE),
        ("x + 1 < 0", {"x": 2**63 - 1}, TRUE),
        ("x << 33 == 2", {"x": Int32(1)}, TRUE),
        ("x << 33 == 8589934592L", {"x": 1}, TRUE),
        ("x >> 1 == -1", {"x": Int32(-1)}, TRUE),
        ("x >>> 1 == 2147483647", {"x": Int32(-1)}, TRUE),
        ("~x == -6", {"x": Int32(5)}, TRUE),
        ("x & 6 == 4", {"x": Int32(5)}, TRUE),
        ("x | 1 == 5", {"x": Int32(4)}, TRUE),
        ("x ^ 1 == 4", {"x": Int32(5)}, TRUE),
        ("x & 1 == 1", {"x": 1.0}, UNKNOWN),
        ("x + 1 == 2", {"x": "1"}, UNKNOWN),
        ("x == y", {"x": 1}, UNKNOWN),
    ],
)
def test_truth(text: str, attributes: dict[str, Value], expected: Truth) -> None:
    """P-030, P-031, D-P2 to D-P4, D-P6, D-P11 to D-P17: what is missing or does not compare is unknown, never false."""
    assert truth(text, **attributes) is expected


# --- faults and limits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a ==", fault.PARSE),
        ("a == 1 b", fault.PARSE),
        ("a == 5.", fault.TOKEN),
        ("a == \u20ac", fault.TOKEN),
        ('a == "x', fault.UNTERMINATED),
        ("foo(a)", fault.UNKNOWN_FUNCTION),
        ("a == 2147483648", fault.OVERFLOW),
        ("a == 9223372036854775808L", fault.OVERFLOW),
        ("a == 1.0e999", fault.OVERFLOW),
        ("a", fault.MISMATCH),
        ("a + 1", fault.MISMATCH),
        ('a < "b"', fault.MISMATCH),
        ('a + "b" == 1', fault.MISMATCH),
        ("a & 1.5 == 1", fault.MISMATCH),
        ("begins-with(a, b)", fault.MISMATCH),
        ("begins-with(a, 1)", fault.MISMATCH),
        ("begins-with(a)", fault.FEW_ARGUMENTS),
        ("require()", fault.FEW_ARGUMENTS),
        ("require(a, b)", fault.MANY_ARGUMENTS),
        ('regex(a, "(")', fault.REGEX),
        ('regex(a, "((a{100}){10}){1000}")', fault.REGEX),
        ('regex(a, "(x{1000}y{1000}){1}(z{1000}){1}x{999}.{999}.{999}.{999}.{999}.{999}")', fault.COMPLEX_REGEX),
        ("1 == 1", fault.TRIVIAL),
        ("1 == 1 || a == 1", fault.TRIVIAL),
        ('equals("a", "a")', fault.TRIVIAL),
        ("(" * 65 + "a == 1" + ")" * 65, fault.NESTING),
        ("x" * 1025 + " == 1", fault.LIMIT),
    ],
)
def test_a_fault_has_the_number_elvin_gives_it(text: str, code: int) -> None:
    """P-034: errors carry code and position."""
    assert codes(text) == (code,)


def test_tells_all_faults_at_once() -> None:
    """P-034: each with its own place."""
    with pytest.raises(UnreadableSubscription) as unreadable:
        parse_subscription("a = 1 &&\n(foo(b) || c) &&\nd == 99999999999 && 1 == 1")
    places = [(problem.line, problem.column) for problem in unreadable.value.problems]
    assert places == [(1, 3), (2, 2), (2, 12), (3, 6), (3, 21)]
    assert unreadable.value.codes == (2101, 2104, 2106, 2105, 2110)
    assert "line 1, column 3" in str(unreadable.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: "(" * 10_000 + "a == 1" + ")" * 10_000,
        lambda: "!" * 10_000 + "a == 1",
        lambda: "-" * 10_000 + "a == 1",
        lambda: " + ".join(["a"] * 10_000) + " == 1",
        lambda: "fold-case(" * 10_000 + "a",
        lambda: "a == 1 || " * 24_000 + "a == 1",
        lambda: "x" * 10_000_000,
        lambda: '"' * 249_000,
        lambda: "((" * 120_000,
        lambda: "a b " * 60_000,
        lambda: "a == 1 &&" * 27_000,
        lambda: "\\" * 249_000,
        lambda: "9" * 249_000 + " == a",
        lambda: "\n" * 249_000 + "=",
        lambda: "\u201c" * 249_000,
        lambda: "equals(a, " + ", ".join(["1"] * 80_000),
        lambda: "regex(a, " + ", ".join(f"'.{{{900 + n % 90}}}x{n}'" for n in range(14_000)) + ")",
        lambda: "regex(a, '" + "(" * 240_000 + "')",
    ],
)
def test_what_is_beyond_a_limit_is_refused_soon(make: Callable[[], str]) -> None:
    """P-008: neither length, nor depth, nor number keeps anybody waiting."""
    text = make()
    start = time.perf_counter()
    with pytest.raises(UnreadableSubscription) as unreadable:
        parse_subscription(text)
    assert time.perf_counter() - start < 3
    assert len(str(unreadable.value)) < 400
    assert len(unreadable.value.problems) <= 100


def test_long_lists_are_read() -> None:
    """P-031: ten thousand strings in one function."""
    words = [f"word{number}" for number in range(10_000)]
    text = f"equals(a, {', '.join(map(repr, words))})"
    assert parse_subscription(text) == InList(name("a"), Texts(tuple(words)), "exact")


# --- by chance --------------------------------------------------------------------------------------------------------

SEEDS = st.integers(0, 2**32)


@given(SEEDS)
def test_reads_what_it_prints(seed: int) -> None:
    predicate = draw_subscription(Random(seed))
    assert not check_predicate(predicate)
    assert parse_subscription(print_subscription(predicate)) == predicate
    assert decode_packed(encode_packed(predicate)) == predicate


@given(st.text())
def test_any_text_and_any_name_travel(text: str) -> None:
    predicate = Compare("=", name(text or "x"), Text(text), "exact")
    assert parse_subscription(print_subscription(predicate)) == predicate


@given(st.text(alphabet="ab=!<>&|^()[]\"'\\ ,@+-~0x.eL\n#\u201c", max_size=60))
def test_whatever_is_written_is_read_or_told(text: str) -> None:
    try:
        parsed = parse_subscription(text)
    except UnreadableSubscription:
        assert all(codes(text))
    else:
        assert parse_subscription(print_subscription(parsed)) == parsed


@given(SEEDS)
def test_other_predicates_are_printed_or_refused(seed: int) -> None:
    predicate = draw_predicate(Random(seed))
    try:
        text = print_subscription(predicate)
    except UnsayablePredicate:
        return
    parse_subscription(text)


def agree(seed: int, subscriptions: int, events: int) -> None:
    chance = Random(seed)
    drawn = tuple(draw_subscription(chance) for _ in range(subscriptions))
    predicates = dict(enumerate(parse_subscription(print_subscription(predicate)) for predicate in drawn))
    records = tuple(draw_event(chance) for _ in range(events))
    plan = compile_plan(predicates, only_true=False)
    assert match(plan, records) == evaluate_batch(drawn, records), f"seed {seed}"


@given(SEEDS)
def test_both_engines_agree(seed: int) -> None:
    agree(seed, 10, 10)


@pytest.mark.fuzz
@pytest.mark.timeout(900)
def test_both_engines_agree_for_long() -> None:
    until = time.monotonic() + 600
    seed = Random().getrandbits(48)
    while time.monotonic() < until:
        agree(seed, 100, 100)
        seed += 1
