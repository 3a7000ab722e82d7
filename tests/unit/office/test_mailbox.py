from __future__ import annotations

import math

import pytest

from posthouse.message.changes import Filter
from posthouse.message.name import LOCAL, MalformedName, parse_office
from posthouse.office.mailbox import (
    MOST_AT_ONCE,
    BadRequest,
    NotHere,
    box_here,
    checked_pause,
    deadline,
    lease_until,
    take,
)
from posthouse.office.terms import SECOND, Terms
from posthouse.testing.build import START

HERE = frozenset({LOCAL, parse_office("local:east")})
TERMS = Terms(lease_seconds=30.0, longest_lease_seconds=600.0)


def test_a_mailbox_of_this_office_has_a_box_under_any_of_its_names() -> None:
    """A-024"""
    assert {box_here(name, HERE) for name in ("bob", "local:#bob", "local:east#bob")} == {"#bob"}


def test_a_mailbox_elsewhere_is_asked_for_there() -> None:
    with pytest.raises(NotHere, match="local:west"):
        box_here("local:west#bob", HERE)


def test_a_malformed_name_is_told_as_such() -> None:
    with pytest.raises(MalformedName):
        box_here("not a name", HERE)


def test_no_wait_a_wait_and_waiting_for_ever() -> None:
    """A-029, A-030, A-031"""
    assert deadline(0, START) == START
    assert deadline(1.5, START) == START + 3 * SECOND // 2
    assert deadline(None, START) is None


@pytest.mark.parametrize("wait", [-2, -0.001, math.nan, math.inf, 1e10])
def test_a_wait_that_cannot_be_is_refused(wait: float) -> None:
    """A-031"""
    with pytest.raises(BadRequest, match="wait"):
        deadline(wait, START)


def test_a_lease_is_as_long_as_asked_for_or_as_usual() -> None:
    assert lease_until(None, TERMS, now=START) == START + 30 * SECOND
    assert lease_until(600, TERMS, now=START) == START + 600 * SECOND


@pytest.mark.parametrize("lease", [0, -1, 600.1, math.nan, math.inf])
def test_a_lease_that_cannot_be_is_refused(lease: float) -> None:
    with pytest.raises(BadRequest, match="600 seconds"):
        lease_until(lease, TERMS, now=START)


@pytest.mark.parametrize("pause", [-1, math.nan, math.inf, 1e10])
def test_a_pause_that_cannot_be_is_refused(pause: float) -> None:
    with pytest.raises(BadRequest, match="pause"):
        checked_pause(pause)


@pytest.mark.parametrize("pause", [None, 0, 3.5])
def test_a_pause_is_as_long_as_asked_for(pause: float | None) -> None:
    assert checked_pause(pause) == pause


@pytest.mark.parametrize("limit", [0, -1, MOST_AT_ONCE + 1])
def test_a_limit_that_cannot_be_is_refused(limit: int) -> None:
    with pytest.raises(BadRequest, match="limit"):
        take("#bob", Filter(), limit=limit, until=START, holder="", now=START)


def test_a_take_asks_for_what_was_chosen() -> None:
    chosen = Filter(kind="order", correlation="7")
    wanted = take("#bob", chosen, limit=5, until=START + SECOND, holder="worker", now=START)
    assert (wanted.box, wanted.filter, wanted.limit) == ("#bob", chosen, 5)
    assert (wanted.now, wanted.until, wanted.holder) == (START, START + SECOND, "worker")
