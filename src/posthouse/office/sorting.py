"""Sorting: one batch of messages goes through the stages and becomes changes, before anything is written.

A message on which a stage breaks is sorted alone, and set aside with the reason if it breaks alone too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from posthouse.message import envelope as envelopes
from posthouse.message import features
from posthouse.message.changes import Changes, Entry, Key, Letter, Post, Room, lane_of
from posthouse.message.envelope import Envelope
from posthouse.message.journey import NO_EFFECTS, Effects, Emitted, Journey, Luggage, Target, pack
from posthouse.message.message import Message
from posthouse.message.passage import Facts
from posthouse.message.trace import Step
from posthouse.message.verdict import PASS, Verdict
from posthouse.office.terms import SECOND
from posthouse.route import END, ROUTE, Stage, enter

RESUME = "resume:"
"""The boxes of journeys that wait, before the name of the stage they enter next."""


class Parcel(NamedTuple):
    """A message as it is handed in."""

    message: Message
    envelope: Envelope
    beginning: bytes | None = None
    """What was read of a body that does not travel with the message, for its features."""
    authentication: Mapping[str, str] = {}
    """What this office found out about who sent a mail, by the name of the check."""
    is_automatic: bool = False
    """The office wrote it itself: no rule gates it and nothing answers it."""


class Sorted(NamedTuple):
    """What one message becomes: changes to commit, or the verdict that stopped it."""

    changes: Changes | None
    verdict: Verdict | None


class Travelled(NamedTuple):
    """A journey after it went through the stages, and why it is set aside where one of them broke."""

    journey: Journey
    broken: str | None


def begin(parcel: Parcel, facts: Facts, *, route: Sequence[Stage] = ROUTE) -> Journey:
    """Give the journey of a message that has just come in."""
    extracted = features.extract(
        parcel.message,
        parcel.envelope,
        accepted=facts.now,
        content=parcel.beginning,
        authentication=parcel.authentication,
    )
    if parcel.is_automatic:
        extracted = msgspec.structs.replace(extracted, is_automatic=True)
    luggage = Luggage(
        envelope=parcel.envelope, features=extracted, stage=route[0].name, is_automatic=parcel.is_automatic
    )
    return Journey(parcel.message, luggage)


def sort(
    parcels: Sequence[Parcel], facts: Facts, *, key_seconds: float, route: Sequence[Stage] = ROUTE
) -> list[Sorted]:
    """Decide over a batch; the answers stand in its order."""
    journeys = [begin(parcel, facts, route=route) for parcel in parcels]
    results: list[Sorted] = []
    for parcel, (journey, broken) in zip(parcels, travel(journeys, facts, route=route), strict=True):
        verdict = journey.luggage.verdict
        if broken is None and verdict.action in {"refuse", "drop"}:
            results.append(Sorted(None, verdict))
            continue
        sent = Sent()
        if broken is None and journey.effects.emitted:
            sent = send(journey.effects.emitted, facts, route=route)
        changes = _changes(sent.noted(journey), facts, envelope=parcel.envelope, broken=broken)
        if parcel.envelope.idempotency is not None:
            changes = msgspec.structs.replace(changes, key=_key(parcel.envelope, facts, key_seconds))
        if journey.effects is not NO_EFFECTS and broken is None:
            changes = caused(changes, journey, sent=sent)
        results.append(Sorted(changes, None))
    return results


class Sent(NamedTuple):
    """What the office writes itself, as it is kept."""

    posts: tuple[Post, ...] = ()
    rooms: tuple[Room, ...] = ()
    """The quotas that must hold where it goes at once."""
    hindrance: Verdict = PASS
    """Why some of it does not go at once."""

    def noted(self, journey: Journey) -> Journey:
        """Give the journey it is about, whose trace says what does not go at once."""
        if self.hindrance is PASS:
            return journey
        return journey.causing(Effects(happened=f"not sent at once: {self.hindrance.text}"))


def caused(changes: Changes, journey: Journey, *, sent: Sent) -> Changes:
    """Add what the stages want done besides, so that all of it is written or nothing."""
    effects = journey.effects
    return msgspec.structs.replace(
        changes,
        posts=changes.posts + sent.posts,
        cases=effects.cases,
        dockets=effects.dockets,
        audits=effects.audits,
    )


def send(emitted: Sequence[Emitted], facts: Facts, *, route: Sequence[Stage] = ROUTE, waits: bool = True) -> Sent:
    """Send what the office writes itself; what cannot go at once waits by itself and holds up nothing.

    Where nothing `waits` it goes with the quotas that must hold, and what cannot go is not sent at all.
    """
    starts = [begin(Parcel(one.message, one.envelope, is_automatic=True), facts, route=route) for one in emitted]
    gone = [
        _sent(start, came, facts, route=route, waits=waits)
        for start, came in zip(starts, travel(starts, facts, route=route) if starts else (), strict=True)
    ]
    return Sent(
        tuple(post for one in gone for post in one.posts),
        tuple(room for one in gone for room in one.rooms),
        next((one.hindrance for one in gone if one.hindrance is not PASS), PASS),
    )


def _sent(start: Journey, came: Travelled, facts: Facts, *, route: Sequence[Stage], waits: bool) -> Sent:
    journey, broken = came
    envelope = start.luggage.envelope
    if broken is not None:
        return Sent(_changes(journey, facts, envelope=envelope, broken=broken).posts)
    verdict, wanted = journey.luggage.verdict, rooms(journey, facts)
    is_stopped = verdict.action in {"refuse", "drop"}
    if is_stopped and not waits:
        return Sent(hindrance=verdict)
    if not is_stopped and not (waits and wanted):
        return Sent((Post(letter=letter_of(journey, facts, envelope=envelope), entries=entries(journey)),), wanted)
    # One who cannot have it now must not keep it from the others.
    parts = [_part(start, name, facts, route) for name in envelope.everybody]
    letter = letter_of(journey.carrying(targets=()), facts, envelope=envelope, detail=verdict.text)
    return Sent((Post(letter=letter, entries=tuple(entry for part in parts for entry in part)),), hindrance=verdict)


def _part(start: Journey, name: str, facts: Facts, route: Sequence[Stage]) -> tuple[Entry, ...]:
    """Give the entries for one recipient: where it cannot go at once it is tried again, and at last given up."""
    alone = start.carrying(envelope=msgspec.structs.replace(start.luggage.envelope, recipients=(name,), blind=()))
    ((journey, broken),) = travel([alone], facts, route=route)
    if broken is None and journey.luggage.verdict.action not in {"refuse", "drop"} and not rooms(journey, facts):
        return entries(journey)
    return (_waiting(alone),)


def travel(journeys: Sequence[Journey], facts: Facts, *, route: Sequence[Stage] = ROUTE) -> list[Travelled]:
    """Send journeys through the stages; the answers stand in their order."""
    try:
        return _through(journeys, facts, route=route)
    except Exception as fault:  # noqa: BLE001 - a bug met by one message must neither lose it nor stop the others
        if len(journeys) == 1:
            return [Travelled(journeys[0], f"{type(fault).__name__}: {fault}")]
        return [travelled for journey in journeys for travelled in travel([journey], facts, route=route)]


def entries(journey: Journey) -> tuple[Entry, ...]:
    """Give the queue entries of a journey: one for each place, or the one it waits in, and those of its parts."""
    beside = tuple(_waiting(Journey(journey.message, part)) for part in journey.effects.waiting)
    if journey.luggage.verdict.action == "end":
        return beside
    if journey.luggage.stage != END:
        return (_waiting(journey), *beside)
    return (*(_entry(journey, target) for target in journey.luggage.targets), *beside)


def rooms(journey: Journey, facts: Facts) -> tuple[Room, ...]:
    """Give the quotas that must hold for these entries."""
    setups = facts.register.setups
    if not setups:
        return ()
    wanted = ((target.box, setups.get(target.box[1:])) for target in journey.luggage.targets if target.work == "take")
    return tuple(
        Room(box, setup.max_messages, setup.max_bytes)
        for box, setup in wanted
        if setup is not None and (setup.max_messages is not None or setup.max_bytes is not None)
    )


def letter_of(journey: Journey, facts: Facts, *, envelope: Envelope, detail: str = "") -> Letter:
    """Give the journal's record of a message, with the envelope it came in."""
    message, luggage = journey.message, journey.luggage
    places = _places(luggage.targets)
    return Letter(
        id=message.id,
        accepted=facts.now,
        head=message.head,
        body=message.body,
        envelope=envelopes.encode.encode(envelope),
        features=features.encode(luggage.features),
        step=Step(facts.now, "accepted", places, detail or journey.effects.happened[:1000]),
        sections=message.sections,
    )


def _places(targets: Sequence[Target]) -> str:
    return (targets[0].box if len(targets) == 1 else ", ".join(target.box for target in targets))[:1000]


def _through(journeys: Sequence[Journey], facts: Facts, *, route: Sequence[Stage]) -> list[Travelled]:
    passage = enter(journeys, facts, route=route)
    if len(passage.going) == len(journeys) and all(
        came.message is went.message for came, went in zip(passage.going, journeys, strict=True)
    ):
        return [Travelled(journey, None) for journey in passage.going]
    arrived = passage.going + passage.waiting + passage.stopped
    by_id = {journey.message.id: journey for journey in arrived}
    if not len(by_id) == len(arrived) == len(journeys):
        # A message twice in one batch, or a stage that lost or doubled one: alone each of them is told from that.
        raise LookupError(f"{len(journeys)} journeys entered the stages, {len(arrived)} came out")
    return [Travelled(by_id[journey.message.id], None) for journey in journeys]


def _changes(journey: Journey, facts: Facts, *, envelope: Envelope, broken: str | None) -> Changes:
    if broken is not None:
        letter = letter_of(journey, facts, envelope=envelope, detail=broken)
        return Changes(posts=(Post(letter=letter, aside=broken),))
    post = Post(letter=letter_of(journey, facts, envelope=envelope), entries=entries(journey))
    return Changes(posts=(post,), rooms=rooms(journey, facts), register=facts.register.version)


def _key(envelope: Envelope, facts: Facts, key_seconds: float) -> Key:
    return Key(envelope.principal, envelope.idempotency or "", facts.now + int(key_seconds * SECOND))


def _entry(journey: Journey, target: Target) -> Entry:
    message, envelope = journey.message, journey.luggage.envelope
    return Entry(
        box=target.box,
        work=target.work,
        lane=lane_of(message.lane if message.lane is not None else f"from {envelope.sender or ''}"),
        priority=message.priority,
        kind=message.kind,
        correlation=message.correlation,
        size=message.size,
        not_before=envelope.not_before,
        expires=message.expires,
        # A mailbox needs none; whoever carries the message elsewhere must know for whom.
        luggage=b"" if target.work == "take" else pack(journey.carrying(targets=(target,))),
    )


def _waiting(journey: Journey) -> Entry:
    message, luggage = journey.message, journey.luggage
    return Entry(
        box=f"{RESUME}{luggage.stage}",
        work="resume",
        lane=lane_of(str(message.id)),
        priority=message.priority,
        kind=message.kind,
        size=message.size,
        not_before=luggage.resume_at,
        expires=message.expires,
        luggage=pack(journey),
    )
