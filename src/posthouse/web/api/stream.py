"""Messages as they come: server-sent events, and a WebSocket on which the asker says how many it can bear.

What a stream lent and did not get back goes back to its mailbox when the stream ends; as long as it is open, the leases
are renewed by themselves.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final, cast

import msgspec
from litestar import WebSocket, get, websocket
from litestar.di import NamedDependency
from litestar.exceptions import WebSocketDisconnect
from litestar.params import FromPath, FromQuery, QueryParameter
from litestar.response import Stream

from posthouse.errors import PosthouseError
from posthouse.message.changes import Filter
from posthouse.message.reading import UNREADABLE, locate
from posthouse.office.calls import SettleTaken, TakeNext, slip_of
from posthouse.web.admission import permit_of
from posthouse.web.api.document import EventStream
from posthouse.web.api.lending import Lending, Loan, Reader
from posthouse.web.api.path import mailbox_in
from posthouse.web.api.shape import Delivery, Failing, Renewing, Settled, Slips, delivery_of
from posthouse.web.api.take import Event, settle
from posthouse.web.asgi import Scope
from posthouse.web.front import Front
from posthouse.web.problem import Problem, problem_of

_MOST_CREDIT: Final = 1_000
_AT_ONCE: Final = 64
# A line that means nothing, so that what stands between does not take a silent stream for a dead one.
_STILL_HERE_S: Final = 15.0
_LEASE_S: Final = 60.0
_RENEW_S: Final = 20.0

Credit = Annotated[int, QueryParameter(ge=1, le=_MOST_CREDIT, description="Messages in your hands at a time.")]

_encode: Final = msgspec.json.Encoder().encode


class Said(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the asker says on a WebSocket: exactly one of these."""

    credit: Annotated[int, msgspec.Meta(ge=1, le=_MOST_CREDIT)] | None = None
    """So many messages more."""
    acknowledge: list[str] | None = None
    give_back: list[str] | None = msgspec.field(default=None, name="return")
    fail: list[str] | None = None
    renew: list[str] | None = None
    reason: str = ""
    pause: float | None = None
    lease: float | None = None


_decode: Final = msgspec.json.Decoder(Said).decode


class Source:
    """The messages of one mailbox for one stream."""

    def __init__(self, reader: Reader, call: TakeNext) -> None:
        self.reader = reader
        self.loan = Loan()
        self.credit = 0
        self._call = call

    def allow(self, more: int) -> None:
        """Let so many more be lent at a time."""
        self.credit = min(_MOST_CREDIT, self.credit + more)
        self.loan.back.set()

    async def next(self) -> list[Delivery]:
        """Give what comes next, once there is credit for it; nothing when nothing came for a while."""
        while (left := self.credit - len(self.loan)) <= 0:
            self.loan.back.clear()
            try:
                await asyncio.wait_for(self.loan.back.wait(), _STILL_HERE_S)
            except TimeoutError:
                return []
        call = msgspec.structs.replace(self._call, limit=min(left, _AT_ONCE), wait=_STILL_HERE_S)
        taken = await self.reader.front.ask(self.reader.permit, call)
        self.reader.lending.lend(self.loan, [slip_of(one) for one in taken])
        return [delivery_of(one) for one in taken]

    async def keep(self) -> None:
        """Renew what is lent, until cancelled; what is lost counts as come back."""
        while True:
            await asyncio.sleep(_RENEW_S)
            slips = list(self.loan.slips.values())
            if slips:
                good = await self.reader.front.ask(
                    self.reader.permit, SettleTaken(slips=slips, event="renewed", lease=_LEASE_S)
                )
                self.reader.lending.settled(slip for slip, is_good in zip(slips, good, strict=True) if not is_good)

    async def end(self) -> None:
        """Give back what is still lent."""
        slips = self.reader.lending.end(self.loan)
        if slips:
            # What cannot be put back now comes back when its lease ends.
            with contextlib.suppress(PosthouseError):
                await self.reader.front.ask(self.reader.permit, SettleTaken(slips=slips, event="returned"))


@asynccontextmanager
async def streaming(reader: Reader, call: TakeNext) -> AsyncIterator[Source]:
    """Open a source, keep its leases, and give back what is left at the end."""
    source = Source(reader, call)
    keeping = asyncio.create_task(source.keep())
    try:
        yield source
    finally:
        keeping.cancel()
        # Who serves a stream that was broken off is cancelled at every step: this goes on by itself.
        reader.lending.afterwards(source.end())


@get(
    "/mailboxes/{mailbox:str}/stream",
    summary="Hear messages as they come",
    tags=["Messages out"],
    operation_class=EventStream,
)
async def stream(
    *,
    mailbox: FromPath[str],
    reader: NamedDependency[Reader],
    kind: FromQuery[str | None] = None,
    correlation: FromQuery[str | None] = None,
    credit: Credit = 16,
) -> Stream:
    """Send messages as server-sent events, `event: delivery` each; settle them by the paths under `deliveries`.

    No more than `credit` messages are in your hands at a time. What is not settled when the stream ends goes back.
    """
    call = _call(mailbox, kind, correlation, holder=reader.permit.principal)
    # Before the answer begins, so that a refusal is a problem and not a stream that ends.
    await reader.front.ask(
        reader.permit, msgspec.structs.replace(call, limit=1, wait=0.0, filter=Filter("none.of.them", ""))
    )
    return Stream(
        _events(reader, call, credit=credit),
        media_type="text/event-stream",
        headers={"cache-control": "no-store", "x-accel-buffering": "no"},
    )


async def _events(reader: Reader, call: TakeNext, *, credit: int) -> AsyncGenerator[bytes, None]:
    async with streaming(reader, call) as source:
        source.allow(credit)
        yield b": open\n\n"
        while not reader.front.closing.is_set():
            try:
                deliveries = await source.next()
            except PosthouseError as fault:
                yield b"event: problem\ndata: %b\n\n" % _encode(problem_of(fault))
                return
            for delivery in deliveries:
                identity = str(delivery.message["id"]).encode()
                yield b"event: delivery\nid: %b\ndata: %b\n\n" % (identity, _encode(delivery))
            if not deliveries:
                yield b": still here\n\n"


@websocket("/mailboxes/{mailbox:str}/socket")
# `Any`: nobody signs in with Litestar's own means.
async def socket(
    *,
    mailbox: FromPath[str],
    socket: WebSocket[Any, Any, Any],
    front: NamedDependency[Front],
    lending: NamedDependency[Lending],
    kind: FromQuery[str | None] = None,
    correlation: FromQuery[str | None] = None,
) -> None:
    """Send messages over a WebSocket, as many as the asker says it can bear; it settles them on the same socket."""
    permit = permit_of(cast("Scope", socket.scope))
    reader = Reader(front, permit, lending)
    call = _call(mailbox, kind, correlation, holder=permit.principal)
    await front.ask(permit, msgspec.structs.replace(call, limit=1, wait=0.0, filter=Filter("none.of.them", "")))
    await socket.accept()
    async with streaming(reader, call) as source:
        tasks = {asyncio.ensure_future(work) for work in (_tell(socket, source), _hear(socket, source))}
        tasks.add(asyncio.ensure_future(_until(front.closing)))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    with contextlib.suppress(RuntimeError, WebSocketDisconnect):
        await socket.close(code=1001 if front.closing.is_set() else 1000)


async def _until(event: asyncio.Event) -> None:
    await event.wait()


async def _tell(socket: WebSocket[Any, Any, Any], source: Source) -> None:
    while True:
        try:
            deliveries = await source.next()
        except PosthouseError as fault:
            await _say(socket, "problem", problem_of(fault))
            return
        for delivery in deliveries:
            await _say(socket, "delivery", delivery)


async def _hear(socket: WebSocket[Any, Any, Any], source: Source) -> None:
    while True:
        try:
            text = await socket.receive_data(mode="text")
        except (WebSocketDisconnect, KeyError):
            return
        try:
            settled = await _obey(source, _decode(text))
        except PosthouseError as fault:
            await _say(socket, "problem", problem_of(fault))
        except UNREADABLE as fault:
            what, path = locate(fault)
            await _say(socket, "problem", _malformed(f"{path}: {what}" if path else what))
        else:
            if settled is not None:
                await _say(socket, "settled", settled)


async def _obey(source: Source, said: Said) -> Settled | None:
    if said.credit is not None:
        source.allow(said.credit)
        return None
    chosen: tuple[tuple[list[str] | None, Event], ...] = (
        (said.acknowledge, "acknowledged"),
        (said.give_back, "returned"),
        (said.fail, "failed"),
        (said.renew, "renewed"),
    )
    for slips, event in chosen:
        if slips is not None:
            data: Slips = Slips(slips=slips[:_MOST_CREDIT])
            if event == "failed":
                data = Failing(slips=slips[:_MOST_CREDIT], reason=said.reason[:1_000], pause=said.pause)
            elif event == "renewed":
                data = Renewing(slips=slips[:_MOST_CREDIT], lease=said.lease)
            return await settle(source.reader, data, event=event)
    raise msgspec.ValidationError("Expected one of credit, acknowledge, return, fail and renew")


async def _say(socket: WebSocket[Any, Any, Any], what: str, value: Delivery | Settled | Problem) -> None:
    await socket.send_data(_encode({what: value}).decode(), mode="text")


def _malformed(what: str) -> Problem:
    code = "socket.malformed"
    return Problem(
        type=f"urn:posthouse:problem:{code}",
        title="What was said on the socket cannot be read.",
        status=400,
        code=code,
        detail=what,
        hint='say {"credit": 10}, {"acknowledge": ["SLIP"]}, or the same with return, fail or renew',
    )


def _call(mailbox: str, kind: str | None, correlation: str | None, *, holder: str) -> TakeNext:
    return TakeNext(mailbox=mailbox_in(mailbox), filter=Filter(kind, correlation), lease=_LEASE_S, holder=holder)
