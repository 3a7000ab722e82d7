"""The meter: what goes through an office, counted where it is decided and where it is written; it changes nothing."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from posthouse.clock import Clock
from posthouse.message.changes import Changes, Outcome, Register
from posthouse.message.journey import Journey
from posthouse.message.passage import Facts, Passage
from posthouse.route import Stage, Step
from posthouse.store.gateports import GateShelves
from posthouse.store.ports import Bodies, Credentials, DeadLetters, Journal, Listener, Queue, Store

_SECOND: Final = 1_000_000
_KEPT: Final = 120
"""Seconds for which each second is counted by itself."""

_SETTLED: Final = {"done": "done", "retry": "retried", "back": "returned", "bury": "buried"}
_LEASED: Final = {"take": "taken", "deliver": "carried", "resume": "resumed"}

EVENTS: Final = (
    "accepted", "duplicate", "full", "aside", "taken", "carried", "resumed", "done", "returned", "retried", "buried",
    "redriven", "dropped", "resent",
)  # fmt: skip
"""What can happen to a message where it is written."""


class Spread:
    """How often a figure fell below each edge, and what all of them come to."""

    def __init__(self, edges: Sequence[float]) -> None:
        self.edges = tuple(edges)
        self.counts = [0] * (len(edges) + 1)
        self.total = 0.0

    def add(self, figure: float) -> None:
        self.counts[bisect_left(self.edges, figure)] += 1
        self.total += figure


class Passed(NamedTuple):
    """What went through one stage."""

    name: str
    entered: int
    stopped: int
    waited: int


class Meter:
    """Counts since the office was opened, and second by second for the last two minutes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seconds: dict[int, dict[str, int]] = {}
        self.totals: dict[str, int] = dict.fromkeys(EVENTS, 0)
        self.stages: dict[str, list[int]] = {}
        self.listener: Callable[[Sequence[Changes], Sequence[Outcome]], None] | None = None
        """Who hears of what was written, too."""
        self.commit_seconds = Spread((0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0))
        self.commit_changes = Spread((1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096))

    def count(self, event: str, number: int = 1) -> None:
        """Count something that happened."""
        self.totals[event] = self.totals.get(event, 0) + number
        second = self._clock.now() // _SECOND
        bucket = self._seconds.get(second)
        if bucket is None:
            bucket = self._seconds[second] = {}
            if len(self._seconds) > 2 * _KEPT:
                self._seconds = {at: counts for at, counts in self._seconds.items() if at > second - _KEPT}
        bucket[event] = bucket.get(event, 0) + number

    def history(self, event: str, seconds: int = 60) -> list[int]:
        """Give how often it happened in each of the last whole seconds, oldest first."""
        now = self._clock.now() // _SECOND
        return [self._seconds.get(at, {}).get(event, 0) for at in range(now - seconds, now)]

    def rate(self, event: str, seconds: int = 10) -> float:
        """Give how often it happens a second, over the last few."""
        return sum(self.history(event, seconds)) / seconds

    def passed(self) -> list[Passed]:
        """Give what went through each stage, in the order of the route."""
        return [Passed(name, *counts) for name, counts in self.stages.items()]

    def note(self, changes: Sequence[Changes], outcomes: Sequence[Outcome], *, seconds: float | None) -> None:
        """Count what a commit has written, and how long it took where that went to a disk."""
        if seconds is not None:
            self.commit_seconds.add(seconds)
            self.commit_changes.add(len(changes))
        counts: dict[str, int] = {}
        for change, outcome in zip(changes, outcomes, strict=True):
            for event in _events(change, outcome):
                counts[event] = counts.get(event, 0) + 1
        for event, number in counts.items():
            self.count(event, number)
        if self.listener is not None:
            self.listener(changes, outcomes)


def metered_route(route: Sequence[Stage], meter: Meter) -> tuple[Stage, ...]:
    """Give the same stages, counting what goes through each."""
    return tuple(Stage(stage.name, _metered(stage, meter)) for stage in route)


def _metered(stage: Stage, meter: Meter) -> Step:
    counts = meter.stages.setdefault(stage.name, [0, 0, 0])

    def step(journeys: Sequence[Journey], facts: Facts) -> Passage:
        passage = stage.step(journeys, facts)
        counts[0] += len(journeys)
        counts[1] += len(passage.stopped)
        counts[2] += len(passage.waiting)
        meter.count(f"stage {stage.name}", len(journeys))
        if passage.stopped:
            meter.count(f"stopped {stage.name}", len(passage.stopped))
        return passage

    return step


class MeteredStore:
    """See `ports.Store`: the store behind it, with its commits counted."""

    def __init__(self, store: Store, clock: Clock, *, meter: Meter, timed: bool = True) -> None:
        self._store = store
        self._timed = timed
        self._clock = clock
        self._meter = meter

    @property
    def journal(self) -> Journal:
        return self._store.journal

    @property
    def queue(self) -> Queue:
        return self._store.queue

    @property
    def dead_letters(self) -> DeadLetters:
        return self._store.dead_letters

    @property
    def bodies(self) -> Bodies:
        return self._store.bodies

    @property
    def credentials(self) -> Credentials:
        return self._store.credentials

    @property
    def gate(self) -> GateShelves:
        return self._store.gate

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        began = self._clock.now()
        outcomes = await self._store.commit(changes)
        if changes:
            seconds = max(0, self._clock.now() - began) / _SECOND if self._timed else None
            self._meter.note(changes, outcomes, seconds=seconds)
        return outcomes

    async def register(self) -> Register:
        return await self._store.register()

    def watch(self, listener: Listener) -> None:
        self._store.watch(listener)


def _events(change: Changes, outcome: Outcome) -> Iterable[str]:
    if outcome.status != "done":
        if outcome.status in {"duplicate", "full"}:
            yield outcome.status
        return
    for post in change.posts:
        yield "accepted" if post.aside is None else "aside"
    for settle in change.settles:
        if settle.act in _SETTLED:
            yield _SETTLED[settle.act]
    for leased in outcome.taken:
        yield _LEASED[leased.work]
    for redrive in change.redrives:
        yield "dropped" if redrive.drop else "redriven"
    for _ in change.resends:
        yield "resent"
    for onward in change.onwards:
        if onward.aside is not None:
            yield "aside"
