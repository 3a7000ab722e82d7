"""What was refused to whom is recorded in the audit; who asks the same again and again fills no disk with it."""

from __future__ import annotations

from typing import Any, Final

import structlog

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.message.changes import Changes
from posthouse.office.auditing import record
from posthouse.office.calls import Call
from posthouse.office.permission import NotPermitted
from posthouse.office.permit import Permit
from posthouse.office.terms import SECOND
from posthouse.store.ports import Store

ACT: Final = "call.refused"

# The same refusal is recorded once in this time, and no more than so many different ones are remembered.
_QUIET: Final = 60 * SECOND
_MOST: Final = 1_000

_NAMES: Final = ("gatekeeper", "book", "case", "message", "subject", "name", "id")

_log = structlog.get_logger("posthouse.refusals")


class RecordedRefusals:
    """See `asking.Refusals`: they stand in the audit of a store."""

    def __init__(self, clock: Clock, store: Store) -> None:
        self._clock = clock
        self._store = store
        self._noted: dict[tuple[str, str, str], int] = {}

    # `Any`: whichever call it is.
    async def note(self, permit: Permit, call: Call[Any], *, refusal: NotPermitted) -> None:
        """Record that somebody was refused; where that cannot be written the refusal stands all the same."""
        subject = _subject(call)
        if not self._is_new((permit.principal, type(call).__name__, subject)):
            return
        entry = record(
            self._clock, ACT, actor=permit.signature, subject=subject, call=type(call).__name__, why=refusal.what,
            principal=permit.principal,
        )  # fmt: skip
        try:
            outcome = (await self._store.commit([Changes(audits=(entry,))]))[0]
        except PosthouseError as fault:
            _log.warning("refusal.not-recorded", code=fault.code, principal=permit.principal)
            return
        if outcome.status != "done":
            _log.warning("refusal.not-recorded", status=outcome.status, principal=permit.principal)

    def _is_new(self, what: tuple[str, str, str]) -> bool:
        now = self._clock.now()
        if self._noted.get(what, now) > now:
            return False
        if len(self._noted) >= _MOST:
            self._noted = {known: until for known, until in self._noted.items() if until > now}
        if len(self._noted) >= _MOST:
            return False
        self._noted[what] = now + _QUIET
        return True


# `Any`: whichever call it is.
def _subject(call: Call[Any]) -> str:
    """Give what a call is about, shortly."""
    for name in _NAMES:
        value = getattr(call, name, None)
        if value is not None and value != "":
            return str(value)[:200]
    return type(call).__name__
