"""The rules of a gatekeeper, asked when nobody has decided in time: in their order, until one fires."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import msgspec

from posthouse.gate.action import TABLE, side_of
from posthouse.gate.decide import Broken, Terms, draw, values_told
from posthouse.gate.rank import stops_of
from posthouse.gate.rulebook import BookRule, RuleBook
from posthouse.gate.ruling import Ruling
from posthouse.matching.engine.single.evaluate import judge
from posthouse.matching.engine.single.ground import Ground
from posthouse.matching.language.rule.rule import Action
from posthouse.matching.match import FALSE, UNKNOWN, Truth
from posthouse.matching.value.record import Record
from posthouse.message.case import Fired, Side


def first_match(
    book: RuleBook, record: Record, *, terms: Terms, message: UUID, broken: list[Broken] | None = None
) -> Ruling:
    """Ask the rules one after the other; `deliver` where none of them decides.

    A rule that only copies or notifies decides nothing, so the next ones are asked. What `broken` is given of them is
    told.
    """
    ground = Ground(record, book.lists)
    fired: list[Fired] = []
    sides: list[Side] = []
    for rule in book.rules:
        truth = _truth(rule, ground, terms, message, broken=[] if broken is None else broken)
        if truth is FALSE:
            continue
        told = _fired(book, rule, record, terms)
        action = next((action for action in rule.rule.actions if TABLE[action.name].course is not None), None)
        sides += _sides(rule)
        mark = "side" if action is None else "won"
        fired.append(msgspec.structs.replace(told, mark=mark, is_unknown=truth is UNKNOWN))
        if action is not None:
            return _ruling(rule, action, fired, sides)
    return Ruling(fired=tuple(fired), sides=tuple(sides))


def _truth(rule: BookRule, ground: Ground, terms: Terms, message: UUID, *, broken: list[Broken]) -> Truth:
    """Give whether a rule fires, and whether it does so without being known."""
    is_out = rule.share is not None and draw(rule, message) >= rule.share
    if is_out or not rule.is_valid(terms.now):
        return FALSE
    try:
        truth = judge(rule.rule.condition, ground).truth
        broken.append(Broken(rule, ""))
    except Exception as fault:  # noqa: BLE001 - a rule that breaks is unknown and stops no other
        broken.append(Broken(rule, f"{type(fault).__name__}: {fault}"))
        truth = UNKNOWN
    return FALSE if truth is UNKNOWN and rule.unknown == "no match" else truth


def _ruling(rule: BookRule, action: Action, fired: Sequence[Fired], sides: Sequence[Side]) -> Ruling:
    reason = action.because or rule.rule.reason or rule.name
    return Ruling(
        course=TABLE[action.name].course or "deliver",
        fired=tuple(fired),
        reasons=(reason,),
        stops=stops_of(action, reason) if action.name == "gate" else (),
        to=action.to[0] if action.name in {"forward", "file"} else "",
        saying=action.saying or (reason if action.name == "return" else ""),
        sides=tuple(sides),
    )


def _sides(rule: BookRule) -> list[Side]:
    named = [(side_of(action.name), action) for action in rule.rule.actions]
    return [Side(action=side, to=action.to, saying=action.saying, rule=rule.name) for side, action in named if side]


def _fired(book: RuleBook, rule: BookRule, record: Record, terms: Terms) -> Fired:
    return Fired(
        office=terms.office,
        checkpoint="expiry",
        book=book.title,
        edition=book.edition,
        rule=rule.name,
        digest=rule.digest,
        reason=rule.rule.reason or "",
        actions=rule.actions,
        at=terms.now,
        values=values_told(book, rule, record=record),
        organisation=terms.organisation,
    )
