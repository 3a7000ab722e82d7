"""Attributes: what travels comes back the same, what cannot travel says so under its name."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from enum import StrEnum
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.message.attribute import (
    MAX_ATTRIBUTES,
    MAX_DEPTH,
    MAX_ITEMS,
    Int32,
    MalformedAttribute,
    settle_all,
    tag,
    tag_all,
    untag,
    untag_all,
)
from tests.unit.message.examples import ATTRIBUTES, VALUES, read_or_fault, same

EAST = timezone(timedelta(hours=5, minutes=30))
NOON = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


class Colour(StrEnum):
    RED = "red"


class NoOffset(tzinfo):
    def utcoffset(self, _: datetime | None) -> None:
        return None

    def dst(self, _: datetime | None) -> None:
        return None

    def tzname(self, _: datetime | None) -> None:
        return None


def nested(depth: int) -> tuple[Any, ...]:
    value: tuple[Any, ...] = ()
    for _ in range(depth - 1):
        value = (value,)
    return value


def nested_tags(depth: int) -> dict[str, Any]:
    tagged: dict[str, Any] = {"list": []}
    for _ in range(depth - 1):
        tagged = {"list": [tagged]}
    return tagged


def written_in_json(value: object) -> str:
    return msgspec.json.encode(tag(value)).decode()


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Int32(5), '{"int32":5}'),
        (Int32(-(2**31)), '{"int32":-2147483648}'),
        (5, '{"int64":5}'),
        (2**63 - 1, '{"int64":9223372036854775807}'),
        (-(2**63), '{"int64":-9223372036854775808}'),
        (3.0, '{"real64":3.0}'),
        (-0.0, '{"real64":-0.0}'),
        (math.nan, '{"real64":"NaN"}'),
        (math.inf, '{"real64":"Infinity"}'),
        (-math.inf, '{"real64":"-Infinity"}'),
        ("", '{"text":""}'),
        ("three", '{"text":"three"}'),
        (b"three", '{"opaque":"dGhyZWU="}'),
        (NOON, '{"instant":"2026-01-31T12:00:00Z"}'),
        (datetime(2026, 1, 31, 17, 30, 0, 5, tzinfo=EAST), '{"instant":"2026-01-31T12:00:00.000005Z"}'),
        ((), '{"list":[]}'),
        (["a", Int32(1), (2,)], '{"list":[{"text":"a"},{"int32":1},{"list":[{"int64":2}]}]}'),
    ],
)
def test_each_value_has_its_tag(value: object, written: str) -> None:
    assert written_in_json(value) == written


@given(ATTRIBUTES)
def test_values_are_the_same_after_json_and_messagepack(attributes: dict[str, Any]) -> None:
    settled = settle_all(attributes)
    for encoder, decoder in (
        (msgspec.json.encode, msgspec.json.decode),
        (msgspec.msgpack.encode, msgspec.msgpack.decode),
    ):
        read = untag_all(decoder(encoder(tag_all(attributes))))
        assert list(read) == list(settled)
        assert all(same(read[name], settled[name]) for name in settled)


@given(VALUES)
def test_settling_changes_no_meaning(value: Any) -> None:
    settled = settle_all({"a": value})["a"]
    assert settled == value or value != value or isinstance(value, tuple)  # noqa: PLR0124 - NaN
    assert written_in_json(settled) == written_in_json(value)


def test_what_is_composed_equals_what_is_read() -> None:
    written: dict[str, Any] = {"nan": float("nan"), "list": [1, [NOON.astimezone(EAST)]]}
    settled: dict[str, Any] = dict(settle_all(written))
    assert settled == {"nan": math.nan, "list": (1, (NOON,))}
    assert settled["list"][1][0].tzinfo is UTC


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (True, "found bool"),
        (None, "found NoneType"),
        (Colour.RED, "found Colour"),
        ({"a": 1}, "found dict"),
        (bytearray(b"a"), "found bytearray"),
        (Int32(2**31), "32 bits"),
        (Int32(-(2**31) - 1), "32 bits"),
        (2**63, "64 bits"),
        (-(2**63) - 1, "64 bits"),
        pytest.param(1 << 20_000, "64 bits", id="huge"),
        ("\ud800", "surrogate"),
        (NOON.replace(tzinfo=None), "time zone"),
        (datetime(2026, 1, 31, tzinfo=NoOffset()), "time zone"),
        (datetime(1, 1, 1, tzinfo=EAST), "years 1 to 9999"),
        (nested(MAX_DEPTH + 1), "deep"),
        ((1,) * (MAX_ITEMS + 1), "items"),
        ((None,), "found NoneType"),
    ],
)
def test_what_cannot_travel_says_so_under_its_name(value: Any, what: str) -> None:
    with pytest.raises(MalformedAttribute, match="attribute 'amount': .*" + what) as caught:
        tag_all({"first": 1, "amount": value})
    assert caught.value.where == "attribute 'amount'"


def test_true_and_false_come_with_advice() -> None:
    with pytest.raises(MalformedAttribute, match=r"Int32\(1\)"):
        tag(True)


@pytest.mark.parametrize(
    ("written", "what"),
    [
        (5, "one type and its value"),
        (None, "one type and its value"),
        ({}, "one type and its value"),
        ({"int32": 1, "int64": 1}, "one type and its value"),
        ({"int16": 1}, "one of the types"),
        ({5: 1}, "one of the types"),
        ({"int32": 2**31}, "32 bits"),
        ({"int32": True}, "32 bits"),
        ({"int32": 1.0}, "32 bits"),
        ({"int32": "1"}, "32 bits"),
        ({"int64": 2**63}, "64 bits"),
        ({"int64": False}, "64 bits"),
        pytest.param({"int64": 1 << 20_000}, "64 bits", id="huge"),
        ({"real64": 2**53 + 1}, "real64"),
        ({"real64": True}, "real64"),
        ({"real64": "nan"}, "real64"),
        ({"real64": None}, "real64"),
        ({"text": 5}, "under text"),
        ({"text": b"a"}, "under text"),
        ({"opaque": "a"}, "base64"),
        ({"opaque": "YQ==\n"}, "base64"),
        ({"opaque": "é"}, "base64"),
        ({"opaque": 5}, "base64"),
        ({"opaque": [1]}, "base64"),
        ({"instant": "2026-01-31"}, "instant"),
        ({"instant": "2026-01-31T12:00:00"}, "instant"),
        ({"instant": "2026-01-31T12:00:00.1234567Z"}, "instant"),
        ({"instant": "2026-02-30T12:00:00Z"}, "instant"),
        ({"instant": "2026-W05-6T12:00:00Z"}, "instant"),
        ({"instant": "0001-01-01T00:00:00+05:00"}, "instant"),
        ({"instant": "٢٠٢٦-01-31T12:00:00Z"}, "instant"),
        ({"instant": 5}, "instant"),
        ({"list": (1,)}, "under list"),
        ({"list": "ab"}, "under list"),
        ({"list": [{"text": "a"}] * (MAX_ITEMS + 1)}, "under list"),
        ({"list": [5]}, "one type and its value"),
        (nested_tags(MAX_DEPTH + 1), "deep"),
    ],
)
def test_what_is_written_wrongly_says_so_under_its_name(written: Any, what: str) -> None:
    with pytest.raises(MalformedAttribute, match="attribute 'amount': .*" + what):
        untag_all({"first": {"int32": 1}, "amount": written})


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ({"real64": 3}, 3.0),
        ({"real64": -0.0}, -0.0),
        ({"real64": math.nan}, math.nan),
        ({"instant": "2026-01-31T17:30:00+05:30"}, NOON),
        ({"instant": "2026-01-31T12:00:00.5Z"}, NOON.replace(microsecond=500_000)),
        ({"opaque": ""}, b""),
        ({"opaque": b"\x00"}, b"\x00"),
    ],
)
def test_other_writers_may_say_it_their_way(written: Any, value: object) -> None:
    assert same(untag(written), value)


@pytest.mark.parametrize("name", ["", "x" * 256, "line\nbreak", "\ud800", "\x00", 5, None, b"a"])
def test_a_name_that_cannot_travel_is_shown(name: Any) -> None:
    calls: list[tuple[Callable[[Any], object], Any]] = [(tag_all, "a"), (untag_all, {"text": "a"})]
    for call, value in calls:
        with pytest.raises(MalformedAttribute, match="attributes: expected a name") as caught:
            call({"first": value, name: value})
        assert str(caught.value).isprintable()


def test_there_are_at_most_a_thousand_attributes() -> None:
    most = {f"a{number}": number for number in range(MAX_ATTRIBUTES)}
    assert untag_all(tag_all(most)) == most
    for call in (tag_all, untag_all):
        with pytest.raises(MalformedAttribute, match="found 1001"):
            call({**most, "one more": 1})


# Anything a decoder of JSON or MessagePack can give.
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.datetimes(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(("list", "text", "int32", "opaque", "x")), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=5), ANYTHING, max_size=3))
def test_anything_written_is_read_or_refused(written: dict[str, Any]) -> None:
    values = read_or_fault(untag_all, written)
    if values is not None:
        assert untag_all(tag_all(values)) == values
