"""What stands behind an address: aliases and groups are followed to users, and the way is kept for people to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Protocol

import msgspec

from posthouse.organisation.directory import Group, Role, User, key_of

_MAX_SHOWN: Final = 5


class Expansion(msgspec.Struct, frozen=True):
    """Who is meant by an address."""

    address: str
    users: tuple[str, ...] = ()
    """The addresses of users, each once."""
    outsiders: tuple[str, ...] = ()
    """Addresses at which the way ends outside."""
    way: tuple[str, ...] = ()
    """What was followed, such as `sales@alpha.example is a group: ann@alpha.example, ben@alpha.example`."""


class Tables(Protocol):
    """What an address is looked up in; every table by what names are compared by."""

    @property
    def roles(self) -> Mapping[str, Role]: ...
    @property
    def users(self) -> Mapping[str, User]: ...
    @property
    def groups(self) -> Mapping[str, Group]: ...
    @property
    def owners(self) -> Mapping[str, str]: ...


def expand(address: str, tables: Tables) -> Expansion:
    """Follow an address to its users; each address is looked at once, so that a circle ends by itself."""
    users: dict[str, str] = {}
    outsiders: dict[str, str] = {}
    way: list[str] = []
    waiting = [address]
    passed: set[str] = set()
    while waiting:
        name = waiting.pop()
        key = key_of(name)
        if key in passed:
            continue
        passed.add(key)
        if (owner := tables.owners.get(key)) is not None:
            way.append(f"{name} is an alias of {tables.users[owner].address}")
            waiting.append(tables.users[owner].address)
        elif (user := tables.users.get(key)) is not None:
            users[key] = user.address
        elif (group := tables.groups.get(key)) is not None:
            members = tuple(dict.fromkeys(_members(group, tables)))
            way.append(_told(name, group, members))
            waiting.extend(reversed(members))
            passed.add(key_of(group.address))
        else:
            outsiders[key] = name
    return Expansion(address, tuple(users.values()), tuple(outsiders.values()), tuple(way))


def _members(group: Group, tables: Tables) -> Iterator[str]:
    yield from group.members
    for role in group.roles:
        known = tables.roles.get(key_of(role))
        yield from known.holders if known else ()


def _told(name: str, group: Group, members: tuple[str, ...]) -> str:
    shown = ", ".join(members[:_MAX_SHOWN]) or "nobody"
    more = f" and {len(members) - _MAX_SHOWN:,} more" if len(members) > _MAX_SHOWN else ""
    called = f"the group {group.name}" if group.name else "a group"
    return f"{name} is {called}: {shown}{more}"
