"""A backlog of a million: what a take costs in front of it, and how soon an office is back that holds it.

Spread over many mailboxes as in the filled store, and all of it in one mailbox with one lane or with 10,000.
"""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from bench import workloads
from bench.figure import OURS, Contest, Results, Stopwatch, figure_of, percentile
from bench.filled import filled_copy
from bench.peer import sqlite
from bench.plan import Plan, Size
from bench.served import served
from posthouse.client import Delivery, Office

_TYPE: Final = "order.urgent"
_LANES: Final = 10_000
# Messages in the log of commits when the process is killed.
_UNWRITTEN: Final = 2_000


class Backlog(NamedTuple):
    """One way in which messages may have piled up."""

    name: str
    size: Size
    mailboxes: Sequence[str]
    """Where takes look."""


async def measure_takes(plan: Plan) -> Results:
    """Take the next message, one of a type, the one of a correlation; acknowledge each before the next take."""
    seconds: dict[str, list[float]] = {}
    bare: list[float] = []
    for backlog in _backlogs(plan):
        async with _opened(plan, backlog) as (office, folder):
            for sort, times in (await _take_all_sorts(office, plan, backlog)).items():
                seconds[f"backlog_{backlog.name}_{sort}_p99_ms"] = times
            bare += await _bare_commits(folder, plan.scale.takes)
    slow = {name: percentile(times, 0.99) * 1000 for name, times in seconds.items()}
    worst = max(slow, key=slow.__getitem__)
    commit = [percentile(bare, 0.99) * 1000]
    return [
        figure_of("backlog_take_p99_ms", OURS, values=[slow[worst]], note=f"the slowest: {worst}"),
        *(figure_of(name, OURS, values=[value]) for name, value in slow.items()),
        figure_of("backlog_bare_commit_p99_ms", sqlite.WHO, values=commit, note="one row, synced: what the disk takes"),
    ]


async def measure_restart(plan: Plan) -> Results:
    """Kill `posthouse serve` while its log is full of commits, start it again, take a message."""
    seconds: dict[str, float] = {}
    for backlog in _backlogs(plan):
        with plan.folder() as folder:
            store = filled_copy(plan, folder, size=backlog.size)
            await _leave_unfinished(store, plan, backlog)
            watch = Stopwatch()
            async with served(store), Office.open(store) as office:
                assert await office.take(backlog.mailboxes[0]) is not None
                seconds[f"backlog_{backlog.name}_restart_s"] = watch.wall()
    worst = max(seconds, key=seconds.__getitem__)
    return [
        figure_of(
            "backlog_restart_s", OURS, values=[seconds[worst]], note=f"after kill -9, to the first take: {worst}"
        ),
        *(figure_of(name, OURS, values=[value]) for name, value in seconds.items()),
    ]


def _backlogs(plan: Plan) -> list[Backlog]:
    filled = plan.scale.filled
    chance = random.Random(f"posthouse backlog {workloads.VERSION} {plan.seed}")
    several = [workloads.mailbox(chance.randrange(filled.mailboxes)) for _ in range(plan.scale.takes)]
    one = [workloads.mailbox(0)]
    return [
        Backlog("spread", filled, several),
        Backlog("one_lane", Size(filled.queued, filled.queued, mailboxes=1, senders=1), one),
        Backlog("many_lanes", Size(filled.queued, filled.queued, mailboxes=1, senders=_LANES), one),
    ]


@asynccontextmanager
async def _opened(plan: Plan, backlog: Backlog) -> AsyncIterator[tuple[Office, Path]]:
    with plan.folder() as folder:
        async with Office.open(filled_copy(plan, folder, size=backlog.size)) as office:
            yield office, folder


async def _take_all_sorts(office: Office, plan: Plan, backlog: Backlog) -> dict[str, list[float]]:
    count = plan.scale.takes
    mailboxes = [backlog.mailboxes[number % len(backlog.mailboxes)] for number in range(count)]
    names = [f"correlated {number}" for number in range(count)]
    await _send(office, plan, [(mailbox, _TYPE, None) for mailbox in mailboxes])
    await _send(office, plan, list(zip(mailboxes, ["mail"] * count, names, strict=True)))
    return {
        "next": [await _time(office, partial(office.take, box)) for box in mailboxes],
        "typed": [await _time(office, partial(office.take, box, kind=_TYPE)) for box in mailboxes],
        "correlated": [
            await _time(office, partial(office.take, box, correlation=name))
            for box, name in zip(mailboxes, names, strict=True)
        ],
    }


async def _time(office: Office, take: Callable[[], Awaitable[Delivery | None]]) -> float:
    """Give the seconds of one take; it is acknowledged outside of them."""
    start = time.perf_counter()
    delivery = await take()
    seconds = time.perf_counter() - start
    if delivery is not None:
        await office.acknowledge(delivery)
    return seconds


async def _send(office: Office, plan: Plan, wanted: Sequence[tuple[str, str, str | None]]) -> None:
    """Send messages of a kind and a correlation to mailboxes, behind all that waits there."""
    chance = random.Random(f"posthouse behind {workloads.VERSION} {plan.seed}")
    drafts = [
        workloads.draft(chance, to=to, by=workloads.sender(0), kind=kind, correlation=correlation)
        for to, kind, correlation in wanted
    ]
    receipts = await office.put_many(drafts)
    assert all(receipt.status == "accepted" for receipt in receipts), receipts


async def _bare_commits(folder: Path, count: int) -> list[float]:
    seconds = []
    with closing(sqlite.BareSqlite(folder)) as bare:
        for _ in range(count):
            start = time.perf_counter()
            await bare.accept([bytes(700)], rows=1)
            seconds.append(time.perf_counter() - start)
    return seconds


async def _leave_unfinished(store: Path, plan: Plan, backlog: Backlog) -> None:
    """Leave a store as a process leaves it that is killed at work."""
    async with served(store) as office:
        async with Office.open(store) as client:
            await _send(client, plan, [(backlog.mailboxes[0], "mail", None)] * _UNWRITTEN)
        office.process.kill()
        await office.process.wait()


CONTESTS: Final = (
    Contest(("backlog_take_p99_ms",), measure_takes),
    Contest(("backlog_restart_s",), measure_restart),
)
