"""The road to a domain: the servers that take its mail, in the order they are tried, found as they are needed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from typing import NamedTuple

from posthouse.clock import Clock
from posthouse.message.mailroute import Encryption, Routes, Target
from posthouse.transport.smtp.client import Place
from posthouse.transport.smtp.mx import DeadEnd, exchangers, literal, mixed
from posthouse.transport.smtp.names import Names, NamesUnavailable, NoSuchName
from posthouse.transport.smtp.pool import Address
from posthouse.transport.smtp.sts import Policies, allows


class Road(NamedTuple):
    """Where the mail of a domain is brought."""

    target: Target
    hosts: tuple[str, ...]
    encryption: Encryption
    is_known: bool = False
    """This office shows who it is there."""


class Roads:
    """Finds the road to each domain."""

    def __init__(
        self, clock: Clock, names: Names, *, routes: Routes, policies: Policies | None, own: Collection[str],
        encryption: Encryption = "may",
    ) -> None:  # fmt: skip
        self._clock = clock
        self._names = names
        self._routes = routes
        self._policies = policies
        self._own = own
        self._encryption = encryption

    async def find(self, domain: str) -> Road | DeadEnd:
        """Give the road to a domain; `NamesUnavailable` where it cannot be told now."""
        target = self._routes.target(domain)
        if target.kind != "mx":
            encryption = target.encryption if target.encryption != "may" else self._chosen(target)
            return Road(target, (target.host,), encryption, is_known=not target.is_final)
        address = literal(domain)
        if address is not None:
            return Road(target, (address,), self._encryption)
        try:
            records = await self._names.exchangers(domain)
        except NoSuchName:
            return DeadEnd(f"there is no domain {domain}", "5.1.2")
        hosts = exchangers(domain, records, own=self._own, chance=self._clock.chance)
        if isinstance(hosts, DeadEnd):
            return hosts
        return await self._encrypted(domain, target, hosts)

    async def addresses(self, road: Road) -> AsyncIterator[Address]:
        """Give the servers one after the other; `NamesUnavailable` at the end where some could not be looked up."""
        target = road.target
        if target.path:
            place = Place("", path=target.path, is_lmtp=target.is_lmtp)
            yield Address(place, road.encryption)
            return
        unknown = ""
        for host in road.hosts:
            try:
                addresses = [host] if _is_address(host) else await self._names.addresses(host)
            except (NamesUnavailable, NoSuchName) as fault:
                unknown = fault.what
                continue
            for address in mixed(addresses, chance=self._clock.chance):
                place = Place(address, target.port, host=host, is_lmtp=target.is_lmtp, is_encrypted=target.is_encrypted)
                yield Address(place, road.encryption, is_known=road.is_known)
        if unknown:
            raise NamesUnavailable(unknown)

    def _chosen(self, target: Target) -> Encryption:
        # The way to a store of mailboxes is mostly one inside the machine or the house.
        return "may" if target.is_lmtp and self._encryption == "must" else self._encryption

    async def _encrypted(self, domain: str, target: Target, hosts: list[str]) -> Road:
        policy = await self._policies.policy(domain) if self._policies is not None else None
        if policy is None or policy.mode != "enforce":
            return Road(target, tuple(hosts), self._encryption)
        allowed = tuple(host for host in hosts if allows(policy, host))
        if not allowed:
            raise NamesUnavailable(f"the policy of {domain} allows none of the hosts that its DNS names")
        return Road(target, allowed, "must")


def _is_address(host: str) -> bool:
    return literal(f"[{host}]") is not None
