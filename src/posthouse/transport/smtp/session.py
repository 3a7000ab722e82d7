"""One connection of a mail door: moves bytes between socket and dialogue, and carries out what the dialogue says."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Sequence
from typing import Any, Final, Literal, cast
from uuid import UUID

import structlog

from posthouse.errors import PosthouseError
from posthouse.message.verdict import Verdict, refuse
from posthouse.transport.smtp import inward
from posthouse.transport.smtp.arriving import Arriving
from posthouse.transport.smtp.dialogue import answer, event
from posthouse.transport.smtp.dialogue.event import Event
from posthouse.transport.smtp.dialogue.reply import Reply
from posthouse.transport.smtp.dialogue.server import ServerDialogue
from posthouse.transport.smtp.entry import Entry, cipher_of

# Commands a client may send ahead of their answers before it is made to wait.
_MOST_WAITING: Final = 65_536
# How long what a client still sends is thrown away after the last word, so that it gets to read that word.
_LINGER: Final = 2.0
_HANDSHAKE: Final = 30.0

Hold = Literal["tls", "ahead", "disk", "unread", "turn"]

_log = structlog.get_logger("posthouse.smtp")


class Session(asyncio.Protocol):
    """One connection."""

    def __init__(self, entry: Entry, loop: asyncio.AbstractEventLoop) -> None:
        self._entry = entry
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._dialogue: ServerDialogue | None = None
        self._holds: set[Hold] = set()
        self._arriving: Arriving | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._busy = 0
        self._ending = False
        self._heard_all = False
        self._leaving = False
        self._begun = self._heard = loop.time()
        self._mail_begun: float | None = None
        self.client = ""

    # --- what the loop calls ------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        visitor = self._entry.visitor_of(self._transport)
        self.client = visitor.address
        self._dialogue = ServerDialogue(self._entry.service, visitor)
        refusal = self._entry.crowd.admit(self)
        self._carry_out(self._dialogue.begin() if refusal is None else self._dialogue.end(refusal, "refused"))

    def data_received(self, data: bytes) -> None:
        self._heard = self._loop.time()
        if self._ending:
            return
        dialogue = self._talk
        self._carry_out(dialogue.receive(data))
        if dialogue.waiting > _MOST_WAITING:
            self._hold("ahead")

    def eof_received(self) -> bool:
        # Whoever sent everything at once and hung up still gets the answers to it.
        self._heard_all = True
        return self._busy > 0

    def connection_lost(self, _exc: Exception | None) -> None:
        self._ending = True
        self._entry.crowd.leave(self)
        self._forget_mail()

    def pause_writing(self) -> None:
        self._hold("unread")

    def resume_writing(self) -> None:
        self._release("unread")

    # --- what the door calls ------------------------------------------------------------------------------------------

    def look_at_clock(self, now: float) -> None:
        """Send the client away where its time is over."""
        pace = self._entry.pace
        if self._ending or self._busy:
            return
        if self._talk.is_idle:
            # A mail that was given up by RSET, or by a refusal, is no mail that takes its time.
            self._mail_begun = None
        late = (
            now - self._heard > pace.idle_seconds
            or now - self._begun > pace.connection_seconds
            or (self._mail_begun is not None and now - self._mail_begun > pace.mail_seconds)
        )
        if late:
            self.end(answer.EXPIRED, "expired")

    def end(self, reply: Reply, why: Literal["expired", "closing"]) -> None:
        """Say a last word and hang up; a mail that is being stored is answered first."""
        if self._busy:
            self._leaving = True
        elif not self._ending:
            self._carry_out(self._talk.end(reply, why))

    def abort(self) -> None:
        """Hang up at once."""
        if self._transport is not None:
            self._transport.abort()

    @property
    def is_busy(self) -> bool:
        """Whether an answer is being waited for."""
        return self._busy > 0

    # --- what the dialogue says ---------------------------------------------------------------------------------------

    @property
    def _talk(self) -> ServerDialogue:
        assert self._dialogue is not None
        return self._dialogue

    def _carry_out(self, events: Sequence[Event]) -> None:
        # A question that is answered at once leads to more events; they follow those that are already there.
        pending = deque(events)
        while pending:
            pending.extend(self._do(pending.popleft()))

    def _do(self, what: Event) -> Sequence[Event]:
        assert self._transport is not None
        match what:
            case event.Say(data):
                self._transport.write(data)
            case event.Piece(data):
                self._add(data)
            case event.Consider():
                return self._consider(what)
            case event.Deliver(mail):
                self._start(self._deliver(mail, self._arriving))
                self._arriving = None
            case event.Discard():
                self._forget_mail()
            case event.Check():
                self._start(self._check(what))
            case event.FindKeys():
                self._start(self._find_keys(what))
            case event.StartTls():
                self._hold("tls")
                self._start(self._encrypt())
            case event.Reconsider(visitor):
                return self._talk.reintroduced(self._entry.trusted(visitor))
            case event.HangUp(why):
                self._hang_up(why)
        return ()

    def _consider(self, question: event.Consider) -> Sequence[Event]:
        if self._mail_begun is None:
            self._mail_begun = self._heard
        placed = self._entry.office.domains.place(question.recipient, question.visitor)
        if placed.verdict.action != "pass":
            return self._talk.considered(placed.verdict, placed.name)
        self._start(self._ask_office(placed.name))
        return ()

    async def _ask_office(self, name: str) -> None:
        verdict = await self._entry.office.room.consider(name)
        self._answered(self._talk.considered(verdict, name))

    def _add(self, data: bytes) -> None:
        if self._arriving is None:
            self._arriving = Arriving(
                self._entry.office.room, self._entry.pace.inline_bytes,
                slow=lambda: self._hold("disk"), fast=lambda: self._release("disk"),
            )  # fmt: skip
        self._arriving.add(data)
        if self._arriving.is_large:
            self._hold("turn")
            self._entry.crowd.turnstile.wait(lambda: self._release("turn"))

    def _forget_mail(self) -> None:
        self._mail_begun = None
        if self._arriving is not None:
            if (clearing := self._arriving.abandon()) is not None:
                self._entry.crowd.look_after(clearing)
            self._arriving = None

    async def _deliver(self, mail: event.Mail, arriving: Arriving | None) -> None:
        identity = self._entry.office.clock.new_id()
        try:
            body = await arriving.end() if arriving is not None else b""
            verdicts = await inward.deliver(mail, body, identity=identity, entry=self._entry)
        except PosthouseError as fault:
            verdicts = [refuse(fault.code, fault.public, temporary=not fault.permanent)]
        self._mail_begun = None
        _tell(mail, verdicts, client=self.client, identity=identity)
        self._answered(self._talk.delivered(_for_each(verdicts, mail, self._entry), str(identity)))

    async def _check(self, question: event.Check) -> None:
        right = await self._entry.office.accounts.check(question.user, question.password)
        _log.info("smtp.sign-in", client=self.client, user=question.user[:200], right=right)
        self._answered(self._talk.checked(right=right))

    async def _find_keys(self, question: event.FindKeys) -> None:
        keys = await self._entry.office.accounts.find(question.user)
        self._answered(self._talk.found(keys, self._entry.office.clock.secret().hex()))

    async def _encrypt(self) -> None:
        assert self._transport is not None
        assert self._entry.context is not None
        try:
            transport = await self._loop.start_tls(
                self._transport, self, self._entry.context, server_side=True, ssl_handshake_timeout=_HANDSHAKE
            )
        except (OSError, TimeoutError):
            self.abort()
            return
        assert transport is not None
        self._transport = transport
        self._talk.secured(cipher_of(transport))
        self._holds.discard("tls")
        self._answered(())

    def _answered(self, events: Sequence[Event]) -> None:
        """Go on after an answer, where there is still somebody to hear it."""
        if self._ending:
            return
        self._carry_out(events)
        if self._talk.waiting <= _MOST_WAITING:
            self._release("ahead")

    # --- the connection -----------------------------------------------------------------------------------------------

    # `Any`: what a coroutine is sent and yields is the loop's own business.
    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._busy += 1
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._busy -= 1
        self._heard = self._loop.time()
        if not task.cancelled() and (fault := task.exception()) is not None:
            _log.error("smtp.stumbled", client=self.client, fault=type(fault).__name__, exc_info=fault)
            self.abort()
        elif self._leaving and not self._busy:
            self.end(answer.CLOSING, "closing")
        elif self._heard_all and not self._busy and self._transport is not None:
            self._transport.close()

    def _hold(self, why: Hold) -> None:
        if not self._holds and self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()
        self._holds.add(why)

    def _release(self, why: Hold) -> None:
        if why not in self._holds:
            return
        self._holds.discard(why)
        if not self._holds and self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def _hang_up(self, why: str) -> None:
        assert self._transport is not None
        self._ending = True
        self._forget_mail()
        if why == "refused" and self._transport.can_write_eof():
            # Closing with bytes unread would reset the connection, and the client would never read why.
            for hold in tuple(self._holds):
                self._release(hold)
            self._transport.write_eof()
            self._loop.call_later(_LINGER, self._transport.close)
        else:
            self._transport.close()


def _for_each(verdicts: Sequence[Verdict], mail: event.Mail, entry: Entry) -> Sequence[Verdict]:
    """Give as many verdicts as the client waits for."""
    wanted = len(mail.recipients) if entry.service.lmtp else 1
    return verdicts if len(verdicts) == wanted else [verdicts[0]] * wanted


def _tell(mail: event.Mail, verdicts: Sequence[Verdict], *, client: str, identity: UUID) -> None:
    """Write the line about a mail that whoever looks after the flow of mail looks for."""
    facts = {"client": client, "size": mail.size, "recipients": len(mail.recipients)}
    refused = [verdict for verdict in verdicts if verdict.action != "pass"]
    if len(refused) < len(verdicts):
        _log.info("mail.taken", message=str(identity), **facts)
    for verdict in refused:
        reason = verdict.reasons[0].code if verdict.reasons else verdict.action
        _log.info("mail.refused", reason=reason, temporary=verdict.temporary, **facts)
