"""The office as a program sees it: the same methods whether it runs in this process or in another."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from datetime import UTC
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Final, Self, TypeVar, Unpack

import msgspec

from posthouse.client.draft import Content, Draft, Options
from posthouse.client.holder import Holder
from posthouse.client.taken import Delivery
from posthouse.client.way import Way
from posthouse.clock import Clock, SystemClock
from posthouse.errors import PosthouseError
from posthouse.message.changes import Filter, Setup
from posthouse.message.envelope import Envelope
from posthouse.message.instant import to_microseconds
from posthouse.message.message import Body, Head, Message, compose
from posthouse.message.name import LOCAL, OfficeName, parse_mailbox, parse_office
from posthouse.office.calls import (
    AskStatus,
    AwaitArrival,
    Call,
    ListMailboxes,
    ListSetups,
    ReadBody,
    SettleTaken,
    SetUp,
    TakeNext,
)
from posthouse.office.intake import Receipt
from posthouse.office.mailbox import box_here
from posthouse.office.terms import SECOND, Terms

Reply = TypeVar("Reply")

# How much one call hands in at most; more goes in several.
_MOST_BYTES: Final = 8 * 1_048_576
_MOST_PARCELS: Final = 1_024
_INLINE: Final = 65_536
_PIECE: Final = 1_048_576


class Refused(PosthouseError):
    """The office does not accept a message; `receipt` says why."""

    code: ClassVar[str] = "message.refused"
    public: ClassVar[str] = "The message was refused."

    def __init__(self, receipt: Receipt) -> None:
        self.receipt = receipt
        super().__init__(receipt.reason, where=receipt.code)


class LeaseLost(PosthouseError):
    """A taken message is no longer yours: its lease ran out, or somebody settled it."""

    code: ClassVar[str] = "lease.lost"
    public: ClassVar[str] = "The message is no longer yours."


class Office:
    """An office: `async with Office.open(path) as office`, or `async with connect(url, key=...) as office`."""

    def __init__(self, way: Way, *, clock: Clock) -> None:
        self._clock = clock
        self._way = way

    @classmethod
    def open(cls, path: Path | str, *, terms: Terms | None = None, clock: Clock | None = None) -> Self:
        """Open the office on a file, or reach the process that has it open; several processes may do so at once."""
        clock = clock or SystemClock()
        return cls(Holder(Path(path), terms=terms or Terms(), clock=clock), clock=clock)

    async def __aenter__(self) -> Self:
        await self._way.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._way.close()

    @property
    def name(self) -> str | None:
        """The name of the office, where it is known from its settings or was told on connecting."""
        return self._way.office

    async def call(self, call: Call[Reply]) -> Reply:
        """Ask the office anything `posthouse.office.calls` names."""
        return await self._way.answer(call)

    def open_mailbox(self, name: str) -> Mailbox:
        """Open a mailbox by its name, of this office or another; nobody is asked, so nobody has to be there."""
        return Mailbox(self, name)

    async def put(self, to: str | tuple[str, ...], body: Content = b"", **options: Unpack[Options]) -> Message:
        """Send one message; gives it as it was sent, with its id. `Refused` says why it was not accepted."""
        message, receipt = (await self._send([Draft(to=to, body=body, **options)]))[0]
        if receipt.status == "refused":
            raise Refused(receipt)
        return message if receipt.id == message.id else msgspec.structs.replace(message, id=receipt.id)

    async def put_many(self, drafts: Sequence[Draft]) -> list[Receipt]:
        """Send many messages at once; each is answered for itself, in the same order."""
        return [receipt for _, receipt in await self._send(drafts)]

    async def take(
        self,
        mailbox: str,
        *,
        kind: str | None = None,
        correlation: str | None = None,
        wait: float | None = 0.0,
        lease: float | None = None,
        strict: bool = False,
    ) -> Delivery | None:
        """Take the next message: most urgent first, then in order of arrival.

        It is yours for the lease, in seconds; acknowledge it when done. `wait` is how many seconds to wait for one;
        None waits for ever. The mailbox may be of another office: one that cannot be asked now gives nothing, like an
        empty mailbox, unless `strict` makes that an error.
        """
        chosen = Filter(kind, correlation)
        taken = await self.take_many(mailbox, limit=1, chosen=chosen, wait=wait, lease=lease, strict=strict)
        return taken[0] if taken else None

    async def take_many(
        self,
        mailbox: str,
        *,
        limit: int,
        chosen: Filter = Filter(),  # noqa: B008 - a frozen value
        wait: float | None = 0.0,
        lease: float | None = None,
        strict: bool = False,
    ) -> list[Delivery]:
        """Take up to so many messages at once; from one lane they come as an unbroken run."""
        call = TakeNext(
            mailbox=mailbox, filter=chosen, limit=limit, wait=wait, lease=lease, holder=f"process {os.getpid()}",
            strict=strict,
        )  # fmt: skip
        return [Delivery.of(taken) for taken in await self._way.answer(call)]

    async def get(
        self,
        mailbox: str,
        *,
        kind: str | None = None,
        correlation: str | None = None,
        wait: float | None = 0.0,
        strict: bool = False,
    ) -> Message | None:
        """Take the next message and acknowledge it at once."""
        delivery = await self.take(mailbox, kind=kind, correlation=correlation, wait=wait, strict=strict)
        if delivery is None:
            return None
        await self.acknowledge(delivery)
        return delivery.message

    async def acknowledge(self, *deliveries: Delivery) -> None:
        """Say that messages are dealt with. `LeaseLost` where one was no longer yours; the others are acknowledged."""
        await self._settle(SettleTaken(slips=[delivery.slip for delivery in deliveries], event="acknowledged"))

    async def give_back(self, *deliveries: Delivery) -> None:
        """Put messages back where they were, as if they had not been taken."""
        await self._settle(SettleTaken(slips=[delivery.slip for delivery in deliveries], event="returned"))

    async def fail(self, delivery: Delivery, reason: str, *, pause: float | None = None) -> None:
        """Say that handling failed: it comes again after a pause, in the end as a dead letter."""
        await self._settle(SettleTaken(slips=[delivery.slip], event="failed", reason=reason[:1000], pause=pause))

    async def renew(self, *deliveries: Delivery, lease: float | None = None) -> None:
        """Make leases last for so many seconds from now."""
        slips = [delivery.slip for delivery in deliveries]
        await self._settle(SettleTaken(slips=slips, event="renewed", lease=lease))

    async def subscribe(self, mailbox: str) -> AsyncIterator[None]:
        """Give a sign at once, and then whenever something may have come to a mailbox; taking it is another matter."""
        seen = 0
        while True:
            count = await self._way.answer(AwaitArrival(mailbox=mailbox, since=seen))
            if count != seen:
                seen = count
                yield

    async def body(self, message: Message) -> AsyncIterator[bytes]:
        """Give the body in pieces, however large it is."""
        if isinstance(message.body, bytes):
            yield message.body
            return
        start = 0
        while piece := await self._way.answer(ReadBody(body=message.body, start=start)):
            yield piece
            start += len(piece)

    async def _settle(self, call: SettleTaken) -> None:
        answers = await self._way.answer(call)
        lost = [slip.message for slip, good in zip(call.slips, answers, strict=True) if not good]
        if lost:
            names = ", ".join(map(str, lost[:10]))
            raise LeaseLost(
                f"{len(lost)} of {len(answers)} messages were no longer yours: {names}",
                hint="the lease ran out or somebody settled them; they may be delivered again",
            )

    async def _send(self, drafts: Sequence[Draft]) -> list[tuple[Message, Receipt]]:
        sent: list[tuple[Message, Receipt]] = []
        batch: list[tuple[Message, Envelope]] = []
        size = 0
        for draft in drafts:
            message, envelope = await self._write(draft)
            batch.append((message, envelope))
            size += len(message.head) + (len(message.body) if isinstance(message.body, bytes) else 0)
            if size >= _MOST_BYTES or len(batch) >= _MOST_PARCELS:
                sent += await self._hand_in(batch)
                batch, size = [], 0
        if batch:
            sent += await self._hand_in(batch)
        return sent

    async def _hand_in(self, batch: list[tuple[Message, Envelope]]) -> list[tuple[Message, Receipt]]:
        receipts = await self._way.put(batch)
        return [(message, receipt) for (message, _), receipt in zip(batch, receipts, strict=True)]

    async def _write(self, draft: Draft) -> tuple[Message, Envelope]:
        now = self._clock.now()
        identity = draft.id or self._clock.new_id()
        recipients = (draft.to,) if isinstance(draft.to, str) else tuple(draft.to)
        textual = isinstance(draft.body, str)
        head = Head(
            id=identity,
            kind=draft.kind,
            sender=draft.sender,
            recipients=recipients,
            reply_to=draft.reply_to,
            correlation=draft.correlation,
            priority=draft.priority,
            created=now,
            expires=_expires(draft, now),
            keep=draft.keep,
            content_type=draft.content_type or ("text/plain; charset=utf-8" if textual else "application/octet-stream"),
            traceparent=draft.traceparent,
            lane=draft.lane if draft.ordered else str(identity),
        )
        body = await self._body(draft.body)
        envelope = Envelope(
            sender=draft.sender,
            recipients=recipients,
            blind=draft.blind,
            principal=self._way.principal,
            idempotency=draft.key,
            not_before=_not_before(draft, now),
        )
        return compose(head, body, attributes=draft.attributes), envelope

    async def _body(self, content: Content) -> bytes | Body:
        if isinstance(content, Body):
            return content
        if isinstance(content, str):
            content = content.encode()
        if isinstance(content, bytes):
            return content if len(content) <= _INLINE else await self._way.save_body(_pieces(content))
        if isinstance(content, Path):
            return await self._file(content)
        return await self._way.save_body(content)

    async def _file(self, path: Path) -> bytes | Body:
        size = (await asyncio.to_thread(path.stat)).st_size
        if size <= _INLINE:
            return await asyncio.to_thread(path.read_bytes)
        return await self._way.save_body(_read(path))


class Mailbox:
    """A mailbox by its name: one object to put and to get, whether it is of this office or of another."""

    def __init__(self, office: Office, name: str) -> None:
        self._office = office
        self._name = parse_mailbox(name)
        self.name = name
        """The name, as it was given."""

    def __repr__(self) -> str:
        return f"Mailbox({str(self._name)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mailbox) and (self._office, self._name) == (other._office, other._name)

    def __hash__(self) -> int:
        return hash(self._name)

    async def put(self, body: Content = b"", **options: Unpack[Options]) -> Message:
        """Send a message here; gives it as it was sent, with its id and its destination."""
        return await self._office.put(str(self._name), body, **options)

    async def get(
        self,
        *,
        kind: str | None = None,
        correlation: str | None = None,
        wait: float | None = 0.0,
        strict: bool = False,
    ) -> Message | None:
        """Get the next message, of a kind or of a correlation where one is given; see `Office.get`."""
        return await self._office.get(
            str(self._name), kind=kind, correlation=correlation, wait=wait, strict=strict
        )  # fmt: skip

    async def take(
        self,
        *,
        kind: str | None = None,
        correlation: str | None = None,
        wait: float | None = 0.0,
        lease: float | None = None,
        strict: bool = False,
    ) -> Delivery | None:
        """Take the next message; it is yours until it is settled, or the lease ends; see `Office.take`."""
        return await self._office.take(
            str(self._name), kind=kind, correlation=correlation, wait=wait, lease=lease, strict=strict
        )

    async def size(self) -> int:
        """Say how many messages lie here, waiting or in somebody's hands; of a mailbox of this office only."""
        box = await self._box()
        after = box[:-1]
        while page := await self._office.call(ListMailboxes(after=after)):
            for depth in page:
                if depth.box >= box:
                    return depth.messages if depth.box == box else 0
            after = page[-1].box
        return 0

    async def is_empty(self) -> bool:
        """Say whether nothing lies here."""
        return await self.size() == 0

    async def close(self) -> None:
        """Let nothing be put here or taken from here until it is opened; what lies here stays."""
        await self._set(closed=True)

    async def open(self) -> None:
        """End that."""
        await self._set(closed=False)

    async def _set(self, *, closed: bool) -> None:
        mailbox = (await self._box())[1:]
        setups = await self._office.call(ListSetups())
        known = next((setup for setup in setups if setup.mailbox == mailbox), Setup(mailbox=mailbox))
        await self._office.call(SetUp(setup=msgspec.structs.replace(known, closed=closed)))

    async def _box(self) -> str:
        status = await self._office.call(AskStatus())
        domains = (OfficeName("smtp", domain, None, "") for domain in status.domains)
        return box_here(str(self._name), frozenset({LOCAL, parse_office(status.office), *domains}))


def _expires(draft: Draft, now: int) -> int | None:
    if draft.expires is not None:
        return to_microseconds(draft.expires.astimezone(UTC))
    return None if draft.expires_in is None else now + int(draft.expires_in * SECOND)


def _not_before(draft: Draft, now: int) -> int | None:
    if draft.not_before is not None:
        return to_microseconds(draft.not_before.astimezone(UTC))
    return now + int(draft.delay * SECOND) if draft.delay else None


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), _PIECE):
        yield content[start : start + _PIECE]


async def _read(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while piece := await asyncio.to_thread(file.read, _PIECE):
            yield piece
