"""What an engine answers: three values of truth, and for whom and why something matched."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from enum import IntEnum
from typing import Final

import msgspec

from posthouse.matching.predicate.node import Certainty, Leaf, Quantifier


class Truth(IntEnum):
    """True, false, or not to be known; the order is Kleene's, so that `and` is the least and `or` the greatest."""

    FALSE = 0
    UNKNOWN = 1
    TRUE = 2


FALSE, UNKNOWN, TRUE = Truth.FALSE, Truth.UNKNOWN, Truth.TRUE
CERTAINTIES: Final[dict[Certainty, Truth]] = {"true": TRUE, "false": FALSE, "unknown": UNKNOWN}


def truth_of(known: bool | None) -> Truth:  # noqa: FBT001  a truth is what it is about
    """Give the truth of a yes or a no, or unknown for None."""
    return UNKNOWN if known is None else TRUE if known else FALSE


def negate(truth: Truth) -> Truth:
    """Give the contrary."""
    return Truth(2 - truth)


def all_of(truths: Iterable[Truth]) -> Truth:
    """Give Kleene's and; true for nothing at all."""
    least = TRUE
    for truth in truths:
        if truth < least:
            least = truth
            if least is FALSE:
                break
    return least


def any_of(truths: Iterable[Truth]) -> Truth:
    """Give Kleene's or; false for nothing at all."""
    greatest = FALSE
    for truth in truths:
        if truth > greatest:
            greatest = truth
            if greatest is TRUE:
                break
    return greatest


def odd_of(truths: Iterable[Truth]) -> Truth:
    """Say whether an odd number is true; unknown as soon as one of them is."""
    count = 0
    for truth in truths:
        if truth is UNKNOWN:
            return UNKNOWN
        count += truth is TRUE
    return truth_of(count % 2 == 1)


def quantify(quantifier: Quantifier, truths: Iterable[Truth]) -> Truth:
    """Give the truth of any, of all or of none; where there is nobody, all and none are true."""
    if quantifier == "all":
        return all_of(truths)
    found = any_of(truths)
    return found if quantifier == "any" else negate(found)


class Match(msgspec.Struct, frozen=True, gc=False):
    """The truth of one predicate for one message."""

    truth: Truth
    recipients: tuple[int, ...] | None = None
    """Of a true one: the recipients, by their place, for whom it is true alone; None where it asks for no recipient."""


class Hits(msgspec.Struct, frozen=True, gc=False):
    """What of many predicates is true or unknown for the messages of a batch: four columns of the same length.

    A pair that is not there is false. Sorted by row, then predicate.
    """

    row: tuple[int, ...] = ()
    predicate: tuple[int, ...] = ()
    truth: tuple[Truth, ...] = ()
    recipients: tuple[tuple[int, ...] | None, ...] = ()


def hits_of(matches: Iterable[tuple[int, int, Match]]) -> Hits:
    """Give the sparse form of (row, predicate, match), leaving out what is false."""
    there = sorted(
        (row, predicate, match.truth, match.recipients) for row, predicate, match in matches if match.truth is not FALSE
    )
    if not there:
        return Hits()
    rows, predicates, truths, recipients = zip(*there, strict=True)
    return Hits(rows, predicates, truths, recipients)


class Place(msgspec.Struct, frozen=True, gc=False):
    """A stretch of a part that made a leaf true, in offsets of the text as it was written."""

    part: str
    """The name in the catalogue, with its argument."""
    value: int
    """Which of several values, counted from 0."""
    start: int
    end: int


class Judged(msgspec.Struct, frozen=True, gc=False):
    """What became of one leaf."""

    path: tuple[int, ...]
    """The way to it from the top of the predicate."""
    leaf: Leaf
    truth: Truth
    recipients: tuple[int, ...] | None = None
    """Where it stands inside any, all or none of the recipients: those for whom it is true."""
    found: tuple[str, ...] = ()
    """The values it looked at, shortened, for a person to read."""
    why: str = ""
    """Why it is unknown."""
    places: tuple[Place, ...] = ()


class Explanation(msgspec.Struct, frozen=True, gc=False):
    """A match and all its leaves."""

    match: Match
    leaves: tuple[Judged, ...]


_encode: Final = msgspec.msgpack.Encoder().encode


def leaf_id(leaf: Leaf) -> int:
    """Give the number of a leaf: the same wherever the same is asked, in every rule set and on every machine."""
    return int.from_bytes(hashlib.sha256(_encode(leaf)).digest()[:8], "big", signed=True)
