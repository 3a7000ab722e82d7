"""From hand to hand: accepted, taken, acknowledged, by 16 producers and 16 consumers in batches."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

import msgspec

from bench import workloads
from bench.accept import filled_office, letters_of, put_aside
from bench.figure import OURS, Contender, Contest, Results, Stopwatch, compete, figure_of, rate
from bench.peer import postgres
from bench.peer.present import peers
from bench.plan import Plan
from bench.served import served
from posthouse.client import Draft, Office, connect
from posthouse.office.calls import AskStatus, CreateCredential

_PRODUCERS: Final = 16
_CONSUMERS: Final = 16
# A message that took longer than this is lost, and so is the run.
_PATIENCE: Final = 60.0


class Flow:
    """Producers that send to all consumers, and consumers that each empty a mailbox."""

    def __init__(self, office: Office, plan: Plan, *, count: int) -> None:
        self._office = office
        self._drafts = [_drafts(plan.seed, number=number, count=count) for number in range(_PRODUCERS)]
        self._due = Counter(str(draft.to) for draft in self.drafts)
        self.microseconds: list[float] = []
        """Processor time of a message in this process, round by round."""

    @property
    def drafts(self) -> list[Draft]:
        """Give all messages of a round."""
        return [draft for drafts in self._drafts for draft in drafts]

    async def round(self) -> float:
        """Send everything and acknowledge everything; gives messages a second."""
        count = self._due.total()
        watch = Stopwatch()
        async with asyncio.timeout(_PATIENCE), asyncio.TaskGroup() as group:
            for mailbox, due in self._due.items():
                group.create_task(self._consume(mailbox, due))
            for drafts in self._drafts:
                group.create_task(self._produce(drafts))
        self.microseconds.append(watch.processor() / count * 1e6)
        return count / watch.wall()

    async def _produce(self, drafts: Sequence[Draft]) -> None:
        for start in range(0, len(drafts), workloads.BATCH):
            receipts = await self._office.put_many(drafts[start : start + workloads.BATCH])
            assert all(receipt.status == "accepted" for receipt in receipts), receipts

    async def _consume(self, mailbox: str, due: int) -> None:
        while due:
            deliveries = await self._office.take_many(mailbox, limit=workloads.BATCH, wait=_PATIENCE)
            await self._office.acknowledge(*deliveries)
            due -= len(deliveries)


async def measure_inside(plan: Plan) -> Results:
    """Through an office in this process, and through PostgreSQL with SKIP LOCKED."""
    async with filled_office(plan) as (office, folder), peers(folder, connections=_PRODUCERS + _CONSUMERS) as present:
        flow = Flow(office, plan, count=plan.scale.flow)
        letters = letters_of(flow.drafts)
        put_aside()
        note = "16 producers, 16 consumers, batches of 64, on the filled store"
        contenders = [Contender("end_to_end_per_s", OURS, flow.round, note)]
        if (server := present.postgres) is not None:
            work = partial(server.flow, letters, rows=64)
            contenders.append(
                Contender("end_to_end_postgres_per_s", postgres.WHO, rate(len(letters), work), "SKIP LOCKED, 64 rows")
            )
        figures = await compete(contenders, plan.scale.rounds)
    spent = figure_of("end_to_end_processor_us", OURS, values=flow.microseconds, note="processor time of one message")
    missing = [] if present.postgres is not None else [postgres.MISSING]
    return [figures[0], spent, *figures[1:], *missing]


async def measure_socket(plan: Plan) -> Results:
    """Through the control socket of `posthouse serve`."""
    with plan.folder() as folder:
        async with AsyncExitStack() as stack:
            store = folder / "office.db"
            await stack.enter_async_context(served(store))
            office = await stack.enter_async_context(Office.open(store))
            flow = Flow(office, plan, count=plan.scale.flow // 4)
            note = "the same through the socket of another process, on an empty store"
            return await compete([Contender("end_to_end_socket_per_s", OURS, flow.round, note)], plan.scale.rounds)


async def measure_network(plan: Plan) -> Results:
    """Over the network, on this machine: one connection of `connect`, shown a key, to `posthouse serve`."""
    with plan.folder() as folder:
        async with AsyncExitStack() as stack:
            store = folder / "office.db"
            await stack.enter_async_context(served(store))
            async with Office.open(store) as inside:
                issued = await inside.call(CreateCredential(name="bench", scopes=["send as *", "read *"]))
                address = (await inside.call(AskStatus())).addresses[0]
            office = await stack.enter_async_context(connect(address, key=issued.key))
            flow = Flow(office, plan, count=plan.scale.flow // 4)
            drafts = flow.drafts
            note = "over the network with a key, one connection"
            batched = f"{note}, batches of 64, 16 at once"
            contenders = [
                Contender("connect_flow_per_s", OURS, flow.round, note),
                Contender("connect_put_per_s", OURS, partial(_put, office, drafts), batched),
            ]
            return await compete(contenders, plan.scale.rounds)


async def _put(office: Office, drafts: Sequence[Draft]) -> float:
    """Put everything in batches; gives messages a second."""
    batches = iter([
        [msgspec.structs.replace(draft, to="put") for draft in drafts[start : start + workloads.BATCH]]
        for start in range(0, len(drafts), workloads.BATCH)
    ])  # fmt: skip
    watch = Stopwatch()

    async def produce() -> None:
        for batch in batches:
            receipts = await office.put_many(batch)
            assert all(receipt.status == "accepted" for receipt in receipts), receipts

    async with asyncio.TaskGroup() as group:
        for _ in range(_PRODUCERS):
            group.create_task(produce())
    return len(drafts) / watch.wall()


def _mailbox(number: int) -> str:
    return f"consumer-{number:02d}"


def _drafts(seed: int, *, number: int, count: int) -> list[Draft]:
    chance = random.Random(f"posthouse flow {workloads.VERSION} {seed} {number}")
    to = [_mailbox(chance.randrange(_CONSUMERS)) for _ in range(count)]
    return [workloads.draft(chance, to=mailbox, by=workloads.sender(number)) for mailbox in to]


CONTESTS: Final = (
    Contest(("end_to_end_per_s", "end_to_end_processor_us"), measure_inside),
    Contest(("end_to_end_socket_per_s",), measure_socket),
    Contest(("connect_flow_per_s", "connect_put_per_s"), measure_network),
)
