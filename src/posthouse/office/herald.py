"""The herald: what happens to cases is told to whoever waits for it, and queued for webhooks in the same commit.

So nothing that was recorded is not told, and nothing is told that was not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from posthouse.clock import Clock
from posthouse.message import envelope as envelopes
from posthouse.message import features
from posthouse.message.case import AuditEntry
from posthouse.message.changes import Changes, Letter, Outcome, Post, Register
from posthouse.message.envelope import Envelope
from posthouse.message.journey import Journey, Luggage, Target
from posthouse.message.message import Head, Message, compose
from posthouse.message.tiding import Heard
from posthouse.message.trace import Step
from posthouse.message.webhook import Webhook
from posthouse.office.deskcalls import HearCases
from posthouse.office.mailbox import BadRequest, deadline
from posthouse.office.sorting import entries
from posthouse.office.tiding import CASES, cloud_event, event_of
from posthouse.route import END
from posthouse.store.gateports import GateShelves
from posthouse.store.ports import Bodies, Credentials, DeadLetters, Journal, Listener, Queue, Store

TYPE: Final = "application/cloudevents+json"
_MOST: Final = 1_000
_PAGE: Final = 1_000
_HERALD: Final = "herald"


class HeraldStore:
    """See `ports.Store`: the store behind it, whose acts on cases are told."""

    def __init__(self, store: Store, clock: Clock, *, source: str, webhooks: Sequence[Webhook] = ()) -> None:
        self._store = store
        self._clock = clock
        self._source = source
        self._webhooks = tuple(webhooks)
        self._news = asyncio.Event()
        self._closed = False

    @property
    def journal(self) -> Journal:
        return self._store.journal

    @property
    def queue(self) -> Queue:
        return self._store.queue

    @property
    def dead_letters(self) -> DeadLetters:
        return self._store.dead_letters

    @property
    def bodies(self) -> Bodies:
        return self._store.bodies

    @property
    def credentials(self) -> Credentials:
        return self._store.credentials

    @property
    def gate(self) -> GateShelves:
        return self._store.gate

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        told = [change for change in changes if change.audits and any(map(_is_of_case, change.audits))]
        if not told:
            return await self._store.commit(changes)
        outcomes = await self._store.commit([self._told(change) for change in changes])
        self._ring()
        return outcomes

    async def register(self) -> Register:
        return await self._store.register()

    def watch(self, listener: Listener) -> None:
        self._store.watch(listener)

    async def hear(self, call: HearCases) -> Heard:
        """Give what happened to cases since a number; waits for something to happen where it may."""
        if not 0 < call.limit <= _MOST:
            raise BadRequest(f"expected a limit from 1 to {_MOST}, found {call.limit}")
        if call.after is None:
            last = await self._store.gate.audit.last()
            return Heard(events=[], after=0 if last is None else last.number)
        until = deadline(call.wait, self._clock.now())
        after = max(0, call.after)
        while True:
            # Taken before it is looked, so that nothing that happens meanwhile is missed.
            news = self._news
            heard = await self._since(after, call.limit)
            if heard.events or self._closed or not await self._wait(news, until):
                return heard
            after = heard.after

    def close(self) -> None:
        """Send away whoever waits."""
        self._closed = True
        self._ring()

    def _ring(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def _since(self, after: int, limit: int) -> Heard:
        while page := await self._store.gate.audit.lines(after=after, limit=_PAGE):
            events = [event_of(line) for line in page if line.act.startswith(CASES)]
            if events:
                last = events[limit - 1].number if len(events) > limit else page[-1].number
                return Heard(events=events[:limit], after=last)
            after = page[-1].number
        return Heard(events=[], after=after)

    async def _wait(self, news: asyncio.Event, until: int | None) -> bool:
        """Wait for news; false once it is too late for any."""
        # `Any`: nobody looks at what they give.
        tasks: list[asyncio.Future[Any]] = [asyncio.ensure_future(news.wait())]
        if until is not None:
            tasks.append(asyncio.ensure_future(self._clock.wait_until(until)))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return news.is_set()
        finally:
            for task in tasks:
                task.cancel()

    def _told(self, change: Changes) -> Changes:
        """Add what webhooks are to hear, so that it is queued exactly where the act is recorded."""
        posts = tuple(
            self._post(entry, hook)
            for entry in change.audits
            if _is_of_case(entry)
            for hook in self._webhooks
            if hook.wants(entry.act)
        )
        return msgspec.structs.replace(change, posts=change.posts + posts) if posts else change

    def _post(self, entry: AuditEntry, hook: Webhook) -> Post:
        now, place = self._clock.now(), str(hook.place)
        recipient = f"{place}#events"
        head = Head(
            id=self._clock.new_id(), kind="event", sender=None, recipients=(recipient,), created=entry.at,
            content_type=TYPE, lane=f"webhook {hook.name}",
        )  # fmt: skip
        message = compose(head, cloud_event(event_of(entry), self._source))
        envelope = Envelope(recipients=(recipient,), principal=_HERALD)
        return _posted(message, envelope, Target(place, "deliver", (recipient,)), now=now)


def _posted(message: Message, envelope: Envelope, target: Target, *, now: int) -> Post:
    extracted = features.extract(message, envelope, accepted=now)
    luggage = Luggage(envelope=envelope, features=extracted, stage=END, targets=(target,), is_automatic=True)
    letter = Letter(
        id=message.id,
        accepted=now,
        head=message.head,
        body=message.body,
        envelope=envelopes.encode.encode(envelope),
        features=features.encode(extracted),
        step=Step(now, "accepted", target.box),
    )
    return Post(letter=letter, entries=entries(Journey(message, luggage)))


def _is_of_case(entry: AuditEntry) -> bool:
    return entry.act.startswith(CASES)
