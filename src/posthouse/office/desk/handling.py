"""What gatekeepers do with a docket without deciding: open it, claim it, note something, change its dates."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.gate.autoreview import WRITING
from posthouse.gate.record import record
from posthouse.gate.review import Order, due_of, review_of, told
from posthouse.gate.wrapper import with_review
from posthouse.message.case import INBOX, AuditEntry, Case, Docket, UnreadableWrapper, pack_wrapper, unpack_wrapper
from posthouse.message.changes import Changes
from posthouse.office.desk.commanding import Commands, answer, unknown
from posthouse.office.desk.executor import Executor
from posthouse.office.deskcalls import Annotate, Claim, Decided, HoldCase, OpenDocket
from posthouse.office.sealing import sealed
from posthouse.store.gateports import DocketFilter
from posthouse.store.ports import Store


class DocketUnknown(PosthouseError):
    """There is no such docket of this gatekeeper."""

    code: ClassVar[str] = "docket.not-found"
    public: ClassVar[str] = "There is no such docket."


class Handling:
    """What is done with dockets that stay where they are."""

    def __init__(self, clock: Clock, *, store: Store, executor: Executor, commands: Commands) -> None:
        self._clock = clock
        self._store = store
        self._executor = executor
        self._commands = commands

    async def open(self, call: OpenDocket) -> Docket:
        """Let somebody look at a message: gated becomes reviewed, and nothing is decided."""
        while True:
            found = await self._commands.find(call.case, call.turn, gatekeeper=call.gatekeeper)
            if found is None:
                raise DocketUnknown(
                    f"expected a docket of {call.gatekeeper}, found none", where=f"case {call.case}, turn {call.turn}",
                    hint="posthouse gate list shows those there are",
                )  # fmt: skip
            docket = found[0]
            if docket.status != "gated":
                return docket
            opened = msgspec.structs.replace(docket, version=docket.version + 1, status="reviewed")
            audit = self._record("case.opened", docket, call.by)
            if await self._is_written(Changes(dockets=(opened,), audits=(audit,))):
                return opened

    async def claim(self, call: Claim) -> Decided:
        """Take a docket for oneself for a while, or let it go."""
        found = await self._commands.find(call.case, call.turn, gatekeeper=call.gatekeeper)
        if found is None:
            return unknown(call.case, call.turn)
        docket = found[0]
        if not docket.is_open:
            return answer(docket, "already", text=told(docket))
        now, who = self._clock.now(), call.by or call.gatekeeper
        holder = docket.claimed_by if (docket.claimed_until or 0) > now else ""
        if holder and holder != who and not call.takes_over:
            return answer(docket, "refused", text=f"{holder} is working on it")
        mine = msgspec.structs.replace(
            docket,
            version=docket.version + 1,
            claimed_by="" if call.lets_go else who,
            claimed_until=None if call.lets_go else now + WRITING.microseconds,
        )
        audits = (self._record("case.taken-over", docket, who, holder=holder),) if holder and holder != who else ()
        return await self._answered(Changes(dockets=(mine,), audits=audits), mine, "claimed")

    async def annotate(self, call: Annotate) -> Decided:
        """Add a note to a case, or change the dates of a docket."""
        found = await self._commands.find(call.case, call.turn, gatekeeper=call.gatekeeper)
        if found is None:
            return unknown(call.case, call.turn)
        docket, case = found
        if not docket.is_open:
            return answer(docket, "already", text=told(docket))
        dated = self._dated(docket, case, call)
        if isinstance(dated, str):
            return answer(docket, "refused", text=dated)
        audit = self._record(
            "case.annotated", docket, call.by, comment=call.comment, expires=call.expires, retain=call.retain
        )
        try:
            cases = (self._noted(docket, case, call),) if call.comment else ()
        except UnreadableWrapper as fault:
            return answer(docket, "refused", text=fault.what)
        return await self._answered(Changes(cases=cases, dockets=(dated,), audits=(audit,)), dated, "noted")

    async def hold(self, call: HoldCase) -> Decided:
        """Put a legal hold on a case, or lift it: nothing of a held case is deleted."""
        case = await self._store.gate.cases.case(call.case)
        if case is None:
            return unknown(call.case, 0)
        held = msgspec.structs.replace(case, version=case.version + 1, is_on_hold=call.is_held)
        rows = [
            msgspec.structs.replace(docket, version=docket.version + 1, due=due_of(docket, held))
            for docket in await self._store.gate.cases.dockets(DocketFilter(case=case.id))
            if docket.folder == INBOX and not docket.pending
        ]
        act = "case.held" if call.is_held else "case.hold-lifted"
        audit = record(act, case.id, at=self._clock.now(), actor=call.by or "office", reason=call.reason)
        is_done = await self._is_written(Changes(cases=(held,), dockets=tuple(rows), audits=(audit,)))
        text = "held" if call.is_held else "not held any more"
        return Decided(
            case=case.id,
            turn=case.turn,
            status="done" if is_done else "stale",
            text=text if is_done else "it has changed",
        )

    def _dated(self, docket: Docket, case: Case, call: Annotate) -> Docket | str:
        """Give a docket with other dates, or why it cannot have them."""
        retain = None if call.drops_retain else docket.retain if call.retain is None else call.retain
        expires = docket.expires if call.expires is None else call.expires
        if call.expires is not None and docket.folder != INBOX:
            return "what lies in a mailbag has the date of its mailbag"
        if call.expires is not None and call.expires <= self._clock.now():
            return "expected a date that lies ahead"
        if retain is not None and expires is not None and retain < expires:
            return "the retain date must not be before the date of the automatic review"
        dated = msgspec.structs.replace(docket, version=docket.version + 1, expires=expires, retain=retain)
        return dated if dated.pending else msgspec.structs.replace(dated, due=_due(docket, dated, case))

    def _noted(self, docket: Docket, case: Case, call: Annotate) -> Case:
        wrapper = unpack_wrapper(case.wrapper)
        now = self._clock.now()
        order = Order(
            id=f"note {self._clock.new_id()}", command="review", actor="person", person=call.by or call.gatekeeper,
            at=now, before=docket.status, comment=call.comment,
        )  # fmt: skip
        noted = with_review(wrapper, review_of(order, docket, now=now, content=wrapper.content))
        return msgspec.structs.replace(case, version=case.version + 1, wrapper=pack_wrapper(noted))

    async def _answered(self, changes: Changes, docket: Docket, text: str) -> Decided:
        if await self._is_written(changes):
            return answer(docket, "done", text=text)
        return answer(docket, "stale", text="it has changed: look at it again")

    async def _is_written(self, changes: Changes) -> bool:
        (outcome,) = await self._executor.commit([sealed(changes, self._clock)])
        return outcome.status == "done"

    def _record(self, act: str, docket: Docket, by: str, **facts: object) -> AuditEntry:
        return record(
            act, docket.case, at=self._clock.now(), actor=by or docket.gatekeeper, turn=docket.turn,
            gatekeeper=docket.gatekeeper, **facts,
        )  # fmt: skip


def _due(before: Docket, after: Docket, case: Case) -> int | None:
    """Give when a docket is due: one in a mailbag stays as it is."""
    return due_of(after, case) if before.folder == INBOX else before.due
