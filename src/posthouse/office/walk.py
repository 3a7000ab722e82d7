"""One walk to one office elsewhere: what a postman takes along, and how the door answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from posthouse.message.changes import Leased
from posthouse.message.envelope import Envelope
from posthouse.message.journey import Journey, Luggage, unpack
from posthouse.message.message import HOP, Body, Section, recall_head
from posthouse.message.name import parse_mailbox, parse_office
from posthouse.store.ports import Bodies
from posthouse.transport.ports import Door, Outgoing, PatientDoor, Result


class Load(NamedTuple):
    """One message a postman has in hand."""

    leased: Leased
    journey: Journey
    outgoing: Outgoing


def packed(leased: Leased, hop: str, *, bodies: Bodies) -> Load:
    """Give a message as it leaves: with this office's section, and an envelope for the recipients there."""
    letter = leased.letter
    journey = unpack(recall_head(letter.head, letter.body, sections=letter.sections), leased.luggage)
    message = journey.message.with_section(Section(HOP, hop.encode()))
    body = message.body
    pieces = partial(_pieces, bodies, body) if isinstance(body, Body) else None
    return Load(leased, journey, Outgoing(message, _envelope(journey.luggage), pieces, letter.accepted))


def _pieces(bodies: Bodies, body: Body, start: int = 0, /) -> AsyncIterator[bytes]:
    return bodies.read(body, start=start)


def longest_walk(doors: Mapping[str, Door], office: str, *, usual: float) -> float:
    """Give how long a walk to an office may take: what its door says, or the office's own time."""
    door: object = doors.get(office.partition(":")[0])
    return door.seconds if isinstance(door, PatientDoor) else usual


async def carry(
    doors: Mapping[str, Door], office: str, *, batch: Sequence[Outgoing], seconds: float
) -> Sequence[Result]:
    """Bring a batch to an office; whatever goes wrong counts as nobody having answered."""
    protocol = parse_office(office).protocol
    door = doors.get(protocol)
    if door is None:
        return [Result("unreachable", f"there is no door for {protocol}: names now")] * len(batch)
    try:
        async with asyncio.timeout(seconds):
            results = await door.deliver(office, batch)
    except TimeoutError:
        return [Result("unreachable", "no answer in time")] * len(batch)
    except Exception as fault:  # noqa: BLE001 - the port says: whatever is raised counts as unreachable
        return [Result("unreachable", f"{type(fault).__name__}: {fault}")] * len(batch)
    if len(results) != len(batch):
        return [Result("unreachable", f"{len(results)} answers came for {len(batch)} messages")] * len(batch)
    return results


def _envelope(luggage: Luggage) -> Envelope:
    """Give the envelope for those the message goes to there; who is blind stays so."""
    there = tuple([name for target in luggage.targets for name in target.recipients])
    if not luggage.envelope.blind and not luggage.envelope.reports:
        return Envelope(sender=luggage.envelope.sender, recipients=there, principal=luggage.envelope.principal)
    seen = {str(parse_mailbox(name)) for name in luggage.envelope.recipients}
    return msgspec.structs.replace(
        luggage.envelope,
        recipients=tuple(name for name in there if name in seen),
        blind=tuple(name for name in there if name not in seen),
        reports={name: report for name, report in luggage.envelope.reports.items() if name in there},
        idempotency=None,
        not_before=None,
    )
