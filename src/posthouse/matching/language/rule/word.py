"""The words of conditions: operators with their negated forms, collations, functions; parser and printer share them."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from posthouse.matching.predicate.node import ArithmeticSign, Function, SearchSign, TypeTest
from posthouse.matching.value.fold import Collation

Kind = Literal["compare", "search", "in", "under", "between", "exists", "empty", "type"]


class Operator(msgspec.Struct, frozen=True):
    """One operator: the words it is written with, and what it builds."""

    words: tuple[str, ...]
    kind: Kind
    sign: str = ""
    is_negated: bool = False


def _operators() -> tuple[Operator, ...]:
    table: list[tuple[str, Kind, str, bool]] = [
        ("is not empty", "empty", "", True),
        ("is empty", "empty", "", False),
        ("is or under", "under", "", False),
        ("is of type", "type", "", False),
        ("is not in list", "in", "", True),
        ("is not in", "in", "", True),
        ("is in list", "in", "", False),
        ("is in", "in", "", False),
        ("is not between", "between", "", True),
        ("is between", "between", "", False),
        ("is not like", "search", "wildcard", True),
        ("is like", "search", "wildcard", False),
        ("is not", "compare", "is not", True),
        ("is", "compare", "is", False),
        ("does not contain word", "search", "word", True),
        ("does not contain", "search", "contains", True),
        ("does not start with", "search", "starts", True),
        ("does not end with", "search", "ends", True),
        ("does not match", "search", "matches", True),
        ("does not exist", "exists", "", True),
        ("contains word", "search", "word", False),
        ("contains", "search", "contains", False),
        ("starts with", "search", "starts", False),
        ("ends with", "search", "ends", False),
        ("matches", "search", "matches", False),
        ("not like", "search", "wildcard", True),
        ("like", "search", "wildcard", False),
        ("exists", "exists", "", False),
        ("must exist", "exists", "must", False),
        ("in list", "in", "", False),
        ("not in list", "in", "", True),
        ("not in", "in", "", True),
        ("in", "in", "", False),
        ("not between", "between", "", True),
        ("between", "between", "", False),
        ("includes", "compare", "is", False),
        ("excludes", "compare", "excludes", False),
    ]
    return tuple(Operator(tuple(words.split()), kind, sign, negated) for words, kind, sign, negated in table)


OPERATORS: Final = _operators()
SIGNS: Final = {"=": "=", "==": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
"""Signs of comparison as they may be written, and as they are kept."""

SEARCHES: Final[dict[SearchSign, tuple[str, str]]] = {
    "contains": ("contains", "does not contain"),
    "word": ("contains word", "does not contain word"),
    "starts": ("starts with", "does not start with"),
    "ends": ("ends with", "does not end with"),
    "matches": ("matches", "does not match"),
    "wildcard": ("is like", "is not like"),
}
"""How each search is printed, and its contrary."""
COLLATIONS: Final[dict[Collation, tuple[str, ...]]] = {
    "cased": ("with", "case"),
    "exact": ("as", "written"),
    "ascii": ("ignoring", "ascii", "case"),
}
"""What stands behind a value that is not compared the usual way."""
FUNCTIONS: Final[dict[str, Function]] = {
    "fold_case": "fold-case",
    "decompose": "decompose",
    "decompose_compat": "decompose-compat",
    "size": "size",
    "count": "count",
    "date": "date",
    "time": "time",
    "weekday": "weekday",
}
TYPES: Final[tuple[TypeTest, ...]] = ("int32", "int64", "real64", "text", "bytes", "instant", "list", "nan")
LEVELS: Final[tuple[tuple[ArithmeticSign, ...], ...]] = (
    ("+", "-"),
    ("*", "/", "%"),
    ("<<", ">>", ">>>"),
    ("|",),
    ("^",),
    ("&",),
)
"""Signs of arithmetic, the loosest first; of one level the left goes first."""
OVERS: Final = {
    "recipient": "recipient",
    "recipients": "recipient",
    "attachment": "attachment",
    "attachments": "attachment",
}
CONDITION_WORDS: Final = frozenset({"and", "or", "xor", "not", "then", "if", "any", "all", "no"})
KEYWORDS: Final = CONDITION_WORDS | {"rule", "words", "example"}

# What a person is offered where an operator is expected, by the group of the part's type.
SYNONYMS: Final = {
    "begins": "starts with", "begin": "starts with", "start": "starts with", "end": "ends with", "ending": "ends with",
    "under": "is or under", "below": "is or under", "reports": "is or under", "equals": "is", "equal": "is",
    "are": "is", "has": "contains", "containing": "contains", "match": "matches", "regex": "matches", "~": "matches",
    "exceeds": ">", "larger": ">", "bigger": ">", "greater": ">", "more": ">", "above": ">", "less": "<",
    "smaller": "<",
    "not": "is not", "isn't": "is not", "doesn't": "does not", "hasn't": "does not contain", "aren't": "is not",
    "wasn't": "is not", "don't": "does not",
}  # fmt: skip
"""What people write for an operator, and what it is called."""
OFFERED: Final = {
    "role": "is, is not, is or under, in or is empty",
    "text": "is, is not, contains, starts with, ends with, matches, like or in",
    "number": "=, !=, <, <=, >, >=, between or in",
    "truth": "is true or is false",
    "weekday": "is, is not, between or in",
}
