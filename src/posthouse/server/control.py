"""An office answers programs of other processes: calls come in as bytes and go out as bytes.

What a connection leased and did not settle goes back when it ends, so that a program that vanished keeps nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
import structlog

from posthouse.errors import PosthouseError
from posthouse.message.message import Body
from posthouse.office.callform import read_call, read_reply, write_call, write_fault, write_reply
from posthouse.office.calls import (
    AbandonBody,
    AddToBody,
    AnyCall,
    AwaitArrival,
    BeginBody,
    Call,
    CreateCredential,
    EndBody,
    Handed,
    Put,
    RevokeCredential,
    SettleTaken,
    Taken,
    TakeNext,
    Tell,
    slip_of,
)
from posthouse.office.deskcalls import DESK_REPLIES, AnyDeskCall
from posthouse.office.house import House
from posthouse.office.mailbox import BadRequest
from posthouse.office.visitor import Visitor
from posthouse.transport.ports import MAX_FRAME, FrameTooLarge, Link

Reply = TypeVar("Reply")

# Large bodies one connection may hand in at the same time.
_MOST_BODIES: Final = 16
# Takers one connection may have waiting: fewer than the questions it may have under way, so that others get through.
_MOST_WAITING: Final = 10_000
# What a waiting taker says stands in memory for as long as he waits.
_LONGEST_WAITING: Final = 16_384
_PIECE: Final = 1_048_576

# What is told in part, or done in somebody's name, besides the calls of the desk.
_SIGNED: Final = (Tell, CreateCredential, RevokeCredential)

_log = structlog.get_logger("posthouse.control")


class Guest(NamedTuple):
    """Who is at the other end of a connection, and what decides each time what he may do."""

    principal: str
    check: Callable[[AnyCall | AnyDeskCall], None] | None = None
    """Raises the error that refuses a call; asked each time, for a right may end while a program is connected."""
    # `Any`: whichever call it is, with its reply.
    ask: Callable[[Call[Any]], Awaitable[Any]] | None = None
    """Asks in the name of one who may not do everything, so that he is told no more than he may know."""


class OfficeSession:
    """What stands behind one connection to an office."""

    def __init__(self, house: House, guest: Guest) -> None:
        self._house = house
        self._visitor = Visitor(house)
        self._guest = guest
        self._waiting = 0
        self._bodies: dict[int, _Arriving] = {}
        self._last_body = 0

    async def answer(self, question: bytes) -> bytes:
        """See `ports.Session`."""
        try:
            call = read_call(question)
            self._check(call, size=len(question))
            return await self._written(call, await self._answer(call))
        except PosthouseError as fault:
            return write_fault(fault)
        except Exception as fault:  # noqa: BLE001 - a bug met by one call must not end the connection
            _log.error("control.stumbled", fault=type(fault).__name__, exc_info=True)
            return write_fault(PosthouseError("the office met a bug; its log says more"))

    async def end(self, *, gone: bool) -> None:
        """Forget what was half handed in; a program that is gone gives back what it leased, others go on with it."""
        for arriving in self._bodies.values():
            await arriving.abandon()
        if gone:
            await self._visitor.leave()

    def _check(self, call: AnyCall | AnyDeskCall, *, size: int) -> None:
        if self._guest.check is not None:
            self._guest.check(call)
        if isinstance(call, TakeNext | AwaitArrival) and size > _LONGEST_WAITING:
            raise BadRequest(f"expected at most {_LONGEST_WAITING} bytes to say what to wait for")

    # `Any`: the reply of whichever call it is.
    async def _written(self, call: AnyCall | AnyDeskCall, reply: Any) -> bytes:
        written = write_reply(reply)
        if len(written) <= MAX_FRAME:
            return written
        if isinstance(call, TakeNext):
            taken: list[Taken] = reply
            await self._visitor.answer(SettleTaken(slips=[slip_of(one) for one in taken], event="returned"))
        raise FrameTooLarge(
            f"expected an answer of at most {MAX_FRAME} bytes, found {len(written)}", hint="ask for fewer at once"
        )

    # `Any`: the reply of whichever call it is.
    async def _answer(self, call: AnyCall | AnyDeskCall) -> Any:
        match call:
            case BeginBody():
                return self._begin_body()
            case AddToBody():
                return await self._arriving(call.number).add(call.piece)
            case EndBody():
                return await self._end_body(call.number)
            case AbandonBody():
                return await self._abandon_body(call.number)
            case Put():
                return await self._house.answer(Put(parcels=[self._handed(parcel) for parcel in call.parcels]))
            case TakeNext():
                # A stranger's program does not say whose its leases are.
                holder = call.holder if self._guest.check is None else self._guest.principal
                return await self._wait(msgspec.structs.replace(call, holder=holder))
            case AwaitArrival():
                return await self._wait(call)
            case SettleTaken() if self._guest.check is not None:
                return await self._settle(call)
            case _ if self._guest.ask is not None and (isinstance(call, _SIGNED) or type(call) in DESK_REPLIES):
                return await self._guest.ask(call)
            case _:
                return await self._visitor.answer(call)

    async def _settle(self, call: SettleTaken) -> list[bool]:
        """Settle for one who may not do everything: of what lies elsewhere, only what was lent to him.

        The store sees to it that what lies here lies where its slip says; another office knows only this one.
        """
        good = [slip for slip in call.slips if not slip.office or self._visitor.has(slip)]
        if not good:
            return [False] * len(call.slips)
        told = await self._visitor.answer(msgspec.structs.replace(call, slips=good))
        answers = iter(told)
        return [slip in good and next(answers) for slip in call.slips]

    def _handed(self, parcel: Handed) -> Handed:
        """Give a message in the name of who is at the other end, whatever the envelope says."""
        if parcel.envelope.principal == self._guest.principal:
            return parcel
        envelope = msgspec.structs.replace(parcel.envelope, principal=self._guest.principal)
        return msgspec.structs.replace(parcel, envelope=envelope)

    async def _wait(self, call: Call[Reply]) -> Reply:
        if self._waiting >= _MOST_WAITING:
            raise BadRequest(f"expected at most {_MOST_WAITING} takers of one program at a time")
        self._waiting += 1
        try:
            return await self._visitor.answer(call)
        finally:
            self._waiting -= 1

    def _begin_body(self) -> int:
        if len(self._bodies) >= _MOST_BODIES:
            raise BadRequest(f"expected at most {_MOST_BODIES} large bodies at a time")
        self._last_body += 1
        self._bodies[self._last_body] = _Arriving(self._house)
        return self._last_body

    async def _end_body(self, number: int) -> Body:
        arriving = self._arriving(number)
        del self._bodies[number]
        return await arriving.end()

    async def _abandon_body(self, number: int) -> None:
        arriving = self._arriving(number)
        del self._bodies[number]
        await arriving.abandon()

    def _arriving(self, number: int) -> _Arriving:
        if number not in self._bodies:
            raise BadRequest(f"no body {number} was begun")
        return self._bodies[number]


class _Arriving:
    """A large body on its way in, one piece at a time."""

    def __init__(self, house: House) -> None:
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=2)
        self._saving = asyncio.create_task(house.counter.save_body(self._chunks()))

    async def add(self, piece: bytes) -> None:
        """Hand on a piece; waits while the disk is behind, raises what refuses the body."""
        await self._put(piece)
        if self._saving.done():
            self._saving.result()

    async def end(self) -> Body:
        """End the body and give its address."""
        await self._put(None)
        return await self._saving

    async def abandon(self) -> None:
        """Forget it."""
        self._saving.cancel()
        await asyncio.gather(self._saving, return_exceptions=True)

    async def _put(self, piece: bytes | None) -> None:
        putting = asyncio.ensure_future(self._pieces.put(piece))
        try:
            await asyncio.wait((putting, self._saving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            putting.cancel()

    async def _chunks(self) -> AsyncIterator[bytes]:
        while (piece := await self._pieces.get()) is not None:
            yield piece


class OfficeLink:
    """The asking side: an office of another process, reached by its control socket or over the network."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._bodies = asyncio.Semaphore(_MOST_BODIES)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_open(self) -> bool:
        """Say whether the office is still there, as far as is known."""
        return self._link.is_open

    async def answer(self, call: Call[Reply]) -> Reply:
        """Ask the office; raises the error it answers with."""
        late = self._give_back if isinstance(call, TakeNext) else None
        return read_reply(call, await self._link.ask(write_call(call), late=late))

    async def save_body(self, chunks: AsyncIterator[bytes]) -> Body:
        """Hand in a large body, piece by piece."""
        async with self._bodies:
            number = await self.answer(BeginBody())
            try:
                async for chunk in chunks:
                    for start in range(0, len(chunk), _PIECE):
                        await self.answer(AddToBody(number=number, piece=chunk[start : start + _PIECE]))
                return await self.answer(EndBody(number=number))
            except BaseException:
                self._afterwards(AbandonBody(number=number))
                raise

    async def close(self) -> None:
        """Hang up."""
        await asyncio.gather(*self._tasks)
        await self._link.close()

    def _give_back(self, answer: bytes) -> None:
        """Put back what was taken for somebody who had gone when the answer came."""
        # Where it is no messages but an error, nothing has to go back.
        with contextlib.suppress(PosthouseError):
            taken = read_reply(TakeNext(mailbox=""), answer)
            if taken:
                self._afterwards(SettleTaken(slips=[slip_of(one) for one in taken], event="returned"))

    # `Any`: nobody hears the reply.
    def _afterwards(self, call: Call[Any]) -> None:
        """Tell the office something that nobody waits for."""
        task = asyncio.create_task(self._tell(call))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tell(self, call: Call[Any]) -> None:
        # An office that has gone away knows by that, and one that has forgotten the matter need not be told.
        with contextlib.suppress(PosthouseError):
            await self.answer(call)
