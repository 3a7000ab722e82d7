"""The parts that changes are drawn from.

What exists is meant by a pick and instants by seconds from now, so that a failing example shrinks and reads well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from hypothesis import strategies as st

from posthouse.message.changes import Room, Setup

BOXES = st.sampled_from(["#a", "#a", "#a", "#b", "far"])
MAILBOXES = st.sampled_from(["a", "b"])
KINDS = st.sampled_from(["mail", "order"])
CORRELATIONS = st.sampled_from([None, "c1", "c2"])
SECONDS = st.none() | st.integers(0, 12)
PICKS = st.integers(0, 20)
ACTS = st.sampled_from(["done", "renew", "back", "retry", "wake", "bury"])


@dataclass(frozen=True)
class Lying:
    """An entry to come."""

    box: str
    lane: str
    kind: str
    correlation: str | None
    urgent: bool
    size: int
    not_before: int | None
    expires: int | None
    work: Literal["take", "deliver", "resume"]


@dataclass(frozen=True)
class Keyed:
    key: str
    lasts: int


@dataclass(frozen=True)
class Posting:
    entries: tuple[Lying, ...]
    aside: bool
    again: int | None
    """The number of a message that may have been posted before."""
    key: Keyed | None = None


@dataclass(frozen=True)
class Taking:
    box: str
    kind: str | None
    correlation: str | None
    limit: int
    lease: int
    ago: int


@dataclass(frozen=True)
class Settling:
    pick: int
    act: Any
    late: bool
    """With the token before this one."""
    after: int
    traced: bool


@dataclass(frozen=True)
class Redriving:
    pick: int
    drop: bool


@dataclass(frozen=True)
class Resending:
    pick: int
    entries: tuple[Lying, ...]


@dataclass(frozen=True)
class Versioned:
    off: bool


Part = Posting | Taking | Settling | Redriving | Resending | Versioned | Room | Setup

WORKS = st.sampled_from(["take", "take", "deliver", "resume"])
LYING = st.builds(
    Lying, BOXES, st.sampled_from("xy"), KINDS, CORRELATIONS, st.booleans(), st.integers(0, 9), SECONDS, SECONDS, WORKS
)


def plain(expires: st.SearchStrategy[int | None]) -> st.SearchStrategy[Lying]:
    """Give entries of one lane and little variety, so that they meet each other."""
    alike = st.just(value=False), st.just(1), st.none()
    return st.builds(Lying, st.just("#a"), st.just("x"), KINDS, CORRELATIONS, *alike, expires, st.just("take"))


PLAIN = plain(st.none())
FLEETING = plain(st.integers(2, 8))
ENTRIES = st.lists(LYING | PLAIN | FLEETING, max_size=3).map(tuple)
KEYED = st.builds(Keyed, st.sampled_from(["k1", "k2"]), st.integers(1, 9))
POSTING = st.builds(Posting, ENTRIES, st.booleans(), st.none() | PICKS, st.none() | KEYED)
TAKING = st.builds(
    Taking,
    BOXES,
    st.sampled_from([None, None, "mail", "order"]),
    st.sampled_from([None, None, None, None, "c1", "c2"]),
    st.sampled_from([1, 1, 2, 3, 5]),
    st.integers(1, 9),
    st.sampled_from([0, 0, 0, 3]),
)
SETTLING = st.builds(
    Settling, PICKS, ACTS, st.sampled_from([False, False, False, True]), st.integers(-1, 9), st.booleans()
)
PARTS = st.one_of(
    POSTING,
    POSTING,
    TAKING,
    TAKING,
    SETTLING,
    SETTLING,
    SETTLING,
    st.builds(Redriving, PICKS, st.booleans()),
    st.builds(Resending, PICKS, ENTRIES),
    st.builds(Versioned, st.sampled_from([False, False, True])),
    st.builds(Room, BOXES, st.none() | st.integers(0, 6), st.none() | st.integers(0, 30)),
    st.builds(Setup, mailbox=MAILBOXES, closed=st.booleans(), removed=st.booleans()),
)
GROUPS = st.lists(st.lists(PARTS, min_size=1, max_size=3), min_size=1, max_size=4)
