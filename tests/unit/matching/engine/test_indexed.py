"""The indexed engine says what the single one says, of everything, at each moment, by each of its ways."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Container
from datetime import UTC, datetime
from itertools import product
from random import Random

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from posthouse.matching.engine.indexed.change import Standing, rebuild
from posthouse.matching.engine.indexed.plan import compile_plan
from posthouse.matching.engine.indexed.search import IS_NATIVE
from posthouse.matching.engine.indexed.sweep import candidates, match
from posthouse.matching.engine.single.evaluate import evaluate_batch
from posthouse.matching.match import TRUE, Hits
from posthouse.matching.predicate.node import (
    And,
    Between,
    Compare,
    Comparison,
    Exists,
    InList,
    Not,
    Number,
    NumberType,
    Or,
    Part,
    Predicate,
    Quantified,
    Quantifier,
    Search,
    Text,
    Texts,
    Words,
)
from posthouse.matching.value.fold import Collation
from posthouse.matching.value.record import Record
from posthouse.matching.value.wordlist import WordList
from posthouse.message.attribute import Int32, Value
from posthouse.message.features import MailFeatures
from posthouse.testing.predicate import draw_predicate
from posthouse.testing.record import LISTS, draw_record
from tests.unit.matching.engine.compose import Pieces

QUANTIFIERS: tuple[Quantifier, ...] = ("any", "all", "none")
SIGNS: tuple[Comparison, ...] = ("=", "!=", "<", "<=", ">", ">=")
FIVES: tuple[tuple[float, NumberType], ...] = (
    (5, "int64"), (5.0, "real64"), (0, "int64"), (2**60, "real64"), (2**60 - 1, "int64"),
)  # fmt: skip
SEEDS = st.integers(0, 2**32)
# Where nothing was compiled there is one way only.
WAYS = (True, False) if IS_NATIVE else (False,)


def judged(predicates: dict[int, Predicate], records: tuple[Record, ...], *, only_true: bool) -> Hits:
    """Give what the single engine says, under the numbers given."""
    numbers = sorted(predicates)
    hits = evaluate_batch(tuple(predicates[number] for number in numbers), records, lists=LISTS)
    hits = msgspec.structs.replace(hits, predicate=tuple(numbers[place] for place in hits.predicate))
    return true_of(hits) if only_true else hits


def true_of(hits: Hits) -> Hits:
    columns = zip(hits.row, hits.predicate, hits.truth, hits.recipients, strict=True)
    rows = [row for row in columns if row[2] is TRUE]
    return Hits(*zip(*rows, strict=True)) if rows else Hits()


def draw(seed: int, predicates: int = 20, records: int = 20) -> tuple[dict[int, Predicate], tuple[Record, ...]]:
    chance = Random(seed)
    drawn = {number: draw_predicate(chance) for number in range(predicates)}
    return drawn, tuple(draw_record(chance) for _ in range(records))


@pytest.mark.timeout(300)
@settings(max_examples=500)
@given(SEEDS, st.booleans(), st.booleans())
def test_says_what_the_single_engine_says(seed: int, only_true: bool, is_fast: bool) -> None:
    predicates, records = draw(seed)
    wanted = judged(predicates, records, only_true=only_true)
    for is_native in WAYS:
        plan = compile_plan(predicates, lists=LISTS, only_true=only_true, is_fast=is_fast, is_native=is_native)
        assert match(plan, records) == wanted


def hunt(seed: int) -> int:
    """Compare a hundred thousand pairs: all are made of pieces, and some of them are judged whole as well."""
    chance = Random(seed)
    records = tuple(draw_record(chance) for _ in range(100))
    pieces = Pieces(chance, records, count=80, lists=LISTS)
    predicates = {number: pieces.draw() for number in range(1_000)}
    hits = pieces.hits(predicates)
    sample = dict(chance.sample(sorted(predicates.items()), 20))
    wanted = judged(sample, records, only_true=False)
    assert chosen(hits, sample) == wanted, f"seed {seed}"
    # Each way has its turn.
    only_true, is_fast, is_native = bool(seed & 1), seed % 8 != 2, WAYS[seed // 2 % len(WAYS)]
    plan = compile_plan(predicates, lists=LISTS, only_true=only_true, is_fast=is_fast, is_native=is_native)
    assert match(plan, records) == (true_of(hits) if only_true else hits), f"seed {seed}"
    return len(predicates) * len(records)


def chosen(hits: Hits, numbers: Container[int]) -> Hits:
    columns = zip(hits.row, hits.predicate, hits.truth, hits.recipients, strict=True)
    rows = [row for row in columns if row[1] in numbers]
    return Hits(*zip(*rows, strict=True)) if rows else Hits()


def test_predicates_made_of_pieces_are_judged_the_same() -> None:
    assert hunt(Random().getrandbits(32)) == 100_000


@pytest.mark.fuzz
@pytest.mark.timeout(3_000)
def test_says_so_a_hundred_million_times(request: pytest.FixtureRequest) -> None:
    seconds = 0.8 * float(request.config.getoption("--timeout", default=None) or 2_500)
    until = time.monotonic() + min(seconds, 2_400)
    seed = Random().getrandbits(48)
    pairs = 0
    while time.monotonic() < until and pairs < 10**8:
        pairs += hunt(seed)
        seed += 1
    print(f"{pairs:,} pairs compared, the last of seed {seed - 1}")  # noqa: T201  a hunt says how far it went


TEXTS = ("", "a", "ab", "Ab", "abc", "bca", "aé", "É", "\u212a", "\ud800a", "straße", "abcabcab", "x" * 120 + "É")
PLAIN: tuple[float, ...] = (0, Int32(1), 1, 1.0, 2.5, -3, 2**31, 2**53, 1e300, -0.0, math.inf, -math.inf, math.nan)
FIGURES: tuple[float, ...] = (*PLAIN, 2**53 + 1, 2**60, 2**70)
VALUES: tuple[tuple[Value, ...], ...] = (TEXTS, FIGURES)
ODD: tuple[Value, ...] = (("a", "abc"), (1, 2.5), ("a", 1), (), b"a", datetime(2026, 1, 1, tzinfo=UTC))
COLLATIONS: tuple[Collation, ...] = ("exact", "folded", "cased", "ascii")


def draw_event(chance: Random, odd: float) -> Record:
    attributes: dict[str, Value] = {
        name: chance.choice(ODD) if chance.random() < odd else chance.choice(chance.choice(VALUES))
        for name in chance.sample("abcdef", 4)
    }
    return Record(kind=chance.choice(("event", "object")), attributes=attributes)


def draw_number(chance: Random, *, is_plain: bool) -> Number:
    figure = chance.choice(PLAIN if is_plain else FIGURES)
    if type(figure) is float:
        return Number(1.5 if math.isnan(figure) else figure, "real64")
    return Number(int(figure), "int64" if abs(figure) < 2**63 else "real64")


def draw_condition(chance: Random, *, is_plain: bool) -> Predicate:
    """Give one condition, if it is plain one that the compiled part knows."""
    part = Part("attribute", chance.choice("abcdef"))
    collation, text = chance.choice(COLLATIONS), chance.choice(TEXTS)
    kind = chance.randrange(12)
    if kind < 2:
        return Compare(chance.choice(SIGNS), part, draw_number(chance, is_plain=is_plain))
    if kind < 4:
        return Between(part, draw_number(chance, is_plain=is_plain), draw_number(chance, is_plain=is_plain))
    if kind == 4:
        return InList(part, Texts((text, chance.choice(TEXTS))), collation)
    if kind == 5:
        return Exists(part)
    if kind == 6 and not is_plain:
        return Search("matches", part, Texts((chance.choice(("a.c", "^ab", "b+c|x{3}")),)), collation)
    if kind == 7:
        return Compare("=", Part("message.kind"), Text("event"))
    if kind < 10:
        return Search(chance.choice(("starts", "ends", "contains", "word")), part, Texts((text,)), collation)
    return Compare(chance.choice(("=", "=", "!=")), part, Text(text), collation)


def draw_subscription(chance: Random, *, is_plain: bool) -> Predicate:
    parts = tuple(draw_condition(chance, is_plain=is_plain) for _ in range(chance.choice((1, 2, 2, 3, 4))))
    if chance.random() < 0.1:
        return chance.choice(
            (Or(parts), Not(parts[0]), And((*parts, Or((parts[0], draw_condition(chance, is_plain=is_plain))))))
        )
    return parts[0] if len(parts) == 1 else And(parts)


@settings(max_examples=100)
@given(SEEDS, st.booleans(), st.sampled_from((True, True, False)), st.sampled_from((0.0, 0.0, 0.02, 0.3)))
def test_subscriptions_find_the_events_that_the_single_engine_finds(
    seed: int, is_fast: bool, is_plain: bool, odd: float
) -> None:
    chance = Random(seed)
    records = tuple(draw_event(chance, odd) for _ in range(20))
    predicates = {number: draw_subscription(chance, is_plain=is_plain) for number in range(60)}
    wanted = judged(predicates, records, only_true=True)
    for is_native in WAYS:
        plan = compile_plan(predicates, only_true=True, is_fast=is_fast, is_native=is_native)
        assert match(plan, records) == wanted


@pytest.mark.skipif(not IS_NATIVE, reason="no C compiler was there when Posthouse was installed")
def test_what_the_compiled_part_can_find_it_finds_itself() -> None:
    chance = Random(1)
    plan = compile_plan({number: draw_subscription(chance, is_plain=True) for number in range(200)}, only_true=True)
    records = [draw_event(chance, odd=0) for _ in range(200)]
    assert plan.cast is not None
    assert [column.asked.part.name for column in plan.cast.beside] == ["message.kind"]
    rows, _, unsure, left = plan.cast.net.find(records, None)
    # Whole numbers that no real number tells apart are left to others.
    assert len(left) < 100 < len(rows)
    assert unsure


@settings(max_examples=40)
@given(SEEDS, st.booleans(), st.booleans())
@example(1, True, True)  # a value that was looked at before the fact about it was added
def test_a_set_that_changes_is_right_at_each_moment(seed: int, only_true: bool, is_native: bool) -> None:
    chance = Random(seed)
    there, records = draw(seed, predicates=8, records=6)
    standing = Standing(compile_plan(there, lists=LISTS, only_true=only_true, is_native=is_native))
    orders = []
    for _ in range(25):
        number = chance.randrange(16)
        step = chance.choice(("add", "add", "remove", "order", "swap"))
        if step == "add":
            there[number] = draw_predicate(chance)
            standing.add(number, there[number])
        elif step == "remove":
            assert standing.remove(number) == (there.pop(number, None) is not None)
        elif step == "order":
            orders = [standing.order()]
        elif orders:
            standing.swap(rebuild(orders.pop()))
        assert len(standing) == len(there)
        assert (number in standing) == (number in there)
        assert standing.match(records) == judged(there, records, only_true=only_true)


def test_a_plan_is_made_beside_the_one_in_use() -> None:
    there, records = draw(1)
    standing = Standing(compile_plan(there, lists=LISTS))
    order = standing.order()
    made = []
    thread = threading.Thread(target=lambda: made.append(rebuild(order)))
    thread.start()
    added = Compare("=", Part("message.kind"), Text("mail"))
    standing.add(77, added)
    standing.remove(3)
    thread.join(30)
    standing.swap(made[0])
    del there[3]
    assert standing.changes == 2
    assert standing.match(records) == judged(there | {77: added}, records, only_true=False)


# --- what is looked for is found without looking at the rest ----------------------------------------------------------


def subscription(chance: Random, number: int) -> Predicate:
    leaves: list[Predicate] = [Compare("=", Part("attribute", "customer"), Text(f"customer {number}"), "exact")]
    leaves += [
        Between(Part("attribute", "amount"), Number(number), Number(number + 5)),
        Search("starts", Part("attribute", "item"), Texts((f"item {number}",)), "exact"),
        Search("contains", Part("attribute", "note"), Texts((f"<{number}>",)), "exact"),
    ]
    chosen = chance.sample(leaves, chance.randint(1, 4))
    return chosen[0] if len(chosen) == 1 else And(tuple(chosen))


def event(number: int) -> Record:
    attributes: dict[str, Value] = {
        "customer": f"customer {number}", "amount": number, "item": f"item {number} large", "note": f"for <{number}>",
    }  # fmt: skip
    return Record(attributes=attributes)


@pytest.mark.parametrize(("is_fast", "is_native"), [*product((True, False), WAYS)])
def test_of_a_thousand_subscriptions_few_are_judged(is_fast: bool, is_native: bool) -> None:
    chance = Random(1)
    predicates = {number: subscription(chance, number) for number in range(1_000)}
    records = tuple(event(number) for number in range(0, 1_000, 25))
    plan = compile_plan(predicates, only_true=True, is_fast=is_fast, is_native=is_native)
    assert match(plan, records) == judged(predicates, records, only_true=True)
    # A cell of the grid is up to four times as wide as the range that lies in it.
    assert sum(candidates(plan, records)) <= 12 * len(records)


def test_of_a_thousand_rules_few_are_judged_even_where_something_is_missing() -> None:
    rules: dict[int, Predicate] = {
        number: And((
            Search("contains", Part("header", "x-topic"), Texts((f"topic {number};",))),
            Search("contains", Part("message.text"), Texts((f"phrase {number}.",))),
            Not(Search("contains", Part("subject"), Texts(("harmless",)))),
        ))
        for number in range(1_000)
    }  # fmt: skip
    whole = MailFeatures(
        headers=(("x-topic", "about topic 77;"),), subject="hello", text="this phrase 77.", attachments=()
    )
    mails = [
        whole,
        msgspec.structs.replace(whole, text=None),
        msgspec.structs.replace(whole, headers=()),
        msgspec.structs.replace(whole, unknown=("text",)),
        msgspec.structs.replace(whole, subject=None),
    ]
    records = tuple(Record(kind="mail", mail=mail) for mail in mails)
    plan = compile_plan(rules)
    hits = match(plan, records)
    assert hits == judged(rules, records, only_true=False)
    assert [number for row, number in zip(hits.row, hits.predicate, strict=True) if row in (0, 1, 2)] == [77, 77, 77]
    assert max(candidates(plan, records)) <= 20


def test_recipients_are_those_for_whom_it_holds_alone() -> None:
    chance = Random(5)
    records = tuple(draw_record(chance) for _ in range(300))
    domains: dict[int, Predicate] = {
        number: Quantified("recipient", quantifier, InList(Part("recipient.domain"), Texts(("beta.example",))))
        for number, quantifier in enumerate(QUANTIFIERS)
    }
    assert match(compile_plan(domains), records) == judged(domains, records, only_true=False)


# --- bounds -----------------------------------------------------------------------------------------------------------

NASTY = (
    "(a+)+$", "(a|a)*b", "(.*a){12}", "(a?){60}a{60}", "[ab]*a[ab]{14}", "(x+x+)+y", "a.{0,80}b.{0,80}c", ".*.*.*=.*",
    r"\w{1,90}@\w{1,90}", "(?i)(ab|ba){1,200}", "(^|a)+b", "(.|a)*c", "a{0,900}", "((a{1,20}){1,20})b", "[^x]{1,300}y",
)  # fmt: skip


@pytest.mark.parametrize("is_fast", [True, False])
def test_hostile_patterns_and_texts_take_their_time_and_no_more(is_fast: bool) -> None:
    text = Part("message.text")
    rules: dict[int, Predicate] = {
        number: Search("matches", text, Texts((pattern,))) for number, pattern in enumerate(NASTY)
    }
    # Every word is found in every text, and each list names the same as the one before.
    rules |= {100 + number: Search("contains", text, Texts(("a" * (number + 1),))) for number in range(200)}
    rules |= {400 + number: InList(Part("message.kind"), Texts(("mail", f"other {number}"))) for number in range(500)}
    rules |= {1_000 + number: Or(tuple(rules[place] for place in range(number, number + 5))) for number in range(10)}
    records = tuple(
        Record(kind="mail", mail=MailFeatures(text=body, attachments=()))
        for body in ("a" * 20_000, "ab" * 10_000, "x" * 20_000, "ſK" * 5_000, "")
    )
    start = time.process_time()
    plan = compile_plan(rules, is_fast=is_fast)
    hits = match(plan, records)
    assert time.process_time() - start < 20
    assert hits == judged(rules, records, only_true=False)


def test_a_list_of_many_words_is_one_lookup() -> None:
    lists = {"blocked": WordList(f"{number}.example" for number in range(300_000))}
    predicates: dict[int, Predicate] = {
        0: InList(Part("sender.domain"), Words("blocked")),
        1: Search("contains", Part("message.lane"), Words("blocked")),
    }
    plan = compile_plan(predicates, lists=lists)
    hits = match(
        plan, (Record(sender="ann@77.example", lane="to 5.example"), Record(sender="ann@beta.example", lane=""))
    )
    assert (hits.row, hits.predicate) == ((0, 0), (0, 1))


def test_values_of_other_types_leave_it_open() -> None:
    amounts = (5, 5.0, "5", True, (5, "x"), float("nan"), float("-inf"), 2**60, -0.0)
    records = tuple(Record(attributes={"amount": amount}) for amount in amounts)
    amount = Part("attribute", "amount")
    signs: dict[int, Predicate] = {
        number: Compare(sign, amount, Number(value, kind))
        for number, (sign, (value, kind)) in enumerate(product(SIGNS, FIVES))
    }
    for only_true, is_native in product((False, True), WAYS):
        found = match(compile_plan(signs, only_true=only_true, is_native=is_native), records)
        assert found == judged(signs, records, only_true=only_true)
