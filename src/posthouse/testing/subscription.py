"""Subscriptions made by chance and events that suit them, so that they are often true and often unknown."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from posthouse.matching.predicate import node
from posthouse.matching.predicate.node import Constant, Number, Part, Predicate, Term, Text, Texts
from posthouse.matching.value.record import Record
from posthouse.message.attribute import Int32, Value
from posthouse.testing.predicate import REGEXES, WILDCARDS
from posthouse.testing.record import NUMBERS, REALS, WORDS

NAMES: Final = ("source", "user", "amount", "a==b", "odd name", "(", "1st", "größe", "require", 'qu"ote', "back\\slash")
SEARCHES: Final[tuple[node.SearchSign, ...]] = ("starts", "ends", "contains", "matches", "wildcard")
_TYPES: Final[tuple[node.TypeTest, ...]] = ("int32", "int64", "real64", "text", "bytes", "nan")
_FIGURES: Final[tuple[node.ArithmeticSign, ...]] = ("+", "-", "*", "/", "%", "<<", ">>", ">>>", "&", "|", "^")
_BITS: Final = frozenset({"<<", ">>", ">>>", "&", "|", "^"})
_COMPARISONS: Final[tuple[node.Comparison, ...]] = ("=", "!=", "<", "<=", ">", ">=")


def draw_subscription(chance: Random, depth: int = 3) -> Predicate:
    """Give a predicate that a subscription can say, at most so deep."""
    if depth == 0 or chance.random() < 0.35:
        return _draw_leaf(chance)
    kind = chance.choice((node.And, node.Or, node.Xor, node.Not))
    if kind is node.Not:
        return node.Not(draw_subscription(chance, depth - 1))
    parts = tuple(draw_subscription(chance, depth - 1) for _ in range(chance.randint(2, 4)))
    return node.Xor(parts) if kind is node.Xor else node.And(parts) if kind is node.And else node.Or(parts)


def draw_event(chance: Random) -> Record:
    """Give an event whose attributes bear the names subscriptions ask for."""
    names = chance.sample(NAMES, chance.randint(0, len(NAMES)))
    return Record(kind="event", attributes={name: _draw_value(chance) for name in names})


def _draw_value(chance: Random) -> Value:
    kinds: tuple[Callable[[], Value], ...] = (
        lambda: Int32(chance.choice((0, 1, 2, 5, -1, 2**31 - 1, -(2**31)))),
        lambda: chance.choice(NUMBERS),
        lambda: chance.choice(REALS),
        lambda: chance.choice(WORDS),
        lambda: chance.choice(WORDS),
        lambda: chance.randbytes(2),
        lambda: tuple(chance.choice(WORDS) for _ in range(chance.randint(0, 2))),
    )
    return chance.choice(kinds)()


def _draw_leaf(chance: Random) -> Predicate:
    part = _draw_part(chance)
    makers: tuple[Callable[[], Predicate], ...] = (
        lambda: node.Compare(chance.choice(("=", "!=")), _draw_text(chance), Text(chance.choice(WORDS)), "exact"),
        lambda: node.Compare(chance.choice(_COMPARISONS), part, _draw_figure(chance), "exact"),
        lambda: node.Compare(chance.choice(_COMPARISONS), _draw_figure(chance), part, "exact"),
        lambda: node.Compare(chance.choice(_COMPARISONS), part, _draw_part(chance), "exact"),
        lambda: node.Compare(chance.choice(_COMPARISONS), _draw_size(chance), _draw_number(chance), "exact"),
        lambda: _draw_search(chance),
        lambda: _draw_search(chance),
        lambda: node.Exists(part, chance.choice(("unknown", "false"))),
        lambda: node.IsType(part, chance.choice(_TYPES)),
        lambda: _draw_equals(chance),
    )
    return chance.choice(makers)()


def _draw_part(chance: Random) -> Part:
    return Part("attribute", chance.choice(NAMES))


def _draw_text(chance: Random) -> Term:
    term: Term = _draw_part(chance)
    while chance.random() < 0.3:
        term = node.Call(chance.choice(("fold-case", "decompose", "decompose-compat")), term)
    return term


def _draw_size(chance: Random) -> Term:
    return node.Call("size", _draw_text(chance))


def _draw_number(chance: Random) -> Number:
    kinds: tuple[Callable[[], Number], ...] = (
        lambda: Number(chance.choice((0, 1, 2, 5, -1, 2**31 - 1, -(2**31))), "int32"),
        lambda: Number(chance.choice(NUMBERS), "int64"),
        lambda: Number(chance.choice((0.0, 0.5, 1.0, -3.25, 1e300, 1e-7)), "real64"),
    )
    return chance.choice(kinds)()


def _draw_figure(chance: Random, depth: int = 2) -> Term:
    if depth == 0 or chance.random() < 0.4:
        return _draw_number(chance) if chance.random() < 0.5 else _draw_part(chance)
    if chance.random() < 0.2:
        return node.Unary(chance.choice(("-", "+")), _draw_figure(chance, depth - 1), "wrap")
    sign = chance.choice(_FIGURES)
    sides = [_draw_figure(chance, depth - 1) for _ in range(2)]
    if sign in _BITS:
        sides = [_draw_part(chance) if isinstance(side, Number) and side.type == "real64" else side for side in sides]
    return node.Arithmetic(sign, sides[0], sides[1], "wrap")


def _draw_search(chance: Random) -> Predicate:
    sign = chance.choice(SEARCHES)
    choices = REGEXES if sign == "matches" else WILDCARDS if sign == "wildcard" else WORDS
    texts = tuple(chance.choice(choices) for _ in range(chance.randint(1, 3)))
    return node.Search(sign, _draw_text(chance), Texts(texts), "exact")


def _draw_equals(chance: Random) -> Predicate:
    values: list[Constant] = [
        Text(chance.choice(WORDS)) if chance.random() < 0.5 else _draw_number(chance)
        for _ in range(chance.randint(1, 4))
    ]
    texts = tuple(value.value for value in values if isinstance(value, Text))
    is_text = len(texts) == len(values)
    return node.InList(_draw_part(chance), Texts(texts) if is_text else node.Constants(tuple(values)), "exact")
