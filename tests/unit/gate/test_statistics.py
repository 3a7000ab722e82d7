from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from posthouse.gate.statistics import (
    SENDER_STEPS,
    STEPS,
    WINDOWS,
    OfficeFigures,
    SenderFigures,
    Senders,
    Statistics,
    is_known,
)
from posthouse.testing.build import SECOND, START

DAY = 86_400
_MOMENTS = st.lists(st.tuples(st.integers(0, 3 * DAY), st.integers(1, 5)), max_size=60).map(sorted)


def _in_window(moments: list[tuple[int, int]], now: int, seconds: int, steps: int) -> int:
    """Count as the definition says: what lies in a step that is not older than the window."""
    step = seconds // steps
    last = (START // SECOND + now) // step
    return sum(count for second, count in moments if (START // SECOND + second) // step > last - steps)


# G-114, G-115
@given(_MOMENTS, st.integers(0, 2 * DAY))
def test_a_window_holds_what_a_plain_count_says(moments: list[tuple[int, int]], later: int) -> None:
    statistics = Statistics(START - DAY * SECOND)
    for second, count in moments:
        statistics.count("received", count, at=START + second * SECOND)
    now = max((second for second, _ in moments), default=0) + later
    for window, seconds in WINDOWS.items():
        found = statistics.figure(f"received.{window}", now=START + now * SECOND)
        assert found == _in_window(moments, now, seconds, STEPS)


# G-115
@given(_MOMENTS, st.integers(0, 2 * DAY))
def test_a_sender_is_counted_alike(moments: list[tuple[int, int]], later: int) -> None:
    senders = Senders(START - DAY * SECOND, most=10)
    for second, count in moments:
        senders.count("ann", count, at=START + second * SECOND)
    now = max((second for second, _ in moments), default=0) + later
    for window, seconds in WINDOWS.items():
        figures = SenderFigures(senders, "ann", now=START + now * SECOND, more={})
        assert figures[f"recipients.{window}"] == _in_window(moments, now, seconds, SENDER_STEPS)
        single = [(second, 1) for second, _ in moments]
        assert figures[f"messages.{window}"] == _in_window(single, now, seconds, SENDER_STEPS)


# G-117
def test_until_a_window_was_watched_nobody_knows_what_it_holds() -> None:
    statistics = Statistics(START)
    statistics.count("gated", at=START)
    for seconds, known in ((59, []), (60, ["1m"]), (600, ["1m", "10m"]), (DAY, list(WINDOWS))):
        now = START + seconds * SECOND
        assert [name for name in WINDOWS if statistics.figure(f"gated.{name}", now=now) is not None] == known


# G-117
def test_messages_before_it_in_the_batch_count_and_the_message_itself_does_not() -> None:
    statistics = Statistics(START - DAY * SECOND)
    figures = OfficeFigures(statistics, START)
    assert figures["received.1m"] == 0
    figures.more["received"] = 2
    assert figures["received.1m"] == 2
    assert statistics.figure("received.1m", now=START) == 0


# G-115
def test_levels_are_as_they_were_read() -> None:
    statistics = Statistics(START)
    assert statistics.figure("queue_length", now=START) is None
    statistics.set_levels({"queue_length": 7, "waiting": 3, "waiting.Compliance": 3})
    assert statistics.figure("queue_length", now=START) == 7
    assert statistics.figure("waiting.Compliance", now=START) == 3
    assert statistics.figure("waiting.Sales", now=START) == 0
    assert dict(OfficeFigures(statistics, START)) == {"queue_length": 7, "waiting": 3}


# G-115
def test_how_long_messages_took() -> None:
    statistics = Statistics(START - DAY * SECOND)
    assert statistics.figure("processing_ms.1m", now=START) is None
    statistics.took(1_000, at=START, number=19)
    statistics.took(100_000, at=START)
    assert statistics.figure("processing_ms.1m", now=START) == 5.95
    assert 1.0 <= (statistics.figure("processing_p95_ms.1h", now=START) or 0) <= 1.5
    statistics.took(100_000, at=START)
    assert 100 <= (statistics.figure("processing_p95_ms.24h", now=START) or 0) <= 150


def test_who_was_not_heard_of_for_longest_is_forgotten_and_then_unknown() -> None:
    senders = Senders(START - DAY * SECOND, most=2)
    for number, name in enumerate(("ann", "bob", "ann", "cyd")):
        senders.count(name, 1, at=START + number * SECOND)
    assert len(senders) == 2
    now = START + 10 * SECOND
    assert senders.figure("ann", "messages.1h", now=now) == 2
    assert senders.figure("bob", "messages.1h", now=now) is None
    assert senders.figure("bob", "messages.1m", now=START + 62 * SECOND) == 0
    assert senders.figure("cyd", "messages.24h", now=now) == 1, "nobody had been forgotten when cyd was first heard of"


def test_a_clock_set_back_loses_nothing() -> None:
    statistics = Statistics(START - DAY * SECOND)
    statistics.count("received", at=START)
    statistics.count("received", at=START - 5 * SECOND)
    assert statistics.figure("received.1m", now=START - 5 * SECOND) == 2


def test_which_figures_there_are() -> None:
    assert is_known("gated.1h")
    assert is_known("queue_length")
    assert is_known("waiting.Compliance")
    assert not is_known("gated")
    assert not is_known("gated.2h")
    assert not is_known("load")
    assert Statistics(START).figure("load.1m", now=START + DAY * SECOND) is None
    assert Senders(START, most=1).figure("ann", "letters.1m", now=START) is None


def test_figures_stand_still_where_no_bound_is_passed() -> None:
    statistics = Statistics(START - DAY * SECOND)
    figures = OfficeFigures(statistics, START)
    for most, bound, is_still in ((4, 5, True), (5, 5, False), (6, 5, False), (3, 0, False)):
        assert figures.is_still({"received.1m": (bound,)}, {"received": most}) is is_still
    assert figures.is_still({"received.2h": (5,)}, {"received": 9}), "what is unknown stays unknown"
    assert figures.is_still({"gated.1m": (0,)}, {"received": 9})
