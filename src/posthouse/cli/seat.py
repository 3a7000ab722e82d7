"""Where a command of the gate sits: who acts, in which role, on which docket, and what the time is in the office."""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Iterable
from datetime import UTC, tzinfo
from typing import Any, ClassVar, Final
from uuid import UUID

import click

from posthouse.cli.ending import misuse
from posthouse.cli.printer import clean
from posthouse.client import Office
from posthouse.clock import SystemClock
from posthouse.errors import PosthouseError
from posthouse.gate.policy import BOOK, read_policy
from posthouse.message.case import Case, Docket
from posthouse.message.instant import from_microseconds
from posthouse.office.deskcalls import CountDockets, FindCases, ListDockets, ListMailbags, ReadEdition
from posthouse.store.gateports import DocketFilter

_MOST_FOUND: Final = 10
_DIGITS: Final = re.compile(r"[0-9a-fA-F-]{1,36}")
_SECOND: Final = 1_000_000
# The first 13 digits are an instant: what came in one moment begins with the same.
_DIGITS_SHOWN: Final = (18, 23)


class CaseMissing(PosthouseError):
    """No case has this id, or none that lies before this gatekeeper."""

    code: ClassVar[str] = "case.unknown"
    public: ClassVar[str] = "There is no such case."


class CaseAmbiguous(PosthouseError):
    """More than one case has an id that begins like this."""

    code: ClassVar[str] = "case.ambiguous"
    public: ClassVar[str] = "There are several such cases."


class RoleNeeded(PosthouseError):
    """It is not clear in which role somebody acts, and he did not say it."""

    code: ClassVar[str] = "role.needed"
    public: ClassVar[str] = "A role has to be named."


# `Any`: a command as click makes it.
def as_role(command: Any) -> Any:
    """Give a command the option that names the role it acts in."""
    help_ = "The role acted in; left out, the only one before which something lies, or the only one there is."
    return click.option("--as", "role", metavar="ROLE", help=help_)(command)


def who() -> str:
    """Give who acts, as far as this machine knows; an office elsewhere goes by the key instead."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"user {os.getuid()}"


async def role_of(office: Office, named: str | None) -> str:
    """Give the role a command acts in."""
    if named is not None:
        return named
    counts = await office.call(CountDockets())
    busy = sorted({count.gatekeeper for count in counts if count.count})
    if len(busy) == 1:
        return busy[0]
    bags = await office.call(ListMailbags())
    known = sorted({*(count.gatekeeper for count in counts), *(bag.gatekeeper for bag in bags)})
    if not busy and len(known) == 1:
        return known[0]
    named_them = ", ".join(clean(role) for role in busy or known)
    raise RoleNeeded(
        f"several roles have something to do: {named_them}" if busy else "nothing lies before any role",
        hint="say in which role you act, with --as ROLE",
    )


async def find_case(office: Office, digits: str) -> Case:
    """Give the case whose id, or the id of whose message, begins so."""
    if not _DIGITS.fullmatch(digits):
        raise misuse(f"expected an id, or the first digits of one, found {clean(digits)!r}")
    found = await office.call(FindCases(prefix=digits.lower(), limit=_MOST_FOUND))
    if not found:
        raise CaseMissing(f"no case has an id that begins with {digits}", hint="`posthouse gate list` names them")
    if len(found) > 1:
        ids = ", ".join(str(case.id) for case in found[:3])
        raise CaseAmbiguous(f"{len(found)} cases have ids that begin with {digits}: {ids}", hint="give more digits")
    return found[0]


async def docket_of(office: Office, digits: str, *, role: str) -> Docket:
    """Give the docket of a case that lies, or lay last, before a role."""
    case = await find_case(office, digits)
    chosen = DocketFilter(gatekeeper=role, case=case.id, is_open=None)
    dockets = await office.call(ListDockets(chosen=chosen, order="arrival", limit=100))
    if not dockets:
        raise CaseMissing(
            f"the case {case.id} does not lie before {role}", hint=f"`posthouse case {case.id}` says where it is"
        )
    return max(dockets, key=lambda docket: docket.turn)


async def zone_of(office: Office) -> tzinfo:
    """Give the time zone of the office, as its policy says; that of the defaults where there is none."""
    try:
        policy = await office.call(ReadEdition(book=BOOK))
        return UTC if policy is None else read_policy(policy.text).tzinfo
    except (PosthouseError, ExceptionGroup):
        return UTC


async def bag_names(office: Office) -> dict[str, str]:
    """Give the names of mailbags by their ids, as far as who asks may know them."""
    try:
        return {bag.id: bag.name for bag in await office.call(ListMailbags())}
    except PosthouseError:
        return {}


def office_time(instant: int | None, zone: tzinfo, *, seconds: bool = False) -> str | None:
    """Write an instant as the clocks of the office show it."""
    if instant is None or (moment := from_microseconds(instant)) is None:
        return None
    return moment.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")


def in_words(instant: int | None) -> str:
    """Say how far away an instant is, roughly."""
    if instant is None:
        return "never"
    seconds = (instant - SystemClock().now()) / _SECOND
    if abs(seconds) < 1:
        return "now"
    for noun, length in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        if abs(seconds) >= length:
            count = round(abs(seconds) / length)
            text = f"{count} {noun}{'' if count == 1 else 's'}"
            return f"in {text}" if seconds > 0 else f"{text} late"
    return "now"


def short(identity: UUID, among: Iterable[UUID] = ()) -> str:
    """Give the digits by which people name a case; as many as tell it from others that are shown beside it."""
    whole = str(identity)
    others = [str(other) for other in among if other != identity]
    for size in _DIGITS_SHOWN:
        if not any(other[:size] == whole[:size] for other in others):
            return whole[:size]
    return whole


def cut(text: str, length: int) -> str:
    """Give text for a column of a table, on one line and no longer than this."""
    plain = " ".join(clean(text, keep="\n").split())
    return plain if len(plain) <= length else f"{plain[: length - 1]}…"
