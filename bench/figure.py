"""What a measurement gives: figures beside their bars, and the rule by which contenders take turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple

from bench.plan import Plan

OURS: Final = "Posthouse"


class Figure(NamedTuple):
    """One figure: the median of its rounds, with the least and the most of them."""

    name: str
    who: str
    value: float
    least: float
    most: float
    note: str = ""


class Bar(NamedTuple):
    """What a figure must reach."""

    at_least: float | None = None
    at_most: float | None = None

    def is_held(self, value: float) -> bool:
        """Say whether a value reaches it."""
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)

    def __str__(self) -> str:
        return f">= {self.at_least:g}" if self.at_least is not None else f"<= {self.at_most:g}"


class Missing(NamedTuple):
    """A peer that is not on this machine, and how to get it."""

    who: str
    advice: str


Results = Sequence[Figure | Missing]
Measure = Callable[[Plan], Awaitable[Results]]


class Contest(NamedTuple):
    """A measurement, and the figures it gives of us; those of the peers come with it."""

    figures: tuple[str, ...]
    measure: Measure


Round = Callable[[], Awaitable[float]]


class Contender(NamedTuple):
    """One side of a contest; a round answers with the value it reached."""

    figure: str
    who: str
    round: Round
    note: str = ""


BARS: Final = {
    "accept_inprocess_per_s": Bar(at_least=20_000),
    "accept_with_rules_per_s": Bar(at_least=12_000),
    "gate_share_of_smtp_accept": Bar(at_least=0.8),
    "accept_single_share_of_sqlite": Bar(at_least=0.6),
    "accept_single_p99_ms": Bar(at_most=10),
    "end_to_end_per_s": Bar(at_least=8_000),
    "office_to_office_per_s": Bar(at_least=8_000),
    "accept_http_batch_per_s": Bar(at_least=12_000),
    "idle_mb": Bar(at_most=60),
    "idle_doors_mb": Bar(at_most=80),
    "ready_s": Bar(at_most=1),
    "backlog_take_p99_ms": Bar(at_most=5),
    "backlog_restart_s": Bar(at_most=3),
    "mail_parse_per_s": Bar(at_least=8_000),
    "smtp_accept_ratio_postfix": Bar(at_least=2),
    "smtp_accept_new_ratio_postfix": Bar(at_least=1.5),
    "smtp_accept_p99_ms": Bar(at_most=50),
    "smtp_large_mb": Bar(at_most=300),
    "smtp_large_other_p99_ms": Bar(at_most=200),
    "match_rules_1000_per_s": Bar(at_least=50_000),
    "match_rules_frequent_1000_per_s": Bar(at_least=20_000),
    "match_rules_10000_p99_ms": Bar(at_most=2),
    "match_subscriptions_100k_per_s": Bar(at_least=100_000),
    "match_subscriptions_1m_per_s": Bar(at_least=25_000),
    "match_subscription_bytes": Bar(at_most=600),
    "match_change_ms": Bar(at_most=1),
    "desk_list_p95_ms": Bar(at_most=100),
    "desk_decide_p99_ms": Bar(at_most=50),
    "expiry_lateness_p99_ms": Bar(at_most=1_000),
    "audit_verify_per_s": Bar(at_least=500_000),
}
"""What the project set itself to reach."""


async def compete(contenders: Sequence[Contender], rounds: int) -> list[Figure]:
    """Let contenders take turns, so that a busy moment of the machine meets all of them."""
    values: dict[str, list[float]] = {contender.figure: [] for contender in contenders}
    for _ in range(rounds):
        for contender in contenders:
            values[contender.figure].append(await contender.round())
    return [figure_of(each.figure, each.who, values=values[each.figure], note=each.note) for each in contenders]


def rate(count: int, work: Callable[[], Awaitable[None]]) -> Round:
    """Give a round that says how many messages a second some work handles."""

    async def measure() -> float:
        watch = Stopwatch()
        await work()
        return count / watch.wall()

    return measure


def figure_of(name: str, who: str, *, values: Sequence[float], note: str = "") -> Figure:
    """Give the figure of some rounds."""
    return Figure(name, who, statistics.median(values), min(values), max(values), note)


def percentile(values: Sequence[float], share: float) -> float:
    """Give the value that this share of all values does not exceed."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


class Stopwatch:
    """Wall time and processor time of this process since it was made."""

    def __init__(self) -> None:
        self._wall = time.perf_counter()
        self._processor = time.process_time()

    def wall(self) -> float:
        """Give the seconds passed."""
        return time.perf_counter() - self._wall

    def processor(self) -> float:
        """Give the seconds of processor time used, all threads together."""
        return time.process_time() - self._processor
