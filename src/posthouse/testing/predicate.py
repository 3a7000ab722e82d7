"""Predicates made by chance, of every node and every name of the catalogue: the oracle's harness for every engine.

`draw_predicate` gives only what `check_predicate` accepts. Records that suit them come from `testing.record`.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from hypothesis import strategies as st

from posthouse.matching.predicate import node
from posthouse.matching.predicate.node import Constant, Leaf, Part, Predicate, Term, Text, Texts, Words
from posthouse.matching.value.catalogue import ENTRIES, Entry
from posthouse.matching.value.fold import Collation
from posthouse.matching.value.type import GROUPS, Type
from posthouse.testing import record
from posthouse.testing.build import START

COLLATIONS: Final[tuple[Collation, ...]] = ("folded", "folded", "cased", "ascii", "exact")
COMPARISONS: Final[tuple[node.Comparison, ...]] = ("=", "!=", "<", "<=", ">", ">=")
SEARCHES: Final[tuple[node.SearchSign, ...]] = (
    "contains", "contains", "word", "starts", "ends", "matches", "wildcard",
)  # fmt: skip
ARITHMETIC: Final[tuple[node.ArithmeticSign, ...]] = ("+", "-", "*", "/", "%", "<<", ">>", ">>>", "&", "|", "^")
REGEXES: Final = (
    "alpha", "^alpha", "alpha$", r"\bplan\b", "s(t|s)?ra.e", "[a-f]+[0-9]?", "", "(?i)beta", r"\d+ %", "é|ï", "x{2,5}",
    ".", r"a\sb", "(alpha|beta|gamma) ?ray", r"\pL+e\b", "^$", r"\x00", "report$|late",
)  # fmt: skip
WILDCARDS: Final = ("*", "al*", "*PLAN*", "?", "a?pha*", r"\*", "*.example", "")
_DAY: Final = START // 86_400_000_000


def draw_predicate(chance: Random, depth: int = 3, *, within: frozenset[str] = frozenset()) -> Predicate:
    """Give a predicate that is at most so deep."""
    if depth == 0 or chance.random() < 0.35:
        return draw_leaf(chance)
    kind = chance.choice(("and", "and", "or", "or", "not", "xor", "recipient", "attachment"))
    if kind == "not":
        return node.Not(draw_predicate(chance, depth - 1, within=within))
    if kind in ("recipient", "attachment") and kind not in within:
        over: node.Over = "recipient" if kind == "recipient" else "attachment"
        inner = draw_predicate(chance, depth - 1, within=within | {kind})
        return node.Quantified(over, chance.choice(("any", "all", "none")), inner)
    parts = tuple(draw_predicate(chance, depth - 1, within=within) for _ in range(chance.randint(2, 4)))
    if kind == "xor":
        return node.Xor(parts)
    return node.And(parts) if kind == "and" else node.Or(parts)


def draw_leaf(chance: Random) -> Leaf:
    """Give a leaf of any kind that suits a part."""
    entry = chance.choice(ENTRIES)
    term = draw_term(chance, entry)
    group = _group(term, entry)
    makers: list[Callable[[], Leaf]] = [
        lambda: node.Exists(term, chance.choice(("false", "unknown"))),
        lambda: node.IsEmpty(term),
        lambda: node.IsType(
            term, chance.choice(("int32", "int64", "real64", "text", "bytes", "instant", "list", "nan"))
        ),
    ]
    if chance.random() < 0.03:
        return node.Fixed(chance.choice(("true", "false", "unknown")))
    # What only says what is there is rarer than what looks into it.
    if chance.random() < 0.85:
        makers = []
        if group in ("text", "any"):
            makers += [lambda: _draw_search(chance, term), lambda: _draw_search(chance, term),
                       lambda: _draw_in(chance, term), lambda: _draw_equal(chance, term, "text"),
                       lambda: node.Under(term, _draw_texts(chance), chance.choice(COLLATIONS))]  # fmt: skip
        if group in ("number", "size", "duration", "any"):
            kind = "number" if group == "any" else group
            makers += [lambda: _draw_order(chance, term, kind), lambda: _draw_between(chance, term, kind),
                       lambda: _draw_constants(chance, term, kind)]  # fmt: skip
        if group in ("instant", "date", "time", "weekday", "any"):
            moment = "instant" if group == "any" else group
            makers += [lambda: _draw_order(chance, term, moment), lambda: _draw_between(chance, term, moment)]
        if group in ("truth", "any"):
            makers.append(lambda: _draw_equal(chance, term, "truth"))
        if group == "any":
            makers.append(lambda: _draw_constants(chance, term, "bytes"))
    return chance.choice(makers)()


# --- terms ------------------------------------------------------------------------------------------------------------


def draw_term(chance: Random, entry: Entry) -> Term:
    """Give the part of an entry, now and then inside a function or a figure."""
    term: Term = draw_part(chance, entry)
    group = GROUPS.get(entry.type)
    if chance.random() < 0.8:
        return term
    if group == "text" or (entry.type == "any" and chance.random() < 0.5):
        return node.Call(chance.choice(("fold-case", "decompose", "decompose-compat", "size")), term)
    if group == "instant":
        return node.Call(chance.choice(("date", "time", "weekday")), term)
    if entry.type in ("int64", "any"):
        overflow: node.Overflow = chance.choice(("wrap", "unknown"))
        if chance.random() < 0.3:
            return node.Unary(chance.choice(("-", "+", "~")), term, overflow)
        sign = chance.choice(ARITHMETIC)
        left, right = chance.sample((term, draw_constant(chance, "number")), 2)
        return node.Arithmetic(sign, left, right, overflow)
    return node.Call("count", term)


def draw_part(chance: Random, entry: Entry) -> Part:
    """Give the part of an entry, with an argument that records know."""
    arguments = {
        "header": record.HEADERS, "attribute": record.ATTRIBUTES, "office.stat": record.STATISTICS,
        "sender.stat": record.STATISTICS, "authentication": ("spf", "dkim"), "history.fired": record.RULES,
    }.get(entry.name)  # fmt: skip
    return Part(entry.name, None if arguments is None else chance.choice(arguments))


def draw_constant(chance: Random, group: str) -> Constant:
    """Give a constant of a group of types."""
    if group == "number":
        kind = chance.choice(("int32", "int64", "real64"))
        if kind == "real64":
            return node.Number(chance.choice(record.REALS[:7]), "real64")
        if kind == "int32":
            return node.Number(chance.choice(record.NUMBERS[:-2]), "int32")
        return node.Number(chance.choice(record.NUMBERS), "int64")
    if group == "size":
        return node.Number(chance.choice((0, 1, 10, 1000, 1024, 1_000_000, 2**30, 123_456)), "size")
    if group == "duration":
        return node.Number(chance.choice((-1, 0, 1, 3_600_000_000, 86_400_000_000, 604_800_000_000)), "duration")
    if group == "truth":
        return node.Boolean(chance.random() < 0.5)
    if group == "bytes":
        return node.Octets(chance.choice((b"", b"\x00\xff", b"alpha")))
    if group == "text":
        return Text(draw_word(chance))
    kinds: dict[str, Callable[[], Constant]] = {
        "instant": lambda: node.Moment(START + chance.randint(-2, 2) * 3_600_000_000, "instant"),
        "date": lambda: node.Moment(_DAY + chance.randint(-3, 3), "date"),
        "time": lambda: node.Moment(chance.choice((0, 8 * 3600, 18 * 3600, 86_399)), "time"),
        "weekday": lambda: node.Moment(chance.randint(1, 7), "weekday"),
    }
    if group == "instant" and chance.random() < 0.3:
        group = "date"
    return kinds[group]()


def draw_word(chance: Random) -> str:
    """Give a text that a record may hold."""
    pool = chance.choice((record.WORDS, record.WORDS, record.DOMAINS, record.ADDRESSES, record.ROLES, record.FILES))
    return chance.choice(pool)


def _group(term: Term, entry: Entry) -> str:
    if isinstance(term, node.Call):
        return {"size": "number", "count": "number", "date": "date", "time": "time", "weekday": "weekday"}.get(
            term.function, "text"
        )
    if isinstance(term, node.Unary | node.Arithmetic):
        return "number"
    kind: Type = entry.type
    return kind if kind in ("size", "duration") else GROUPS.get(kind, "any")


# --- leaves -----------------------------------------------------------------------------------------------------------


def _draw_texts(chance: Random) -> Texts | Words:
    if chance.random() < 0.2:
        return Words(chance.choice(("partners", "words", "absent")))
    return Texts(tuple(draw_word(chance) for _ in range(chance.choice((1, 1, 2, 3, 8)))))


def _draw_search(chance: Random, term: Term) -> Leaf:
    sign = chance.choice(SEARCHES)
    texts: Texts | Words
    if sign == "matches":
        texts = Texts((chance.choice(REGEXES),))
    elif sign == "wildcard":
        texts = Texts((chance.choice(WILDCARDS),))
    else:
        texts = _draw_texts(chance)
    return node.Search(sign, term, texts, chance.choice(COLLATIONS))


def _draw_in(chance: Random, term: Term) -> Leaf:
    return node.InList(term, _draw_texts(chance), chance.choice(COLLATIONS))


def _draw_constants(chance: Random, term: Term, group: str) -> Leaf:
    values = tuple(draw_constant(chance, group) for _ in range(chance.randint(1, 4)))
    return node.InList(term, node.Constants(values), chance.choice(COLLATIONS))


def _draw_equal(chance: Random, term: Term, group: str) -> Leaf:
    return node.Compare(chance.choice(COMPARISONS[:2]), term, draw_constant(chance, group), chance.choice(COLLATIONS))


def _draw_order(chance: Random, term: Term, group: str) -> Leaf:
    sign = chance.choice(COMPARISONS)
    sides = (term, draw_constant(chance, group))
    left, right = sides if chance.random() < 0.9 else (sides[1], sides[0])
    return node.Compare(sign, left, right, chance.choice(COLLATIONS))


def _draw_between(chance: Random, term: Term, group: str) -> Leaf:
    return node.Between(term, draw_constant(chance, group), draw_constant(chance, group))


PREDICATES: Final = st.randoms(use_true_random=False).map(draw_predicate)
"""Predicates for hypothesis; a hunt for millions calls `draw_predicate` with a seeded `Random`."""
