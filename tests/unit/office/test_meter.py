"""The meter counts what is decided and what is written, and changes neither."""

from __future__ import annotations

from collections.abc import Sequence

from posthouse.message.changes import Changes, Redrive, Register
from posthouse.message.envelope import Envelope
from posthouse.message.features import extract
from posthouse.message.journey import Journey, Luggage
from posthouse.message.message import Head, compose
from posthouse.message.passage import Facts, Limits, Passage
from posthouse.office.meter import Meter, MeteredStore, Spread, metered_route
from posthouse.route import Stage
from posthouse.store.memory.store import MemoryStore
from posthouse.testing.build import START, entry, identity, post
from posthouse.testing.clock import FakeClock

FACTS = Facts(now=START, register=Register(), limits=Limits(), here=frozenset(), protocols=frozenset())


def journey(number: int) -> Journey:
    message = compose(Head(id=identity(number), kind="mail", sender="ada", recipients=("bob",), created=START), b"")
    envelope = Envelope(sender="ada", recipients=("bob",))
    return Journey(
        message, Luggage(envelope=envelope, features=extract(message, envelope, accepted=START), stage="half")
    )


async def test_what_is_written_is_counted_by_what_it_is() -> None:
    clock = FakeClock()
    meter = Meter(clock)
    store = MeteredStore(MemoryStore(), clock, meter=meter)
    first = Changes(posts=(post(1, entry(), at=START),))
    assert [outcome.status for outcome in await store.commit([first, first])] == ["done", "duplicate"]
    await store.commit([Changes(redrives=(Redrive(7, START),))])
    assert {event: number for event, number in meter.totals.items() if number} == {"accepted": 1, "duplicate": 1}
    assert (sum(meter.commit_changes.counts), meter.commit_changes.total) == (2, 3)
    assert await store.journal.count() == 1


def test_rates_are_of_whole_seconds_gone_by() -> None:
    clock = FakeClock()
    meter = Meter(clock)
    for number in (3, 5):
        meter.count("accepted", number)
        clock.advance(1)
    assert meter.history("accepted", 3) == [0, 3, 5]
    assert meter.rate("accepted", 2) == 4.0
    clock.advance(1_000)
    assert meter.rate("accepted", 60) == 0
    assert meter.totals["accepted"] == 8


def test_seconds_long_gone_are_forgotten() -> None:
    clock = FakeClock()
    meter = Meter(clock)
    for _ in range(1_000):
        meter.count("accepted")
        clock.advance(1)
    assert len(meter._seconds) < 300
    assert meter.history("accepted", 60) == [1] * 60


def test_stages_do_what_they_did() -> None:
    def half(journeys: Sequence[Journey], _facts: Facts) -> Passage:
        return Passage(going=tuple(journeys[1:]), stopped=tuple(journeys[:1]))

    meter = Meter(FakeClock())
    (stage,) = metered_route([Stage("half", half)], meter)
    journeys = [journey(number) for number in range(3)]
    passage = stage.step(journeys, FACTS)
    assert (list(passage.going), list(passage.stopped)) == (journeys[1:], journeys[:1])
    assert meter.passed() == [("half", 3, 1, 0)]


def test_a_spread_counts_below_its_edges() -> None:
    spread = Spread((1, 10))
    for figure in (0.5, 1, 2, 10, 11):
        spread.add(figure)
    assert (spread.counts, spread.total) == ([2, 2, 1], 24.5)
