"""One edition of the organisation as values: what its text says, in the order in which the text says it.

Names are told apart without regard to case. Nothing is looked up here; `snapshot` does that.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, tzinfo
from typing import Final

import msgspec

from posthouse.message.instant import to_microseconds

BOOK: Final = "organisation"
"""The book whose editions hold it."""
POSTMASTER: Final = "postmaster"
OFFICE_ADMINISTRATOR: Final = "office administrator"
"""The roles taken for these two where the head of the text names none."""


class Absence(msgspec.Struct, frozen=True, gc=False):
    """From when until when somebody is away; a day that is named belongs to it, an end that is None is open."""

    first: date | datetime | None = None
    last: date | datetime | None = None
    reason: str = ""

    def span(self, zone: tzinfo) -> tuple[int | None, int | None]:
        """Give the microseconds from which and up to which it lasts."""
        return _edge(self.first, zone, days=0), _edge(self.last, zone, days=1)


class Unit(msgspec.Struct, frozen=True, gc=False):
    """A part of the organisation, such as a department."""

    name: str
    part_of: str = ""
    location: str = ""


class Role(msgspec.Struct, frozen=True, gc=False):
    """What somebody does in the organisation, whoever it is at the time; vacant without holders."""

    name: str
    reports_to: str = ""
    """The role above it."""
    unit: str = ""
    holders: tuple[str, ...] = ()
    """Addresses of users."""
    deputies: tuple[str, ...] = ()
    """Addresses of users, or roles, in the order in which they are asked."""
    location: str = ""


class User(msgspec.Struct, frozen=True, gc=False):
    """Somebody with an address."""

    address: str
    name: str = ""
    aliases: tuple[str, ...] = ()
    """Other addresses of the same user."""
    location: str = ""
    absences: tuple[Absence, ...] = ()
    is_disabled: bool = False


class Group(msgspec.Struct, frozen=True, gc=False):
    """An address behind which several stand."""

    address: str
    name: str = ""
    aliases: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    """Addresses of users, of other groups, and of outsiders."""
    roles: tuple[str, ...] = ()
    """Whoever holds one of these is a member."""


class Directory(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one edition says."""

    domains: tuple[str, ...] = ()
    """Addresses in these belong to the house even where nobody has them; `*.alpha.example` means all below."""
    office_administrator: str = ""
    postmaster: str = ""
    """The roles that end the chain of those who stand in for a gatekeeper."""
    units: tuple[Unit, ...] = ()
    roles: tuple[Role, ...] = ()
    users: tuple[User, ...] = ()
    groups: tuple[Group, ...] = ()


def key_of(name: str) -> str:
    """Give what names and addresses are compared by."""
    folded = name.casefold()
    # Most names are their own key, which is then kept in memory once.
    return name if folded == name else folded


def _edge(edge: date | datetime | None, zone: tzinfo, *, days: int) -> int | None:
    """Give an instant; of a day, its beginning or the beginning of the next."""
    if edge is None:
        return None
    if isinstance(edge, datetime):
        return to_microseconds(edge)
    try:
        return to_microseconds(datetime.combine(edge + timedelta(days=days), time(), tzinfo=zone))
    except OverflowError:
        return None
