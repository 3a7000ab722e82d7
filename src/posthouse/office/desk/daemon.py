"""The daemon of the desk sleeps until something is due there, and lets it happen: decisions, expiries, mailbags.

What it does rests on the versions of rows, so that after days, or after a crash, nothing is done twice. Mailbags stand
still after the clock has jumped, until somebody says that it is right.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Final, TypeVar

import msgspec
import structlog

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.gate.autoreview import due_for, extended, extension, left_alone, on_expiry, on_retain, put_off, warned
from posthouse.gate.mailbag import Jump, jumped
from posthouse.gate.opening import Setting
from posthouse.gate.policy import DEFAULT
from posthouse.gate.review import Order, due_of, is_undoable, recorded
from posthouse.gate.seat import administrator_of
from posthouse.message.case import Docket, UnreadableWrapper, Wrapper, unpack_wrapper
from posthouse.message.changes import Changes
from posthouse.office.agenda import Agenda
from posthouse.office.desk.executor import Executor, faulty
from posthouse.office.desk.mailbagrun import MailbagRun
from posthouse.office.desk.notice import to_gatekeeper
from posthouse.office.desk.ownrules import say
from posthouse.office.desk.papers import Deed, Papers
from posthouse.office.desk.telling import Telling
from posthouse.office.deskcalls import ConfirmClock
from posthouse.office.intake import Intake
from posthouse.office.terms import SECOND
from posthouse.store.gateports import DocketFilter
from posthouse.store.ports import Store, StoreUnavailable

Found = TypeVar("Found")

BATCH: Final = 200
_AFTER_A_FAULT: Final = SECOND

_log = structlog.get_logger("posthouse.desk")


class Daemon:
    """Watches the clock for the desk of one office; the lock of the store sees to it that there is one."""

    def __init__(
        self, clock: Clock, *, store: Store, intake: Intake, executor: Executor, run: MailbagRun, telling: Telling
    ) -> None:
        self._telling = telling
        self._clock = clock
        self._store = store
        self._intake = intake
        self._executor = executor
        self._run = run
        self.looked: int | None = None
        """When it looked at the clock last."""
        self._wake = DEFAULT.wake.microseconds
        self.doubt: Jump | None = None
        """How the clock jumped, while nobody has said that it is right."""

    async def run(self, agenda: Agenda) -> None:
        """Work until cancelled."""
        while True:
            agenda.look_up_to(self._clock.now() + self._wake)
            await agenda.sleep_until(await self.catch_up())

    async def confirm(self, _call: ConfirmClock) -> bool:
        """Hear that the clock is right."""
        was_in_doubt, self.doubt = self.doubt is not None, None
        if was_in_doubt:
            await self._run_mailbags()
        return was_in_doubt

    async def catch_up(self) -> int:
        """Let everything happen that is due; give when to look again."""
        try:
            await self._look_at_the_clock()
            before: Sequence[Docket] = ()
            while page := await self._store.gate.cases.due(self._clock.now(), BATCH):
                if page == before:
                    return self._clock.now() + _AFTER_A_FAULT
                await self._deal_with(page)
                before = page
                # Whoever asks the office something waits for one page, and not for all that came due together.
                await asyncio.sleep(0)
            await self._run_mailbags()
            await self._telling.tell()
            return await self._next()
        except PosthouseError as fault:
            _log.warning("desk.held-up", fault=fault.what)
        except Exception as fault:  # noqa: BLE001 - nobody else does what is due: whatever happens, it goes on
            _log.error("desk.stumbled", fault=type(fault).__name__, exc_info=fault)
        return self._clock.now() + _AFTER_A_FAULT

    async def _next(self) -> int:
        self._wake = (await self._executor.setting()).policy.wake.microseconds
        now = self._clock.now()
        if self.doubt is not None:
            first = await self._store.gate.cases.dockets(DocketFilter(), order="due", limit=1)
            instant = first[0].due if first else None
        else:
            instant = await self._store.gate.cases.next_due()
        return now + self._wake if instant is None else min(instant, now + self._wake)

    async def _look_at_the_clock(self) -> None:
        now = self._clock.now()
        found = jumped(now if self.looked is None else self.looked, now)
        if self.looked is None:
            # While the office stood still time may pass, but not backwards: what was recorded last was before now.
            newest = await self._store.gate.audit.last()
            back = None if newest is None else jumped(newest.at, now)
            found = back if back is not None and back.way == "back" else None
        self.looked = now
        if found is not None:
            self.doubt = found
            _log.error("desk.clock-jumped", way=found.way, seconds=found.by // SECOND)

    async def _run_mailbags(self) -> None:
        if self.doubt is not None:
            return
        now = self._clock.now()
        for bag in await self._store.gate.cases.mailbags():
            if bag.next_run is not None and bag.next_run <= now:
                await self._run.run(bag)

    async def _deal_with(self, page: Sequence[Docket]) -> None:
        """Let what a page of dockets is due for happen."""
        setting = await self._executor.setting()
        ready: list[Docket] = []
        expired: list[Docket] = []
        deeds: list[Deed] = []
        orders: list[tuple[Docket, Order]] = []
        for docket in page:
            coming = due_for(docket, setting=setting)
            match coming.event:
                case "carry out":
                    ready.append(docket)
                case "expired":
                    expired.append(docket)
                case "retain":
                    case = await self._store.gate.cases.case(docket.case)
                    if case is not None and case.is_on_hold:
                        deeds.append(await self._settled(docket))
                    else:
                        orders.append((docket, on_retain(docket, now=setting.now)))
                case "put off":
                    deeds.append(Deed(dockets=(put_off(docket, coming.at or setting.now),)))
                case "extend":
                    deeds.append(Deed(dockets=(left_alone(docket, coming.at or setting.now),)))
                case "warn":
                    deeds.append(await self._safely(docket, self._warned(docket, setting)))
                case "again":
                    await self._again(docket, setting)
                case "nothing":
                    deeds.append(await self._settled(docket))
        for docket in expired:
            found = await self._safely(docket, self._expired(docket, setting))
            if isinstance(found, Deed):
                deeds.append(found)
            else:
                orders.append((docket, found))
        await self._executor.carry_out(ready)
        await self._carry_out(orders, setting)
        await self._executor.write_all(deeds)

    async def _carry_out(self, orders: Sequence[tuple[Docket, Order]], setting: Setting) -> None:
        """Record what is to be done before it is done, where anything would leave the desk."""
        local = [one for one in orders if not is_undoable(one[1].command) and one[1].command not in {"purge", "gate"}]
        leaving = [one for one in orders if one not in local]
        await self._executor.do(local)
        rows = []
        for docket, order in leaving:
            case = await self._store.gate.cases.case(docket.case)
            if case is not None:
                rows.append(recorded(docket, order, due=setting.now, case=case))
        written = await self._executor.commit([Changes(dockets=(row,)) for row in rows])
        ready = [row for row, outcome in zip(rows, written, strict=True) if outcome.status == "done"]
        await self._executor.carry_out(ready)

    async def _safely(self, docket: Docket, looking: Awaitable[Found]) -> Found | Deed:
        """Let what one message meets stop no other: it is told in its docket, and tried again."""
        try:
            return await looking
        except UnreadableWrapper as fault:
            return await self._executor.look_into(docket, fault)
        except StoreUnavailable:
            raise
        except Exception as fault:  # noqa: BLE001 - whatever it is, the others are due as well
            _log.error("desk.stumbled", case=str(docket.case), fault=type(fault).__name__, exc_info=fault)
            return Deed(dockets=(faulty(docket, f"{type(fault).__name__}: {fault}", now=self._clock.now()),))

    async def _expired(self, docket: Docket, setting: Setting) -> Order | Deed:
        """Give what the rules of a gatekeeper want done, as they are now."""
        in_force = await self._executor.in_force()
        case = await self._store.gate.cases.case(docket.case)
        if case is None:
            return Deed(dockets=(faulty(docket, "its case is not here any more", now=setting.now),))
        wrapper: Wrapper = unpack_wrapper(case.wrapper)
        ruling = None
        if in_force is not None and in_force.rules_of(docket.gatekeeper) is not None:
            papers = await self._papers(docket, setting)
            if papers is None:
                return Deed(dockets=(faulty(docket, "its message is not here any more", now=setting.now),))
            ruling = say(papers, library=self._intake.library, in_force=in_force)
        until = extension(docket, ruling=ruling, setting=setting)
        if until is not None:
            return Deed(dockets=(extended(docket, until),))
        return on_expiry(docket, wrapper, ruling=ruling, setting=setting)

    async def _warned(self, docket: Docket, setting: Setting) -> Deed:
        """Tell the gatekeeper of what lies there for long, and later the administrator."""
        papers = await self._papers(docket, setting)
        row = warned(docket, setting=setting)
        if papers is None:
            return Deed(dockets=(row,))
        role = administrator_of(setting.organisation) if docket.warned else ""
        told = to_gatekeeper(papers, f"has been waiting for {docket.gatekeeper} for long", role=role)
        return Deed(dockets=(row,), emitted=told)

    async def _again(self, docket: Docket, setting: Setting) -> None:
        """Let a mailbag act once more on what it could not deal with."""
        bags = await self._store.gate.cases.mailbags(docket.gatekeeper)
        bag = next((bag for bag in bags if bag.id == docket.folder), None)
        if bag is not None and bag.function != "none" and self.doubt is None:
            await self._run.act([docket], bag, setting=setting)
        else:
            await self._executor.write_all([Deed(dockets=(faulty(docket, docket.fault, now=setting.now),))])

    async def _settled(self, docket: Docket) -> Deed:
        """Give a docket that is due for nothing the instant at which it will be."""
        case = await self._store.gate.cases.case(docket.case)
        due = None if case is None else due_of(docket, case)
        return Deed(dockets=(msgspec.structs.replace(docket, version=docket.version + 1, due=due),))

    async def _papers(self, docket: Docket, setting: Setting) -> Papers | None:
        # An order that stands for none: only the message is looked at.
        return await self._executor.papers(docket, on_retain(docket, now=setting.now), setting=setting)
