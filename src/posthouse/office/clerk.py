"""The clerk settles queue entries, and writes the notice where one is given up: both in one change, or neither."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

import msgspec
import structlog

from posthouse.clock import Clock
from posthouse.gate.opening import STAGE
from posthouse.gate.record import record
from posthouse.message import envelope as envelopes
from posthouse.message import features
from posthouse.message.answer import Answer
from posthouse.message.case import Case
from posthouse.message.changes import Changes, Letter, Onward, Outcome, Settle
from posthouse.message.envelope import Envelope
from posthouse.message.form.composition import is_mail
from posthouse.message.message import Body, Message, read_head
from posthouse.message.name import LOCAL, parse_mailbox
from posthouse.office.agenda import Agenda
from posthouse.office.delivery import Event, Held, settle
from posthouse.office.intake import Intake
from posthouse.office.notice import Original, returned, undelivered
from posthouse.office.sealing import sealed
from posthouse.office.sorting import RESUME, Parcel, sort
from posthouse.office.terms import SECOND, Terms
from posthouse.store.ports import Store

_BARE: Final = Changes()
_UNDELIVERED: Final = frozenset({"refused", "unreachable", "expired", "given up"})
_HOMEWARD: Final = frozenset({f"{RESUME}{STAGE}"})
"""Where a message waits whose case is open and lies before nobody."""

_log = structlog.get_logger("posthouse.clerk")


class Matter(NamedTuple):
    """One entry, the message it is for, and what happened."""

    held: Held
    message: UUID
    event: Event
    reason: str = ""
    pause: float | None = None
    """Seconds, where whoever failed asks for a pause of its own."""
    answers: tuple[Answer, ...] = ()
    """What was said to each recipient, where its sender is to hear of it."""
    onward: Onward | None = None
    """The entries that take the place of this one, where it is divided."""
    case: UUID | None = None
    """The case it is in, or was released from."""


class Clerk:
    """Settles entries of any store."""

    def __init__(self, clock: Clock, terms: Terms, *, intake: Intake, agenda: Agenda) -> None:
        self._clock = clock
        self._terms = terms
        self._intake = intake
        self._agenda = agenda

    async def settle(self, store: Store, matters: Sequence[Matter]) -> list[Outcome]:
        """Say what becomes of each entry; `stale` where it is no longer the one its holder knew."""
        now = self._clock.now()
        settles = [self._decide(matter, now) for matter in matters]
        notices = [
            await self._notice(store, matter, settled.reason) if settled.act == "bury" or matter.answers else _BARE
            for matter, settled in zip(matters, settles, strict=True)
        ]
        if not self._intake.is_durable(store):
            settles = [_forgetting(settled) for settled in settles]
        ends = [await self._end_of_case(store, one, way) for one, way in zip(matters, settles, strict=True)]
        changes = [
            sealed(
                Changes(
                    settles=(settled,), posts=notice.posts, rooms=notice.rooms, onwards=_onwards(matter),
                    cases=end.cases, audits=end.audits,
                ),
                self._clock,
            )
            for matter, settled, notice, end in zip(matters, settles, notices, ends, strict=True)
        ]  # fmt: skip
        outcomes = await store.commit(changes)
        for number, end in enumerate(ends):
            if end.cases and outcomes[number].status in {"stale", "full", "duplicate"}:
                # Somebody writes the case at the same time: its message is settled all the same.
                changes[number] = msgspec.structs.replace(changes[number], cases=(), audits=())
                outcomes[number] = (await store.commit([changes[number]]))[0]
        without = [number for number, outcome in enumerate(outcomes) if outcome.status in {"full", "duplicate"}]
        if without:
            # The notice found no room, or was written when the message was given up before: this time it goes quietly.
            bare = await store.commit(
                [Changes(settles=(settles[number],), onwards=_onwards(matters[number])) for number in without]
            )
            for number, outcome in zip(without, bare, strict=True):
                outcomes[number] = outcome
        self._agenda.note(changes)
        return outcomes

    async def send(self, store: Store, reports: Sequence[tuple[Message, Envelope]]) -> None:
        """Send reports about mail that waits on; one that was sent before is not sent again."""
        try:
            changes = [await self._sorted(report) for report in reports]
        except Exception as fault:  # noqa: BLE001 - the mail they are about waits on as before
            _log.error("notice.not-written", fault=type(fault).__name__, exc_info=True)
            return
        await store.commit(changes)
        self._agenda.note(changes)

    async def original(self, letter: Letter) -> Original | None:
        """Give the mail of a letter as a notice about it needs it; none where it is no mail."""
        message = read_head(letter.head, sections=letter.sections)
        if not is_mail(message):
            return None
        envelope, body = envelopes.decode.decode(letter.envelope), letter.body
        here = (await self._intake.facts()).here
        return Original(
            message,
            envelope,
            letter.accepted,
            is_ours=envelope.sender is not None and parse_mailbox(envelope.sender).office in here,
            content=await self._beginning(body),
            is_whole=isinstance(body, bytes),
        )

    async def _end_of_case(self, store: Store, matter: Matter, settled: Settle) -> Changes:
        """Give what is written of a case whose message was let go and reaches somebody no more."""
        is_lost = settled.act == "bury" and matter.event in _UNDELIVERED
        if not is_lost and not any(said.status == "refused" for said in matter.answers):
            return _BARE
        if not self._intake.is_durable(store):
            return _BARE
        cases, reason = store.gate.cases, settled.reason or matter.reason
        found = await cases.of_message(matter.message)
        if matter.case is not None and matter.case not in {case.id for case in found}:
            found = [case for case in [await cases.case(matter.case)] if case is not None]
        chosen = [case for case in found if matter.case in (None, case.id)]
        now = self._clock.now()
        gone = [undeliverable(case, now=now) for case in chosen if case.is_open is (matter.held.box in _HOMEWARD)]
        ended = [case for case in gone if case is not None]
        audits = tuple(record("case.undeliverable", one.id, at=now, actor="office", reason=reason) for one in ended)
        return Changes(cases=tuple(ended), audits=audits)

    def _decide(self, matter: Matter, now: int) -> Settle:
        settled = settle(
            matter.held,
            matter.event,
            now=now,
            patience=self._terms.patience,
            chance=self._clock.chance(),
            reason=matter.reason,
        )
        if matter.pause is not None and settled.act == "retry":
            return msgspec.structs.replace(settled, at=now + int(matter.pause * SECOND))
        return settled

    async def _notice(self, store: Store, matter: Matter, reason: str) -> Changes:
        """Give what the notice about a message that is given up changes; nothing where there is none."""
        try:
            letter = await store.journal.letter(matter.message)
            if letter is None:
                return _BARE
            text = reason or ("it expired" if matter.event == "expired" else matter.event)
            written = await self._written(matter, letter, text)
            return _BARE if written is None else await self._sorted(written)
        except Exception as fault:  # noqa: BLE001 - a notice that cannot be written must not keep the dead alive
            _log.error("notice.not-written", message=str(matter.message), fault=type(fault).__name__, exc_info=True)
            return _BARE

    async def _sorted(self, written: tuple[Message, Envelope]) -> Changes:
        route = self._intake.route
        result = sort([Parcel(*written, is_automatic=True)], await self._intake.facts(), key_seconds=0, route=route)[0]
        return result.changes or _BARE

    async def _written(self, matter: Matter, letter: Letter, reason: str) -> tuple[Message, Envelope] | None:
        now, box = self._clock.now(), matter.held.box
        original = await self.original(letter)
        if original is None:
            if matter.event in {"delivered", "divided"}:
                return None
            message = read_head(letter.head, sections=letter.sections)
            return undelivered(message, place=_place(box, message), reason=reason, now=now)
        answers = matter.answers or _to_all(original.envelope, box, reason)
        place = _place(box, original.message)
        return returned(original, answers, place=place, mailing=self._terms.mailing, now=now)

    async def _beginning(self, body: bytes | Body) -> bytes:
        """Give a mail, or of a large one enough for its header."""
        if isinstance(body, bytes):
            return body
        async for piece in self._intake.bodies.read(body):
            return piece
        return b""


def undeliverable(case: Case, *, now: int) -> Case | None:
    """Give a case that was let go and did not arrive; none where it ended otherwise."""
    if not case.is_open and case.outcome != "released":
        return None
    return msgspec.structs.replace(
        case, version=case.version + 1, is_open=False, outcome="released, undeliverable", closed=case.closed or now
    )


def parcel_of(letter: Letter) -> Parcel:
    """Give the message of a letter as it was handed in."""
    message = read_head(letter.head, letter.body, sections=letter.sections)
    # Who brought a mail cannot be asked again.
    known = features.decode(letter.features)
    authentication = {} if known.mail is None else known.mail.authentication
    envelope = envelopes.decode.decode(letter.envelope)
    return Parcel(message, envelope, authentication=authentication, is_automatic=known.is_automatic)


def _onwards(matter: Matter) -> tuple[Onward, ...]:
    return (matter.onward,) if matter.onward is not None else ()


def _to_all(envelope: Envelope, box: str, reason: str) -> tuple[Answer, ...]:
    """Give one answer for all recipients of a place; one whose journey still waits has not found its places yet."""
    there = envelope.everybody if box.startswith(RESUME) else recipients_at(box, envelope)
    return tuple(Answer(name, "refused", reason) for name in there or envelope.everybody)


def recipients_at(box: str, envelope: Envelope) -> tuple[str, ...]:
    """Give the recipients at a place."""
    return tuple(name for name in envelope.everybody if _box_of(name) == box)


def _box_of(name: str) -> str:
    parsed = parse_mailbox(name)
    return f"#{parsed.mailbox}" if parsed.office == LOCAL else str(parsed.office)


def _forgetting(settled: Settle) -> Settle:
    """Give what becomes of a message that may be lost: where others are buried, it is gone."""
    return msgspec.structs.replace(settled, act="done") if settled.act == "bury" else settled


def _place(box: str, message: Message) -> str:
    """Say to a stranger where a message did not arrive."""
    return ", ".join(message.recipients) if box.startswith(RESUME) else box.removeprefix("#")
