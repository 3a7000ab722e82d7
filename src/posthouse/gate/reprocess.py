"""A message comes back from its last gatekeeper, and the rules in force now are asked again.

Gatekeepers who have had it are taken out. Where nobody is left the gate is void, and so is what people have seen and
let pass; what is new since may still return, delete or forward it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from posthouse.gate.opening import RULES, Setting, first_docket, parties_of
from posthouse.gate.record import record
from posthouse.gate.ruling import Ruling
from posthouse.gate.seat import postmaster_of, seated
from posthouse.gate.wrapper import ORIGIN, Gatekeeper, innoculant, is_known, with_fired
from posthouse.message.case import (
    REVIEW,
    AuditEntry,
    Case,
    Docket,
    Fired,
    Side,
    Stop,
    Wrapper,
    pack_wrapper,
    unpack_wrapper,
)
from posthouse.message.journey import Journey

_OUTCOMES: Final = {
    "deliver": "released", "release": "released", "return": "returned", "delete": "deleted", "forward": "forwarded",
}  # fmt: skip


class Reprocessed(NamedTuple):
    """What becomes of a message that came back: `ruling` is what counts, its case and docket are to be written."""

    ruling: Ruling
    case: Case
    docket: Docket | None
    audits: tuple[AuditEntry, ...]
    sides: tuple[Side, ...]
    """Copies and notices that have waited for this; none where the message goes to nobody."""


def reprocess(journey: Journey, ruling: Ruling, *, case: Case, setting: Setting) -> Reprocessed:
    """Decide about a message that gatekeepers have had, by what the rules in force now say of it."""
    wrapper = unpack_wrapper(case.wrapper)
    had = innoculant(wrapper, setting.policy)
    parties = parties_of(wrapper.sender, journey.luggage.envelope.everybody)
    named = seated(ruling.stops, setting.organisation, now=setting.now, parties=parties)
    left = tuple(stop for stop in named if Gatekeeper(stop.gatekeeper, stop.office) not in had)
    if ruling.course == "gate" and left:
        return _gated(journey, ruling, case=case, wrapper=wrapper, stops=left, setting=setting)
    counting = _counting(ruling, wrapper, is_reviewed=bool(had))
    fired = _marked(ruling.fired, counting)
    wrapper = with_fired(wrapper, fired)
    sides = (*wrapper.sides, *(side for side in counting.sides if side not in wrapper.sides))
    if counting.course in {"delete", "return", "defer"}:
        sides = ()
    outcome = _OUTCOMES.get(counting.course)
    ended = msgspec.structs.replace(
        case,
        version=case.version + 1,
        is_open=outcome is None,
        outcome=outcome or "",
        closed=None if outcome is None else setting.now,
        wrapper=pack_wrapper(wrapper),
    )
    audit = record(
        f"case.{outcome or counting.course}", case.id, at=setting.now, actor=RULES, course=counting.course,
        rules=tuple(one.rule for one in fired), void=tuple(one.rule for one in fired if one.mark == "void"),
    )  # fmt: skip
    return Reprocessed(counting, ended, None, (audit,), sides)


def _gated(
    journey: Journey, ruling: Ruling, *, case: Case, wrapper: Wrapper, stops: tuple[Stop, ...], setting: Setting
) -> Reprocessed:
    policy = setting.policy
    is_over = wrapper.passes >= policy.max_passes
    if is_over:
        reason = f"the rules have gated it {wrapper.passes} times"
        stops = (Stop(gatekeeper=postmaster_of(setting.organisation), reasons=(reason, *stops[0].reasons)),)
    current, *rest = stops
    onward = msgspec.structs.replace(
        with_fired(wrapper, ruling.fired),
        current=current,
        stops=(*rest, ORIGIN),
        sides=(*wrapper.sides, *(side for side in ruling.sides if side not in wrapper.sides)),
        passes=wrapper.passes + 1,
        hops=wrapper.hops + 1,
    )
    again = msgspec.structs.replace(
        case, version=case.version + 1, turn=case.turn + 1, wrapper=pack_wrapper(onward), is_open=True
    )
    docket = first_docket(again, onward, journey=journey, setting=setting)
    if is_over:
        # Whoever looks after the office decides by hand: rules that never agree must not decide by themselves.
        docket = msgspec.structs.replace(docket, folder=REVIEW, expires=None, due=None, fault=current.reasons[0])
    audit = record(
        "case.gated", case.id, at=setting.now, actor=RULES, passes=onward.passes,
        to=tuple(stop.gatekeeper for stop in stops), rules=tuple(fired.rule for fired in ruling.fired),
    )  # fmt: skip
    return Reprocessed(ruling, again, docket, (audit,), ())


def _counting(ruling: Ruling, wrapper: Wrapper, *, is_reviewed: bool) -> Ruling:
    """Give the ruling that counts: the first that nobody has seen, or that the message is delivered."""
    found: Ruling | None = ruling.otherwise if ruling.course == "gate" else ruling
    while found is not None:
        winners = [fired for fired in found.fired if fired.mark in {"won", ""}]
        if found.course in {"deliver", "release"} or not is_reviewed:
            return found
        if any(not is_known(fired, wrapper) for fired in winners) or not winners:
            return found
        found = found.otherwise
    return Ruling(sides=ruling.sides, immediate=ruling.immediate)


def _marked(fired: Iterable[Fired], counting: Ruling) -> tuple[Fired, ...]:
    """Give what was found applicable, that which does not count any more marked as void."""
    counts = {(one.book, one.rule) for one in counting.fired if one.mark == "won"}
    return tuple(
        one if one.mark in {"side", "sampled out"} or (one.book, one.rule) in counts
        else msgspec.structs.replace(one, mark="void")
        for one in fired
    )  # fmt: skip
