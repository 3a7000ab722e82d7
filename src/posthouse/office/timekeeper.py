"""The timekeeper sleeps until the next instant at which something happens by itself, and lets it happen.

Messages held back become due, pauses and leases end, messages expire.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import structlog

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.office.agenda import Agenda
from posthouse.office.clerk import Clerk, Matter
from posthouse.office.delivery import Event, Held, State
from posthouse.office.terms import SECOND
from posthouse.store.ports import Queued, Store

_BATCH: Final = 500
_AFTER_A_FAULT: Final = SECOND
# Time passes while the store is asked; one that never names what it says is due must not keep the office busy.
_LOOKS: Final = 10
# A clock set back, or a change another process made: looked at this often all the same.
_FALLBACK: Final = 60 * SECOND

_STATES: Final[dict[str, State]] = {"waiting": "waiting", "leased": "leased", "held": "held"}

_log = structlog.get_logger("posthouse.timekeeper")


class Timekeeper:
    """Watches the clock for all stores of an office."""

    def __init__(self, clock: Clock, clerk: Clerk, *, agenda: Agenda, stores: Sequence[Store]) -> None:
        self._clock = clock
        self._clerk = clerk
        self._agenda = agenda
        self._stores = stores

    async def run(self) -> None:
        """Keep time until cancelled."""
        while True:
            self._agenda.look_up_to(self._clock.now() + _FALLBACK)
            await self._agenda.sleep_until(min([await self._catch_up(store) for store in self._stores]))

    async def _catch_up(self, store: Store) -> int:
        """Let everything happen that is due in a store; give when to look again."""
        try:
            for _ in range(_LOOKS):
                while due := await store.queue.due(self._clock.now(), _BATCH):
                    if not await self._settle(store, due):
                        return self._clock.now() + _AFTER_A_FAULT
                instant = await store.queue.next_due()
                now = self._clock.now()
                if instant is None or instant > now:
                    return now + _FALLBACK if instant is None else min(instant, now + _FALLBACK)
        except Exception as fault:  # noqa: BLE001 - nobody else keeps the time: whatever happens, it goes on
            self._log(fault)
        return self._clock.now() + _AFTER_A_FAULT

    async def _settle(self, store: Store, due: Sequence[Queued]) -> bool:
        """Settle what is due; say whether anything of it could be."""
        matters = [self._matter(entry) for entry in due]
        try:
            outcomes = await self._clerk.settle(store, matters)
        except PosthouseError:
            raise
        except Exception as fault:
            if len(due) == 1:
                raise
            self._log(fault)
            return any([await self._settle_alone(store, entry) for entry in due])
        return any(outcome.status == "done" for outcome in outcomes)

    async def _settle_alone(self, store: Store, entry: Queued) -> bool:
        """Settle one entry of a batch in which another one may be at fault."""
        try:
            return await self._settle(store, [entry])
        except Exception as fault:  # noqa: BLE001 - the others' time has come too
            self._log(fault)
            return False

    def _matter(self, entry: Queued) -> Matter:
        event, reason = _event(entry, self._clock.now())
        return Matter(
            Held(entry.entry, entry.token, entry.box, _STATES[entry.state], entry.failures, entry.arrived),
            entry.message,
            event,
            reason,
        )

    def _log(self, fault: Exception) -> None:
        if isinstance(fault, PosthouseError):
            _log.warning("timekeeper.held-up", fault=fault.what)
        else:
            _log.error("timekeeper.stumbled", fault=type(fault).__name__, exc_info=fault)


def _event(entry: Queued, now: int) -> tuple[Event, str]:
    """Say what has happened to an entry whose time has come."""
    if entry.expires is not None and entry.expires <= now:
        return "expired", "it expired before anybody took it"
    if entry.state != "leased":
        return "due", ""
    if entry.work == "take":
        return "lease ended", f"{entry.holder or 'its taker'} let the lease run out"
    return "unreachable", "nobody came back from there"
