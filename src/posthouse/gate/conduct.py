"""From rulings to what happens: which recipients the journey goes on for, what is held, written, sent and recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from posthouse.gate.emission import Writer, copied, noticed, returned, waiting
from posthouse.gate.opening import RULES, STAGE, Setting, open_case
from posthouse.gate.record import record
from posthouse.gate.reprocess import reprocess
from posthouse.gate.ruling import Ruling
from posthouse.message.case import AuditEntry, Case, Side
from posthouse.message.envelope import Envelope
from posthouse.message.journey import Effects, Emitted, Journey, Luggage
from posthouse.message.verdict import Reason, Verdict

_GOING: Final = frozenset({"deliver", "release", "forward"})
_ENDS: Final = {"gate": "held", "delete": "deleted", "return": "returned", "defer": "put off", "forward": "forwarded"}


class Conduct(NamedTuple):
    """What it is done with."""

    setting: Setting
    writer: Writer


class _Part(NamedTuple):
    """What becomes of some of the recipients."""

    going: tuple[str, ...] = ()
    effects: Effects = Effects()
    waiting: Luggage | None = None


def conduct(journey: Journey, rulings: Sequence[Ruling], *, means: Conduct) -> Journey:
    """Carry out what the rules say about a message that comes by for the first time, part by part."""
    parts = [_part(journey, ruling, means) for ruling in rulings]
    going = tuple(dict.fromkeys(name for part in parts for name in part.going))
    waiting = [part.waiting for part in parts if part.waiting is not None]
    effects = sum((part.effects for part in parts), Effects())
    if going:
        envelope = _for_those(journey.luggage.envelope, going)
        return journey.carrying(envelope=envelope).causing(_beside(effects, waiting))
    if waiting:
        return Journey(journey.message, waiting[0]).causing(_beside(effects, waiting[1:]))
    return journey.carrying(verdict=_ended(effects)).causing(effects)


def resume(journey: Journey, ruling: Ruling, *, case: Case, means: Conduct) -> Journey:
    """Carry out what the rules now say about a message that gatekeepers have had."""
    found = reprocess(journey, ruling, case=case, setting=means.setting)
    if found.docket is not None:
        effects = Effects(
            cases=(found.case,), dockets=(found.docket,), audits=found.audits, happened=f"held: {found.docket.reason}"
        )
        return journey.carrying(verdict=_ended(effects)).causing(effects)
    counting = msgspec.structs.replace(found.ruling, sides=found.sides, recipients=None)
    part = _part(journey, counting, means)
    # What is recorded of the case says it already.
    effects = msgspec.structs.replace(part.effects, audits=found.audits, cases=(found.case,))
    if part.waiting is not None:
        return Journey(journey.message, part.waiting).causing(effects)
    if part.going:
        envelope = _for_those(journey.luggage.envelope, part.going)
        return journey.carrying(envelope=envelope, case=None, released=case.id).causing(effects)
    return journey.carrying(verdict=_ended(effects)).causing(effects)


def _part(journey: Journey, ruling: Ruling, means: Conduct) -> _Part:
    envelope = journey.luggage.envelope
    mine = envelope.everybody if ruling.recipients is None else ruling.recipients
    sides = ruling.immediate if ruling.course == "gate" else ruling.sides
    part = _COURSES[ruling.course](journey, ruling, mine, means)
    emitted = tuple(_emissions(journey, sides, set(envelope.everybody), means.writer))
    audits = (*part.effects.audits, *_audits(journey, ruling, mine, means, has_sides=bool(emitted)))
    happened = part.effects.happened or _told(ruling)
    effects = msgspec.structs.replace(
        part.effects, emitted=part.effects.emitted + emitted, audits=audits, happened=happened
    )
    return part._replace(effects=effects)


def _told(ruling: Ruling) -> str:
    rules = ", ".join(fired.rule for fired in ruling.fired if fired.mark in {"won", "side"})
    done = _ENDS.get(ruling.course, ruling.course)
    return f"{done} by {rules}" if rules else ""


def _emissions(
    journey: Journey, sides: Iterable[Side], recipients: set[str], writer: Writer
) -> Iterable[Emitted]:  # fmt: skip
    for side in sides:
        if side.action == "notify":
            yield noticed(journey.message, side, writer=writer)
            continue
        # Who gets it anyway needs no copy.
        others = tuple(name for name in side.to if name not in recipients)
        if others:
            yield copied(journey.message, msgspec.structs.replace(side, to=others), writer=writer)


def _audits(
    journey: Journey, ruling: Ruling, mine: Sequence[str], means: Conduct, *, has_sides: bool
) -> tuple[AuditEntry, ...]:
    """Record what rules do to a message although nobody holds it; a held one is recorded with its case."""
    if ruling.course == "gate" or (ruling.course in {"deliver", "release"} and not has_sides):
        return ()
    done = {"delete": "deleted", "return": "returned", "forward": "forwarded", "defer": "deferred"}
    act = f"message.{done.get(ruling.course, 'copied')}"
    entry = record(
        act, journey.message.id, at=means.setting.now, actor=RULES, to=ruling.to, reasons=ruling.reasons,
        rules=tuple(fired.rule for fired in ruling.fired), until=ruling.until,
        editions=tuple(sorted({f"{fired.book} {fired.edition}" for fired in ruling.fired})),
        values=tuple(value for fired in ruling.fired for value in fired.values),
        sender=journey.luggage.envelope.sender, recipients=tuple(mine),
        sides=tuple(f"{side.action} {', '.join(side.to)}" for side in ruling.sides),
    )  # fmt: skip
    return (entry,)


# --- the courses ------------------------------------------------------------------------------------------------------


def _deliver(_journey: Journey, _ruling: Ruling, mine: tuple[str, ...], _means: Conduct) -> _Part:
    return _Part(going=mine)


def _gate(journey: Journey, ruling: Ruling, mine: tuple[str, ...], means: Conduct) -> _Part:
    policy, organisation, now, zone = means.setting
    opened = open_case(journey, ruling, policy=policy, organisation=organisation, now=now, zone=zone)
    effects = Effects(
        cases=(opened.case,),
        dockets=(opened.docket,),
        audits=opened.audits,
        emitted=_to_sender(journey, ruling, mine, means),
        happened=f"held for {opened.docket.gatekeeper}: {opened.docket.reason}",
    )
    return _Part(effects=effects)


def _to_sender(journey: Journey, ruling: Ruling, mine: Sequence[str], means: Conduct) -> tuple[Emitted, ...]:
    """Tell the sender that it waits, where a rule or the policy says so."""
    if ruling.tell_sender == "no":
        return ()
    reason = ruling.reasons[0] if ruling.tell_sender == "with reason" and ruling.reasons else ""
    envelope = _for_those(journey.luggage.envelope, mine)
    told = waiting(journey.message, envelope, reason=reason, writer=means.writer)
    return () if told is None else (told,)


def _delete(_journey: Journey, _ruling: Ruling, _mine: tuple[str, ...], _means: Conduct) -> _Part:
    return _Part()


def _return(journey: Journey, ruling: Ruling, mine: tuple[str, ...], means: Conduct) -> _Part:
    envelope = _for_those(journey.luggage.envelope, mine)
    emitted = returned(journey.message, envelope, saying=ruling.saying, writer=means.writer)
    return _Part(effects=Effects(emitted=(emitted,) if emitted is not None else ()))


def _forward(journey: Journey, ruling: Ruling, _mine: tuple[str, ...], means: Conduct) -> _Part:
    if not ruling.saying:
        return _Part(going=(ruling.to,))
    side = Side(action="notify", to=(ruling.to,), saying=ruling.saying, rule=ruling.reasons[0])
    return _Part(going=(ruling.to,), effects=Effects(emitted=(noticed(journey.message, side, writer=means.writer),)))


def _defer(journey: Journey, ruling: Ruling, mine: tuple[str, ...], _means: Conduct) -> _Part:
    luggage = msgspec.structs.replace(
        journey.luggage,
        envelope=_for_those(journey.luggage.envelope, mine),
        stage=STAGE,
        resume_at=ruling.until,
        deferrals=journey.luggage.deferrals + 1,
        verdict=Verdict("wait", tuple(Reason("rules.deferred", reason) for reason in ruling.reasons)),
    )
    return _Part(waiting=luggage)


_Course = Callable[[Journey, Ruling, tuple[str, ...], Conduct], _Part]
_COURSES: Final[dict[str, _Course]] = {
    "deliver": _deliver, "release": _deliver, "gate": _gate, "delete": _delete, "return": _return,
    "forward": _forward, "defer": _defer,
}  # fmt: skip


def _for_those(envelope: Envelope, chosen: Sequence[str]) -> Envelope:
    """Give the envelope for some recipients, and for those a rule has put in their place."""
    wanted, known = frozenset(chosen), frozenset(envelope.everybody)
    if wanted == known:
        return envelope
    open_ones = wanted.difference(envelope.blind)
    return msgspec.structs.replace(
        envelope,
        recipients=tuple(name for name in dict.fromkeys((*envelope.recipients, *chosen)) if name in open_ones),
        blind=tuple(name for name in envelope.blind if name in wanted),
        reports={name: report for name, report in envelope.reports.items() if name in wanted},
    )


def _beside(effects: Effects, waiting: Sequence[Luggage]) -> Effects:
    return msgspec.structs.replace(effects, waiting=tuple(waiting)) if waiting else effects


def _ended(effects: Effects) -> Verdict:
    return Verdict("end", (Reason("rules", effects.happened or "ended by the rules"),))
