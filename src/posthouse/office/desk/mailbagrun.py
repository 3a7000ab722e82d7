"""The function of a mailbag acts on all that lies in it, as if the gatekeeper had commanded it for each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Final

from posthouse.clock import Clock
from posthouse.gate.mailbag import ran
from posthouse.gate.opening import Setting
from posthouse.gate.record import record
from posthouse.gate.review import Order, recorded
from posthouse.message.case import Command, Docket, Function, Mailbag
from posthouse.message.changes import Changes
from posthouse.office.desk.executor import Executor
from posthouse.office.sealing import sealed
from posthouse.store.gateports import DocketFilter, DocketPlace, place_of
from posthouse.store.ports import Store

BATCH: Final = 200
COMMANDS: Final[Mapping[Function, Command]] = {
    "release": "release", "delete": "delete", "return": "return", "forward": "forward", "review": "review",
}  # fmt: skip


class MailbagRun:
    """Runs the functions of mailbags."""

    def __init__(self, clock: Clock, *, store: Store, executor: Executor) -> None:
        self._clock = clock
        self._store = store
        self._executor = executor

    async def run(self, bag: Mailbag, *, by: str = "") -> int:
        """Let a mailbag act on everything in it; what cannot be dealt with stays there with why."""
        setting = await self._executor.setting()
        count = 0
        async for page in self._pages(bag):
            await self.act(page, bag, setting=setting)
            count += len(page)
        entry = record(
            "mailbag.ran", f"{bag.gatekeeper}/{bag.id}", at=setting.now, actor=by or f"mailbag {bag.name}",
            function=bag.function, count=count,
        )  # fmt: skip
        after = ran(bag, setting.now, zone=setting.zone)
        await self._executor.commit([sealed(Changes(mailbags=(after,), audits=(entry,)), self._clock)])
        return count

    async def act(self, dockets: list[Docket], bag: Mailbag, *, setting: Setting) -> None:
        """Let a mailbag act on these; what was filed just now can still be taken back."""
        if bag.function == "none":
            return
        command = COMMANDS[bag.function]
        orders = [(docket, _order(docket, bag, command, setting)) for docket in dockets if not docket.pending]
        if command == "review":
            await self._executor.do(orders)
            return
        rows = []
        for docket, order in orders:
            case = await self._store.gate.cases.case(docket.case)
            if case is not None:
                rows.append(recorded(docket, order, due=_due(docket, setting), case=case))
        outcomes = await self._executor.commit([Changes(dockets=(row,)) for row in rows])
        done = [row for row, outcome in zip(rows, outcomes, strict=True) if outcome.status == "done"]
        await self._executor.carry_out([row for row in done if (row.due or 0) <= setting.now])

    async def _pages(self, bag: Mailbag) -> AsyncIterator[list[Docket]]:
        chosen = DocketFilter(gatekeeper=bag.gatekeeper, folder=bag.id)
        after: DocketPlace | None = None
        while page := await self._store.gate.cases.dockets(chosen, order="arrival", after=after, limit=BATCH):
            after = place_of(page[-1], "arrival")
            yield page


def _order(docket: Docket, bag: Mailbag, command: Command, setting: Setting) -> Order:
    return Order(
        id=f"mailbag {bag.id} {docket.case} {docket.turn} {docket.version}", command=command, actor="mailbag",
        person=f"mailbag {bag.name}", at=setting.now, before=docket.status, folder_before=docket.folder, to=bag.to,
        saying=bag.saying,
    )  # fmt: skip


def _due(docket: Docket, setting: Setting) -> int:
    """Give when it is carried out: not before who filed it by hand could have taken it back."""
    by_hand = 0 if docket.is_automatic or docket.decided_at is None else docket.decided_at
    return max(setting.now, by_hand + setting.policy.undo.microseconds) if by_hand else setting.now
