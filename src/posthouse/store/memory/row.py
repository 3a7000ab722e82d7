"""What the tables hold: places in queues, dead letters and messages set aside, each with its number."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from typing import Final, Generic, Literal, Protocol, TypeVar

from posthouse.message.changes import Entry, Leased, Letter
from posthouse.store.ports import Aside, Dead, Queued

State = Literal["waiting", "leased", "held"]
NEVER: Final = 2**63
_SWEEP_FROM: Final = 64


class Standing(Protocol):
    """A lane, as far as a row in it is concerned."""

    def leave(self, row: Row) -> None:
        """Take note that the row is gone."""
        ...

    def look_again(self) -> None:
        """Take note that a row may be leased that could not be before."""
        ...


class Row:
    """One place in a queue; it changes its state, and once `gone` it stays gone."""

    __slots__ = (
        "arrived", "attempt", "entry", "expires", "failures", "gone", "holder", "lanes", "letter", "next_at", "number",
        "pause", "state", "timer", "token", "until",
    )  # fmt: skip

    def __init__(self, number: int, entry: Entry, *, letter: Letter, arrived: int) -> None:
        self.number = number
        self.entry = entry
        self.letter = letter
        self.arrived = arrived
        held = entry.not_before is not None and entry.not_before > arrived
        self.state: State = "held" if held else "waiting"
        self.expires = NEVER if entry.expires is None else entry.expires
        self.token = self.attempt = self.failures = 0
        self.pause = self.until = 0
        self.holder = ""
        self.next_at: int | None = None
        self.timer = 0
        self.gone = False
        self.lanes: tuple[Standing, ...] = ()

    def happens_at(self) -> int | None:
        """Give the instant at which something happens to it by itself."""
        if self.state == "leased":
            return self.until
        first = self.expires
        if self.state == "held" and self.entry.not_before is not None:
            first = min(first, self.entry.not_before)
        elif self.pause:
            first = min(first, self.pause)
        return None if first == NEVER else first

    def leased(self) -> Leased:
        entry = self.entry
        return Leased(
            entry=self.number,
            token=self.token,
            attempt=self.attempt,
            failures=self.failures,
            until=self.until,
            box=entry.box,
            work=entry.work,
            priority=entry.priority,
            arrived=self.arrived,
            luggage=entry.luggage,
            letter=self.letter,
        )

    def queued(self) -> Queued:
        entry = self.entry
        return Queued(
            entry=self.number,
            token=self.token,
            box=entry.box,
            work=entry.work,
            state=self.state,
            priority=entry.priority,
            kind=entry.kind,
            correlation=entry.correlation,
            size=entry.size,
            arrived=self.arrived,
            attempt=self.attempt,
            failures=self.failures,
            next_at=self.next_at,
            expires=entry.expires,
            holder=self.holder,
            message=self.letter.id,
        )


@dataclass(slots=True)
class Grave:
    """A dead letter and what it takes to redrive it."""

    number: int
    dead: Dead
    entry: Entry
    letter: Letter
    gone: bool = False


@dataclass(slots=True)
class Shelved:
    """A message set aside."""

    number: int
    aside: Aside
    letter: Letter
    gone: bool = False


class Numbered(Protocol):
    """Something in a `Roll`."""

    number: int
    gone: bool


Member = TypeVar("Member", bound=Numbered)
_number = attrgetter("number")


class Roll(Generic[Member]):
    """Members by rising number; those that are gone are passed over and swept out in bulk."""

    __slots__ = ("_members", "_start", "present")

    def __init__(self) -> None:
        self._members: list[Member] = []
        self._start = 0
        self.present = 0

    def append(self, member: Member) -> None:
        self._members.append(member)
        self.present += 1

    def remove(self, member: Member) -> None:
        member.gone = True
        self.present -= 1
        if len(self._members) > 2 * self.present + _SWEEP_FROM:
            self._members = [member for member in self._members[self._start :] if not member.gone]
            self._start = 0

    def page(self, after: int, limit: int) -> list[Member]:
        return list(islice(self.since(after), max(limit, 0)))

    def since(self, after: int) -> Iterator[Member]:
        """Give the members with a number above this one."""
        members = self._members
        while self._start < len(members) and members[self._start].gone:
            self._start += 1
        first = bisect_right(members, after, lo=self._start, key=_number)
        return (member for member in islice(members, first, None) if not member.gone)
