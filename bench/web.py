"""Accepting over HTTP: one client process with a few connections, beside an endpoint that keeps nothing."""

from __future__ import annotations

import asyncio
import base64
import gc
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec

from bench import workloads
from bench.accept import letters_of, put_aside
from bench.figure import OURS, Contender, Contest, Results, Round, compete, figure_of, percentile, rate
from bench.filled import filled_copy
from bench.peer import jetstream, litestar
from bench.plan import Plan
from bench.served import served
from posthouse.client import Draft
from posthouse.message.attribute import tag_all
from posthouse.office.calls import AskStatus, CreateCredential
from posthouse.server.assemble import reach_house

_CONNECTIONS: Final = 8
_LONE: Final = 10


class Wire:
    """One connection that is kept: writes a request, reads its answer, and does no more than that."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes) -> None:
        self._reader = reader
        self._writer = writer
        self._head = head

    async def post(self, body: bytes) -> bytes:
        """Post a JSON body; gives what was answered."""
        self._writer.write(b"%bcontent-length: %d\r\n\r\n%b" % (self._head, len(body), body))
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        answer = await self._reader.readexactly(int(length.partition(b":")[2]))
        assert head[9:11] == b"20", head
        return answer

    async def close(self) -> None:
        """Hang up."""
        self._writer.close()
        await self._writer.wait_closed()


@asynccontextmanager
async def wires(port: int, path: str, *, count: int, key: str = "") -> AsyncIterator[list[Wire]]:
    """Open connections."""
    shown = f"authorization: Bearer {key}\r\n" if key else ""
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n{shown}"
    opened = [Wire(*await asyncio.open_connection("127.0.0.1", port), head.encode()) for _ in range(count)]
    try:
        yield opened
    finally:
        for wire in opened:
            await wire.close()


def written(draft: Draft) -> dict[str, object]:
    """Give a message of the accept workload as a program writes it."""
    assert isinstance(draft.body, bytes)
    return {
        "to": draft.to,
        "from": draft.sender,
        "attributes": tag_all(draft.attributes),
        "base64": base64.b64encode(draft.body).decode(),
    }


async def send(wires: Sequence[Wire], bodies: Sequence[bytes], *, refuse: bytes) -> None:
    """Post all bodies over all connections; nothing may be refused."""
    waiting = iter(bodies)

    async def work(wire: Wire) -> None:
        for body in waiting:
            answer = await wire.post(body)
            assert refuse not in answer, answer

    await asyncio.gather(*map(work, wires))


async def measure(plan: Plan) -> Results:
    """Batches of 64 and single messages, over a few connections of one process."""
    async with AsyncExitStack() as opened:
        folder = opened.enter_context(plan.folder())
        store = filled_copy(plan, folder)
        port, key = await opened.enter_async_context(_office(store))
        bare = await opened.enter_async_context(litestar.bare_litestar())
        ours = await opened.enter_async_context(wires(port, "/api/v1/messages", count=_CONNECTIONS, key=key))
        theirs = await opened.enter_async_context(wires(bare, "/messages", count=_CONNECTIONS))
        drafts = _drafts(plan)
        messages = [written(draft) for draft in drafts]
        batches = [
            msgspec.json.encode(messages[start : start + workloads.BATCH])
            for start in range(0, len(messages), workloads.BATCH)
        ]
        singles = [msgspec.json.encode(message) for message in messages[: len(messages) // _LONE]]
        note = f"one process, {_CONNECTIONS} connections, batches of 64, on the filled store"
        many, few = len(messages), len(singles)
        contenders = [
            Contender("accept_http_batch_per_s", OURS, _rate(many, ours, batches), note),
            Contender("accept_http_single_per_s", OURS, _rate(few, ours, singles), "one message a request"),
            Contender("bare_http_batch_per_s", litestar.WHO, _rate(many, theirs, batches), "the same, keeping nothing"),
            Contender("bare_http_single_per_s", litestar.WHO, _rate(few, theirs, singles), "the same, keeping nothing"),
        ]
        put_aside()
        if not jetstream.is_missing():
            stream = await opened.enter_async_context(jetstream.jetstream(folder))
            letters = [letter for _, letter in letters_of(drafts[::_LONE])]
            shares = [letters[start::_CONNECTIONS] for start in range(_CONNECTIONS)]
            work = partial(stream.accept_at_once, shares, batch=workloads.BATCH)
            text = "8 senders, sync_interval: always"
            contenders.append(Contender("accept_http_jetstream_per_s", jetstream.WHO, rate(len(letters), work), text))
        figures = await compete(contenders, plan.scale.rounds)
        slow = await _slowest(ours[0], singles)
        gc.unfreeze()
    late = figure_of("accept_http_single_p99_ms", OURS, values=[slow], note="a lone sender")
    return [*figures, late, *([jetstream.MISSING] if jetstream.is_missing() else [])]


def _rate(count: int, opened: Sequence[Wire], bodies: Sequence[bytes]) -> Round:
    return rate(count, partial(send, opened, bodies, refuse=b"refused"))


async def _slowest(wire: Wire, bodies: Sequence[bytes]) -> float:
    seconds = []
    for body in bodies:
        start = time.perf_counter()
        await wire.post(body)
        seconds.append(time.perf_counter() - start)
    return percentile(seconds, 0.99) * 1000


def _drafts(plan: Plan) -> list[Draft]:
    count = plan.scale.batches * workloads.BATCH
    size = plan.scale.filled.mailboxes
    return [
        draft
        for number in range(workloads.SENDERS)
        for draft in workloads.accept_drafts(plan.seed, number=number, count=count // 4, mailboxes=size)
    ]


@asynccontextmanager
async def _office(store: Path) -> AsyncIterator[tuple[int, str]]:
    async with served(store, {"http.listen": "127.0.0.1:0", "http.key_requests": "1000000"}):
        link = await reach_house(store)
        try:
            issued = await link.answer(CreateCredential(name="bench", scopes=["send as *"]))
            status = await link.answer(AskStatus())
        finally:
            await link.close()
        yield urlsplit(status.addresses[0]).port or 0, issued.key


CONTESTS: Final = (Contest(("accept_http_batch_per_s", "accept_http_single_per_s"), measure),)
