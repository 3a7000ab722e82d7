"""Predicates travel without loss, and what is no predicate is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.matching.predicate.check import check_predicate
from posthouse.matching.predicate.form import (
    MalformedPredicate,
    decode_json,
    decode_packed,
    encode_json,
    encode_packed,
)
from posthouse.matching.predicate.node import And, Compare, Fixed, Not, Number, Part, Predicate, children, leaves
from posthouse.testing.predicate import PREDICATES

BIG = Compare(">", Part("message.size"), Number(1_000_000, "size"))


@given(PREDICATES)
def test_both_forms_give_the_predicate_back(predicate: Predicate) -> None:
    assert check_predicate(predicate) == ()
    assert decode_json(encode_json(predicate)) == predicate
    assert decode_packed(encode_packed(predicate)) == predicate
    assert hash(decode_packed(encode_packed(predicate))) == hash(predicate)


def test_numbers_keep_their_type() -> None:
    for number in (Number(1.0, "real64"), Number(-0.0, "real64"), Number(2**63 - 1), Number(1, "int32")):
        found = decode_json(encode_json(Compare("=", Part("attribute", "a"), number)))
        assert isinstance(found, Compare)
        assert repr(found.right) == repr(number)


def test_says_how_it_is_written() -> None:
    assert encode_json(BIG) == b'[1,["compare",">",["part","message.size",null],["number",1000000,"size"],"folded"]]'


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (b"", "truncated"),
        (b"[2,[]]", "predicate"),
        (b'[2,["fixed","true"]]', "expected version 1, found 2"),
        (b'[1,["fixed","perhaps"]]', "perhaps"),
        (b'[1,["sometimes"]]', "sometimes"),
        (b'[1,["exists",["part","subjet",null],"false"]]', "subjet"),
        (b'[1,["and",[["fixed","true"]]]]', "at the top: expected two conditions"),
        (b"[1," + b'["not",' * 200_000, "predicate"),
    ],
)
def test_refuses_what_is_none(written: bytes, told: str) -> None:
    with pytest.raises(MalformedPredicate) as refused:
        decode_json(written)
    assert told in str(refused.value)


@given(st.binary(max_size=60))
def test_never_fails_on_bytes(data: bytes) -> None:
    for decode in (decode_json, decode_packed):
        try:
            decode(data)
        except MalformedPredicate:
            pass


def test_leaves_come_in_the_order_written_with_their_path() -> None:
    predicate = And((Fixed("true"), Not(And((Fixed("false"), BIG)))))
    assert list(leaves(predicate)) == [((0,), Fixed("true")), ((1, 0, 0), Fixed("false")), ((1, 0, 1), BIG)]
    for path, leaf in leaves(predicate):
        node: Predicate = predicate
        for place in path:
            node = children(node)[place]
        assert node is leaf
