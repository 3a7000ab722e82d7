"""Errands: what somebody here wants out of a mailbox of another office is fetched there, and settled there.

Who waits waits as long as he said, whether the other office answers or not.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import msgspec
import structlog

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.message.message import Body
from posthouse.message.name import MailboxName, OfficeName, parse_office
from posthouse.office.callform import read_reply, write_call
from posthouse.office.calls import AwaitArrival, Call, ReadBody, SettleTaken, Taken, TakeNext
from posthouse.office.mailbox import NotHere, deadline
from posthouse.office.terms import SECOND
from posthouse.transport.ports import Errand, Unreachable

Reply = TypeVar("Reply")

# Seconds one question waits at the other office; who wants to wait longer asks again.
_LONGEST_WAIT: Final = 25.0
# Seconds an office that says nothing is given beyond that, before it counts as one that is not there.
_GRACE: Final = 0.5
# The same for one who does not wait at all, and for what is no wait.
_ANSWER: Final = 5.0
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 5.0
# Seconds for which the office is looked for that lent a message, when it is settled.
_SETTLING: Final = 10.0
# Seconds in which what nobody waits for any more can still go back when the office closes.
_LAST_CALL: Final = 1.0
# Large bodies of which it is known where they lie.
_MOST_BODIES: Final = 65_536

_log = structlog.get_logger("posthouse.errands")


class Errands:
    """Asks other offices, over whatever leads to them."""

    def __init__(self, clock: Clock, refuse: Callable[[], None]) -> None:
        self._clock = clock
        self._refuse = refuse
        """Raises what is told to those who wait while the office closes."""
        self._closing = asyncio.Event()
        self._ways: Mapping[str, Errand] = {}
        self._returning: set[asyncio.Task[None]] = set()
        self._bodies: OrderedDict[Body, str] = OrderedDict()

    def serve(self, ways: Mapping[str, Errand]) -> None:
        """Hear what leads to other offices, by the protocol of their names."""
        self._ways = ways

    def break_off(self) -> None:
        """Send away everybody who waits."""
        self._closing.set()

    async def close(self) -> None:
        """See that what was fetched for nobody goes back, if it goes quickly: else it does when its lease ends."""
        if self._returning:
            await asyncio.wait(self._returning, timeout=_LAST_CALL)
        for returning in self._returning:
            returning.cancel()
        await asyncio.gather(*self._returning, return_exceptions=True)
        for way in set(self._ways.values()):
            await way.close()

    async def take(self, name: MailboxName, call: TakeNext) -> list[Taken]:
        """Lease what comes next there; empty when the wait is over, whatever was in the way."""
        patience = _Patience(self._clock, deadline(call.wait, self._clock.now()))
        ticket = self._clock.new_id().hex
        sure = True
        try:
            while True:
                asked = msgspec.structs.replace(
                    call, mailbox=str(name), wait=patience.share(), holder="", ticket=ticket
                )  # fmt: skip
                sure = False
                try:
                    taken = await self._ask(name.office, asked, until=patience.until(asked.wait))
                except PosthouseError as fault:
                    if fault.permanent:
                        sure = True
                        raise
                    _log.info("errand.in-vain", office=str(name.office), fault=fault.what)
                    if not await self._pause(patience):
                        if call.strict:
                            raise
                        return []
                else:
                    sure = True
                    if taken or patience.is_over():
                        return self._noted(str(name.office), taken)
                    patience.ease()
        finally:
            if not sure:
                self._give_up(name.office, ticket)

    async def await_arrival(self, name: MailboxName, call: AwaitArrival) -> int:
        """Wait until something may have come to a mailbox there."""
        patience = _Patience(self._clock, deadline(call.wait, self._clock.now()))
        while True:
            asked = msgspec.structs.replace(call, mailbox=str(name), wait=patience.share())
            try:
                count = await self._ask(name.office, asked, until=patience.until(asked.wait))
            except PosthouseError as fault:
                if fault.permanent:
                    raise
                if not await self._pause(patience):
                    return call.since
            else:
                if count != call.since or patience.is_over():
                    return count
                patience.ease()

    async def settle(self, office: str, call: SettleTaken) -> list[bool]:
        """Say to the office that lent them what became of messages."""
        slips = [msgspec.structs.replace(slip, office="") for slip in call.slips]
        return await self._insist(office, msgspec.structs.replace(call, slips=slips))

    async def read_body(self, call: ReadBody) -> bytes | None:
        """Give one piece of a large body that lies elsewhere; none where nobody knows of it."""
        office = self._bodies.get(call.body)
        if office is None:
            return None
        piece: bytes = await self._insist(office, call)
        return piece

    async def _insist(self, office: str, call: Call[Reply]) -> Reply:
        patience = _Patience(self._clock, self._clock.now() + int(_SETTLING * SECOND))
        name = parse_office(office)
        while True:
            try:
                return await self._ask(name, call, until=patience.until(0.0))
            except PosthouseError as fault:
                if fault.permanent or not await self._pause(patience):
                    raise

    async def _ask(self, office: OfficeName, call: Call[Reply], *, until: int) -> Reply:
        """Ask once; `Unreachable` where there is no answer in time."""
        way = self._ways.get(office.protocol)
        if way is None:
            raise NotHere(
                f"expected a mailbox of this office or of one it can ask, found one of {office}", where=str(office)
            )
        asking = asyncio.ensure_future(way.ask(str(office), write_call(call)))
        try:
            await self._first(asking, until)
            if not asking.done():
                raise Unreachable("the office did not answer in time", where=str(office))
            place = call.mailbox if isinstance(call, TakeNext | AwaitArrival) else str(office)
            return read_reply(call, asking.result(), where=place)
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    async def _pause(self, patience: _Patience) -> bool:
        """Wait for a while before asking again; say whether there is time for that."""
        if patience.is_over():
            return False
        await self._first(None, patience.next())
        return not patience.is_over()

    async def _first(self, asking: asyncio.Future[bytes] | None, until: int) -> None:
        """Wait for an answer, or an instant; who waits while the office closes is sent away."""
        passing = asyncio.ensure_future(self._clock.wait_until(until))
        closing = asyncio.ensure_future(self._closing.wait())
        # `Any`: whichever comes first, only whether it has come is asked.
        awaited: set[asyncio.Future[Any]] = {passing, closing} if asking is None else {asking, passing, closing}
        try:
            await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            passing.cancel()
            closing.cancel()
        if self._closing.is_set() and (asking is None or not asking.done()):
            self._refuse()

    def _give_up(self, office: OfficeName, ticket: str) -> None:
        """Say that nobody waits any more for what was asked: what was lent all the same goes back."""
        returning = asyncio.create_task(self._put_back(office, ticket))
        self._returning.add(returning)
        returning.add_done_callback(self._returning.discard)

    async def _put_back(self, office: OfficeName, ticket: str) -> None:
        call = SettleTaken(slips=[], event="returned", ticket=ticket)
        # What cannot be put back now comes back when its lease ends.
        with contextlib.suppress(PosthouseError):
            await self._ask(office, call, until=self._clock.now() + int(_ANSWER * SECOND))

    def _noted(self, office: str, taken: list[Taken]) -> list[Taken]:
        for one in taken:
            body = one.leased.letter.body
            if isinstance(body, Body):
                self._bodies[body] = office
                self._bodies.move_to_end(body)
        while len(self._bodies) > _MOST_BODIES:
            self._bodies.popitem(last=False)
        return [msgspec.structs.replace(one, office=office) for one in taken]


class _Patience:
    """How long somebody waits, and how often the office he waits for is asked meanwhile."""

    def __init__(self, clock: Clock, last: int | None) -> None:
        self._clock = clock
        self._last = last
        self._grace = _ANSWER if last is not None and last <= clock.now() else _GRACE
        self._pause = _FIRST_PAUSE

    def share(self) -> float:
        """Give the seconds the next question may wait there."""
        if self._last is None:
            return _LONGEST_WAIT
        return min(_LONGEST_WAIT, max(0.0, (self._last - self._clock.now()) / SECOND))

    def until(self, wait: float | None) -> int:
        """Give the instant by which a question that waits so long must be answered."""
        seconds = (wait or 0.0) + (_ANSWER if self._last is None else self._grace)
        return self._clock.now() + int(seconds * SECOND)

    def is_over(self) -> bool:
        return self._last is not None and self._clock.now() >= self._last

    def next(self) -> int:
        """Give the instant at which to ask again; each time it is later."""
        until = self._clock.now() + int(self._pause * (0.75 + self._clock.chance() / 2) * SECOND)
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        return until if self._last is None else min(until, self._last)

    def ease(self) -> None:
        """Hear that the office answers."""
        self._pause = _FIRST_PAUSE
