"""Ranking: of all that the rules of an office propose for a message, one action is carried out; the rest is kept.

docs/explanation/ranking.md says why it is so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, NamedTuple

import msgspec

from posthouse.gate.action import POSTMASTER, TABLE
from posthouse.gate.rulebook import BookRule
from posthouse.gate.ruling import Course, Ruling
from posthouse.matching.language.rule.rule import Action, ActionName, Telling
from posthouse.message.case import Fired, Mark, Side, Stop
from posthouse.message.instant import from_microseconds, to_microseconds

MAX_DEFERRALS: Final = 3
LONGEST_DEFERRAL: Final = 7 * 86_400 * 1_000_000
"""How often, and how long after it came, a message is put off at most."""
_SINGLE: Final = frozenset({"forward", "file"})
"""It can go to one only."""
_TELLINGS: Final[tuple[Telling, ...]] = ("no", "yes", "with reason")


class Proposal(NamedTuple):
    """One rule that was found applicable."""

    rule: BookRule
    fired: Fired
    places: tuple[int, ...] | None = None
    """The recipients it is about, by their place; None for all."""
    is_unknown: bool = False
    is_sampled_out: bool = False


class Beside(NamedTuple):
    """What ranking asks beside the proposals."""

    now: int
    zone: tzinfo
    accepted: int
    deferrals: int = 0
    single_action: bool = False
    """One action alone is carried out, a copy included."""
    tell_sender: Telling = "no"
    """Where no rule says whether a sender hears that his message waits."""
    has_sender: bool = True
    """There is somebody to return it to."""
    before: frozenset[str] = frozenset()
    """Rules that have fired already when gatekeepers had it: what they say beside gating is void."""
    is_again: bool = False
    """Gatekeepers had it."""


class _Bid(NamedTuple):
    """One action of one proposal with its rank."""

    order: tuple[bool, int, int, int]
    """The least comes first: gating before all, then by priority, then as they stand."""
    name: ActionName
    action: Action
    proposal: Proposal
    until: int | None = None


def rank(proposals: Sequence[Proposal], beside: Beside) -> Ruling:
    """Give what is carried out; the proposals stand in the order of their rules."""
    acting = [proposal for proposal in proposals if not proposal.is_sampled_out]
    bids = sorted(bid for number, proposal in enumerate(acting) for bid in _bids(number, proposal, beside))
    sides = _sides(acting)
    if beside.single_action:
        bids, sides = _single(bids, sides)
    ruling = _ruling(bids, sides, beside)
    marked = _marked(proposals, bids, ruling=ruling, has_sides=bool(sides))
    otherwise = None
    if beside.is_again and ruling.course not in {"deliver", "release"}:
        otherwise = _otherwise(proposals, beside)
    return msgspec.structs.replace(ruling, fired=marked, otherwise=otherwise)


def _otherwise(proposals: Sequence[Proposal], beside: Beside) -> Ruling:
    """Give what is left where the gate is void: what a person has let pass is not deleted by a rule he knew of."""
    without: list[Proposal] = []
    for proposal in proposals:
        actions = tuple(action for action in proposal.rule.rule.actions if action.name != "gate")
        is_void = proposal.rule.digest in beside.before or (proposal.rule.unknown == "gate" and proposal.is_unknown)
        if is_void or not actions:
            fired = msgspec.structs.replace(proposal.fired, mark="void")
            without.append(proposal._replace(fired=fired, is_sampled_out=True))
        else:
            bare = msgspec.structs.replace(proposal.rule.rule, actions=actions)
            without.append(proposal._replace(rule=msgspec.structs.replace(proposal.rule, rule=bare)))
    return rank(without, beside._replace(is_again=False))


# --- what is proposed -------------------------------------------------------------------------------------------------


def _bids(number: int, proposal: Proposal, beside: Beside) -> Iterator[_Bid]:
    """Give the ranked actions of a proposal that can be carried out."""
    priority = proposal.rule.rule.priority
    for place, action in enumerate(_actions(proposal)):
        usual, until = TABLE[action.name].rank, None
        if usual is None:
            continue
        if action.name == "defer":
            until = _until(action, beside)
            if until is None:
                continue
        done = action
        if action.name == "return" and not beside.has_sender:
            # It cannot be returned, so somebody looks at it.
            done = _to_postmaster(action.because or action.saying or _reason(proposal))
        order = (done.name != "gate", -(usual if priority is None else priority), number, place)
        yield _Bid(order, done.name, done, proposal, until)


def _actions(proposal: Proposal) -> tuple[Action, ...]:
    """Give what a proposal wants done; where unknown means gate, gating alone."""
    actions = proposal.rule.rule.actions
    if not (proposal.is_unknown and proposal.rule.unknown == "gate"):
        return actions
    gates = tuple(action for action in actions if action.name == "gate")
    return gates or (_to_postmaster(_reason(proposal)),)


def _to_postmaster(reason: str) -> Action:
    return Action(name="gate", to=(POSTMASTER,), because=reason)


def _until(action: Action, beside: Beside) -> int | None:
    """Give until when it is put off; None where that is over, or was done too often or for too long."""
    last = beside.accepted + LONGEST_DEFERRAL
    if beside.deferrals >= MAX_DEFERRALS or beside.now >= last:
        return None
    if action.after is not None:
        until = beside.now + action.after
    elif action.until is None or action.until.type == "instant":
        until = action.until.value if action.until is not None else beside.now
    else:
        until = _next(action.until.value, beside)
    return min(until, last) if until > beside.now else None


def _next(second: int, beside: Beside) -> int:
    """Give the next instant at which the clock of the office shows a time of day."""
    now = (from_microseconds(beside.now) or datetime.max.replace(tzinfo=UTC)).astimezone(beside.zone)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for days in (0, 1, 2):
        wall = midnight + timedelta(days=days)
        at = wall.replace(hour=second // 3600, minute=second // 60 % 60, second=second % 60)
        if (instant := to_microseconds(at)) > beside.now:
            return instant
    return beside.now


def _sides(proposals: Sequence[Proposal]) -> list[tuple[Proposal, Side, bool]]:
    """Give what is done beside, with whether it waits for nothing; nobody gets the same copy twice."""
    found: list[tuple[Proposal, Side, bool]] = []
    copied: set[str] = set()
    for proposal in proposals:
        for action in _actions(proposal):
            if action.name == "copy":
                to = tuple(person for person in action.to if person not in copied)
                copied.update(to)
                if to:
                    found.append((proposal, Side(action="copy", to=to, rule=proposal.rule.name), action.is_immediate))
            elif action.name == "notify":
                side = Side(action="notify", to=action.to, saying=action.saying, rule=proposal.rule.name)
                found.append((proposal, side, action.is_immediate))
    return found


# --- who wins ---------------------------------------------------------------------------------------------------------


def _single(
    bids: list[_Bid], sides: list[tuple[Proposal, Side, bool]]
) -> tuple[list[_Bid], list[tuple[Proposal, Side, bool]]]:
    """Leave one action alone: a ranked one, else the first copy, else the first notice."""
    if bids or not sides:
        return bids, []
    first = min(sides, key=lambda side: -TABLE[side[1].action].alone)
    return [], [first]


def _ruling(bids: Sequence[_Bid], sides: Sequence[tuple[Proposal, Side, bool]], beside: Beside) -> Ruling:
    if not bids:
        return Ruling(sides=tuple(side for _, side, _ in sides))
    first, winners = bids[0], _winners(bids)
    course: Course = TABLE[first.name].course or "deliver"
    is_gate = course == "gate"
    return Ruling(
        course=course,
        reasons=tuple(dict.fromkeys(_because(bid) for bid in winners)),
        stops=_stops(winners) if is_gate else (),
        to=first.action.to[0] if course in _SINGLE else "",
        saying=_saying(winners),
        until=max((bid.until for bid in winners if bid.until is not None), default=None),
        sides=tuple(side for _, side, immediate in sides if not (is_gate and immediate)),
        immediate=tuple(side for _, side, immediate in sides if is_gate and immediate),
        tell_sender=_telling(winners, beside) if is_gate else "no",
    )


def _stops(gates: Sequence[_Bid]) -> tuple[Stop, ...]:
    """Give the gatekeepers in their order, each once, with all reasons and the shortest time."""
    found: dict[tuple[str, str], Stop] = {}
    for bid in gates:
        for stop in stops_of(bid.action, _because(bid)):
            # A role is the same however it is written.
            who = stop.gatekeeper.casefold(), stop.office
            found[who] = _joined(found[who], stop) if who in found else stop
    return tuple(found.values())


def stops_of(action: Action, reason: str) -> tuple[Stop, ...]:
    """Give the gatekeepers that one action names, `Role` or `Role@office`."""
    named = [who.partition("@") for who in action.to]
    return tuple(
        Stop(gatekeeper=role.strip(), office=office.strip(), reasons=(reason,), within=action.within)
        for role, _, office in named
    )


def _joined(first: Stop, second: Stop) -> Stop:
    within = [time for time in (first.within, second.within) if time is not None]
    reasons = tuple(dict.fromkeys((*first.reasons, *second.reasons)))
    return msgspec.structs.replace(first, reasons=reasons, within=min(within, default=None))


def _saying(winners: Sequence[_Bid]) -> str:
    said = [bid.action.saying or (_because(bid) if bid.name == "return" else "") for bid in winners]
    return "\n".join(dict.fromkeys(filter(None, said)))


def _telling(gates: Sequence[_Bid], beside: Beside) -> Telling:
    said = [bid.proposal.rule.rule.tell_sender for bid in gates]
    known = [_TELLINGS.index(telling) for telling in said if telling is not None]
    return _TELLINGS[max(known)] if known else beside.tell_sender


def _because(bid: _Bid) -> str:
    return bid.action.because or _reason(bid.proposal)


def _reason(proposal: Proposal) -> str:
    return proposal.rule.rule.reason or proposal.rule.name


def _marked(
    proposals: Sequence[Proposal], bids: Sequence[_Bid], *, ruling: Ruling, has_sides: bool
) -> tuple[Fired, ...]:
    """Give every rule that was found applicable, with what became of what it proposed."""
    winning = {bid.proposal.rule.number for bid in _winners(bids)}
    bidding = {bid.proposal.rule.number for bid in bids}
    doing = {side.rule for side in (*ruling.sides, *ruling.immediate)} if has_sides else set()
    return tuple(
        msgspec.structs.replace(proposal.fired, mark=_mark(proposal, winning, bidding, doing)) for proposal in proposals
    )


def _winners(bids: Sequence[_Bid]) -> Sequence[_Bid]:
    """Give the best action and those that want the same, where that is not for one only."""
    if not bids or bids[0].name in _SINGLE:
        return bids[:1]
    return [bid for bid in bids if bid.name == bids[0].name]


def _mark(proposal: Proposal, winning: set[int], bidding: set[int], doing: set[str]) -> Mark:
    number = proposal.rule.number
    if proposal.is_sampled_out:
        return proposal.fired.mark or "sampled out"
    if number in winning:
        return "won"
    if number in bidding:
        return "outranked"
    if proposal.rule.name in doing:
        return "side"
    # It proposed what could not be carried out: a deferral that is over, or a copy where one action alone counts.
    ranked = any(TABLE[action.name].rank is not None for action in proposal.rule.rule.actions)
    return "void" if ranked else "outranked"
