"""The milter door: other mail servers ask this office about a mail before they take it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Final, Literal, cast

import structlog

from posthouse.errors import PosthouseError
from posthouse.message.judgement import Judgement
from posthouse.message.verdict import refuse
from posthouse.transport.smtp.dialogue.event import HangUp, Say
from posthouse.transport.smtp.dialogue.milter import Judge, MilterDialogue, MilterEvent
from posthouse.transport.smtp.dialogue.reply import Reply
from posthouse.transport.smtp.entry import UNIX, Entry
from posthouse.transport.smtp.inward import envelope_of, message_of

# What is kept of a mail to judge it; the server keeps the mail itself.
_KEEP: Final = 4 * 1_048_576
_MOST_WAITING: Final = 2 * 1_048_576

_log = structlog.get_logger("posthouse.milter")


class MilterSession(asyncio.Protocol):
    """One connection of a mail server."""

    def __init__(self, entry: Entry, loop: asyncio.AbstractEventLoop) -> None:
        self._entry = entry
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._dialogue = MilterDialogue(keep_bytes=_KEEP)
        self._judging: asyncio.Task[None] | None = None
        self._heard = loop.time()
        self.client = UNIX

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.client = self._entry.visitor_of(self._transport).address
        if self._entry.crowd.admit(self) is not None:
            self._transport.close()

    def data_received(self, data: bytes) -> None:
        self._heard = self._loop.time()
        self._carry_out(self._dialogue.receive(data))
        if self._judging is not None and self._dialogue.waiting > _MOST_WAITING and self._transport is not None:
            self._transport.pause_reading()

    def connection_lost(self, _exc: Exception | None) -> None:
        self._entry.crowd.leave(self)
        if self._judging is not None:
            self._judging.cancel()

    def look_at_clock(self, now: float) -> None:
        """Hang up on a server that has been silent for as long as a connection of mail may last."""
        if self._judging is None and now - self._heard > self._entry.pace.connection_seconds:
            self.abort()

    def end(self, _reply: Reply, _why: Literal["expired", "closing"]) -> None:
        """Hang up; the server asks the next one, or does what it does without one."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Hang up at once."""
        if self._transport is not None:
            self._transport.abort()

    @property
    def is_busy(self) -> bool:
        """Whether a mail is being judged."""
        return self._judging is not None

    def _carry_out(self, events: Sequence[MilterEvent]) -> None:
        assert self._transport is not None
        pending = deque(events)
        while pending:
            match pending.popleft():
                case Say(data):
                    self._transport.write(data)
                case Judge() as question:
                    self._judging = self._loop.create_task(self._judge(question))
                case HangUp():
                    self._transport.close()

    async def _judge(self, question: Judge) -> None:
        clock = self._entry.office.clock
        try:
            message = message_of(question.mail, question.content, identity=clock.new_id(), entry=self._entry)
            judgement = await self._entry.office.room.judge(
                message, envelope_of(question.mail), whole=question.is_whole
            )
        except PosthouseError as fault:
            judgement = Judgement(refuse(fault.code, fault.public, temporary=not fault.permanent))
        except Exception as fault:  # noqa: BLE001 - the server keeps the mail, and asks again later
            _log.error("milter.stumbled", fault=type(fault).__name__, exc_info=True)
            judgement = Judgement(refuse("posthouse", PosthouseError.public, temporary=True))
        self._judging = None
        assert self._transport is not None
        if not self._transport.is_closing():
            self._carry_out(self._dialogue.judged(judgement))
            self._transport.resume_reading()
