"""Journeys that waited are taken up again, at the stage they waited for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec
import structlog

from posthouse.clock import Clock
from posthouse.gate.opening import Setting
from posthouse.gate.policy import DEFAULT
from posthouse.gate.unreadable import opened
from posthouse.message.case import Case, UnreadableWrapper, unpack_wrapper
from posthouse.message.changes import Changes, Leased, Onward, Outcome, Settle
from posthouse.message.journey import NO_EFFECTS, Journey, unpack
from posthouse.message.message import read_head
from posthouse.message.passage import Facts
from posthouse.message.trace import Step
from posthouse.message.verdict import PASS
from posthouse.office.agenda import Agenda
from posthouse.office.clerk import Clerk, Matter
from posthouse.office.delivery import Event, Held
from posthouse.office.intake import Intake
from posthouse.office.sealing import sealed
from posthouse.office.sorting import Sent, Travelled, caused, entries, rooms, send, travel
from posthouse.office.terms import SECOND, Terms
from posthouse.route import END
from posthouse.store.ports import Store

_log = structlog.get_logger("posthouse.resumption")


class Resumption:
    """Takes up what waited in one store."""

    def __init__(
        self, clock: Clock, terms: Terms, *, store: Store, intake: Intake, clerk: Clerk, agenda: Agenda
    ) -> None:
        self._clock = clock
        self._terms = terms
        self._store = store
        self._intake = intake
        self._clerk = clerk
        self._agenda = agenda

    async def take_up(self, taken: Sequence[Leased]) -> None:
        """Send journeys through the stages they have not passed, and on from there."""
        journeys: list[tuple[Leased, Journey]] = []
        for leased in taken:
            try:
                journeys.append((leased, awakened(leased)))
            except Exception as fault:  # noqa: BLE001 - what cannot be read is set aside, and the others go on
                await self.set_aside(leased, fault)
        cases = await self._cases([journey for _, journey in journeys])
        broken = {identity: why for identity, case in cases.items() if (why := _why_unreadable(case))}
        for leased, journey in journeys:
            if journey.luggage.case in broken:
                await self._lay_before_administrator(leased, journey, cases[journey.luggage.case], broken)
        journeys = [(leased, journey) for leased, journey in journeys if journey.luggage.case not in broken]
        facts = await self._intake.facts({identity: case for identity, case in cases.items() if identity not in broken})
        travelled = travel([journey for _, journey in journeys], facts, route=self._intake.route)
        matters: list[Matter] = []
        going: list[tuple[Leased, Changes]] = []
        for (leased, _), one in zip(journeys, travelled, strict=True):
            matter = _matter(leased, one)
            if matter is not None:
                matters.append(matter)
            else:
                going.append((leased, await self._onward(leased, one, facts=facts)))
        matters += await self._commit(going)
        if matters:
            await self._clerk.settle(self._store, matters)

    async def set_aside(self, leased: Leased, fault: Exception) -> None:
        """Set a message aside that nothing can be done with."""
        reason = f"{type(fault).__name__}: {fault}"
        _log.error("message.set-aside", message=str(leased.letter.id), fault=reason, exc_info=fault)
        await self._store.commit([self._aside(leased, reason, now=self._clock.now())])

    async def _lay_before_administrator(
        self, leased: Leased, journey: Journey, case: Case, broken: Mapping[UUID, str]
    ) -> None:
        """Have a message looked at of which nobody knows who has had it: it is never delivered by itself."""
        in_force = await self._intake.library.in_force(await self._store.register())
        policy = DEFAULT if in_force is None else in_force.policy
        organisation = None if in_force is None else in_force.organisation
        setting = Setting(policy, organisation, self._clock.now(), policy.tzinfo)
        laid = opened(case, journey, why=broken[case.id], setting=setting)
        step = Step(setting.now, "resumed", leased.box, laid.docket.fault)
        changes = Changes(
            settles=(_done(leased, setting.now),), onwards=(Onward(message=leased.letter.id, step=step),),
            cases=(case if laid.case is None else laid.case,), dockets=(laid.docket,), audits=laid.audits,
        )  # fmt: skip
        await self._commit([(leased, sealed(changes, self._clock))])

    async def _cases(self, journeys: Sequence[Journey]) -> dict[UUID, Case]:
        """Give the cases of those that come back from gatekeepers."""
        found: dict[UUID, Case] = {}
        for journey in journeys:
            identity = journey.luggage.case
            case = await self._store.gate.cases.case(identity) if identity is not None else None
            if case is not None:
                found[case.id] = case
        return found

    async def _commit(self, going: Sequence[tuple[Leased, Changes]]) -> list[Matter]:
        changes = [change for _, change in going]
        outcomes = await self._store.commit(changes) if changes else []
        self._agenda.note(changes)
        found = [(leased, _hindrance(outcome)) for (leased, _), outcome in zip(going, outcomes, strict=True)]
        return [Matter(held(leased), leased.letter.id, *event) for leased, event in found if event is not None]

    async def _onward(self, leased: Leased, travelled: Travelled, *, facts: Facts) -> Changes:
        """Give the change that takes a journey from where it waited to where it goes."""
        journey, broken = travelled
        if broken is not None:
            return self._aside(leased, broken, now=facts.now)
        soonest = facts.now + int(self._terms.patience.first_pause * SECOND)
        if journey.luggage.stage != END and (journey.luggage.resume_at or 0) < soonest:
            # A stage that lets it wait without saying for how long is not asked in a circle.
            journey = journey.carrying(resume_at=soonest)
        sent = Sent()
        if journey.effects.emitted:
            journey = await self._without_sent(journey)
            sent = send(journey.effects.emitted, facts, route=self._intake.route)
            journey = sent.noted(journey)
        step = Step(facts.now, "resumed", leased.box, journey.effects.happened[:1000])
        onward = Onward(message=journey.message.id, step=step, entries=entries(journey))
        # The passing store counts versions of the register of its own.
        version = facts.register.version if self._intake.is_durable(self._store) else None
        changes = Changes(
            settles=(_done(leased, facts.now),), onwards=(onward,), rooms=rooms(journey, facts), register=version
        )
        if journey.effects is NO_EFFECTS:
            return changes
        return sealed(caused(changes, journey, sent=sent), self._clock)

    async def _without_sent(self, journey: Journey) -> Journey:
        """Leave out what was written for this message before: what rules say again is not sent again."""
        effects = journey.effects
        emitted = [one for one in effects.emitted if await self._store.journal.letter(one.message.id) is None]
        return Journey(journey.message, journey.luggage, msgspec.structs.replace(effects, emitted=tuple(emitted)))

    def _aside(self, leased: Leased, reason: str, *, now: int) -> Changes:
        step = Step(now, "aside", leased.box, reason)
        # What may be lost is kept for nobody to look at.
        kept = reason if self._intake.is_durable(self._store) else None
        return Changes(
            settles=(_done(leased, now),), onwards=(Onward(message=leased.letter.id, step=step, aside=kept),)
        )


def _why_unreadable(case: Case) -> str:
    try:
        unpack_wrapper(case.wrapper)
    except UnreadableWrapper as fault:
        return fault.what
    return ""


def awakened(leased: Leased) -> Journey:
    """Give the journey of an entry as it goes on: what it waited for is over."""
    letter = leased.letter
    journey = unpack(read_head(letter.head, letter.body, sections=letter.sections), leased.luggage)
    return journey.carrying(verdict=PASS, resume_at=None)


def held(leased: Leased) -> Held:
    """Give an entry in a postman's hands as the clerk wants it."""
    return Held(leased.entry, leased.token, leased.box, "leased", leased.failures, leased.arrived)


def _done(leased: Leased, now: int) -> Settle:
    return Settle(act="done", entry=leased.entry, token=leased.token, at=now)


def _matter(leased: Leased, travelled: Travelled) -> Matter | None:
    """Say how a journey ends that a stage stopped; none where it goes on or is set aside."""
    verdict = travelled.journey.luggage.verdict
    if travelled.broken is not None or verdict.action not in {"refuse", "drop"}:
        return None
    event: Event = "dropped" if verdict.action == "drop" else "unreachable" if verdict.temporary else "refused"
    luggage = travelled.journey.luggage
    return Matter(held(leased), leased.letter.id, event, verdict.text, case=luggage.case or luggage.released)


def _hindrance(outcome: Outcome) -> tuple[Event, str] | None:
    """Say what becomes of a journey that could not go on as decided."""
    match outcome.status:
        case "full":
            return "unreachable", outcome.detail
        case "stale":
            # The facts changed meanwhile, or it is in other hands: then nothing becomes of this either.
            return "returned", ""
        case _:
            return None
