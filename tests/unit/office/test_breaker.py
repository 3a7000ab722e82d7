from __future__ import annotations

from posthouse.office.breaker import Way
from posthouse.office.terms import SECOND, Patience
from posthouse.testing.build import START

PATIENCE = Patience(first_pause=1.0, growth=2.0, longest_pause=60.0)


def failed(times: int) -> Way:
    way = Way()
    for _ in range(times):
        way = way.unanswered("no answer", now=START, patience=PATIENCE, chance=0.5)
    return way


def test_a_way_nobody_walked_in_vain_is_open() -> None:
    assert Way().state(3, START) == "open"


def test_a_way_is_open_until_it_was_walked_in_vain_so_many_times() -> None:
    assert failed(2).state(3, START) == "open"
    assert failed(3).state(3, START) == "closed"


def test_a_closed_way_is_probed_once_its_pause_is_over() -> None:
    way = failed(3)
    assert way.next_try == START + 4 * SECOND
    assert way.state(3, way.next_try - 1) == "closed"
    assert way.state(3, way.next_try) == "probing"


def test_the_pause_grows_with_each_vain_walk_and_the_last_fault_is_known() -> None:
    way = failed(3).unanswered("refused", now=START + SECOND, patience=PATIENCE, chance=0.5)
    assert (way.failures, way.next_try, way.last_fault) == (4, START + 9 * SECOND, "refused")
    assert failed(20).next_try == START + 60 * SECOND
