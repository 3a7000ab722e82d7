"""What a taker of a mailbox may ask, decided without doing anything."""

from __future__ import annotations

from typing import ClassVar, Final

from posthouse.errors import PosthouseError
from posthouse.message.changes import Filter, Take
from posthouse.message.name import OfficeName, parse_mailbox
from posthouse.office.terms import SECOND, Terms
from posthouse.switch.address import box_of

MOST_AT_ONCE: Final = 1_000
HELD_PLACE: Final = "\x1f"
"""Before the name of a place elsewhere that is held, in the register: the name of no mailbox has it."""
# Seconds nobody means: some thirty years.
_LONGEST: Final = 10**9


class BadRequest(PosthouseError):
    """A call asks for what cannot be."""

    code: ClassVar[str] = "call.malformed"
    public: ClassVar[str] = "The request is malformed."


class NotHere(PosthouseError):
    """The mailbox is one of another office; ask there."""

    code: ClassVar[str] = "mailbox.elsewhere"
    public: ClassVar[str] = "The mailbox is not one of this office."


def box_here(mailbox: str, here: frozenset[OfficeName]) -> str:
    """Give the box of a mailbox that must be one of this office."""
    name = parse_mailbox(mailbox)
    if name.office not in here:
        raise NotHere(f"expected a mailbox of this office, found one of {name.office}", where=mailbox)
    return box_of(name.mailbox)


def deadline(wait: float | None, now: int) -> int | None:
    """Give the instant until which a taker waits; none where it waits for ever."""
    if wait is None:
        return None
    if not 0 <= wait <= _LONGEST:
        raise BadRequest(f"expected a wait of 0 or more seconds, found {wait}", hint="leave it out to wait for ever")
    return now + int(wait * SECOND)


def lease_until(lease: float | None, terms: Terms, *, now: int) -> int:
    """Give the instant at which a lease ends."""
    seconds = terms.lease_seconds if lease is None else lease
    if not 0 < seconds <= terms.longest_lease_seconds:
        raise BadRequest(f"expected a lease of up to {terms.longest_lease_seconds:g} seconds, found {seconds:g}")
    return now + int(seconds * SECOND)


def checked_pause(pause: float | None) -> float | None:
    """Give the pause that whoever failed asks for, if it can be had."""
    if pause is not None and not 0 <= pause <= _LONGEST:
        raise BadRequest(f"expected a pause of 0 or more seconds, found {pause}", hint="leave it out to have it grow")
    return pause


def take(box: str, chosen: Filter, *, limit: int, until: int, holder: str, now: int) -> Take:
    """Decide what a taker gets at most."""
    if not 0 < limit <= MOST_AT_ONCE:
        raise BadRequest(f"expected a limit from 1 to {MOST_AT_ONCE}, found {limit}")
    return Take(box=box, now=now, until=until, holder=holder, filter=chosen, limit=limit)
