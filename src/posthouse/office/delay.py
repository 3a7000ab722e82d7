"""Delays: what an office does about mail that waits for a place elsewhere longer than it should.

Its sender is told once. What has waited for the whole time given is given up, though others were tried in its stead:
while nobody answers there, only one message at a time is tried.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from itertools import takewhile
from typing import Final, NamedTuple
from uuid import UUID

import structlog

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.message import envelope as envelopes
from posthouse.message.answer import Answer
from posthouse.office.clerk import Clerk, Matter, recipients_at
from posthouse.office.delivery import Held, given_up
from posthouse.office.notice import delayed
from posthouse.office.terms import SECOND, Terms
from posthouse.office.walk import Load
from posthouse.store.ports import Queued, Store
from posthouse.transport.ports import Result

_PAGE: Final = 100
# RFC 3463, section 3.5: nobody answers there.
_NO_ANSWER: Final = "4.4.1"

_log = structlog.get_logger("posthouse.delays")


class Late(NamedTuple):
    """A mail that waits for a place, and why."""

    message: UUID
    arrived: int
    answers: tuple[Answer, ...]
    """To each recipient there that waits."""


def late(loads: Sequence[Load], results: Sequence[Result], *, now: int, after: float) -> list[Late]:
    """Give the mails of a walk that have waited so many seconds, and wait on."""
    if not after:
        return []
    found: list[Late] = []
    for load, result in zip(loads, results, strict=True):
        arrived = load.journey.luggage.since or load.leased.arrived
        if now - arrived < after * SECOND or result.status in {"delivered", "refused"}:
            continue
        waiting = tuple(answer for answer in result.answers if answer.status in {"deferred", "unreachable"})
        if waiting or not result.answers:
            found.append(Late(load.leased.letter.id, arrived, waiting or _to_all(load, result.reason)))
    return found


def _to_all(load: Load, reason: str) -> tuple[Answer, ...]:
    names = [name for target in load.journey.luggage.targets for name in target.recipients]
    return tuple(Answer(name, "unreachable", reason, _NO_ANSWER) for name in names)


class Delays:
    """Looks after what waits, whenever somebody was sent to a place and came back with mail."""

    def __init__(self, clock: Clock, terms: Terms, *, store: Store, clerk: Clerk) -> None:
        self._clock = clock
        self._terms = terms
        self._store = store
        self._clerk = clerk
        self._looked_at: dict[str, int] = {}
        """By place the last entry whose sender was told since nobody answers there."""

    async def note(self, box: str, loads: Sequence[Load], *, results: Sequence[Result], is_silent: bool) -> None:
        """Hear how a walk ended; `is_silent` where nobody answered at all."""
        tardy = late(loads, results, now=self._clock.now(), after=self._terms.mailing.delay_seconds)
        try:
            await self._tell(box, tardy)
            if is_silent:
                await self._look_behind(box, next(result.reason for result in results))
            else:
                self._looked_at.pop(box, None)
        except PosthouseError as fault:
            # They wait on, and are looked at after the next walk.
            _log.warning("delays.held-up", destination=box, fault=fault.what)

    async def _look_behind(self, box: str, reason: str) -> None:
        """Look at what waits behind the one that was tried."""
        async for page in self._waiting(box, seconds=self._terms.patience.give_up_after, after=0):
            over = [_given_up(entry, reason) for entry in page if entry.state == "waiting"]
            if over:
                await self._clerk.settle(self._store, over)
        if not self._terms.mailing.delay_seconds:
            return
        start = self._looked_at.get(box, 0)
        async for page in self._waiting(box, seconds=self._terms.mailing.delay_seconds, after=start):
            await self._tell(box, [await self._behind(entry, reason) for entry in page if entry.kind == "mail"])
            self._looked_at[box] = page[-1].entry

    async def _waiting(self, box: str, *, seconds: float, after: int) -> AsyncIterator[list[Queued]]:
        """Give what has waited so long; what came later has waited less."""
        latest = self._clock.now() - int(seconds * SECOND)
        while page := await self._store.queue.entries(box, after=after, limit=_PAGE):
            old = list(takewhile(lambda entry: entry.arrived <= latest, page))
            if old:
                yield old
            if len(old) < len(page):
                return
            after = page[-1].entry

    async def _behind(self, entry: Queued, reason: str) -> Late:
        steps = await self._store.journal.trace(entry.message)
        # One that was divided has recipients that wait no more; it is told of when it is tried itself.
        is_divided = any(step.happened == "divided" for step in steps)
        letter = None if is_divided else await self._store.journal.letter(entry.message)
        names = () if letter is None else recipients_at(entry.box, envelopes.decode.decode(letter.envelope))
        answers = tuple(Answer(name, "unreachable", reason, _NO_ANSWER) for name in names)
        return Late(entry.message, entry.arrived, answers)

    async def _tell(self, box: str, tardy: Sequence[Late]) -> None:
        mailing, now = self._terms.mailing, self._clock.now()
        reports = []
        for mail in tardy:
            letter = await self._store.journal.letter(mail.message) if mail.answers else None
            original = None if letter is None else await self._clerk.original(letter)
            if original is None:
                continue
            until = mail.arrived + int(self._terms.patience.give_up_after * SECOND)
            report = delayed(original, mail.answers, place=box, mailing=mailing, until=until, now=now)
            if report is not None:
                reports.append(report)
        if reports:
            await self._clerk.send(self._store, reports)


def _given_up(entry: Queued, reason: str) -> Matter:
    held = Held(entry.entry, entry.token, entry.box, "waiting", entry.failures, entry.arrived)
    return Matter(held, entry.message, "given up", given_up(reason))
