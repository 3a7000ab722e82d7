"""Mailbags are made, changed, removed and run by their gatekeepers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import ClassVar, Final

import msgspec

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.gate.mailbag import changed, first_run, runs_at
from posthouse.gate.opening import Setting
from posthouse.gate.record import record
from posthouse.message.case import Mailbag, Rhythm
from posthouse.message.changes import Changes
from posthouse.message.message import is_label
from posthouse.office.desk.executor import Executor
from posthouse.office.desk.filing import OWN, mailbag_named
from posthouse.office.desk.mailbagrun import BATCH, MailbagRun
from posthouse.office.deskcalls import RemoveMailbag, RunMailbag, WriteMailbag
from posthouse.office.sealing import sealed
from posthouse.store.gateports import DocketFilter, DocketPlace, place_of
from posthouse.store.ports import Store

_MOST: Final = 10_000


class MailbagRefused(PosthouseError):
    """A mailbag cannot be made, changed, removed or run as asked."""

    code: ClassVar[str] = "mailbag.refused"
    public: ClassVar[str] = "The mailbag cannot be changed like that."


class ConfirmationNeeded(PosthouseError):
    """Something would happen at once that cannot be taken back: whoever means it confirms it."""

    code: ClassVar[str] = "confirmation.needed"
    public: ClassVar[str] = "This has to be confirmed."


class Bags:
    """The set-up of mailbags."""

    def __init__(self, clock: Clock, *, store: Store, executor: Executor, run: MailbagRun) -> None:
        self._clock = clock
        self._store = store
        self._executor = executor
        self._run = run

    async def write(self, call: WriteMailbag) -> Mailbag:
        """Make a mailbag, or change one; what lies in it gets its new date."""
        setting = await self._executor.setting()
        bags = await self._store.gate.cases.mailbags(call.mailbag.gatekeeper)
        before = next((bag for bag in bags if bag.id == call.mailbag.id), None) if call.mailbag.id else None
        if call.mailbag.id and before is None:
            raise MailbagRefused("expected a mailbag that is there, found none", where=f"mailbag {call.mailbag.id}")
        faults = list(_faults(call.mailbag, bags))
        if faults:
            raise ExceptionGroup("the mailbag cannot be used", faults)
        after = self._made(call.mailbag, setting) if before is None else _changed(before, call.mailbag, setting)
        is_due = after.next_run is not None and after.next_run <= setting.now
        if is_due and not call.is_confirmed:
            raise ConfirmationNeeded(
                f"the mailbag would {after.function} all that lies in it at once", where=f"mailbag {after.name}",
                hint="confirm it to mean it",
            )  # fmt: skip
        await self._write(after, "mailbag.made" if before is None else "mailbag.changed", call.by)
        if before is not None and before.next_run != after.next_run:
            await self._redate(after)
        return after

    async def remove(self, call: RemoveMailbag) -> None:
        """Remove a mailbag that is empty and that no rule names."""
        bag = await self._named(call.gatekeeper, call.id)
        where = f"mailbag {bag.name}"
        if await self._store.gate.cases.dockets(_inside(bag), limit=1):
            raise MailbagRefused(
                "expected an empty mailbag, found messages in it", where=where, hint="file them elsewhere"
            )
        rules = [rule for rule in await self._naming(bag) if rule]
        if rules:
            raise MailbagRefused(f"it is named by the rule {rules[0]}", where=where, hint="change the rule first")
        gone = msgspec.structs.replace(bag, version=bag.version + 1, is_removed=True, next_run=None)
        await self._write(gone, "mailbag.removed", call.by)

    async def run(self, call: RunMailbag) -> int:
        """Let a mailbag act now, or say on how many messages it would."""
        bag = await self._named(call.gatekeeper, call.id)
        if call.is_confirmed:
            return await self._run.run(bag, by=call.by)
        counts = await self._store.gate.cases.counts(bag.gatekeeper)
        return sum(count.count for count in counts if count.folder == bag.id)

    async def _named(self, gatekeeper: str, name: str) -> Mailbag:
        if name.casefold() in OWN:
            raise MailbagRefused("the inbox and the review list are always there", where=f"mailbag {name}")
        bag = mailbag_named(await self._store.gate.cases.mailbags(gatekeeper), gatekeeper, name=name)
        if bag is None:
            raise MailbagRefused(f"expected a mailbag of {gatekeeper}, found none", where=f"mailbag {name}")
        return bag

    def _made(self, wanted: Mailbag, setting: Setting) -> Mailbag:
        first = first_run(wanted.rhythm, setting.now, zone=setting.zone)
        return msgspec.structs.replace(
            wanted, id=str(self._clock.new_id()), created=setting.now, last_run=None, next_run=runs_at(wanted, first),
            version=1, is_removed=False, formerly=(),
        )  # fmt: skip

    async def _write(self, bag: Mailbag, act: str, by: str) -> None:
        entry = record(
            act, f"{bag.gatekeeper}/{bag.id}", at=self._clock.now(), actor=by or bag.gatekeeper, name=bag.name,
            function=bag.function, to=bag.to,
        )  # fmt: skip
        (outcome,) = await self._executor.commit([sealed(Changes(mailbags=(bag,), audits=(entry,)), self._clock)])
        if outcome.status != "done":
            raise MailbagRefused("somebody changed it meanwhile", where=f"mailbag {bag.name}", hint="look at it again")

    async def _redate(self, bag: Mailbag) -> None:
        """Give all that lies in a mailbag its date."""
        after: DocketPlace | None = None
        while page := await self._store.gate.cases.dockets(_inside(bag), order="arrival", after=after, limit=BATCH):
            after = place_of(page[-1], "arrival")
            rows = [
                msgspec.structs.replace(docket, version=docket.version + 1, expires=bag.next_run)
                for docket in page
                if docket.expires != bag.next_run and not docket.pending
            ]
            await self._executor.commit([Changes(dockets=(row,)) for row in rows])

    async def _naming(self, bag: Mailbag) -> list[str]:
        in_force = await self._executor.in_force()
        book = None if in_force is None else in_force.rules_of(bag.gatekeeper)
        if book is None:
            return []
        return [
            rule.name
            for rule in book.rules
            for action in rule.rule.actions
            if action.name == "file" and mailbag_named([bag], bag.gatekeeper, name=action.to[0]) is not None
        ]


def _changed(before: Mailbag, wanted: Mailbag, setting: Setting) -> Mailbag:
    names = before.formerly if wanted.name == before.name else (*before.formerly, before.name)
    kept = msgspec.structs.replace(
        wanted, gatekeeper=before.gatekeeper, created=before.created, last_run=before.last_run,
        version=before.version + 1, is_removed=False, formerly=names,
    )  # fmt: skip
    return changed(before, kept, zone=setting.zone)


def _inside(bag: Mailbag) -> DocketFilter:
    return DocketFilter(gatekeeper=bag.gatekeeper, folder=bag.id)


def _faults(wanted: Mailbag, bags: Sequence[Mailbag]) -> list[MailbagRefused]:
    """Give everything that is wrong with a mailbag."""
    where = f"mailbag {wanted.name!r}"
    found: list[str] = []
    if not is_label(wanted.name) or wanted.name.casefold() in OWN:
        found.append("expected a name of one line that is neither inbox nor review")
    if any(bag.id != wanted.id and bag.name.casefold() == wanted.name.casefold() for bag in bags):
        found.append("there is a mailbag of this name already")
    if not wanted.gatekeeper:
        found.append("expected the role it belongs to")
    if wanted.function == "forward" and not wanted.to:
        found.append("expected to whom it forwards")
    if wanted.function != "none" and wanted.rhythm.every == "none":
        found.append(f"expected when it is to {wanted.function}")
    found += _wrong_rhythm(wanted.rhythm)
    return [MailbagRefused(what, where=where) for what in found]


def _wrong_rhythm(rhythm: Rhythm) -> list[str]:
    found = []
    if rhythm.every in {"hours", "days", "months"} and not 1 <= rhythm.count <= _MOST:
        found.append(f"expected a count from 1 to {_MOST}, found {rhythm.count}")
    if rhythm.every == "months" and not 1 <= rhythm.day <= 31:
        found.append(f"expected a day from 1 to 31, found {rhythm.day}")
    if rhythm.every == "end" and not rhythm.period:
        found.append("expected the end of a week, month, quarter or year")
    if rhythm.every == "date":
        try:
            date.fromisoformat(rhythm.date)
        except ValueError:
            found.append(f"expected a date such as 2026-12-31, found {rhythm.date!r}")
    return found
