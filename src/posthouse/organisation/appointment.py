"""Who stands in for a gatekeeper: the role, its deputies, the office administrator, the postmaster, in this order.

Whoever is vacant, disabled, away or concerned by the message is passed over, and every link that was is told with why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from posthouse.message.instant import from_microseconds
from posthouse.message.spelling import quoted
from posthouse.organisation.check import Shelf
from posthouse.organisation.directory import OFFICE_ADMINISTRATOR, POSTMASTER, User, key_of
from posthouse.organisation.snapshot import Snapshot

MAX_TOLD: Final = 5
"""Holders of one role of whom it is told why they were passed over."""


class Appointed(msgspec.Struct, frozen=True):
    """Who is to look at a message, and why nobody before."""

    role: str
    """The role in which they do; that of a deputy who is a person is the role that was asked for."""
    people: tuple[str, ...] = ()
    """Addresses of users, any of whom may; nobody where the whole chain was passed over."""
    via: tuple[str, ...] = ()
    """Each link that was passed over, with why; empty where whoever holds the role itself can look."""


class RoleProblem(msgspec.Struct, frozen=True):
    """What is to be said of a role that somebody names."""

    role: str
    what: str
    hint: str | None = None

    def __str__(self) -> str:
        told = f"role {quoted(self.role, 80)}: {self.what}"
        return f"{told} ({self.hint})" if self.hint else told


class _Link(msgspec.Struct, frozen=True):
    """One link of a chain: a role with its holders, or a person who acts in the role asked for."""

    role: str
    called: str
    people: tuple[User, ...]
    missing: str = "it is vacant"
    is_last: bool = False


def gatekeeper_for(
    organisation: Snapshot, role: str, *, at: int | None = None, not_these: Iterable[str] = ()
) -> Appointed:
    """Give who looks at what is gated to a role, without those whose own mail it is.

    Without an instant nobody is away. A member of a group that is concerned is passed over too, unless nobody would be
    left: what goes to everybody must be looked at by somebody.
    """
    addresses = tuple(not_these)
    concerned = {user for address in addresses for user in organisation.expand(address).users}
    found = _walk(organisation, role, at=at, concerned=concerned)
    if found.people:
        return found
    named = {user.address for address in addresses if (user := organisation.user(address)) is not None}
    if named == concerned:
        return found
    again = _walk(organisation, role, at=at, concerned=named)
    why = "everybody is concerned, so members of groups are not passed over"
    return Appointed(again.role, again.people, (why, *again.via))


def acting_roles(organisation: Snapshot, address: str, *, at: int) -> tuple[str, ...]:
    """Give the roles in which somebody may act at an instant: those held, and those nobody else is there for."""
    user = organisation.user(address)
    if user is None or user.is_disabled:
        return ()
    held = organisation.roles_of(user.address)
    own = {key_of(user.address), *map(key_of, held)}
    others = (role for role in organisation.directory.roles if not own.isdisjoint(map(key_of, role.deputies)))
    acting = (role.name for role in others if user.address in gatekeeper_for(organisation, role.name, at=at).people)
    return tuple(dict.fromkeys((*held, *acting)))


def check_roles(organisation: Snapshot, names: Iterable[str], *, at: int | None = None) -> tuple[RoleProblem, ...]:
    """Give what is to be said of roles that rules name as gatekeepers: unknown, vacant, or nobody there."""
    shelf = Shelf("a role", (role.name for role in organisation.directory.roles))
    problems: list[RoleProblem] = []
    for name in dict.fromkeys(names):
        found = gatekeeper_for(organisation, name, at=at)
        if found.via:
            goes = (
                f"{found.role} has what is gated to it" if found.people else "nobody would look at what is gated to it"
            )
            hint = shelf.hint(name) if name not in shelf else None
            problems.append(RoleProblem(name, f"{_reason(found.via[0])}; {goes}", hint))
    return tuple(problems)


def why_passed_over(user: User, *, at: int | None, organisation: Snapshot) -> str | None:
    """Give why somebody does not act at an instant; None where nothing is in the way."""
    if user.is_disabled:
        return "the account is disabled"
    if at is None:
        return None
    for absence in user.absences:
        begin, end = absence.span(organisation.zone)
        if (begin is None or begin <= at) and (end is None or at < end):
            until = "" if end is None else f" until {_shown(end)}"
            return f"away{until}" + (f" ({absence.reason})" if absence.reason else "")
    return None


# --- the chain --------------------------------------------------------------------------------------------------------


def _walk(organisation: Snapshot, role: str, *, at: int | None, concerned: set[str]) -> Appointed:
    via: list[str] = []
    last = _Link(POSTMASTER, POSTMASTER, (), is_last=True)
    for link in _chain(organisation, role):
        last = link
        # Behind the last link there is nobody, so being away is no reason to pass it over.
        instant = None if link.is_last else at
        able, why = _sorted_out(link, organisation, at=instant, concerned=concerned)
        if able:
            return Appointed(link.role, able, tuple(via))
        via.append(f"{link.called}: {why}")
    return Appointed(last.role, (), tuple(via))


def _sorted_out(
    link: _Link, organisation: Snapshot, *, at: int | None, concerned: set[str]
) -> tuple[tuple[str, ...], str]:
    """Give those of a link who can act, and why the others cannot."""
    able: list[str] = []
    reasons: list[str] = []
    for user in link.people:
        why = why_passed_over(user, at=at, organisation=organisation)
        if user.address in concerned:
            why = "it is mail of their own"
        if why is None:
            able.append(user.address)
        else:
            reasons.append(f"{user.name or user.address}: {why}")
    more = f", and {len(reasons) - MAX_TOLD:,} more" if len(reasons) > MAX_TOLD else ""
    return tuple(able), ", ".join(reasons[:MAX_TOLD]) + more or link.missing


def _chain(organisation: Snapshot, name: str) -> Iterator[_Link]:
    """Give the links; a role that stands in it twice is asked once."""
    role = organisation.role(name)
    asked = set()
    if role is None:
        yield _Link(name, f"role {quoted(name, 80)}", (), "there is no such role")
    else:
        asked.add(key_of(role.name))
        yield _of_role(organisation, role.name)
        for deputy in role.deputies:
            user = organisation.user(deputy)
            if organisation.role(deputy) is None and user is not None:
                yield _Link(role.name, "deputy", (user,))
            elif key_of(deputy) not in asked:
                asked.add(key_of(deputy))
                yield _of_role(organisation, deputy, "deputy ")
    administrator = organisation.directory.office_administrator or OFFICE_ADMINISTRATOR
    postmaster = organisation.directory.postmaster or POSTMASTER
    if key_of(administrator) not in {*asked, key_of(postmaster)}:
        yield _of_role(organisation, administrator)
    yield msgspec.structs.replace(_of_role(organisation, postmaster), is_last=True)


def _of_role(organisation: Snapshot, name: str, what: str = "") -> _Link:
    role = organisation.role(name)
    if role is None:
        return _Link(name, f"{what}role {quoted(name, 80)}", (), "there is no such role")
    return _Link(role.name, f"{what}role {quoted(role.name, 80)}", organisation.holders(role.name))


def _reason(link: str) -> str:
    return link.partition('": ')[2] or link


def _shown(count: int) -> str:
    instant = from_microseconds(count)
    return "further notice" if instant is None else instant.strftime("%Y-%m-%d %H:%M UTC")
