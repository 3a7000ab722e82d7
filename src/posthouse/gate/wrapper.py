"""The life of a wrapper: made when rules gate a message, from stop to stop, back to the rules, and off at last.

Every function gives a new wrapper; rule history and routing history only grow. Who decides what stands in `review`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple
from uuid import UUID

import msgspec

from posthouse.gate.policy import Policy
from posthouse.gate.ruling import Ruling
from posthouse.message.case import Command, Fired, Review, Stop, Wrapper

ORIGIN: Final = Stop(gatekeeper="")
"""The last stop of every list: the rules of this office are asked again."""

_PASSED: Final[frozenset[Command]] = frozenset({"release", "forward", "gate"})
"""The acts by which a gatekeeper lets a message go on: whoever did one need not see it again."""


class Gatekeeper(NamedTuple):
    """Who has had a message: a role at an office."""

    role: str
    office: str


class Limit(NamedTuple):
    """Why a case cannot go on as was asked."""

    code: Literal["passes", "forwards", "hops"]
    text: str


def wrap(case: UUID, ruling: Ruling, *, stops: Iterable[Stop], created: int, content: str) -> Wrapper:
    """Put a wrapper around a message that was gated for the first time."""
    current, *rest = stops
    within = min((stop.within for stop in (current, *rest) if stop.within is not None), default=None)
    return Wrapper(
        case=case,
        current=current,
        stops=(*rest, ORIGIN),
        fired=ruling.fired,
        sides=ruling.sides,
        content=content,
        created=created,
        hops=1,
        deadline=None if within is None else created + within,
        tell_sender=ruling.tell_sender,
    )


def list_of(wrapper: Wrapper) -> tuple[Stop, ...]:
    """Give the distribution list: the stops still to visit, the current one first, the origin last."""
    return wrapper.stops if wrapper.current is None else (wrapper.current, *wrapper.stops)


def innoculant(wrapper: Wrapper, policy: Policy) -> frozenset[Gatekeeper]:
    """Give those who have let the message pass already and need not see it again."""
    return frozenset(
        Gatekeeper(review.gatekeeper, review.office)
        for review in wrapper.reviews
        if review.action in _PASSED and _counts(review, wrapper, policy)
    )


def release(wrapper: Wrapper, review: Review) -> Wrapper:
    """Let a message go on to the next stop; without a current stop afterwards it is back at its origin."""
    return _on(wrapper, review, wrapper.stops)


def forward(wrapper: Wrapper, review: Review, *, to: Stop, comes_back: bool = True) -> Wrapper:
    """Send a message to another gatekeeper next; the one who sends it may have it once more before the origin."""
    *pending, origin = wrapper.stops or (ORIGIN,)
    back = []
    if comes_back and wrapper.current is not None:
        own = wrapper.current
        back = [Stop(gatekeeper=own.gatekeeper, office=own.office, reasons=own.reasons, is_comeback=True)]
    onward = _on(wrapper, review, (to, *pending, *back, origin))
    return msgspec.structs.replace(onward, forwards=wrapper.forwards + 1)


def gate_further(wrapper: Wrapper, review: Review, *, stops: Iterable[Stop], policy: Policy) -> Wrapper:
    """Add gatekeepers before the origin and go on; those who have had it are left out."""
    had = innoculant(with_review(wrapper, review), policy)
    *pending, origin = wrapper.stops or (ORIGIN,)
    waiting = {_who(stop) for stop in pending}
    added = [stop for stop in stops if _who(stop) not in had | waiting]
    return _on(wrapper, review, (*pending, *added, origin))


def end(wrapper: Wrapper, review: Review) -> Wrapper:
    """End the way of a message that is returned, deleted or recalled: no other stop sees it."""
    return msgspec.structs.replace(with_review(wrapper, review), current=None, stops=(), sides=())


def skip(wrapper: Wrapper, review: Review, *, gatekeeper: str) -> Wrapper | None:
    """Leave out a gatekeeper, the current or a pending one; None where the message does not go there."""
    if wrapper.current is not None and wrapper.current.gatekeeper == gatekeeper:
        return _on(wrapper, review, wrapper.stops)
    stops = tuple(stop for stop in wrapper.stops if stop.gatekeeper != gatekeeper)
    if len(stops) == len(wrapper.stops):
        return None
    return msgspec.structs.replace(with_review(wrapper, review), stops=stops)


def with_review(wrapper: Wrapper, review: Review) -> Wrapper:
    """Add an act to the routing history; the same decision is not added twice."""
    if any(known.decision == review.decision for known in wrapper.reviews):
        return wrapper
    return msgspec.structs.replace(wrapper, reviews=(*wrapper.reviews, review))


def with_fired(wrapper: Wrapper, fired: Iterable[Fired]) -> Wrapper:
    """Add to the rule history what was found applicable on the way."""
    return msgspec.structs.replace(wrapper, fired=(*wrapper.fired, *fired))


def part(wrapper: Wrapper, case: UUID, *, recipients: Iterable[str]) -> tuple[Wrapper, Wrapper]:
    """Divide a case by its recipients: the part for these under a new id, and what is left."""
    chosen = frozenset(recipients)
    theirs = msgspec.structs.replace(
        wrapper,
        case=case,
        recipients=tuple(one for one in wrapper.recipients if one in chosen),
        blind=tuple(one for one in wrapper.blind if one in chosen),
    )
    left = msgspec.structs.replace(
        wrapper,
        recipients=tuple(one for one in wrapper.recipients if one not in chosen),
        blind=tuple(one for one in wrapper.blind if one not in chosen),
    )
    return theirs, left


def limit_of(wrapper: Wrapper, command: Command, *, policy: Policy) -> Limit | None:
    """Say why a case must not go on by this command: it has been on its way for too long."""
    if command == "forward" and wrapper.forwards >= policy.max_forwards:
        return Limit("forwards", f"expected at most {policy.max_forwards} forwards of one case, found one more")
    if wrapper.hops >= policy.hop_limit and len(wrapper.stops) > 1:
        return Limit("hops", f"expected at most {policy.hop_limit} stops of one case, found one more")
    return None


def is_known(fired: Fired, wrapper: Wrapper) -> bool:
    """Say whether a rule, unchanged, was found applicable before: then a person has decided on it already."""
    return any(_rule(fired) == _rule(before) for before in wrapper.fired)


def _rule(fired: Fired) -> tuple[str, ...]:
    return (fired.office, fired.book, fired.rule, fired.digest or str(fired.edition))


def _who(stop: Stop) -> Gatekeeper:
    return Gatekeeper(stop.gatekeeper, stop.office)


def _counts(review: Review, wrapper: Wrapper, policy: Policy) -> bool:
    if review.is_automatic and not policy.auto_release_innoculates:
        return False
    return not policy.edit_voids_innoculation or review.content_after in ("", wrapper.content)


def _on(wrapper: Wrapper, review: Review, stops: tuple[Stop, ...]) -> Wrapper:
    following, rest = stops[0], stops[1:]
    is_home = following.gatekeeper == ""
    return msgspec.structs.replace(
        with_review(wrapper, review),
        current=None if is_home else following,
        stops=() if is_home else rest,
        hops=wrapper.hops + 1,
    )
