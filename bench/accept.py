"""Accepting: what many senders of batches reach together, and what a lone sender reaches beside a bare commit."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

from bench import workloads
from bench.figure import OURS, Contender, Contest, Results, Stopwatch, compete, figure_of, percentile, rate
from bench.filled import filled_copy
from bench.peer import jetstream, postgres, sqlite
from bench.peer.postgres import Letter
from bench.peer.present import Peers, peers
from bench.plan import Plan
from posthouse.client import Draft, Office
from posthouse.clock import SystemClock

_CONNECTIONS: Final = 16
# A peer that syncs every message by itself is given fewer, or the run would take minutes.
_FEWER: Final = 8
_LONE_ROUNDS: Final = 10


@asynccontextmanager
async def filled_office(plan: Plan) -> AsyncIterator[tuple[Office, Path]]:
    """Give an office on a filled store of its own, and a folder beside it."""
    with plan.folder() as folder:
        async with Office.open(filled_copy(plan, folder)) as office:
            yield office, folder


def letters_of(drafts: Sequence[Draft]) -> list[Letter]:
    """Give the bytes a peer keeps for the same messages, each with its mailbox."""
    clock = SystemClock()
    return [
        (str(draft.to), b"".join(workloads.written(draft, identity=clock.new_id(), created=clock.now())))
        for draft in drafts
    ]


def put_aside() -> None:
    """Keep the garbage collector from walking over the workload: that is not the office's."""
    gc.collect()
    gc.freeze()


class Crowd:
    """The batch senders."""

    def __init__(self, office: Office, plan: Plan) -> None:
        count = plan.scale.batches * workloads.BATCH
        size = plan.scale.filled.mailboxes
        self._office = office
        self.drafts = [
            list(workloads.accept_drafts(plan.seed, number=number, count=count, mailboxes=size))
            for number in range(workloads.SENDERS)
        ]
        self.microseconds: list[float] = []
        """Processor time of a message, round by round."""

    async def round(self) -> float:
        """Hand everything in; gives messages a second."""
        watch = Stopwatch()
        await asyncio.gather(*map(self._send, self.drafts))
        count = sum(map(len, self.drafts))
        self.microseconds.append(watch.processor() / count * 1e6)
        return count / watch.wall()

    async def _send(self, drafts: Sequence[Draft]) -> None:
        for start in range(0, len(drafts), workloads.BATCH):
            receipts = await self._office.put_many(drafts[start : start + workloads.BATCH])
            assert all(receipt.status == "accepted" for receipt in receipts), receipts


class Lone:
    """One sender who waits for each answer before he sends the next."""

    def __init__(self, office: Office, drafts: Sequence[Draft]) -> None:
        self._office = office
        self._drafts = drafts
        self.seconds: list[float] = []

    async def round(self) -> float:
        """Hand everything in, one by one; gives messages a second."""
        watch = Stopwatch()
        for draft in self._drafts:
            start = time.perf_counter()
            receipts = await self._office.put_many((draft,))
            self.seconds.append(time.perf_counter() - start)
            assert receipts[0].status == "accepted", receipts
        return len(self._drafts) / watch.wall()


async def measure_crowd(plan: Plan) -> Results:
    """Batches of 64 by 64 senders at once, and the same messages in the peers' long strides."""
    async with filled_office(plan) as (office, folder), peers(folder, connections=_CONNECTIONS) as present:
        crowd = Crowd(office, plan)
        letters = letters_of([draft for drafts in crowd.drafts for draft in drafts])
        put_aside()
        contenders = [
            Contender("accept_inprocess_per_s", OURS, crowd.round, "64 senders, batches of 64, on the filled store"),
            *_crowded(present, letters),
        ]
        figures = await compete(contenders, plan.scale.rounds)
        gc.unfreeze()
    spent = figure_of("accept_processor_us", OURS, values=crowd.microseconds, note="processor time of one message")
    return [figures[0], spent, *figures[1:], *present.missing]


async def measure_lone(plan: Plan) -> Results:
    """One message after the other, and one row after the other at the peers."""
    async with filled_office(plan) as (office, folder), peers(folder, connections=1) as present:
        size = plan.scale.filled.mailboxes
        drafts = list(workloads.accept_drafts(plan.seed, number=0, count=plan.scale.lone, mailboxes=size))
        lone = Lone(office, drafts)
        contenders = [
            Contender("accept_single_per_s", OURS, lone.round, "a lone sender, on the filled store"),
            *_alone(present, letters_of(drafts)),
        ]
        rounds = [await compete(contenders, 1) for _ in range(_LONE_ROUNDS * plan.scale.rounds)]
    ours, *others = (
        figure_of(one[0].name, one[0].who, values=[figure.value for figure in one], note=one[0].note)
        for one in zip(*rounds, strict=True)
    )
    shares = [one[0].value / one[1].value for one in rounds]
    slow = [percentile(lone.seconds, 0.99) * 1000]
    return [
        ours,
        figure_of("accept_single_share_of_sqlite", OURS, values=shares, note="of a bare commit in the same round"),
        figure_of("accept_single_p99_ms", OURS, values=slow),
        *others,
        *present.missing,
    ]


def _crowded(present: Peers, letters: Sequence[Letter]) -> list[Contender]:
    messages, count = [data for _, data in letters], len(letters)
    work = partial(present.sqlite.accept, messages, rows=256)
    contenders = [Contender("accept_sqlite_256_per_s", sqlite.WHO, rate(count, work), "256 rows a transaction")]
    if (stream := present.jetstream) is not None:
        few = messages[:: 4 * _FEWER]
        shares = [few[number :: workloads.SENDERS] for number in range(workloads.SENDERS)]
        work = partial(stream.accept_at_once, shares, batch=workloads.BATCH)
        note = "64 senders, sync_interval: always"
        contenders.append(Contender("accept_jetstream_per_s", jetstream.WHO, rate(len(few), work), note))
    if (server := present.postgres) is not None:
        for rows, part in ((1, letters[::_FEWER]), (64, letters)):
            work = partial(server.accept_at_once, part, rows=rows)
            note = f"16 senders, {rows} rows a transaction"
            contenders.append(Contender(f"accept_postgres_{rows}_per_s", postgres.WHO, rate(len(part), work), note))
    return contenders


def _alone(present: Peers, letters: Sequence[Letter]) -> list[Contender]:
    messages, count = [data for _, data in letters], len(letters)
    work = rate(count, partial(present.sqlite.accept, messages, rows=1))
    contenders = [Contender("accept_sqlite_single_per_s", sqlite.WHO, work, "one row a transaction")]
    if (stream := present.jetstream) is not None:
        work = rate(count, partial(stream.accept, messages))
        contenders.append(Contender("accept_jetstream_single_per_s", jetstream.WHO, work, "sync_interval: always"))
    if (server := present.postgres) is not None:
        work = rate(count, partial(server.accept, letters, rows=1))
        contenders.append(Contender("accept_postgres_single_per_s", postgres.WHO, work, "one row a transaction"))
    return contenders


CONTESTS: Final = (
    Contest(("accept_inprocess_per_s", "accept_processor_us"), measure_crowd),
    Contest(("accept_single_per_s", "accept_single_share_of_sqlite", "accept_single_p99_ms"), measure_lone),
)
