"""Many predicates of few pieces: `single` judges each piece once on each message, and Kleene's tables do the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from posthouse.matching.engine.single.evaluate import asks_for_recipients, truth_at
from posthouse.matching.engine.single.ground import Ground
from posthouse.matching.match import FALSE, TRUE, UNKNOWN, Hits, Truth
from posthouse.matching.predicate.node import And, Not, Or, Predicate, Xor
from posthouse.matching.value.record import Record
from posthouse.matching.value.wordlist import Lists
from posthouse.testing.predicate import draw_leaf, draw_predicate

Truths = tuple[Truth, ...]
"""Of one predicate on all stands: each message, and behind it each of its recipients alone."""
_NEGATED = (TRUE, UNKNOWN, FALSE)


class Pieces:
    """Some predicates, their truths, and larger ones made of them."""

    def __init__(self, chance: Random, records: Sequence[Record], *, count: int, lists: Lists) -> None:
        self._chance = chance
        self._records = records
        self._lists = lists
        drawn = [draw_leaf(chance) if number % 4 else draw_predicate(chance, 2) for number in range(count)]
        self._asking = {piece for piece in drawn if asks_for_recipients(piece)}
        self._truths = {piece: self._judge(piece) for piece in drawn}
        self._pieces = drawn

    def _judge(self, piece: Predicate) -> Truths:
        return tuple(truth_at(piece, stand) for record in self._records for stand in self._stands(record))

    def _stands(self, record: Record) -> list[Ground]:
        ground = Ground(record, self._lists)
        return [ground, *(ground.at("recipient", place) for place in range(len(record.recipients)))]

    def draw(self, depth: int = 2) -> Predicate:
        """Give a predicate of some pieces."""
        kind = self._chance.choice(("piece", "and", "and", "or", "not", "xor")) if depth else "piece"
        if kind == "piece":
            return self._chance.choice(self._pieces)
        if kind == "not":
            return Not(self.draw(depth - 1))
        parts = tuple(self.draw(depth - 1) for _ in range(self._chance.randint(2, 3)))
        return And(parts) if kind == "and" else Or(parts) if kind == "or" else Xor(parts)

    def truths(self, predicate: Predicate) -> Truths:
        """Give the truths of a predicate made of pieces."""
        known = self._truths.get(predicate)
        if known is not None:
            return known
        if isinstance(predicate, Not):
            return tuple([_NEGATED[truth] for truth in self.truths(predicate.part)])
        assert isinstance(predicate, And | Or | Xor)
        parts = [self.truths(part) for part in predicate.parts]
        if isinstance(predicate, Xor):
            return tuple([_odd(truths) for truths in zip(*parts, strict=True)])
        return tuple(map(min if isinstance(predicate, And) else max, *parts))

    def _asks(self, predicate: Predicate) -> bool:
        if predicate in self._truths:
            return predicate in self._asking
        parts = (predicate.part,) if isinstance(predicate, Not) else predicate.parts  # type: ignore[union-attr]  # no piece
        return any(map(self._asks, parts))

    def hits(self, predicates: Mapping[int, Predicate]) -> Hits:
        """Give what `single` says of all of them."""
        found = []
        for number, predicate in predicates.items():
            truths, asks, at = self.truths(predicate), self._asks(predicate), 0
            for row, record in enumerate(self._records):
                truth, behind = truths[at], at + 1 + len(record.recipients)
                if truth is not FALSE:
                    alone = truths[at + 1 : behind] if asks and truth is TRUE else None
                    places = None if alone is None else tuple(i for i, each in enumerate(alone) if each is TRUE)
                    found.append((row, number, truth, places))
                at = behind
        found.sort(key=lambda hit: hit[:2])
        return Hits(*zip(*found, strict=True)) if found else Hits()


def _odd(truths: Truths) -> Truth:
    return UNKNOWN if UNKNOWN in truths else TRUE if truths.count(TRUE) % 2 else FALSE
