"""The audit as the office keeps it: listed, erased by subject, and sealed with the office's key each minute.

What is recorded is decided elsewhere and comes with the changes it tells of.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import msgspec
import structlog

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.message.audit import Seal, Signer, audit_entry, signed
from posthouse.message.changes import Changes
from posthouse.office.deskcalls import EraseAudit, ListAudit, ListSeals
from posthouse.office.mailbox import BadRequest
from posthouse.office.terms import SECOND, Terms
from posthouse.store.gateports import AuditLine
from posthouse.store.ports import Store, StoreUnavailable

_EVERY: Final = 60 * SECOND
_MOST: Final = 10_000
_PAGE: Final = 1_000

_pack: Final = msgspec.msgpack.Encoder().encode
_log = structlog.get_logger("posthouse.audit")


class AuditRoom:
    """Answers what is asked of the audit of one store, and seals it."""

    def __init__(self, clock: Clock, terms: Terms, *, store: Store, signer: Callable[[], Signer] | None) -> None:
        self._clock = clock
        self._terms = terms
        self._store = store
        self._make_signer = signer
        self._signer: Signer | None = None

    async def listed(self, call: ListAudit) -> list[AuditLine]:
        """Give a page of records."""
        audit, limit = self._store.gate.audit, min(call.limit, _MOST)
        if call.subject is not None:
            return await audit.of_subject(call.subject, after=call.after, limit=limit)
        return await audit.lines(after=call.after, limit=limit)

    async def seals(self, call: ListSeals) -> list[Seal]:
        """Give a page of seals, made up to date before where that is wished."""
        if call.is_fresh:
            await self.seal()
        return await self._store.gate.audit.seals(after=call.after, limit=min(call.limit, _MOST))

    async def erase(self, call: EraseAudit) -> int:
        """Erase what was said about a subject, and record that; give of how many records."""
        if not call.subject:
            raise BadRequest("expected a subject, found none", hint="posthouse audit show lists them")
        told = await self._told_of(call.subject)
        payload = _pack({"records": told, "reason": call.reason})
        entry = audit_entry(
            "audit.erased", call.subject, at=self._clock.now(), actor=call.by, salt=self._clock.secret(),
            payload=payload,
        )  # fmt: skip
        (outcome,) = await self._store.commit([Changes(erasures=(call.subject,), audits=(entry,))])
        if outcome.status != "done":
            raise StoreUnavailable(outcome.detail)
        return told

    async def seal(self) -> None:
        """Seal the newest record, unless it is sealed already."""
        if self._make_signer is None:
            return
        audit = self._store.gate.audit
        last = await audit.last()
        if last is None or await audit.seals(after=last.number - 1, limit=1):
            return
        if self._signer is None:
            # The key is read from a file, and made where there is none.
            self._signer = await asyncio.to_thread(self._make_signer)
        seal = Seal(
            number=last.number,
            epoch=last.epoch,
            chain=last.chain,
            at=self._clock.now(),
            office=str(self._terms.name),
            key=self._signer.key,
        )
        await self._store.commit([Changes(seals=(signed(seal, self._signer.sign),))])

    async def run(self) -> None:
        """Seal each minute until cancelled."""
        while True:
            await self._clock.wait_until(self._clock.now() + _EVERY)
            await self.close()

    async def close(self) -> None:
        """Seal once more; a store or a key that cannot be used now is no reason to stop anything."""
        try:
            await self.seal()
        except PosthouseError as fault:
            _log.warning("audit.not-sealed", fault=fault.code, what=fault.what)

    async def _told_of(self, subject: str) -> int:
        """Give how many records say something about a subject."""
        after = count = 0
        while lines := await self._store.gate.audit.of_subject(subject, after=after, limit=_PAGE):
            count += sum(line.payload is not None for line in lines)
            after = lines[-1].number
        return count
