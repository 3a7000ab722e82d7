"""What people type for durations, sizes, limits, attributes and mailboxes."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.cli.parameter import (
    attribute,
    count_or_none,
    duration,
    duration_or_forever,
    mailbox_name,
    seconds_or_none,
    size,
    size_or_none,
)
from posthouse.message.attribute import Int32, Value
from posthouse.message.name import parse_mailbox
from posthouse.server.quantity import print_duration, print_size, read_duration, read_size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5", 5.0), ("0", 0.0), ("1.5s", 1.5), ("500ms", 0.5), ("2m", 120.0), ("2 M", 120.0), ("1h", 3600.0),
        ("2h 30m", 9000.0), ("1h30m", 5400.0), ("7d", 604_800.0), ("forever", math.inf),
    ],
)  # fmt: skip
def test_durations(text: str, seconds: float) -> None:
    assert duration_or_forever(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "s", "-1s", "5x", "1 2", "1s2", "1.s", "1,5s", "1e3", "inf", "nan", "9" * 16, "5 s s"]
)
def test_no_durations(text: str) -> None:
    with pytest.raises(click.BadParameter, match="expected a duration"):
        duration(text)


def test_forever_is_not_always_a_duration() -> None:
    with pytest.raises(click.BadParameter):
        duration("forever")
    assert seconds_or_none(math.inf) is None
    assert seconds_or_none(2.0) == 2.0


@pytest.mark.parametrize(
    ("text", "count"),
    [("0", 0), ("17", 17), ("64KiB", 65_536), ("10MB", 10_000_000), ("1.5G", 1_610_612_736), ("2TiB", 2**41)],
)  # fmt: skip
def test_sizes(text: str, count: int) -> None:
    assert size(text) == count


@pytest.mark.parametrize("text", ["", "KB", "-1", "5 apples", "1KBB", "1e6"])
def test_no_sizes(text: str) -> None:
    with pytest.raises(click.BadParameter, match="expected a size"):
        size(text)


def test_a_limit_may_be_none() -> None:
    assert size_or_none("none") == math.inf
    assert size_or_none("1k") == 1024
    assert count_or_none("none") == math.inf
    assert count_or_none("12") == 12
    with pytest.raises(click.BadParameter):
        count_or_none("-1")


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("note=rye", "note", "rye"),
        ("note=", "note", ""),
        ("note=a=b:c", "note", "a=b:c"),
        ("a:text=5", "a", "5"),
        ("a:b:text=5", "a:b", "5"),
        ("a:int32=-5", "a", Int32(-5)),
        ("a:int64=5000000000", "a", 5_000_000_000),
        ("a:real64=2.5", "a", 2.5),
        ("a:real64=inf", "a", math.inf),
        ("a:opaque=AAE=", "a", b"\x00\x01"),
        ("a:instant=2026-05-01T10:00:00+02:00", "a", datetime(2026, 5, 1, 8, tzinfo=UTC)),
        ('a:list=[1, "b", [2.5], {"int32": 3}]', "a", (1, "b", (2.5,), Int32(3))),
    ],
)
def test_attributes(text: str, name: str, value: Value) -> None:
    found = attribute(text)
    assert found == (name, value)
    assert type(found[1]) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "", "a", "=b", "a:int=5", "a:=5", "a:int32=x", "a:int32=5000000000", "a:int64=1.5", "a:opaque=?", "a:list={}",
        "a:list=[true]", "a:list=[null]", "a:list=" + "[" * 50 + "]" * 50, "a:instant=today", "a:real64=1_0x",
    ],
)  # fmt: skip
def test_no_attributes(text: str) -> None:
    with pytest.raises(click.BadParameter, match="expected"):
        attribute(text)


def test_mailboxes() -> None:
    assert mailbox_name("orders") == parse_mailbox("orders")
    with pytest.raises(click.BadParameter, match="column 2"):
        mailbox_name("a b")


@given(st.integers(0, 2**50))
def test_a_size_is_told_nearly_as_it_is(count: int) -> None:
    assert abs(read_size(print_size(count).replace(",", "")) - count) <= max(count * 0.05, 1)


@given(st.integers(1, 10**9))
def test_a_duration_is_told_exactly(seconds: int) -> None:
    assert read_duration(print_duration(float(seconds))) == pytest.approx(seconds, rel=1e-5)
