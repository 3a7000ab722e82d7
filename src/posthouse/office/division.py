"""What becomes of a message whose recipients at one place fared differently, or that the place wants later.

An entry has one fate: where its recipients have several, it is divided into an entry for each. Those that are to be
tried again are held beside their lane, which goes on without them; those that are refused wait for nothing but to be
given up, one dead letter for all of them. What was delivered needs no entry any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from posthouse.message.answer import Answer
from posthouse.message.changes import Entry, Onward
from posthouse.message.envelope import Envelope
from posthouse.message.journey import Journey, Target
from posthouse.message.trace import Happening, Step
from posthouse.office.delivery import Event, given_up, pause
from posthouse.office.notice import worth_telling
from posthouse.office.sorting import entries
from posthouse.office.terms import SECOND, Patience
from posthouse.transport.ports import Result

_MOST_TOLD = 1_000


class Ending(NamedTuple):
    """What became of one entry."""

    event: Event
    reason: str
    answers: tuple[Answer, ...]
    """To each recipient of the entry, as far as that is known."""
    onward: Onward | None = None
    """The entries that take its place, where it is divided."""


def end(journey: Journey, result: Result, *, arrived: int, now: int, patience: Patience, chance: float) -> Ending:
    """Say what becomes of an entry after a walk; `arrived` is when it was first queued."""
    if not result.answers and result.status != "deferred":
        return Ending(result.status, result.reason, ())
    said = result.answers or _said_to_all(journey, result)
    if all(answer.status == "unreachable" for answer in said):
        return Ending("unreachable", result.reason, ())
    since = journey.luggage.since or arrived
    if now - since >= patience.give_up_after * SECOND:
        said = tuple(_given_up(answer) for answer in said)
    statuses = {answer.status for answer in said}
    if statuses == {"delivered"}:
        return Ending("delivered", "", said)
    if statuses == {"refused"}:
        return Ending("refused", told(said), said)
    onward = _divided(journey, said, since=since, now=now, patience=patience, chance=chance)
    return Ending("divided", "", said, onward)


def answers_for(ending: Ending, envelope: Envelope) -> tuple[Answer, ...]:
    """Give what the sender is to hear of now; of an entry that is given up, everything."""
    if ending.event == "refused":
        return ending.answers
    delivered = tuple(answer for answer in ending.answers if answer.status == "delivered")
    return worth_telling(envelope, delivered) if envelope.reports else ()


def _divided(
    journey: Journey, said: Sequence[Answer], *, since: int, now: int, patience: Patience, chance: float
) -> Onward:
    tries = journey.luggage.tries
    left = [answer for answer in said if answer.status in {"deferred", "unreachable"}]
    refused = [answer for answer in said if answer.status == "refused"]
    parts: list[Entry] = []
    if left:
        patient = msgspec.structs.replace(
            patience, first_pause=patience.deferral, longest_pause=max(patience.deferral, patience.longest_pause)
        )
        at = now + pause(tries, patient, chance=chance)
        later = _only(journey, left).carrying(since=since, tries=tries + 1)
        parts += [msgspec.structs.replace(entry, not_before=at) for entry in entries(later)]
    if refused:
        ended = _only(journey, refused).carrying(since=since, answers=tuple(refused))
        parts += [msgspec.structs.replace(entry, not_before=None) for entry in entries(ended)]
    box = journey.luggage.targets[0].box
    happened: Happening = "divided" if len({answer.status for answer in said}) > 1 else "retry"
    return Onward(message=journey.message.id, step=Step(now, happened, box, told(said)), entries=tuple(parts))


def _only(journey: Journey, answers: Sequence[Answer]) -> Journey:
    """Give the journey for these recipients alone."""
    names = tuple(answer.recipient for answer in answers)
    (target,) = journey.luggage.targets
    return journey.carrying(targets=(Target(target.box, target.work, names),))


def _said_to_all(journey: Journey, result: Result) -> tuple[Answer, ...]:
    names = [name for target in journey.luggage.targets for name in target.recipients]
    return tuple(Answer(name, result.status, result.reason) for name in names)


def _given_up(answer: Answer) -> Answer:
    if answer.status in {"delivered", "refused"}:
        return answer
    # RFC 3463, section 3.5: the time given has run out.
    return msgspec.structs.replace(
        answer, status="refused", reason=given_up(answer.reason), code=answer.code or "4.4.7"
    )


def told(said: Sequence[Answer]) -> str:
    """Say in one line who was told what."""
    reasons = {answer.reason for answer in said if answer.status != "delivered"}
    if len(reasons) == 1 and len({answer.status for answer in said}) == 1:
        return reasons.pop()[:_MOST_TOLD]
    return "; ".join(f"{answer.recipient}: {answer.status}{_because(answer)}" for answer in said)[:_MOST_TOLD]


def _because(answer: Answer) -> str:
    return f", {answer.reason}" if answer.reason and answer.status != "delivered" else ""
