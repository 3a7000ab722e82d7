"""The workload of subscriptions: conjunctions over 20 attributes, and events that have ten of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final, NamedTuple

from posthouse.matching.predicate.node import And, Between, Compare, Leaf, Number, Part, Predicate, Search, Text, Texts
from posthouse.matching.value.record import Record
from posthouse.message.attribute import Int32, Value

VERSION: Final = 1
BATCH: Final = 256
_SYLLABLES: Final = [a + b for a in "bdfghklmnprstvw" for b in "aeiou"]
# Ten attributes that are compared for equality, of 50 to 5,000 values; five that are figures; five that are text.
_VALUES: Final = tuple(round(50 * 100 ** (number / 9)) for number in range(10))
_EQUAL: Final = tuple(f"key{number}" for number in range(10))
_FIGURES: Final = tuple(f"figure{number}" for number in range(5))
_TEXTS: Final = tuple(f"text{number}" for number in range(5))
_NAMES: Final = (*_EQUAL, *_FIGURES, *_TEXTS)


class Mix(NamedTuple):
    """What sets how many subscriptions an event hits."""

    lone: float
    """The share of subscriptions with one constraint."""
    width: float
    """The widest range, as a share of all figures."""


FEW: Final = Mix(0.1, 0.1)
"""Two or three hits an event, of 100,000 subscriptions."""
MANY: Final = Mix(0.25, 0.4)
"""About twenty, of as many."""
FEW_OF_A_MILLION: Final = Mix(0.02, 0.02)
"""At most five."""


def draw_subscriptions(seed: int, count: int, mix: Mix) -> Iterator[Predicate]:
    """Give subscriptions one by one, so that nobody has to hold them."""
    chance = random.Random(f"posthouse subscriptions {VERSION} {seed} {count} {mix}")
    for _ in range(count):
        size = 1 if chance.random() < mix.lone else chance.choices((2, 3, 4), (3, 4, 3))[0]
        leaves = [_constraint(chance, mix, is_lone=size == 1) for _ in range(size)]
        yield leaves[0] if size == 1 else And(tuple(leaves))


def draw_events(seed: int, count: int) -> list[Record]:
    """Give events."""
    chance = random.Random(f"posthouse events {VERSION} {seed}")
    return [
        Record(kind="event", attributes={name: _value(chance, name) for name in chance.sample(_NAMES, 10)})
        for _ in range(count)
    ]


def _value(chance: random.Random, name: str) -> Value:
    if name.startswith("key"):
        number = int(name[3:])
        value = chance.randrange(_VALUES[number])
        # Some keys are numbers, most are text.
        return Int32(value) if number % 3 == 0 else f"{name} value {value}"
    if name.startswith("figure"):
        return chance.random() * 1_000_000
    return _text(chance, chance.randint(5, 8))


def _text(chance: random.Random, syllables: int) -> str:
    return "".join(chance.choices(_SYLLABLES, k=syllables))


def _constraint(chance: random.Random, mix: Mix, *, is_lone: bool) -> Leaf:
    kind = chance.random()
    if kind < 0.5:
        name = chance.choice(_EQUAL[8:] if is_lone else _EQUAL)
        value = _value(chance, name)
        constant = Number(int(value), "int32") if isinstance(value, int) else Text(str(value))
        return Compare("=", Part("attribute", name), constant, "exact")
    if kind < 0.75:
        part = Part("attribute", chance.choice(_FIGURES))
        low = chance.random() * 1_000_000
        width = (0.0002 if is_lone else chance.random() * mix.width) * 1_000_000
        return Between(part, Number(low, "real64"), Number(low + width, "real64"))
    part = Part("attribute", chance.choice(_TEXTS))
    if kind < 0.875:
        return Search("starts", part, Texts((_text(chance, 4 if is_lone else chance.randint(1, 3)),)), "exact")
    return Search("contains", part, Texts((_text(chance, 3 if is_lone else chance.randint(2, 3)),)), "exact")
