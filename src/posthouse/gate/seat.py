"""Who sits on which post, as far as gating asks; the organisation answers, whatever it is made of.

A role with nobody in it, or whose people have a part in the message themselves, is stood in for by the next in line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

import msgspec

from posthouse.gate.policy import Policy
from posthouse.message.case import Stop


class Seats(Protocol):
    """The organisation at one instant."""

    def role(self, name: str, /) -> str | None:
        """Give a role as the organisation writes it; None where there is none of that name."""
        ...

    def acting(self, role: str, /) -> Collection[str]:
        """Give who can act in a role now, deputies included; nobody where it is vacant or all are absent."""
        ...

    def deputies(self, role: str, /) -> Collection[str]:
        """Give the roles that stand in for a role where none of its own people can, in their order."""
        ...

    def people(self, address: str, /) -> Collection[str]:
        """Give who is meant by an address, through aliases and groups, called as `acting` calls them."""
        ...

    def location(self, address: str, /) -> str:
        """Give the place of whoever has an address, for people to read."""
        ...


class Nobody:
    """An organisation that knows nobody: every role is as it is named, and can act."""

    def role(self, name: str, /) -> str | None:
        return name

    def acting(self, role: str, /) -> Collection[str]:
        return (role,)

    def deputies(self, _role: str, /) -> Collection[str]:
        return ()

    def people(self, address: str, /) -> Collection[str]:
        return (address,)

    def location(self, address: str, /) -> str:
        return address.rpartition("@")[2] if "@" in address else ""


def seated(stops: Iterable[Stop], seats: Seats, *, policy: Policy, parties: Collection[str]) -> tuple[Stop, ...]:
    """Give the stops with those in them who can act; who is named twice is visited once, with both reasons."""
    found: dict[str, Stop] = {}
    concerned = {person for address in parties for person in seats.people(address)}
    for stop in stops:
        taken = _taken(stop, seats, policy, concerned)
        before = found.get(taken.gatekeeper)
        if before is None:
            found[taken.gatekeeper] = taken
        else:
            reasons = tuple(dict.fromkeys((*before.reasons, *taken.reasons)))
            within = min((one for one in (before.within, taken.within) if one is not None), default=None)
            found[taken.gatekeeper] = msgspec.structs.replace(before, reasons=reasons, within=within)
    return tuple(found.values())


def may_see(gatekeeper: str, seats: Seats, *, parties: Iterable[str]) -> bool:
    """Say whether nobody of a gatekeeper's people has a part in the message."""
    concerned = {person for address in parties for person in seats.people(address)}
    return concerned.isdisjoint(seats.acting(gatekeeper))


def _taken(stop: Stop, seats: Seats, policy: Policy, concerned: Collection[str]) -> Stop:
    # The office of a stop is this one: elsewhere nobody can be reached yet, so the line of those who stand in goes on.
    named = stop.named or (f"{stop.gatekeeper}@{stop.office}" if stop.office else stop.gatekeeper)
    own = None if stop.office else seats.role(stop.gatekeeper)
    for role in _in_line(own, seats, policy):
        people = set(seats.acting(role))
        if people and people.isdisjoint(concerned):
            is_named = role == own and not stop.named
            return msgspec.structs.replace(stop, gatekeeper=role, office="", named="" if is_named else named)
    return msgspec.structs.replace(stop, gatekeeper=policy.postmaster, office="", named=named)


def _in_line(role: str | None, seats: Seats, policy: Policy) -> Iterator[str]:
    if role is not None:
        yield role
        yield from seats.deputies(role)
    for standing_in in (policy.administrator, policy.postmaster):
        known = seats.role(standing_in)
        if known is not None:
            yield known
