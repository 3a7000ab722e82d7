"""From office to office: accepted in one process, and durable in mailboxes of another one."""

from __future__ import annotations

import asyncio
import gc
import random
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

from bench import workloads
from bench.accept import letters_of, put_aside
from bench.figure import OURS, Contender, Contest, Results, Stopwatch, compete, figure_of, rate
from bench.peer import jetstream
from bench.plan import Plan
from bench.served import served
from posthouse.client import Draft, Office
from posthouse.message.name import parse_office
from posthouse.message.peer import Exchange, Peer
from posthouse.office.calls import ListQueue
from posthouse.office.terms import Terms
from posthouse.server.assemble import own_public_key

_SENDERS: Final = 16
_MAILBOXES: Final = 16
# A round that takes longer has lost something.
_PATIENCE: Final = 60.0
_LOOK_EVERY: Final = 0.01


class Transfer:
    """Senders at one office, all of whose messages are for mailboxes of another."""

    def __init__(self, office: Office, to: str, *, seed: int, count: int) -> None:
        self._office = office
        self._to = to
        self._senders = [_drafts(to, seed, number=number, count=count) for number in range(_SENDERS)]
        self.microseconds: list[float] = []
        """Processor time of a message in the office that sends, round by round."""

    @property
    def drafts(self) -> list[Draft]:
        """Give all messages of a round."""
        return [draft for drafts in self._senders for draft in drafts]

    async def round(self) -> float:
        """Have everything accepted, and the other office answer for all of it; gives messages a second."""
        waiting = ListQueue(box=self._to, limit=1)
        watch = Stopwatch()
        async with asyncio.timeout(_PATIENCE):
            await asyncio.gather(*map(self._send, self._senders))
            while await self._office.call(waiting):  # noqa: ASYNC110 - an empty queue tells nobody
                await asyncio.sleep(_LOOK_EVERY)
        count = len(self.drafts)
        self.microseconds.append(watch.processor() / count * 1e6)
        return count / watch.wall()

    async def _send(self, drafts: Sequence[Draft]) -> None:
        for start in range(0, len(drafts), workloads.BATCH):
            receipts = await self._office.put_many(drafts[start : start + workloads.BATCH])
            assert all(receipt.status == "accepted" for receipt in receipts), receipts


async def measure(plan: Plan) -> Results:
    """Between two processes of this machine, and between two servers of NATS, one of which mirrors the other."""
    async with AsyncExitStack() as opened:
        folder = opened.enter_context(plan.folder())
        office, name = await opened.enter_async_context(_two_offices(folder))
        transfer = Transfer(office, name, seed=plan.seed, count=plan.scale.flow)
        count = len(transfer.drafts)
        note = "16 senders, batches of 64, 16 mailboxes of another process, signed frames over HTTP"
        contenders = [Contender("office_to_office_per_s", OURS, transfer.round, note)]
        letters = [letter for _, letter in letters_of(transfer.drafts)]
        put_aside()
        if not jetstream.is_missing():
            (folder / "nats").mkdir()
            pair = await opened.enter_async_context(jetstream.mirrored(folder / "nats"))
            shares = [letters[start::_SENDERS] for start in range(_SENDERS)]
            work = partial(pair.carry, shares, batch=workloads.BATCH)
            contenders.append(
                Contender(
                    "office_to_office_jetstream_per_s", jetstream.WHO, rate(count, work), "a mirror over a leaf node"
                )
            )
        figures = await compete(contenders, plan.scale.rounds)
        gc.unfreeze()
    note = "processor time of one message in the office that sends"
    spent = figure_of("office_to_office_processor_us", OURS, values=transfer.microseconds, note=note)
    return [figures[0], spent, *figures[1:], *([jetstream.MISSING] if jetstream.is_missing() else [])]


@asynccontextmanager
async def _two_offices(folder: Path) -> AsyncIterator[tuple[Office, str]]:
    """Give an office in this process, and the name of one in another process, each of which knows the other."""
    here, there = folder / "here.db", folder / "there.db"
    port = _free_port()
    east, west = "http://127.0.0.1:1/east", f"http://127.0.0.1:{port}/west"
    settings = {
        "office.name": west,
        "http.listen": f"127.0.0.1:{port}",
        "peers.east": f"{east} {own_public_key(here, Exchange())}",
    }
    peer = Peer(name="west", office=west, keys=(own_public_key(there, Exchange()),))
    terms = Terms(name=parse_office(east), exchange=Exchange(peers=(peer,)))
    async with served(there, settings), Office.open(here, terms=terms) as office:
        yield office, west


def _drafts(to: str, seed: int, *, number: int, count: int) -> list[Draft]:
    chance = random.Random(f"posthouse offices {workloads.VERSION} {seed} {number}")
    by = workloads.sender(number)
    return [
        workloads.draft(chance, to=f"{to}#{workloads.mailbox(chance.randrange(_MAILBOXES))}", by=by)
        for _ in range(count)
    ]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


CONTESTS: Final = (Contest(("office_to_office_per_s", "office_to_office_processor_us"), measure),)
