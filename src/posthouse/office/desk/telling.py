"""What the desk tells people unasked: owners of rules that keep breaking, gatekeepers once a day what is coming."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import Final
from uuid import UUID

from posthouse.clock import Clock
from posthouse.gate.calendar import day_of, midnight
from posthouse.gate.digest import DAY, Handled, expiring, handled, wants_digests, written
from posthouse.gate.emission import Writer, announced
from posthouse.gate.opening import Setting
from posthouse.gate.seat import administrator_of
from posthouse.message.case import INBOX, Docket
from posthouse.message.identity import derived
from posthouse.message.journey import Emitted
from posthouse.office.breakage import Flagged
from posthouse.office.desk.executor import Executor
from posthouse.office.desk.forward import is_person
from posthouse.office.desk.notice import people_of
from posthouse.office.desk.papers import Deed
from posthouse.office.library import Library
from posthouse.office.terms import SECOND
from posthouse.store.gateports import DocketFilter, DocketPlace, place_of
from posthouse.store.ports import Store

_HOUR: Final = 3_600 * SECOND
_PAGE: Final = 1_000


class Telling:
    """Writes what nobody has asked for."""

    def __init__(self, clock: Clock, name: str, *, store: Store, executor: Executor, library: Library) -> None:
        self._clock = clock
        self._name = name
        self._store = store
        self._executor = executor
        self._library = library
        self._told_on = ""

    async def tell(self) -> None:
        """Tell what there is to tell now."""
        for flagged in self._library.breakage.flagged():
            await self._send(self._of_rule(flagged, await self._executor.setting()))
        setting = await self._executor.setting()
        day = day_of(setting.now, setting.zone)
        at = midnight(day, setting.zone) + setting.policy.digest_hour * _HOUR
        if wants_digests(setting.policy) and setting.now >= at and str(day) != self._told_on:
            await self._digests(setting, at)
            self._told_on = str(day)

    async def _send(self, notice: Emitted | None) -> None:
        # Under its id it is written once, however often the office is opened on that day.
        if notice is not None and await self._store.journal.letter(notice.message.id) is None:
            await self._executor.write(Deed(emitted=(notice,)))

    def _of_rule(self, flagged: Flagged, setting: Setting) -> Emitted | None:
        to = (flagged.owner,) if is_person(flagged.owner) else tuple(people_of(flagged.owner, setting))
        to = to or tuple(people_of(administrator_of(setting.organisation), setting)) or ("postmaster",)
        text = (
            f"The rule {flagged.rule} of the book {flagged.book} has broken several times in a row: {flagged.fault}\n\n"
            "What it asks counts as unknown meanwhile. Correct it and activate another edition.\n"
        )
        identity = derived(_seed(setting.now), f"broken {flagged.book} {flagged.digest}")
        return announced(
            identity, to=to, subject=f"Rule {flagged.rule} keeps breaking", text=text, writer=self._writer(setting)
        )

    async def _digests(self, setting: Setting, at: int) -> None:
        counts = await self._counts(setting.now - DAY)
        roles = {count.gatekeeper for count in await self._store.gate.cases.counts()}
        for role in sorted(roles | {one.gatekeeper for one in counts}):
            people = tuple(people_of(role, setting))
            if setting.policy.habits(role).digest != "daily" or not people:
                continue
            soon = expiring([docket async for docket in self._dockets(role, setting.now + DAY)], now=setting.now)
            digest = written(role, soon=soon, counts=counts)
            if digest is not None:
                identity = derived(_seed(at), f"digest {role.casefold()}")
                subject, text = digest
                await self._send(
                    announced(identity, to=people, subject=subject, text=text, writer=self._writer(setting))
                )

    async def _dockets(self, role: str, until: int) -> AsyncIterator[Docket]:
        """Give what is due of a gatekeeper until an instant."""
        chosen = DocketFilter(gatekeeper=role, folder=INBOX)
        after: DocketPlace | None = None
        while page := await self._store.gate.cases.dockets(chosen, order="due", after=after, limit=_PAGE):
            for docket in page:
                if docket.due is None or docket.due > until:
                    return
                yield docket
            after = place_of(page[-1], "due")

    async def _counts(self, since: int) -> Counter[Handled]:
        """Count what was handled by itself since an instant, from the newest record of the audit backwards."""
        audit, counts = self._store.gate.audit, Counter[Handled]()
        newest = await audit.last()
        end = 0 if newest is None else newest.number
        while end > 0:
            lines = await audit.lines(after=max(end - _PAGE, 0), limit=min(_PAGE, end))
            for line in lines:
                found = handled(line.act, line.payload, actor=line.actor) if line.at >= since else None
                if found is not None:
                    counts[found] += 1
            if not lines or lines[0].at < since:
                break
            end -= _PAGE
        return counts

    def _writer(self, setting: Setting) -> Writer:
        return Writer(self._name, setting.now)


def _seed(instant: int) -> UUID:
    """Give an id of the form of all ids (RFC 9562, version 7) that says an instant and nothing else."""
    return UUID(int=instant // 1_000 << 80 | 0x7 << 76 | 0x2 << 62)
