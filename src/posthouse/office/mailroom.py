"""The mail room: what mail doors bring is taken in here, with that of many connections in one batch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Final, Protocol

import structlog

from posthouse.errors import PosthouseError
from posthouse.message.arrival import Arrival, arrival_of
from posthouse.message.envelope import Envelope
from posthouse.message.judgement import Judgement
from posthouse.message.message import Body, Message
from posthouse.message.verdict import PASS, Verdict, refuse
from posthouse.office.intake import Intake, Receipt
from posthouse.office.sorting import Parcel, begin
from posthouse.office.terms import Terms
from posthouse.route import enter
from posthouse.switch.address import verdict_on

# The stage from which on it matters where a message goes: who only asks for a verdict takes it there himself.
_ONWARD: Final = "address"

# Of a larger mail only the client is checked, not its signatures.
MAX_CHECKED: Final = 33_554_432
# Large mails that are in memory at a time in order to be checked.
_LARGE_AT_ONCE: Final = 2

_log = structlog.get_logger("posthouse.mailroom")


class Authenticator(Protocol):
    """Finds out whether a mail comes from whom it says."""

    async def check(self, mail: bytes, arrival: Arrival, *, sender: str | None, whole: bool) -> Mapping[str, str]:
        """Give the results, by the name of the check; never raises, and takes no longer than a mail may wait.

        Where the mail is not whole, only its beginning is here.
        """
        ...


class Mailroom:
    """As `transport.smtp.port.Mailroom` asks."""

    authenticator: Authenticator | None = None
    """What checks mail as it arrives; whoever opens the mail doors puts it here."""

    def __init__(self, terms: Terms, intake: Intake) -> None:
        self._terms = terms
        self._intake = intake
        self._batch: list[tuple[Parcel, asyncio.Future[Verdict]]] = []
        self._taking: set[asyncio.Task[None]] = set()
        self._large = asyncio.Semaphore(_LARGE_AT_ONCE)

    async def consider(self, recipient: str) -> Verdict:
        return verdict_on(recipient, await self._intake.facts())

    async def accept(self, message: Message, envelope: Envelope) -> Verdict:
        authentication = await self._authenticate(message, envelope)
        answer: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        if not self._batch:
            # Whatever other connections bring in this turn of the loop goes with it.
            asyncio.get_running_loop().call_soon(self._take_in)
        self._batch.append((Parcel(message, envelope, authentication=authentication), answer))
        return await answer

    async def judge(self, message: Message, envelope: Envelope, *, whole: bool = True) -> Judgement:
        authentication = await self._authenticate(message, envelope, whole=whole)
        facts = await self._intake.facts()
        before = [stage for stage in self._intake.route if stage.name != _ONWARD]
        parcel = Parcel(message, envelope, authentication=authentication)
        passage = enter([begin(parcel, facts, route=before)], facts, route=before)
        ended = (*passage.stopped, *passage.waiting, *passage.going)
        return Judgement(ended[0].luggage.verdict)

    async def save_body(self, chunks: AsyncIterator[bytes]) -> Body:
        return await self._intake.bodies.save(chunks, limit=self._terms.limits.body_bytes)

    async def _authenticate(self, message: Message, envelope: Envelope, *, whole: bool = True) -> Mapping[str, str]:
        arrival = arrival_of(message.attributes)
        if self.authenticator is None or arrival is None:
            return {}
        body = message.body
        if not isinstance(body, Body):
            return await self.authenticator.check(body, arrival, sender=envelope.sender, whole=whole)
        try:
            async with asyncio.timeout(self._terms.mail.authenticate_seconds):
                await self._large.acquire()
        except TimeoutError:
            # Too many large ones at once: the client is checked all the same.
            mail = await self._read(body, most=1)
            return await self.authenticator.check(mail, arrival, sender=envelope.sender, whole=False)
        try:
            mail = await self._read(body, most=MAX_CHECKED if body.size <= MAX_CHECKED else 1)
            return await self.authenticator.check(mail, arrival, sender=envelope.sender, whole=len(mail) == body.size)
        finally:
            self._large.release()

    async def _read(self, body: Body, *, most: int) -> bytes:
        """Give a body in whole pieces until there is as much as this; one piece holds the header of any usual mail."""
        pieces: list[bytes] = []
        size = 0
        async for piece in self._intake.bodies.read(body):
            pieces.append(piece)
            size += len(piece)
            if size >= most:
                break
        return b"".join(pieces)

    def _take_in(self) -> None:
        batch, self._batch = self._batch, []
        taking = asyncio.create_task(self._answer(batch))
        self._taking.add(taking)
        taking.add_done_callback(self._taking.discard)

    async def _answer(self, batch: list[tuple[Parcel, asyncio.Future[Verdict]]]) -> None:
        try:
            receipts = await self._intake.accept([parcel for parcel, _ in batch])
            verdicts = [_verdict(receipt) for receipt in receipts]
        except PosthouseError as fault:
            verdicts = [refuse(fault.code, fault.public, temporary=not fault.permanent)] * len(batch)
        except Exception as fault:  # noqa: BLE001 - whoever brought the mail keeps it and comes again
            _log.error("mailroom.stumbled", fault=type(fault).__name__, exc_info=True)
            verdicts = [refuse("posthouse", PosthouseError.public, temporary=True)] * len(batch)
        for (_, answer), verdict in zip(batch, verdicts, strict=True):
            if not answer.done():
                answer.set_result(verdict)


def _verdict(receipt: Receipt) -> Verdict:
    if receipt.status == "refused":
        return refuse(receipt.code, receipt.reason, temporary=receipt.temporary)
    return PASS
