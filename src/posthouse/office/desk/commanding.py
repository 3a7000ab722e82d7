"""What gatekeepers command is recorded first, and answered; it is carried out when it can no longer be taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from posthouse.clock import Clock
from posthouse.gate.opening import Setting
from posthouse.gate.record import record
from posthouse.gate.review import Order, is_undoable, judge, recorded, told, undone, unpack_order
from posthouse.message.case import AuditEntry, Case, Docket, Mailbag, UnreadableWrapper, unpack_wrapper
from posthouse.message.changes import Changes
from posthouse.office.desk.executor import Executor
from posthouse.office.desk.weighing import Weighed, Word, weigh
from posthouse.office.deskcalls import Decide, Decided, Decision, Recall, Undo
from posthouse.office.sealing import sealed
from posthouse.store.gateports import DocketFilter
from posthouse.store.ports import Store

BATCH: Final = 500
"""Decisions that are recorded in one go."""


class _Placed(NamedTuple):
    """A decision that may be, and its place among the answers."""

    place: int
    docket: Docket
    case: Case
    order: Order


class Commands:
    """Records and takes back decisions."""

    def __init__(self, clock: Clock, *, store: Store, executor: Executor) -> None:
        self._clock = clock
        self._store = store
        self._executor = executor

    async def decide(self, call: Decide) -> list[Decided]:
        """Decide on dockets, each for itself."""
        answers: list[Decided] = []
        for start in range(0, len(call.decisions), BATCH):
            answers += await self._decide(call.decisions[start : start + BATCH], call)
        return answers

    async def undo(self, call: Undo) -> Decided:
        """Take back what was commanded and is not carried out yet."""
        found = await self.find(call.case, call.turn, gatekeeper=call.gatekeeper)
        if found is None:
            return unknown(call.case, call.turn)
        docket, case = found
        if not docket.pending:
            return answer(docket, "already", text=told(docket) if not docket.is_open else "nothing is under way")
        order = unpack_order(docket.pending)
        if order.actor not in {"person", "mailbag"}:
            return answer(docket, "refused", text=f"what {order.person} wants cannot be taken back")
        back = undone(docket, case=case)
        audit = record(
            "case.undone", case.id, at=self._clock.now(), actor=call.by or call.gatekeeper, decision=order.id,
            command=order.command,
        )  # fmt: skip
        return await self._write(Changes(dockets=(back,), audits=(audit,)), back, call.gatekeeper)

    async def recall(self, call: Recall) -> list[Decided]:
        """Take back what somebody sent and gatekeepers still have."""
        answers: list[Decided] = []
        for case in await self._store.gate.cases.of_message(call.message):
            dockets = await self._store.gate.cases.dockets(DocketFilter(case=case.id))
            if dockets:
                answers += [await self._recall(docket, case, call) for docket in dockets]
            elif case.is_open:
                answers.append(Decided(case=case.id, turn=case.turn, status="already", text="it was let go on"))
        return answers

    async def find(self, case: UUID, turn: int, *, gatekeeper: str) -> tuple[Docket, Case] | None:
        """Give a docket of a gatekeeper with its case."""
        cases = self._store.gate.cases
        found, dockets = await asyncio.gather(cases.case(case), cases.dockets(DocketFilter(case=case, is_open=None)))
        docket = next((one for one in dockets if one.turn == turn), None)
        if found is None or docket is None or docket.gatekeeper.casefold() != gatekeeper.casefold():
            return None
        return docket, found

    async def _recall(self, docket: Docket, case: Case, call: Recall) -> Decided:
        standing = judge(docket, case, command="recall", actor="sender")
        if standing.answer != "may":
            return answer(docket, "already", text=standing.text)
        now = self._clock.now()
        saying = f"recalled: {call.reason}" if call.reason else "recalled"
        order = Order(
            id=f"recall {case.id} {docket.turn}", command="recall", actor="sender", person=call.by or docket.sender,
            at=now, before=docket.status, folder_before=docket.folder, saying=saying,
        )  # fmt: skip
        (outcome,) = await self._executor.do([(docket, order)])
        return await self._answered(docket, outcome.status == "done", docket.gatekeeper)

    async def _decide(self, decisions: Sequence[Decision], call: Decide) -> list[Decided]:
        setting = await self._executor.setting()
        due = setting.now + setting.policy.undo.microseconds
        bags = []
        if any(decision.command == "file" for decision in decisions):
            bags = await self._store.gate.cases.mailbags(call.gatekeeper)
        weighed = await asyncio.gather(*(self._weigh(one, call, setting, bags) for one in decisions))
        answers: list[Decided | None] = [one if isinstance(one, Decided) else None for one in weighed]
        placed = [_Placed(place, *one) for place, one in enumerate(weighed) if not isinstance(one, Decided)]
        later = [one for one in placed if is_undoable(one.order.command) or one.order.awaits_second]
        at_once = [one for one in placed if one not in later]
        for one, row in zip(later, await self._record(later, setting), strict=True):
            if row is not None and due > setting.now:
                # Nothing more happens to it for now: it is as it was just written.
                undo_until = row.due if row.status == "in progress" else None
                done = answer(row, "done", text=row.last_action)
                answers[one.place] = msgspec.structs.replace(done, undo_until=undo_until)
            else:
                answers[one.place] = await self._answered(one.docket, row is not None, call.gatekeeper)
        outcomes = await self._executor.do([(one.docket, one.order) for one in at_once])
        for one, outcome in zip(at_once, outcomes, strict=True):
            answers[one.place] = await self._answered(one.docket, outcome.status == "done", call.gatekeeper)
        return [one for one in answers if one is not None]

    async def _weigh(
        self, decision: Decision, call: Decide, setting: Setting, bags: list[Mailbag]
    ) -> Decided | tuple[Docket, Case, Order]:
        found = await self.find(decision.case, decision.turn, gatekeeper=call.gatekeeper)
        if found is None:
            return unknown(decision.case, decision.turn)
        docket, case = found
        try:
            wrapper = unpack_wrapper(case.wrapper)
        except UnreadableWrapper as fault:
            if decision.command != "delete":
                return answer(docket, "refused", text=f"{fault.what}; it can only be deleted")
            wrapper = await self._executor.stand_in(case)
        on = Weighed(docket, case, wrapper, setting, bags)
        order = weigh(decision, on, by=call.by or call.gatekeeper, identity=str(self._clock.new_id()))
        return order if isinstance(order, Decided) else (docket, case, order)

    async def _record(self, placed: Sequence[_Placed], setting: Setting) -> list[Docket | None]:
        """Write down what is commanded and give the rows; what cannot be taken back is carried out at once."""
        due = setting.now + setting.policy.undo.microseconds
        rows = [recorded(one.docket, one.order, due=due, case=one.case) for one in placed]
        changes = [
            sealed(Changes(dockets=(row,), audits=(_told(one, row, setting.now),)), self._clock)
            for one, row in zip(placed, rows, strict=True)
        ]
        outcomes = await self._executor.commit(changes)
        done = [row if out.status == "done" else None for row, out in zip(rows, outcomes, strict=True)]
        if due <= setting.now:
            await self._executor.carry_out([row for row in done if row is not None and row.status == "in progress"])
        return done

    async def _answered(self, before: Docket, is_done: bool, gatekeeper: str) -> Decided:  # noqa: FBT001 - which of two answers it is
        """Answer with the docket as it is now: the one who comes too late is told who was first."""
        found = await self.find(before.case, before.turn, gatekeeper=gatekeeper)
        if found is None:
            return unknown(before.case, before.turn)
        docket = found[0]
        if not is_done:
            decided = docket.pending or not docket.is_open
            return (
                answer(docket, "already", text=told(docket))
                if decided
                else answer(docket, "stale", text="it has changed")
            )
        undo_until = docket.due if docket.status == "in progress" else None
        if docket.is_open and docket.fault and docket.fault != before.fault:
            again = "; it is tried again" if docket.pending else ""
            return answer(docket, "refused", text=f"{docket.fault}{again}")
        text = docket.fault or docket.last_action
        return msgspec.structs.replace(answer(docket, "done", text=text), undo_until=undo_until)

    async def _write(self, changes: Changes, docket: Docket, gatekeeper: str) -> Decided:
        (outcome,) = await self._executor.commit([sealed(changes, self._clock)])
        return await self._answered(docket, outcome.status == "done", gatekeeper)


def answer(docket: Docket, status: Word, *, text: str = "") -> Decided:
    """Give the answer about a docket."""
    return Decided(case=docket.case, turn=docket.turn, status=status, text=text, docket=docket)


def unknown(case: UUID, turn: int) -> Decided:
    """Give the answer where there is no such docket."""
    return Decided(case=case, turn=turn, status="unknown", text="there is no such docket of this gatekeeper")


def _told(one: _Placed, row: Docket, now: int) -> AuditEntry:
    act = "case.proposed" if one.order.awaits_second else "case.commanded"
    return record(
        act, one.case.id, at=now, actor=one.order.person, command=one.order.command, decision=one.order.id,
        turn=row.turn, gatekeeper=row.gatekeeper, second=one.order.second, due=row.due,
    )  # fmt: skip
