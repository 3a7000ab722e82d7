from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.message.trace import Happening
from posthouse.office.delivery import TABLE, Act, Event, Held, State, pause, settle
from posthouse.office.terms import DAY, SECOND, Patience
from posthouse.testing.build import START

PATIENCE = Patience(first_pause=2.0, growth=3.0, longest_pause=60.0, attempts=4, give_up_after=86_400.0)


def held(state: State = "leased", *, failures: int = 0, arrived: int = START) -> Held:
    return Held(7, 3, "#inbox", state, failures, arrived)


# What users are promised, said once more: this table is written by hand and not taken from the code.
EXPECTED: list[tuple[State, Event, str, int, Happening | None]] = [
    ("leased", "acknowledged", "done", 0, "acknowledged"),
    ("leased", "delivered", "done", 0, "forwarded"),
    ("leased", "returned", "back", 0, "returned"),
    ("leased", "failed", "retry", 2 * SECOND, "failed"),
    ("leased", "lease ended", "retry", 0, "failed"),
    ("leased", "unreachable", "retry", 2 * SECOND, "retry"),
    ("leased", "refused", "bury", 0, "dead"),
    ("leased", "divided", "done", 0, None),
    ("leased", "dropped", "done", 0, "purged"),
    ("leased", "expired", "bury", 0, "expired"),
    ("waiting", "expired", "bury", 0, "expired"),
    ("held", "expired", "bury", 0, "expired"),
    ("waiting", "given up", "bury", 0, "dead"),
    ("held", "due", "wake", 0, None),
    ("waiting", "due", "wake", 0, None),
]


@pytest.mark.parametrize(("state", "event", "act", "later", "happening"), EXPECTED)
def test_each_row_of_the_table(state: State, event: Event, act: Act, later: int, happening: Happening | None) -> None:
    settled = settle(held(state), event, now=START, patience=PATIENCE, chance=0.5, reason="why")
    assert (settled.act, settled.entry, settled.token) == (act, 7, 3)
    assert settled.at == START + later
    assert settled.reason == "why"
    if happening is None:
        assert settled.step is None
    else:
        assert settled.step is not None
        assert (settled.step.happened, settled.step.at, settled.step.place) == (happening, START, "#inbox")
        assert settled.step.detail == "why"


def test_the_table_has_no_other_rows() -> None:
    assert set(TABLE) == {(state, event) for state, event, *_ in EXPECTED}


def test_what_is_not_in_the_table_cannot_happen() -> None:
    with pytest.raises(KeyError):
        settle(held("waiting"), "acknowledged", now=START, patience=PATIENCE, chance=0.5)


@pytest.mark.parametrize("event", ["failed", "lease ended"])
def test_a_consumer_gets_so_many_attempts_and_no_more(event: Event) -> None:
    last = settle(held(failures=2), event, now=START, patience=PATIENCE, chance=0.5)
    assert last.act == "retry"
    over = settle(held(failures=3), event, now=START, patience=PATIENCE, chance=0.5, reason="broken disk")
    assert over.act == "bury"
    assert over.reason == f"failed 4 times, last {event}: broken disk"
    assert over.step is not None
    assert over.step.happened == "dead"


def test_a_destination_is_given_up_by_time_and_not_by_number() -> None:
    many = settle(held(failures=1000), "unreachable", now=START + DAY - 1, patience=PATIENCE, chance=0.5)
    assert many.act == "retry"
    late = settle(held(), "unreachable", now=START + DAY, patience=PATIENCE, chance=0.5, reason="no answer")
    assert (late.act, late.reason) == ("bury", "not delivered in the time given: no answer")


def test_what_is_given_back_never_counts() -> None:
    assert settle(held(failures=99), "returned", now=START, patience=PATIENCE, chance=0.5).act == "back"


@pytest.mark.parametrize(("failures", "seconds"), [(0, 2), (1, 6), (2, 18), (3, 54), (4, 60), (10**6, 60)])
def test_pauses_grow_up_to_the_longest(failures: int, seconds: int) -> None:
    """A-054"""
    assert pause(failures, PATIENCE, chance=0.5) == seconds * SECOND


@given(failures=st.integers(0, 10**9), chance=st.floats(0, 1, exclude_max=True), growth=st.floats(1, 100))
def test_a_pause_stays_within_a_quarter_of_what_is_meant(failures: int, chance: float, growth: float) -> None:
    """A-054"""
    patience = Patience(first_pause=1.0, growth=growth, longest_pause=900.0)
    middle = min(growth ** min(failures, 64), 900.0)
    given = pause(failures, patience, chance=chance) / SECOND
    assert 0.7499 * middle <= given <= 1.25 * middle


def test_chance_spreads_a_crowd() -> None:
    pauses = {pause(0, PATIENCE, chance=number / 100) for number in range(100)}
    assert len(pauses) == 100
