"""Writes a predicate as a subscription, so that reading gives back exactly what was written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NoReturn

from posthouse.matching.language.elvin.fault import UnsayablePredicate
from posthouse.matching.language.elvin.literal import print_name, print_number, print_text
from posthouse.matching.language.elvin.name import is_readable
from posthouse.matching.language.elvin.word import FUNCTIONS, LEVELS, RELATION_LEVEL, RELATIONS, UNARY_LEVEL
from posthouse.matching.predicate.node import (
    And,
    Arithmetic,
    Boolean,
    Call,
    Compare,
    Constants,
    Exists,
    InList,
    IsType,
    Node,
    Not,
    Number,
    Or,
    Part,
    Predicate,
    Search,
    Term,
    Text,
    Texts,
    Unary,
    Words,
    Xor,
)
from posthouse.matching.predicate.typing import static_type
from posthouse.matching.value.catalogue import CATALOGUE

_JOINTS: Final[dict[type, str]] = {And: "&&", Or: "||", Xor: "^^"}
_SIGNS: Final = {sign: written for written, sign in RELATIONS.items()}
_SEARCHES: Final = {called.search: name for name, called in FUNCTIONS.items() if called.kind == "search"}
_TYPES: Final = {called.type: name for name, called in FUNCTIONS.items() if called.kind == "type"}
_TERMS: Final = {called.function: name for name, called in FUNCTIONS.items() if called.kind in ("text", "size")}


def print_subscription(predicate: Predicate) -> str:
    """Write a predicate, or raise UnsayablePredicate where a subscription has no words for it."""
    if isinstance(predicate, And | Or | Xor):
        return f" {_JOINTS[type(predicate)]} ".join(_operand(part) for part in predicate.parts)
    if isinstance(predicate, Not):
        is_compared = isinstance(predicate.part, Compare) and not _is_truth(predicate.part)
        return f"!({print_subscription(predicate.part)})" if is_compared else f"!{_operand(predicate.part)}"
    writer = _WRITERS.get(type(predicate))
    return _refuse(predicate) if writer is None else writer(predicate)


def _operand(predicate: Predicate) -> str:
    text = print_subscription(predicate)
    return f"({text})" if isinstance(predicate, And | Or | Xor) else text


def _refuse(node: Node) -> NoReturn:
    raise UnsayablePredicate(f"expected what a subscription can ask, found {type(node).__name__.lower()}")


# --- leaves -----------------------------------------------------------------------------------------------------------


def _is_truth(leaf: Predicate) -> bool:
    return (
        isinstance(leaf, Compare)
        and leaf.sign == "="
        and leaf.right == Boolean(value=True)
        and static_type(leaf.left) == "truth"
    )


def _write_compare(leaf: Compare) -> str:
    _expect_exact(leaf)
    if _is_truth(leaf):
        return print_term(leaf.left)
    return (
        f"{print_term(leaf.left, RELATION_LEVEL + 1)} {_SIGNS[leaf.sign]} {print_term(leaf.right, RELATION_LEVEL + 1)}"
    )


def _write_search(leaf: Search) -> str:
    _expect_exact(leaf)
    if isinstance(leaf.texts, Words) or leaf.sign not in _SEARCHES:
        _refuse(leaf)
    return _call(_SEARCHES[leaf.sign], print_term(leaf.term), *map(print_text, leaf.texts.values))


def _write_in_list(leaf: InList) -> str:
    _expect_exact(leaf)
    if isinstance(leaf.values, Words):
        _refuse(leaf)
    values = map(print_text, leaf.values.values) if isinstance(leaf.values, Texts) else _constants(leaf.values)
    return _call("equals", print_term(leaf.term), *values)


def _constants(values: Constants) -> list[str]:
    return [print_term(value) for value in values.values]


def _write_exists(leaf: Exists) -> str:
    return _call("require" if leaf.otherwise == "unknown" else "exists", _name(leaf.term))


def _write_type(leaf: IsType) -> str:
    if leaf.type not in _TYPES:
        _refuse(leaf)
    return _call(_TYPES[leaf.type], _name(leaf.term))


def _name(term: Term) -> str:
    return print_term(term) if isinstance(term, Part) else _refuse(term)


def _call(name: str, *arguments: str) -> str:
    return f"{name}({', '.join(arguments)})"


def _expect_exact(leaf: Compare | Search | InList) -> None:
    if leaf.collation != "exact":
        what = f"expected text compared as it is written, found a comparison that is {leaf.collation}"
        raise UnsayablePredicate(what, hint="fold-case(…) makes all letters small")


# `...`: each writer is called with its own leaf only.
_WRITERS: Final[dict[type, Callable[..., str]]] = {
    Compare: _write_compare,
    Search: _write_search,
    InList: _write_in_list,
    Exists: _write_exists,
    IsType: _write_type,
}


# --- values -----------------------------------------------------------------------------------------------------------


def print_term(term: Term, level: int = 0) -> str:
    """Write a value; a figure that is looser than its surroundings stands in parentheses."""
    if isinstance(term, Part):
        return _print_part(term)
    if isinstance(term, Call):
        return _call(_TERMS[term.function], print_term(term.term)) if term.function in _TERMS else _refuse(term)
    if isinstance(term, Arithmetic):
        own = LEVELS[term.sign]
        text = f"{print_term(term.left, own)} {term.sign} {print_term(term.right, own + 1)}"
        if term.overflow != "wrap":
            _refuse(term)
        return f"({text})" if own < level else text
    if isinstance(term, Unary):
        if term.overflow != "wrap":
            _refuse(term)
        inner = print_term(term.term, UNARY_LEVEL)
        # A sign before a number would be read as the sign of the number.
        return f"{term.sign}({inner})" if isinstance(term.term, Number) else f"{term.sign}{inner}"
    if isinstance(term, Text):
        return print_text(term.value)
    return print_number(term) if isinstance(term, Number) else _refuse(term)


def _print_part(part: Part) -> str:
    if part.name == "attribute":
        return print_name(part.argument) if part.argument else _refuse(part)
    if part.name not in CATALOGUE or not is_readable(CATALOGUE[part.name]):
        _refuse(part)
    return f"@{part.name}" if part.argument is None else f"@{part.name}({print_text(part.argument)})"
