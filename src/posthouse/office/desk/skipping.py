"""An administrator has a case go on without one of its gatekeepers; it is recorded, and counts as not reviewed."""

from __future__ import annotations

from typing import Final

import msgspec

from posthouse.clock import Clock
from posthouse.gate.review import Order, judge
from posthouse.gate.wrapper import skip
from posthouse.message.case import Docket, UnreadableWrapper
from posthouse.office.desk.commanding import answer, unknown
from posthouse.office.desk.executor import Executor
from posthouse.office.desk.papers import Deed, Papers, audited, changed, concluding, go_on, reviewed
from posthouse.office.deskcalls import Decided, SkipStop
from posthouse.store.gateports import DocketFilter
from posthouse.store.ports import Store

_GOES_ON: Final = "skipped"


class Skipping:
    """Leaves out stops."""

    def __init__(self, clock: Clock, *, store: Store, executor: Executor) -> None:
        self._clock = clock
        self._store = store
        self._executor = executor

    async def skip(self, call: SkipStop) -> Decided:
        """Leave out a gatekeeper, the one who has the case now or one it still goes to."""
        dockets = await self._store.gate.cases.dockets(DocketFilter(case=call.case))
        if not dockets:
            return unknown(call.case, 0)
        docket = max(dockets, key=lambda one: one.turn)
        order = self._order(docket, call)
        try:
            papers = await self._executor.papers(docket, order, setting=await self._executor.setting())
        except UnreadableWrapper as fault:
            return answer(docket, "refused", text=fault.what)
        if papers is None:
            return unknown(call.case, docket.turn)
        # What a gatekeeper has commanded already is carried out first.
        standing = judge(docket, papers.case, command="release", actor="person")
        if standing.answer != "may":
            return answer(docket, "already", text=standing.text)
        deed = _skipped(papers, call)
        if deed is None:
            return answer(docket, "refused", text=f"the case does not go to {call.gatekeeper}")
        outcome = await self._executor.write(deed)
        text = f"goes on without {call.gatekeeper}" if outcome.status == "done" else "it has changed"
        return answer(docket, "done" if outcome.status == "done" else "stale", text=text)

    def _order(self, docket: Docket, call: SkipStop) -> Order:
        return Order(
            id=f"skip {self._clock.new_id()}", command="review", actor="person", person=call.by or "office",
            at=self._clock.now(), before=docket.status, folder_before=docket.folder, comment=f"skipped: {call.reason}",
        )  # fmt: skip


def _skipped(papers: Papers, call: SkipStop) -> Deed | None:
    review = msgspec.structs.replace(reviewed(papers), gatekeeper=call.gatekeeper)
    wrapper = skip(papers.wrapper, review, gatekeeper=call.gatekeeper)
    if wrapper is None:
        return None
    if papers.docket.gatekeeper.casefold() == call.gatekeeper.casefold():
        return go_on(papers, wrapper, done=concluding(papers, "released", action=_GOES_ON))
    docket = msgspec.structs.replace(papers.docket, version=papers.docket.version + 1, places=papers.docket.places - 1)
    audit = audited(papers, "case.stop-skipped", skipped=call.gatekeeper)
    return Deed(cases=(changed(papers.case, wrapper),), dockets=(docket,), audits=(audit,))
