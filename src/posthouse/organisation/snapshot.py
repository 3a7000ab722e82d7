"""One edition of the organisation made ready to be asked: every look-up is in a table made once.

It answers what predicates ask (`matching.value.record.Organisation`) and more. Names are found whatever their case,
aliases and groups are followed, and what nobody knows is nobody's: no question is an error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import UTC, tzinfo
from typing import Final

import msgspec

from posthouse.message.name import OfficeName
from posthouse.organisation.address import address_key
from posthouse.organisation.directory import Directory, Group, Role, Unit, User, key_of
from posthouse.organisation.expansion import Expansion, expand


class Snapshot:
    """Who is who."""

    def __init__(
        self, directory: Directory, *, edition: int = 0, zone: tzinfo = UTC, here: Collection[OfficeName] = ()
    ) -> None:
        self.directory: Final = directory
        self.edition: Final = edition
        self.zone: Final = zone
        """The zone in which days of absence are meant."""
        self.roles: Final[dict[str, Role]] = {key_of(role.name): role for role in directory.roles}
        self.users: Final[dict[str, User]] = {key_of(user.address): user for user in directory.users}
        self.groups: Final[dict[str, Group]] = {
            key_of(address): group for group in directory.groups for address in (group.address, *group.aliases)
        }
        self.owners: Final[dict[str, str]] = {
            key_of(alias): key_of(user.address) for user in directory.users for alias in user.aliases
        }
        """Of each alias of a user, the user's own key."""
        self._here: Final = here
        """Under which names the mailboxes of this office are known besides."""
        self._units: Final[dict[str, Unit]] = {key_of(unit.name): unit for unit in directory.units}
        self._held: Final = _turned(directory)
        self._exact: Final = frozenset(domain.casefold() for domain in directory.domains if domain[:2] != "*.")
        self._below: Final = tuple(domain[1:].casefold() for domain in directory.domains if domain[:2] == "*.")
        self._above: Final[dict[str, tuple[str, ...]]] = {}
        self._of_groups: Final[dict[str, tuple[str, ...]]] = {}

    # --- people -------------------------------------------------------------------------------------------------------

    def user(self, address: str) -> User | None:
        """Give the user an address belongs to, by whichever of the user's addresses."""
        key = self._key(address)
        return self.users.get(self.owners.get(key, key))

    def expand(self, address: str) -> Expansion:
        """Give the users behind an address, with the way that leads to them."""
        key = self._key(address)
        is_known = key in self.users or key in self.owners or key in self.groups
        return msgspec.structs.replace(expand(key if is_known else address, self), address=address)

    def roles_of(self, address: str) -> tuple[str, ...]:
        key = self._key(address)
        held = self._held.get(key)
        if held is None:
            owner = self.owners.get(key)
            held = self._roles_of_group(key) if owner is None else self._held.get(owner)
        return held or ()

    def role_of(self, address: str) -> str | None:
        """Give the role of an address, the first one where there are several; None for an outsider."""
        return next(iter(self.roles_of(address)), None)

    def location_of(self, address: str) -> str | None:
        user = self.user(address)
        if user is None or user.location:
            return user.location if user else None
        held = [self.roles[key_of(role)] for role in self.roles_of(address)]
        return next((where for role in held if (where := role.location or self._location_of_unit(role.unit))), None)

    def is_external(self, address: str) -> bool:
        """Say whether an address belongs to nobody here; a group does where one of its members is an outsider."""
        key = self._key(address)
        if key in self.users or key in self.owners:
            return False
        if key in self.groups:
            return any(self.is_external(outsider) for outsider in self.expand(address).outsiders)
        _, sign, domain = key.rpartition("@")
        if not sign:
            # A mailbox of this office has a name without an office.
            return "#" in key or "/" in key or ":" in key
        return domain not in self._exact and not domain.endswith(self._below)

    # --- roles --------------------------------------------------------------------------------------------------------

    def role(self, name: str) -> Role | None:
        """Give a role by its name."""
        return self.roles.get(key_of(name))

    def holders(self, role: str) -> tuple[User, ...]:
        """Give the users who hold a role; none where it is vacant or unknown."""
        known = self.roles.get(key_of(role))
        found = (self.users.get(key_of(address)) for address in known.holders) if known else ()
        return tuple(user for user in found if user is not None)

    def above(self, role: str) -> tuple[str, ...]:
        key = key_of(role)
        way = self._above.get(key)
        if way is None:
            # What is not known is not kept: a snapshot grows with its roles and not with what it is asked.
            if key not in self.roles:
                return (role,)
            way = self._above[key] = tuple(self._climb(key))
        return way

    def is_or_under(self, address: str, role: str) -> bool:
        """Say whether one of the roles of an address is this one or reports to it, over whatever steps."""
        key = key_of(role)
        return any(key_of(above) == key for held in self.roles_of(address) for above in self.above(held))

    def levels_between(self, lower: str, upper: str) -> int | None:
        wanted = self.roles_of(upper)
        if not wanted:
            return None
        sought = frozenset(wanted) if len(wanted) > 4 else wanted
        nearest: int | None = None
        for held in self.roles_of(lower):
            for steps, role in enumerate(self.above(held)):
                if role in sought:
                    nearest = steps if nearest is None else min(nearest, steps)
                    break
        return nearest

    def manager_of(self, address: str) -> tuple[str, ...]:
        """Give the addresses of those to whom somebody reports; a vacant role is passed over to the one above it."""
        own = self.user(address)
        for held in self.roles_of(address):
            for role in self.above(held)[1:]:
                found = tuple(user.address for user in self.holders(role) if user is not own)
                if found:
                    return found
        return ()

    def nearest_common_manager(self, one: str, other: str) -> str | None:
        """Give the role nearest to both that is above one of them and is or is above the other's."""
        found: list[tuple[int, str]] = []
        for held in self.roles_of(one):
            ways = {role: steps for steps, role in enumerate(self.above(held))}
            for theirs in self.roles_of(other):
                meeting = ((steps + ways[role], role) for steps, role in enumerate(self.above(theirs)) if role in ways)
                found.extend(step for step in meeting if step[0])
        return min(found)[1] if found else None

    def same_unit(self, one: str, other: str) -> bool:
        """Say whether two addresses have roles in the same unit."""
        return not self._units_of(one).isdisjoint(self._units_of(other))

    # --- inside -------------------------------------------------------------------------------------------------------

    def _key(self, address: str) -> str:
        """Give what an address is looked up by; what stands in a table as it is needs no reading."""
        key = key_of(address)
        if key in self.users or key in self.owners or key in self.groups:
            return key
        return address_key(address, self._here)

    def _climb(self, key: str) -> Iterator[str]:
        passed: set[str] = set()
        while key in self.roles and key not in passed:
            passed.add(key)
            yield self.roles[key].name
            key = key_of(self.roles[key].reports_to)

    def _roles_of_group(self, key: str) -> tuple[str, ...] | None:
        group = self.groups.get(key)
        if group is None:
            return None
        known = self._of_groups.get(key)
        if known is None:
            users = self.expand(group.address).users
            roles = dict.fromkeys(role for user in users for role in self._held.get(key_of(user), ()))
            known = self._of_groups[key] = tuple(roles)
        return known

    def _units_of(self, address: str) -> frozenset[str]:
        held = (self.roles[key_of(role)].unit for role in self.roles_of(address))
        return frozenset(key_of(unit) for unit in held if unit)

    def _location_of_unit(self, name: str) -> str | None:
        passed: set[str] = set()
        unit = self._units.get(key_of(name))
        while unit is not None and unit.name not in passed:
            if unit.location:
                return unit.location
            passed.add(unit.name)
            unit = self._units.get(key_of(unit.part_of))
        return None


def _turned(directory: Directory) -> dict[str, tuple[str, ...]]:
    """Give of each user the roles, in the order in which the text names them."""
    held: dict[str, tuple[str, ...]] = {}
    for role in directory.roles:
        for holder in role.holders:
            key = key_of(holder)
            held[key] = (*held.get(key, ()), role.name)
    return held
