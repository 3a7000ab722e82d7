"""What the words of the subscription language look like, its functions and signs; reader and printer share them."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from posthouse.matching.language.reader import Lexicon
from posthouse.matching.predicate.node import ArithmeticSign, Comparison, Function, SearchSign, TypeTest

MAX_LENGTH: Final = 250_000
"""Characters of one subscription."""
MAX_NAME: Final = 1_024
"""Bytes of one name."""

# A name goes on to the next blank, bracket, quotation mark or comma: signs of arithmetic belong to it.
_FIRST: Final = r"[^\W\d]|\\."
_FURTHER: Final = r"[^\s()\[\]'\",\\]"
LEXICON: Final = Lexicon(
    (
        ("text", r"""(?s:"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')"""),
        ("name", rf"(?s:(?:{_FIRST})(?:{_FURTHER}|\\.)*)"),
        ("part", r"@[A-Za-z_]\w*(?:\.\w+)*"),
        ("real", r"\d+\.\d+(?:[eE][+-]?\d+)?(?![\w.])"),
        ("whole", r"(?:0[xX][0-9A-Fa-f]+|\d+)[lL]?(?![\w.])"),
        ("odd", r"(?:\d|\.\d)(?:[eE][+-]?\d|[\w.])*"),
        ("sign", r"\|\||\^\^|&&|==|!=|<=|>=|>>>|>>|<<|[!<>=+\-*/%|^&~(),\[\]]"),
    )
)

Kind = Literal["search", "type", "nan", "exists", "equals", "text", "size"]


class Called(msgspec.Struct, frozen=True):
    """One function: what it builds, and how it is written."""

    kind: Kind
    form: str
    search: SearchSign = "contains"
    function: Function = "size"
    type: TypeTest = "nan"
    otherwise: Literal["false", "unknown"] = "unknown"


FUNCTIONS: Final[dict[str, Called]] = {
    "require": Called("exists", "require(name)"),
    "exists": Called("exists", "exists(name)", otherwise="false"),
    "int32": Called("type", "int32(name)", type="int32"),
    "int64": Called("type", "int64(name)", type="int64"),
    "real64": Called("type", "real64(name)", type="real64"),
    "string": Called("type", "string(name)", type="text"),
    "opaque": Called("type", "opaque(name)", type="bytes"),
    "nan": Called("type", "nan(name)", type="nan"),
    "equals": Called("equals", 'equals(name, "one", 2)'),
    "begins-with": Called("search", 'begins-with(name, "text")', search="starts"),
    "ends-with": Called("search", 'ends-with(name, "text")', search="ends"),
    "contains": Called("search", 'contains(name, "text")', search="contains"),
    "wildcard": Called("search", 'wildcard(name, "te*t")', search="wildcard"),
    "regex": Called("search", 'regex(name, "te.t")', search="matches"),
    "fold-case": Called("text", "fold-case(name)", function="fold-case"),
    "decompose": Called("text", "decompose(name)", function="decompose"),
    "decompose-compat": Called("text", "decompose-compat(name)", function="decompose-compat"),
    "size": Called("size", "size(name)", function="size"),
}

JOINTS: Final = ("||", "^^", "&&")
"""What joins conditions, the loosest first."""
RELATIONS: Final[dict[str, Comparison]] = {
    "==": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
}  # fmt: skip
ARITHMETIC: Final[tuple[tuple[ArithmeticSign, ...], ...]] = (
    ("+", "-"),
    ("*", "/", "%"),
    ("<<", ">>", ">>>"),
    ("|",),
    ("^",),
    ("&",),
)
"""Signs of arithmetic, the loosest first; of one level the left goes first."""
RELATION_LEVEL: Final = len(JOINTS)
LEVELS: Final[dict[str, int]] = {
    **{sign: level for level, sign in enumerate(JOINTS)},
    **dict.fromkeys(RELATIONS, RELATION_LEVEL),
    **{sign: RELATION_LEVEL + 1 + level for level, signs in enumerate(ARITHMETIC) for sign in signs},
}
"""How tightly every sign between two things binds."""
UNARY_LEVEL: Final = RELATION_LEVEL + 1 + len(ARITHMETIC)
BITS: Final = frozenset({"<<", ">>", ">>>", "|", "^", "&", "~"})
"""Signs that know whole numbers only."""

MEANT: Final = {
    "and": "&&", "AND": "&&", "or": "||", "OR": "||", "xor": "^^", "XOR": "^^", "=": "==", "is": "==", "equals": "==",
    "&": "&&", "|": "||", "<>": "!=", "=<": "<=", "=>": ">=", "not": "!", "NOT": "!", "contains": "contains(…)",
    "like": "wildcard(…)", "matches": "regex(…)", "=~": "regex(…)", "~": "regex(…)", "exists": "exists(…)",
    "in": "equals(…)", "=!": "!=", "between": ">= and <=",
}  # fmt: skip
"""What people write, and what it is called here."""
