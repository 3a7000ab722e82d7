"""The compiled part finds what is there, refuses what it does not know, loses no memory, and stands any thread."""

from __future__ import annotations

import gc
import sys
import threading
from array import array
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.matching.engine.indexed.plan import Plan, compile_plan
from posthouse.matching.engine.indexed.search import IS_NATIVE, native
from posthouse.matching.engine.indexed.sweep import match
from posthouse.matching.predicate.node import And, Between, Compare, Number, Part, Predicate, Search, Text, Texts
from posthouse.matching.value.fold import fold
from posthouse.matching.value.record import Record
from posthouse.message.attribute import Int32

pytestmark = [
    pytest.mark.service("C compiler"),
    pytest.mark.skipif(not IS_NATIVE, reason="no C compiler was there when Posthouse was installed"),
]

# Few letters, so that words stand in each other and in the texts.
WORDS = st.text("abé", min_size=1, max_size=9).map(str.encode)
LEXICA = st.dictionaries(WORDS, st.lists(st.integers(1, 2**32 - 1), max_size=3).map(tuple), max_size=100)
TEXTS = st.text("abé ", max_size=60).map(str.encode)


@given(LEXICA, TEXTS)
def test_words_are_found_where_they_stand(filed: dict[bytes, tuple[int, ...]], text: bytes) -> None:
    lexicon = native.Lexicon(filed)
    for find, stands in (
        (lexicon.find, bytes.__contains__), (lexicon.find_start, bytes.startswith), (lexicon.find_end, bytes.endswith),
    ):  # fmt: skip
        found: set[int] = set()
        find(text, found)
        assert found == {fact for word, facts in filed.items() if stands(text, word) for fact in facts}


def test_words_of_many_lengths_are_found() -> None:
    filed = {b"x" * length: (length,) for length in range(1, 200)}
    found: set[int] = set()
    native.Lexicon(filed).find(b"y" + b"x" * 150 + b"y", found)
    assert found == set(range(1, 151))


def test_many_words_that_begin_alike_cost_no_more_than_one() -> None:
    filed = {b"https://example.com/%09d" % number: (number + 1,) for number in range(100_000)}
    lexicon = native.Lexicon(filed)
    found: set[int] = set()
    lexicon.find(b"https://example.com/ " * 20_000 + b"https://example.com/%09d" % 77, found)
    assert found == {78}


@pytest.mark.parametrize(
    "filed", [{"text": (1,)}, {b"": (1,)}, {b"word": 1}, {b"word": (-1,)}, {b"word": (2**32,)}, {b"word": ("x",)}, []]
)
def test_what_is_no_lexicon_is_refused(filed: Any) -> None:
    with pytest.raises((TypeError, OverflowError)):
        native.Lexicon(filed)


def rows(**changed: object) -> tuple[object, ...]:
    """Give the rows of a plan with one predicate, in the order of the net."""
    one = {
        "numbers": array("q", [7]), "flags": bytearray(1), "starts": array("I", [0, 0, 1]), "slots": array("I", [0]),
        "seconds": array("I", [0]), "need_ends": array("I", [0]), "needs": array("I"), "range_ends": array("I", [0]),
        "range_places": array("H"), "lows": array("d"), "highs": array("d"), "text_ends": array("I", [0]),
        "text_places": array("H"), "text_numbers": array("I"), "always": array("I"),
    }  # fmt: skip
    return tuple((one | changed).values())


FIELD = (0, (), ({5: [1]},), None, ())


def test_a_net_of_one_finds_one() -> None:
    net = native.Net(("a",), (FIELD,), rows(), [], fold, Int32)
    found = net.find([Record(attributes={"a": value}) for value in (5, 6, 5.0, "5", (5,))], None)
    assert found == ([0, 2], [7, 7], [], [4])
    assert net.candidates({1, 9}) == [0]


@pytest.mark.parametrize(
    "changed",
    [
        {"slots": array("I", [9])}, {"seconds": array("I", [2**32 - 1])}, {"starts": array("I", [0, 0, 2**32 - 1])},
        {"starts": array("I", [0, 9, 1])}, {"numbers": array("q")}, {"flags": bytearray()},
        {"need_ends": array("I", [2**32 - 1]), "needs": array("I", [2**32 - 1])},
        {"range_ends": array("I", [1]), "range_places": array("H", [9]), "lows": array("d", [0]),
         "highs": array("d", [9])},
        {"range_ends": array("I", [1]), "range_places": array("H", [0])},
        {"text_ends": array("I", [1]), "text_places": array("H", [0])},
    ],
)  # fmt: skip
def test_rows_that_point_beyond_each_other_are_harmless(changed: dict[str, object]) -> None:
    net = native.Net(("a",), (FIELD,), rows(**changed), [], fold, Int32)
    assert net.find([Record(attributes={"a": 5})], None)[0] == []


def test_a_word_without_a_number_is_an_error() -> None:
    changed = {"text_ends": array("I", [1]), "text_places": array("H", [0]), "text_numbers": array("I", [3])}
    with pytest.raises(IndexError):
        native.Net(("a",), (FIELD,), rows(**changed), [], fold, Int32).find([Record(attributes={"a": 5})], None)


@pytest.mark.parametrize(
    ("names", "fields", "given"),
    [
        ((), (FIELD,), rows()),
        (("a",), (FIELD,), rows()[:-1]),
        (("a",), (FIELD,), rows(slots=bytearray(3))),
        (("a",), (FIELD,), rows(slots=[0])),
        (("a",), ((0, (), ([],), None, ()),), rows()),
        (("a",), ((0, ((None, None, (), {}, None, None),), (), None, ()),), rows()),
        (("a",), ((0, ((None, None, ((1, 2),), None, None, None),), (), None, ()),), rows()),
        (("a",), ((0, (), (), None, ((1, array("d")),)),), rows()),
        (("a",), ((0, (), (), (array("d"), array("I"), array("H", [1])), ()),), rows()),
    ],
)
def test_what_is_no_net_is_refused(names: Any, fields: Any, given: Any) -> None:
    with pytest.raises((TypeError, ValueError, BufferError)):
        native.Net(names, fields, given, [], fold, Int32)


def test_a_row_that_is_held_does_not_move() -> None:
    given = rows()
    net = native.Net(("a",), (FIELD,), given, [], fold, Int32)
    with pytest.raises(BufferError):
        given[3].append(1)  # type: ignore[attr-defined]
    del net
    given[3].append(1)  # type: ignore[attr-defined]


def test_an_error_in_the_middle_is_handed_on() -> None:
    def refuse(_text: str, _collation: str) -> str:
        raise ZeroDivisionError

    form = ("folded", {"x": [1]}, (), None, None, None)
    net = native.Net(("a",), ((0, (form,), (), None, ()),), rows(), [], refuse, Int32)
    with pytest.raises(ZeroDivisionError):
        net.find([Record(attributes={"a": "x"})], None)
    with pytest.raises(AttributeError):
        net.find([object()], None)
    with pytest.raises(TypeError):
        net.candidates({"x"})


# --- memory and threads -----------------------------------------------------------------------------------------------


def subscriptions() -> dict[int, Predicate]:
    found: dict[int, Predicate] = {
        number: And(
            (
                Compare("=", Part("attribute", "a"), Text(f"Value {number % 50}"), "folded"),
                Between(Part("attribute", "b"), Number(number), Number(number + 90)),
                Search("contains", Part("attribute", "c"), Texts((f"{number % 7}",)), "exact"),
            )
        )
        for number in range(300)
    }
    others: dict[int, Predicate] = {
        300: Search("starts", Part("attribute", "c"), Texts(("1",))),
        301: Search("ends", Part("attribute", "c"), Texts(("1é",))),
        302: Search("contains", Part("attribute", "c"), Texts(("23", "É")), "folded"),
        303: Compare(">", Part("attribute", "b"), Number(200)),
    }  # fmt: skip
    return found | others


def events() -> list[Record]:
    chance = Random(1)
    # `Any`: None is no attribute, and no subscription minds it.
    values: tuple[Any, ...] = ("", "1é", "É23", "\ud800", "x", None, 2**70, (1, "2"), float("nan"))
    return [
        Record(attributes={
            "a": chance.choice((f"value {number}", *values)), "b": chance.choice((number, float(number), *values)),
            "c": chance.choice((str(number), *values)), "d": 1,
        })
        for number in range(200)
    ]  # fmt: skip


def use(plan: Plan, records: list[Record]) -> None:
    match(plan, records)
    native.Lexicon({b"word": (1,), b"other": (2, 3)}).find_in_each([b"a word"], [set()])
    with pytest.raises(TypeError):
        native.Lexicon({b"word": (1,), "other": (2, 3)})
    with pytest.raises(ValueError, match="another size"):
        native.Net(("a",), (FIELD,), rows(always=bytearray(3)), [], fold, Int32)


def test_nothing_is_lost_by_use() -> None:
    predicates, records = subscriptions(), events()
    plan = compile_plan(predicates, only_true=True)

    def held() -> int:
        gc.collect()
        return sys.getallocatedblocks()

    for _ in range(3):
        use(plan, records)
        compile_plan(predicates, only_true=True)
    before = held()
    for _ in range(30):
        use(plan, records)
    for _ in range(5):
        compile_plan(predicates, only_true=True)
    # What one use or one plan lost would be found here many times over.
    assert held() - before < 25
    counts = [sys.getrefcount(value) for record in records for value in record.attributes.values()]
    use(plan, records)
    assert counts == [sys.getrefcount(value) for record in records for value in record.attributes.values()]


def test_threads_may_share_a_net() -> None:
    plan, records = compile_plan(subscriptions(), only_true=True), events()
    wanted = match(plan, records)
    answers: list[bool] = []

    def ask() -> None:
        answers.extend(match(plan, records) == wanted for _ in range(20))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == [True] * 80
