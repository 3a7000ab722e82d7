"""Lists of people made into an organisation: who holds which role follows from titles, and from who manages whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from posthouse.message.spelling import quoted
from posthouse.organisation.check import Place, Shelf, check
from posthouse.organisation.directory import Directory, Group, Role, Unit, User, key_of
from posthouse.organisation.form.fault import Faults
from posthouse.organisation.form.title import Titled, name_roles

STAFF: Final = "Staff"
"""The title of people who have none, and manage somebody or are managed."""


class Person(msgspec.Struct, gc=False, kw_only=True):
    """One line of a list: somebody in one role."""

    at: int
    """Where it begins in the text."""
    places: Mapping[str, int]
    """Where its values stand, by the fields of this value."""
    keys: tuple[str, ...] = ()
    """By what others name it as their manager: a number, a distinguished name."""
    address: str = ""
    name: str = ""
    aliases: tuple[str, ...] = ()
    role: str = ""
    """The role itself, where the list names roles."""
    title: str = ""
    reports_to: str = ""
    """The manager: a key, an address, a name, or a role."""
    deputies: tuple[str, ...] = ()
    unit: str = ""
    location: str = ""
    is_disabled: bool = False


def gather(people: list[Person], groups: Iterable[tuple[int, Group]], *, faults: Faults) -> Directory:
    """Give the organisation of a list; what is wrong is noted at the lines where it stands."""
    gathering = _Gathering(people, faults)
    placed = {key_of(group.address): (at, group) for at, group in groups}
    units = {key_of(one.unit): Unit(one.unit) for one in people if one.unit}
    directory = Directory(
        units=tuple(units.values()),
        roles=gathering.roles(),
        users=gathering.users(),
        groups=tuple(group for _, group in placed.values()),
    )

    def offset(place: Place) -> int:
        key = key_of(place.name)
        return placed[key][0] if place.kind == "group" and key in placed else gathering.offset(place)

    check(directory, lambda place, **told: faults.note(offset(place), **told))
    return directory


class _Gathering:
    """The lines of one list, each with its manager and the name of its role."""

    def __init__(self, people: list[Person], faults: Faults) -> None:
        self._people: Final = people
        self._faults: Final = faults
        self._known: Final = _by_key(people)
        self._explicit: Final = Shelf("a role", (one.role for one in people if one.role))
        self._managers: Final = Shelf("a manager", (*self._known, *self._explicit.names))
        self._bosses: Final = [self._boss(number) for number in range(len(people))]
        self._roles: Final = self._named()

    def offset(self, place: Place) -> int:
        """Give where a user or a role stands first."""
        key = key_of(place.name)
        names = self._roles if place.kind == "role" else [one.address for one in self._people]
        number = next((number for number, name in enumerate(names) if key_of(name) == key), None)
        if number is None:
            return 0
        one = self._people[number]
        return one.places.get(place.key, one.at)

    def users(self) -> tuple[User, ...]:
        """Give a user for each address, however many lines speak of it."""
        lines: dict[str, list[Person]] = defaultdict(list)
        for one in self._people:
            if one.address:
                lines[key_of(one.address)].append(one)
        return tuple(_joined(several) for several in lines.values())

    def roles(self) -> tuple[Role, ...]:
        """Give a role for each name, vacant where no line of it has an address."""
        lines: dict[str, list[int]] = defaultdict(list)
        for number, name in enumerate(self._roles):
            if name:
                lines[key_of(name)].append(number)
        return tuple(self._role(numbers) for numbers in lines.values())

    def _role(self, numbers: list[int]) -> Role:
        several = [self._people[number] for number in numbers]
        name = self._roles[numbers[0]]
        reports_to = ""
        for number, one in zip(numbers, several, strict=True):
            above = self._above(number)
            if above and reports_to and key_of(above) != key_of(reports_to):
                at = one.places.get("reports_to", one.at)
                hint = f"a line before says {reports_to}"
                self._faults.note(at, f"one role above {quoted(name, 80)}", found=quoted(above, 80), hint=hint)
            reports_to = reports_to or above
        holders = {key_of(one.address): one.address for one in several if one.address}
        deputies = {key_of(deputy): deputy for one in several for deputy in one.deputies}
        unit = next((one.unit for one in several if one.unit), "")
        return Role(name, reports_to, unit, tuple(holders.values()), tuple(deputies.values()))

    # --- who is above -------------------------------------------------------------------------------------------------

    def _named(self) -> list[str]:
        managers = set(self._bosses)
        titled = []
        for number, (one, boss) in enumerate(zip(self._people, self._bosses, strict=True)):
            title = one.title or (STAFF if boss is not None or number in managers else "")
            manager = self._people[boss] if boss is not None else None
            word = one.reports_to if manager is None else manager.address or str(boss)
            called = one.reports_to if manager is None else manager.name or manager.address
            titled.append(Titled("" if one.role else title, one.unit, key_of(word), called))
        names = name_roles(titled, self._explicit.names)
        return [one.role or name for one, name in zip(self._people, names, strict=True)]

    def _above(self, number: int) -> str:
        boss = self._bosses[number]
        if boss is not None:
            return self._roles[boss]
        name = self._people[number].reports_to
        # What names a person was found before; here it can only be a role, or the person above everybody.
        return "" if key_of(name) in self._known else self._explicit.names.get(key_of(name), "")

    def _boss(self, number: int) -> int | None:
        """Give the line of somebody's manager; None for no manager, and where a role is named instead."""
        one = self._people[number]
        found = self._known.get(key_of(one.reports_to), []) if one.reports_to else []
        if len({self._people[line].address or str(line) for line in found}) > 1:
            hint = f"{len(found)} lines are called so: name an address"
            self._note(one, "a manager of whom there is one", hint=hint)
        elif found:
            boss = self._people[found[0]]
            # Who stands above everybody is often said to manage himself.
            return None if boss is one or (one.address and boss.address == one.address) else found[0]
        elif one.reports_to and one.reports_to not in self._explicit:
            self._note(one, "a manager who stands in the list", hint=self._managers.hint(one.reports_to))
        return None

    def _note(self, one: Person, expected: str, *, hint: str | None) -> None:
        at = one.places.get("reports_to", one.at)
        self._faults.note(at, expected, found=quoted(one.reports_to, 80), hint=hint)


def _by_key(people: list[Person]) -> dict[str, list[int]]:
    """Give the lines by what names them: keys and addresses, and names that are nothing else."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(people):
        for key in {key_of(key) for key in (*one.keys, one.address, *one.aliases) if key}:
            found[key].append(number)
    names: dict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(people):
        if one.name:
            names[key_of(one.name)].append(number)
    return {**names, **found}


def _joined(several: list[Person]) -> User:
    aliases = {key_of(alias): alias for one in several for alias in one.aliases}
    aliases.pop(key_of(several[0].address), None)
    return User(
        several[0].address,
        next((one.name for one in several if one.name), ""),
        tuple(aliases.values()),
        next((one.location for one in several if one.location), ""),
        is_disabled=any(one.is_disabled for one in several),
    )
