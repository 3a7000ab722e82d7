"""The window: where other offices ask for what lies in mailboxes here, each in those it was given leave to read."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

import msgspec
import structlog

from posthouse.errors import PosthouseError
from posthouse.message.name import parse_mailbox
from posthouse.office.callform import read_call, write_fault, write_public, write_reply
from posthouse.office.calls import AnyCall, AwaitArrival, ReadBody, SettleTaken, Slip, Taken, TakeNext, slip_of
from posthouse.office.deskcalls import AnyDeskCall
from posthouse.office.house import House
from posthouse.office.mailbox import BadRequest, NotHere

MAX_QUESTION: Final = 1_048_576
"""Bytes of one question: a thousand messages to settle are fewer."""

_MOST_WAITING: Final = 1_000
_LONGEST_TICKET: Final = 64
# Takes of one office whose answers may have been lost.
_MOST_LENT: Final = 256
_MOST_BYTES: Final = 16 * 1_048_576

Reply = TypeVar("Reply")

_log = structlog.get_logger("posthouse.window")

Leave = Callable[[str], bool]
"""Says whether an office may read a mailbox, by what the mailbox is called here."""


class NotReadable(PosthouseError):
    """An office asks for what lies in a mailbox it was not given leave to read."""

    code: ClassVar[str] = "mailbox.not-readable"
    public: ClassVar[str] = "The other office does not let this one read that mailbox."


class _Lent(NamedTuple):
    """What was lent to one take, and about how much memory it takes to know it."""

    taken: list[Taken]
    weight: int


class Window:
    """Answers one other office."""

    def __init__(self, house: House, peer: str, *, leave: Leave) -> None:
        self._house = house
        self._peer = peer
        self._leave = leave
        self._here = house.terms.here
        self._waiting = 0
        self._going: dict[str, asyncio.Future[list[Taken]]] = {}
        self._lent: OrderedDict[str, _Lent] = OrderedDict()

    async def answer(self, question: bytes) -> bytes:
        """Answer one question; cancelled where it is withdrawn."""
        try:
            if len(question) > MAX_QUESTION:
                raise BadRequest(f"expected at most {MAX_QUESTION} bytes, found {len(question)}")  # noqa: TRY301 - as all
            call = read_call(question)
            return await self._written(call, await self._answer(call))
        except (BadRequest, NotHere) as fault:
            return write_fault(fault)
        except PosthouseError as fault:
            return write_public(fault)
        except Exception as fault:  # noqa: BLE001 - a bug met by one question must not end what asks it
            _log.error("window.stumbled", fault=type(fault).__name__, exc_info=True)
            return write_public(PosthouseError("the office met a bug"))

    # `Any`: the reply of whichever call it is.
    async def _answer(self, call: AnyCall | AnyDeskCall) -> Any:
        match call:
            case TakeNext():
                return await self._take(call)
            case AwaitArrival():
                asked_for = msgspec.structs.replace(call, mailbox=self._box(call.mailbox))
                return await self._wait(self._house.answer(asked_for))
            case SettleTaken():
                return await self._settle(call)
            case ReadBody():
                # Whoever was not given the message does not know the hash that names its body.
                return await self._house.answer(call)
            case _:
                raise NotReadable("an office may ask for what lies in mailboxes, and for nothing else")

    async def _take(self, call: TakeNext) -> list[Taken]:
        """Lend what comes next; to one who asks again, for the answer was lost, the same."""
        asked = msgspec.structs.replace(
            call, mailbox=self._box(call.mailbox), holder=f"office {self._peer}"
        )  # fmt: skip
        if not call.ticket:
            return await self._wait(self._house.answer(asked))
        if len(call.ticket) > _LONGEST_TICKET:
            raise BadRequest(f"expected a ticket of at most {_LONGEST_TICKET} characters")
        await self._break_off(call.ticket)
        if call.ticket in self._lent:
            return self._lent[call.ticket].taken
        going = self._going[call.ticket] = asyncio.ensure_future(self._house.answer(asked))
        going.add_done_callback(partial(self._note, call.ticket))
        try:
            return await self._wait(going)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                going.cancel()
                raise
            raise BadRequest("the take was given up, or asked for again") from None

    def _note(self, ticket: str, going: asyncio.Future[list[Taken]]) -> None:
        """Remember what was lent, whether or not anybody is there to hear it."""
        if self._going.get(ticket) is going:
            del self._going[ticket]
        if going.cancelled() or going.exception() is not None or not going.result():
            return
        self._lent[ticket] = _Lent(going.result(), _weight(going.result()))
        while len(self._lent) > 1 and self._is_much():
            self._lent.popitem(last=False)

    def _is_much(self) -> bool:
        return len(self._lent) > _MOST_LENT or sum(lent.weight for lent in self._lent.values()) > _MOST_BYTES

    async def _break_off(self, ticket: str) -> None:
        going = self._going.get(ticket)
        if going is not None:
            going.cancel()
            await asyncio.wait((going,))

    def _box(self, written: str) -> str:
        name = parse_mailbox(written)
        if name.office not in self._here:
            raise NotHere("expected a mailbox of this office", where=written)
        if not self._leave(name.mailbox):
            raise NotReadable("the office was given no leave to read this mailbox", where=written)
        return str(name)

    async def _wait(self, answering: Awaitable[Reply]) -> Reply:
        if self._waiting >= _MOST_WAITING:
            raise BadRequest(f"expected at most {_MOST_WAITING} takers of one office at a time")
        self._waiting += 1
        try:
            return await answering
        finally:
            self._waiting -= 1

    async def _settle(self, call: SettleTaken) -> list[bool]:
        """Settle what lies in mailboxes the office may read; of all else it is told what strangers are told."""
        if call.ticket and call.event == "returned":
            await self._break_off(call.ticket)
            lent = self._lent.pop(call.ticket, None)
            if lent is not None:
                slips = [slip_of(one) for one in lent.taken]
                await self._house.answer(SettleTaken(slips=slips, event="returned"))
        if call.event != "renewed":
            self._forget(call.slips)
        good = [slip for slip in call.slips if self._may_settle(slip)]
        if not good:
            return [False] * len(call.slips)
        told = await self._house.answer(msgspec.structs.replace(call, slips=good))
        answers = iter(told)
        return [slip in good and next(answers) for slip in call.slips]

    def _forget(self, slips: Sequence[Slip]) -> None:
        """Forget what need not be lent a second time: whoever settles it has it."""
        settled = {(slip.passing, slip.entry) for slip in slips}
        heard = [
            ticket
            for ticket, lent in self._lent.items()
            if any((one.passing, one.leased.entry) in settled for one in lent.taken)
        ]
        for ticket in heard:
            del self._lent[ticket]

    def _may_settle(self, slip: Slip) -> bool:
        # That it lies in the box it names, the store sees to.
        return not slip.office and slip.box.startswith("#") and self._leave(slip.box[1:])

    # `Any`: the reply of whichever call it is.
    async def _written(self, call: AnyCall | AnyDeskCall, reply: Any) -> bytes:
        written = write_reply(reply)
        if isinstance(call, TakeNext) and len(written) > _MOST_BYTES:
            await self._house.answer(SettleTaken(slips=[slip_of(one) for one in reply], event="returned"))
            raise BadRequest(f"expected an answer of at most {_MOST_BYTES} bytes", hint="ask for fewer at once")
        return written


def _weight(lent: Sequence[Taken]) -> int:
    return sum(
        len(letter.head) + (len(letter.body) if isinstance(letter.body, bytes) else 0)
        for letter in (one.leased.letter for one in lent)
    )
