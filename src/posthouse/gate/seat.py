"""Which gatekeeper a message really goes to: the one that is named, or who stands in where nobody there can act.

An office that has said nothing of who is who takes every role as it is named.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from posthouse.message.case import Stop
from posthouse.organisation.address import address_key
from posthouse.organisation.appointment import gatekeeper_for
from posthouse.organisation.directory import OFFICE_ADMINISTRATOR, POSTMASTER, key_of
from posthouse.organisation.snapshot import Snapshot


def seated(
    stops: Iterable[Stop], organisation: Snapshot | None, *, now: int, parties: Collection[str]
) -> tuple[Stop, ...]:
    """Give the stops with those in them who can act; who is named twice is visited once, with both reasons."""
    found: dict[str, Stop] = {}
    for stop in stops:
        taken = _taken(stop, organisation, now, parties)
        key = key_of(taken.gatekeeper)
        found[key] = _merged(found[key], taken) if key in found else taken
    return tuple(found.values())


def may_act(person: str, organisation: Snapshot | None, *, parties: Iterable[str]) -> bool:
    """Say whether a person has no part in a message; parties are its sender and its recipients."""
    if organisation is None:
        return address_key(person) not in {address_key(address) for address in parties}
    concerned = [organisation.expand(address) for address in parties]
    mine = organisation.expand(person)
    users = {user for one in concerned for user in one.users}
    # Whoever the organisation does not know is somebody all the same.
    others = {address_key(name) for one in concerned for name in one.outsiders}
    return not users.intersection(mine.users) and not others.intersection(map(address_key, mine.outsiders))


def postmaster_of(organisation: Snapshot | None) -> str:
    """Give the role that has what nobody else can have."""
    return (organisation.directory.postmaster if organisation is not None else "") or POSTMASTER


def administrator_of(organisation: Snapshot | None) -> str:
    """Give the role that looks after the office."""
    return (organisation.directory.office_administrator if organisation is not None else "") or OFFICE_ADMINISTRATOR


def _taken(stop: Stop, organisation: Snapshot | None, now: int, parties: Collection[str]) -> Stop:
    # The office of a stop is this one: elsewhere nobody can be reached, so those who stand in are asked.
    asked = f"{stop.gatekeeper}@{stop.office}" if stop.office else stop.gatekeeper
    named = stop.named or asked
    if organisation is None:
        if not stop.office:
            return stop
        return msgspec.structs.replace(stop, gatekeeper=POSTMASTER, office="", named=named, via=(f"{asked}: not here",))
    found = gatekeeper_for(organisation, asked, at=now, not_these=parties)
    is_named = key_of(found.role) == key_of(stop.gatekeeper) and not stop.office
    return msgspec.structs.replace(
        stop, gatekeeper=found.role, office="", named=stop.named if is_named else named, via=found.via
    )


def _merged(before: Stop, after: Stop) -> Stop:
    return msgspec.structs.replace(
        before,
        reasons=tuple(dict.fromkeys((*before.reasons, *after.reasons))),
        within=min((one for one in (before.within, after.within) if one is not None), default=None),
    )
