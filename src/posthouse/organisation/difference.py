"""What a new edition of the organisation changes, in plain words: who comes, who goes, who moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from typing import Final, Literal, TypeAlias, TypeVar

import msgspec

from posthouse.message.instant import print_instant
from posthouse.organisation.directory import Absence, Directory, Group, Role, Unit, User, key_of

Sort = Literal["came", "went", "moved", "changed"]
MAX_LISTED: Final = 10
"""Names that are written out one by one in a sentence."""


class Difference(msgspec.Struct, frozen=True):
    """One thing that is otherwise than before."""

    sort: Sort
    subject: str
    """The name or address it is about."""
    words: str
    """The whole of it as a sentence."""

    def __str__(self) -> str:
        return self.words


_Named = TypeVar("_Named", Unit, Role, User, Group)
_Told: TypeAlias = Iterator[tuple[Sort, str]]


def compare(old: Directory, new: Directory) -> tuple[Difference, ...]:
    """Give what differs, people first; nothing for the same things in another order."""
    return (
        *_people(old, new),
        *_each(old.roles, new.roles, "role", _of_role),
        *_each(old.units, new.units, "unit", _of_unit),
        *_each(old.groups, new.groups, "group", _of_group),
        *(Difference("changed", "the head", words) for words in _of_head(old, new)),
    )


def _people(old: Directory, new: Directory) -> Iterator[Difference]:
    """Tell of users, with the roles they take up, keep and lay down."""
    before, after = _held(old), _held(new)
    known = {key_of(user.address): user for user in old.users}
    for user in new.users:
        key = key_of(user.address)
        roles, had = after.get(key, {}), before.get(key, {})
        if key not in known:
            yield Difference("came", user.address, f"{_called(user)} comes{_as(roles.values())}")
            continue
        if roles.keys() != had.keys():
            yield Difference("moved", user.address, f"{_called(user)} {_moved(had, roles)}")
        for words in _of_user(known[key], user):
            yield Difference("changed", user.address, f"{_called(user)} {words}")
    stay = {key_of(user.address) for user in new.users}
    for key, user in known.items():
        if key not in stay:
            was = before.get(key, {}).values()
            yield Difference("went", user.address, f"{_called(user)} goes" + (f", who was {_list(was)}" if was else ""))


def _each(
    old: Iterable[_Named],
    new: Iterable[_Named],
    what: str,
    tell: Callable[[_Named, _Named], _Told],
) -> Iterator[Difference]:
    """Tell of things of one kind."""
    before = {key_of(_name(one)): one for one in old}
    after = {key_of(_name(one)): one for one in new}
    for key, one in after.items():
        if key not in before:
            yield Difference("came", _name(one), f"{what} {_name(one)} is new{_detail(one)}")
        else:
            for sort, words in tell(before[key], one):
                yield Difference(sort, _name(one), f"{what} {_name(one)} {words}")
    for key, one in before.items():
        if key not in after:
            yield Difference("went", _name(one), f"{what} {_name(one)} is gone")


# --- what is said of each ---------------------------------------------------------------------------------------------


def _moved(had: dict[str, str], roles: dict[str, str]) -> str:
    gained = [name for key, name in roles.items() if key not in had]
    lost = [name for key, name in had.items() if key not in roles]
    if gained and lost:
        return f"moves from {_list(lost)} to {_list(gained)}"
    return f"takes up {_list(gained)}" if gained else f"lays down {_list(lost)}"


def _of_user(old: User, new: User) -> Iterator[str]:
    if old.name != new.name:
        yield f"was called {old.name or 'nothing'} before"
    if old.location != new.location:
        yield _turned("works in", old.location, new.location)
    if old.is_disabled != new.is_disabled:
        yield "is disabled" if new.is_disabled else "is no longer disabled"
    yield from _gained("the alias", old.aliases, new.aliases)
    for absence in new.absences:
        if absence not in old.absences:
            yield f"is away {_span(absence)}"
    for absence in old.absences:
        if absence not in new.absences:
            yield f"is no longer away {_span(absence)}"


def _of_role(old: Role, new: Role) -> _Told:
    if key_of(old.reports_to) != key_of(new.reports_to):
        yield "moved", _turned("reports to", old.reports_to, new.reports_to)
    if key_of(old.unit) != key_of(new.unit):
        yield "moved", _turned("belongs to", old.unit, new.unit)
    if old.location != new.location:
        yield "moved", _turned("is at", old.location, new.location)
    if old.holders and not new.holders:
        yield "changed", "is vacant"
    if new.holders and not old.holders:
        yield "changed", "is no longer vacant"
    for words in _gained("the deputy", old.deputies, new.deputies):
        yield "changed", words
    if set(old.deputies) == set(new.deputies) and old.deputies != new.deputies:
        yield "changed", f"asks its deputies in this order: {', '.join(new.deputies)}"


def _of_unit(old: Unit, new: Unit) -> _Told:
    if key_of(old.part_of) != key_of(new.part_of):
        yield "moved", _turned("is part of", old.part_of, new.part_of)
    if old.location != new.location:
        yield "moved", _turned("is at", old.location, new.location)


def _of_group(old: Group, new: Group) -> _Told:
    if old.name != new.name:
        yield "changed", f"was called {old.name or 'nothing'} before"
    for what, before, after in (
        ("the alias", old.aliases, new.aliases),
        ("the member", old.members, new.members),
        ("whoever is", old.roles, new.roles),
    ):
        for words in _gained(what, before, after):
            yield "changed", words


def _of_head(old: Directory, new: Directory) -> Iterator[str]:
    for what, before, after in (
        ("the office administrator", old.office_administrator, new.office_administrator),
        ("the postmaster", old.postmaster, new.postmaster),
    ):
        if key_of(before) != key_of(after):
            yield f"{what} is {after or 'nobody'}, before {before or 'nobody'}"
    for words in _gained("the domain", old.domains, new.domains):
        yield f"the house {words}"


# --- words ------------------------------------------------------------------------------------------------------------


def _gained(what: str, old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[str]:
    before, after = set(map(key_of, old)), set(map(key_of, new))
    gained = [name for name in new if key_of(name) not in before]
    lost = [name for name in old if key_of(name) not in after]
    if gained:
        yield f"gains {what} {_list(gained)}"
    if lost:
        yield f"loses {what} {_list(lost)}"


def _turned(words: str, old: str, new: str) -> str:
    if not old:
        return f"{words} {new}"
    return f"{words} {new}, before {old}" if new else f"{words} nothing, before {old}"


def _span(absence: Absence) -> str:
    told = " ".join(
        f"{word} {_day(edge)}" for word, edge in (("from", absence.first), ("until", absence.last)) if edge is not None
    )
    return f"{told} ({absence.reason})" if absence.reason else told


def _day(edge: date) -> str:
    return print_instant(edge) if isinstance(edge, datetime) else edge.isoformat()


def _as(roles: Iterable[str]) -> str:
    listed = _list(roles)
    return f" as {listed}" if listed else ""


def _detail(one: Unit | Role | User | Group) -> str:
    above = one.reports_to if isinstance(one, Role) else one.part_of if isinstance(one, Unit) else ""
    if not above:
        return ""
    return f" and reports to {above}" if isinstance(one, Role) else f" and is part of {above}"


def _list(names: Iterable[str]) -> str:
    shown = list(names)
    if len(shown) > MAX_LISTED:
        shown = [*shown[: MAX_LISTED - 1], f"{len(shown) - MAX_LISTED + 1:,} more"]
    return " and ".join(", ".join(shown).rsplit(", ", 1)) if len(shown) > 1 else "".join(shown)


def _name(one: Unit | Role | User | Group) -> str:
    return one.address if isinstance(one, User | Group) else one.name


def _called(user: User) -> str:
    return f"{user.name} ({user.address})" if user.name else user.address


def _held(directory: Directory) -> dict[str, dict[str, str]]:
    """Give of each user the roles, by what names are compared by."""
    held: dict[str, dict[str, str]] = {}
    for role in directory.roles:
        for holder in role.holders:
            held.setdefault(key_of(holder), {})[key_of(role.name)] = role.name
    return held
