"""What type a term has before any message is seen; `any` where only the message knows."""

from __future__ import annotations

from typing import Final

from posthouse.matching.predicate.node import (
    Arithmetic,
    Boolean,
    Call,
    Function,
    Moment,
    Node,
    Number,
    Octets,
    Part,
    Text,
    Unary,
)
from posthouse.matching.value.catalogue import CATALOGUE
from posthouse.matching.value.type import Type

LEAST: Final = {"int32": -(2**31), "int64": -(2**63), "size": 0, "duration": -(2**63)}
MOST: Final = {"int32": 2**31 - 1, "int64": 2**63 - 1, "size": 2**63 - 1, "duration": 2**63 - 1}

_FUNCTIONS: Final[dict[Function, Type]] = {
    "fold-case": "text",
    "decompose": "text",
    "decompose-compat": "text",
    "size": "int32",
    "count": "int32",
    "date": "date",
    "time": "time",
    "weekday": "weekday",
}
_CONSTANTS: Final[dict[type, Type]] = {Text: "text", Octets: "bytes", Boolean: "truth"}


def static_type(term: Node) -> Type:
    """Give the type of a term as far as it is known."""
    if isinstance(term, Part):
        return CATALOGUE[term.name].type if term.name in CATALOGUE else "any"
    if isinstance(term, Number | Moment):
        return term.type
    if isinstance(term, Call):
        return _FUNCTIONS[term.function]
    if isinstance(term, Unary):
        return static_type(term.term)
    if isinstance(term, Arithmetic):
        left, right = static_type(term.left), static_type(term.right)
        return left if left == right else "any"
    return _CONSTANTS[type(term)]
