"""What an organisation must hold to: whatever it names is there, no address has two owners, nothing runs in circles."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol

import msgspec

from posthouse.matching.language.reader import nearest_word
from posthouse.message.spelling import quoted
from posthouse.organisation.directory import Directory, Role, key_of

MAX_DEPTH: Final = 100
"""Roles above each other, units in each other."""
MAX_COMPARED: Final = 300
MAX_CANDIDATES: Final = 40
"""Where a name is looked for that was perhaps meant: so many are all compared, of more those that share most pieces."""
_MAX_SHOWN: Final = 20


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where a fault is: in which table, at which key, at which item of its list."""

    kind: str = ""
    name: str = ""
    key: str = ""
    item: int | None = None


class Tell(Protocol):
    """Takes a fault as it is found; how many it takes is its own business."""

    def __call__(self, place: Place, *, expected: str, found: str, hint: str | None = None) -> None:
        """Note what was expected at a place, and what is there."""
        ...


def check(directory: Directory, tell: Tell, *, is_whole: bool = True) -> None:
    """Tell everything that is wrong with an organisation whose names are each well formed.

    Of one that is not whole it is not told that a name is missing, as it may be among what could not be read.
    """
    names = _Names(directory, is_whole=is_whole)
    _check_owners(directory, tell)
    _check_head(directory, names, tell)
    for role in directory.roles:
        _check_role(role, names, tell)
    for unit in directory.units:
        _expect(names.units, unit.part_of, Place("unit", unit.name, "part_of"), tell)
    for group in directory.groups:
        for number, name in enumerate(group.roles):
            _expect(names.roles, name, Place("group", group.address, "roles", number), tell)
    _check_circles(directory, names, tell)


class Shelf:
    """Names of one kind, found whatever their case."""

    def __init__(self, what: str, names: Iterable[str], *, is_whole: bool = True) -> None:
        self.what: Final = what
        self.is_whole: Final = is_whole
        """What is not here is nowhere."""
        self.names: Final = {key_of(name): name for name in names}
        self._pieces: dict[str, list[str]] = {}

    def __contains__(self, name: str) -> bool:
        return key_of(name) in self.names

    def hint(self, name: str) -> str | None:
        """Give the name that was perhaps meant."""
        if len(self.names) <= MAX_COMPARED:
            return nearest_word(name, self.names.values())
        if not self._pieces:
            self._pieces = defaultdict(list)
            for key in self.names:
                for piece in _pieces(key):
                    self._pieces[piece].append(key)
        shared = Counter(key for piece in _pieces(key_of(name)[:100]) for key in self._pieces.get(piece, ()))
        near = [self.names[key] for key, _ in shared.most_common(MAX_CANDIDATES)]
        return nearest_word(name, near)


class _Names:
    """Every name that can be referred to."""

    def __init__(self, directory: Directory, *, is_whole: bool) -> None:
        self.units = Shelf("a unit", (unit.name for unit in directory.units), is_whole=is_whole)
        self.roles = Shelf("a role", (role.name for role in directory.roles), is_whole=is_whole)
        self.users = Shelf("the address of a user", (user.address for user in directory.users), is_whole=is_whole)
        owned = [(alias, owner.address) for owner in directory.users for alias in owner.aliases]
        self.aliases = {key_of(alias): address for alias, address in owned}


def _pieces(key: str) -> set[str]:
    return {key[at : at + 3] for at in range(max(1, len(key) - 2))}


def _expect(shelf: Shelf, name: str, place: Place, tell: Tell) -> None:
    if name and name not in shelf and shelf.is_whole:
        tell(place, expected=f"{shelf.what} that is there", found=quoted(name, 80), hint=shelf.hint(name))


def _check_head(directory: Directory, names: _Names, tell: Tell) -> None:
    _expect(names.roles, directory.office_administrator, Place(key="office_administrator"), tell)
    _expect(names.roles, directory.postmaster, Place(key="postmaster"), tell)
    for number, domain in enumerate(directory.domains):
        if "@" in domain or not domain.removeprefix("*.").strip(".") or " " in domain:
            place = Place(key="domains", item=number)
            tell(place, expected="a domain such as alpha.example or *.alpha.example", found=quoted(domain, 80))


def _check_role(role: Role, names: _Names, tell: Tell) -> None:
    _expect(names.roles, role.reports_to, Place("role", role.name, "reports_to"), tell)
    _expect(names.units, role.unit, Place("role", role.name, "unit"), tell)
    for number, holder in enumerate(role.holders):
        _expect_user(holder, Place("role", role.name, "holders", number), names, tell)
    for number, deputy in enumerate(role.deputies):
        place = Place("role", role.name, "deputies", number)
        if key_of(deputy) == key_of(role.name):
            tell(place, expected="a deputy", found="the role itself")
        elif "@" in deputy and deputy not in names.roles:
            _expect_user(deputy, place, names, tell)
        elif deputy not in names.users:
            _expect(names.roles, deputy, place, tell)


def _expect_user(address: str, place: Place, names: _Names, tell: Tell) -> None:
    owner = names.aliases.get(key_of(address))
    if owner is not None:
        tell(place, expected="the address of a user", found=f"{quoted(address, 80)}, an alias of {owner}")
    else:
        _expect(names.users, address, place, tell)


def _check_owners(directory: Directory, tell: Tell) -> None:
    """Tell addresses that belong to two."""
    owners: dict[str, str] = {}
    for kind, several in (("user", directory.users), ("group", directory.groups)):
        for one in several:
            _own(owners, one.address, owner=f"the {kind} {one.address}", place=Place(kind, one.address), tell=tell)
    for kind, several in (("user", directory.users), ("group", directory.groups)):
        for one in several:
            for number, alias in enumerate(one.aliases):
                place = Place(kind, one.address, "aliases", number)
                _own(owners, alias, owner=f"the {kind} {one.address}", place=place, tell=tell)


def _own(owners: dict[str, str], address: str, *, owner: str, place: Place, tell: Tell) -> None:
    known = owners.setdefault(key_of(address), owner)
    if known != owner:
        tell(place, expected="an address of one owner", found=f"{quoted(address, 80)}, which belongs to {known}")


# --- circles ----------------------------------------------------------------------------------------------------------


def _check_circles(directory: Directory, names: _Names, tell: Tell) -> None:
    roles = {key_of(role.name): (key_of(role.reports_to),) for role in directory.roles if role.reports_to}
    units = {key_of(unit.name): (key_of(unit.part_of),) for unit in directory.units if unit.part_of}
    for kind, key, shelf, ways, word in (
        ("role", "reports_to", names.roles, roles, "a line of reporting"),
        ("unit", "part_of", names.units, units, "units in each other"),
    ):
        circles = list(find_circles(ways))
        for circle in circles:
            place = Place(kind, shelf.names[circle[0]], key)
            tell(place, expected=f"{word} without a circle", found=_way(shelf.names[step] for step in circle))
        if not circles:
            _check_depth(ways, shelf, Place(kind, "", key), tell)
    _check_groups(directory, tell)


def _check_depth(ways: Mapping[str, tuple[str, ...]], shelf: Shelf, place: Place, tell: Tell) -> None:
    depths: dict[str, int] = {}
    for start in ways:
        way = [start]
        while way[-1] in ways and way[-1] not in depths:
            way.append(ways[way[-1]][0])
        depth = depths.get(way[-1], 0)
        for step in reversed(way):
            depths.setdefault(step, depth)
            depth = depths[step] + 1
    deep = next((name for name, depth in depths.items() if depth == MAX_DEPTH and name in shelf.names), None)
    if deep is not None:
        found = f"{max(depths.values()):,}"
        place = msgspec.structs.replace(place, name=shelf.names[deep])
        tell(place, expected=f"less than {MAX_DEPTH} above each other", found=found)


def _check_groups(directory: Directory, tell: Tell) -> None:
    addresses = {key_of(name): group.address for group in directory.groups for name in (group.address, *group.aliases)}
    ways = {
        key_of(group.address): tuple(key_of(addresses[key]) for key in map(key_of, group.members) if key in addresses)
        for group in directory.groups
    }
    for circle in find_circles(ways):
        place = Place("group", addresses[circle[0]], "members")
        tell(place, expected="groups without a circle", found=_way(addresses[step] for step in circle))


def _way(names: Iterable[str]) -> str:
    shown = [quoted(name, 80) for name in names]
    if len(shown) > _MAX_SHOWN:
        shown = [*shown[: _MAX_SHOWN - 2], f"{len(shown) - _MAX_SHOWN + 1} more", shown[-1]]
    return " → ".join(shown)


def find_circles(ways: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Give circles so that none is left if each is cut, each with its first step again at its end."""
    done: set[str] = set()
    for start in ways:
        path: dict[str, Iterator[str]] = {}
        step: str | None = start
        while step is not None:
            if step in path:
                names = list(path)
                yield (*names[names.index(step) :], step)
            elif step not in done:
                path[step] = iter(ways.get(step, ()))
            step = _next_step(path, done)


def _next_step(path: dict[str, Iterator[str]], done: set[str]) -> str | None:
    """Give where the walk goes from its last place, leaving those from which nothing more leads on."""
    while path:
        last = next(reversed(path))
        following = next(path[last], None)
        if following is not None:
            return following
        del path[last]
        done.add(last)
    return None
