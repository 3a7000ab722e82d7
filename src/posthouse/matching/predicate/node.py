"""The nodes of a predicate: a closed set, frozen, comparable and written as JSON or MessagePack without loss.

A language builds them and prints them; an engine judges them. None of them knows how it was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from posthouse.matching.value.fold import Collation

NumberType = Literal["int32", "int64", "real64", "size", "duration"]
MomentType = Literal["instant", "date", "time", "weekday"]
Overflow = Literal["unknown", "wrap"]
"""What becomes of a whole number that leaves its width: in rules unknown, in subscriptions it wraps round."""
ArithmeticSign = Literal["+", "-", "*", "/", "%", "<<", ">>", ">>>", "&", "|", "^"]
Function = Literal["fold-case", "decompose", "decompose-compat", "size", "count", "date", "time", "weekday"]
Comparison = Literal["=", "!=", "<", "<=", ">", ">="]
SearchSign = Literal["contains", "word", "starts", "ends", "matches", "wildcard"]
TypeTest = Literal["int32", "int64", "real64", "text", "bytes", "instant", "list", "nan"]
Certainty = Literal["true", "false", "unknown"]
Quantifier = Literal["any", "all", "none"]
Over = Literal["recipient", "attachment"]


class _Node(msgspec.Struct, frozen=True, gc=False, array_like=True, cache_hash=True, tag_field="node"):
    """What all nodes share: they are written as lists that begin with their tag."""


# --- terms: what has values -------------------------------------------------------------------------------------------


class Part(_Node, frozen=True, tag="part"):
    """A part of the message, by its name in the catalogue, with the argument of the name if it takes one."""

    name: str
    argument: str | None = None


class Text(_Node, frozen=True, tag="text"):
    """A constant text."""

    value: str


class Number(_Node, frozen=True, tag="number"):
    """A constant number; a size counts bytes, a duration microseconds."""

    value: int | float
    type: NumberType = "int64"


class Moment(_Node, frozen=True, tag="moment"):
    """A constant of the calendar: microseconds since 1970, days since 1970, seconds since midnight, or 1 for Monday."""

    value: int
    type: MomentType = "instant"


class Octets(_Node, frozen=True, tag="bytes"):
    """Constant bytes."""

    value: bytes


class Boolean(_Node, frozen=True, tag="truth"):
    """A constant truth, to compare a part with."""

    value: bool


class Arithmetic(_Node, frozen=True, tag="arithmetic"):
    """A figure of two others."""

    sign: ArithmeticSign
    left: Term
    right: Term
    overflow: Overflow = "unknown"


class Unary(_Node, frozen=True, tag="unary"):
    """A number turned round, or all its bits."""

    sign: Literal["-", "+", "~"]
    term: Term
    overflow: Overflow = "unknown"


class Call(_Node, frozen=True, tag="call"):
    """A function of one term."""

    function: Function
    term: Term


Constant = Text | Number | Moment | Octets | Boolean
Term = Part | Text | Number | Moment | Octets | Boolean | Arithmetic | Unary | Call

# --- what a list is ---------------------------------------------------------------------------------------------------


class Texts(_Node, frozen=True, tag="texts"):
    """Texts, in the order written."""

    values: tuple[str, ...]


class Constants(_Node, frozen=True, tag="constants"):
    """Constants of any type, in the order written."""

    values: tuple[Constant, ...]


class Words(_Node, frozen=True, tag="words"):
    """A named list of words that is handed to the engine beside the predicate."""

    name: str


# --- predicates: what is true, false or unknown -----------------------------------------------------------------------


class Compare(_Node, frozen=True, tag="compare"):
    """Two terms beside each other; text is equal or not, and has no order."""

    sign: Comparison
    left: Term
    right: Term
    collation: Collation = "folded"


class Between(_Node, frozen=True, tag="between"):
    """A term within two bounds, both of which belong to it."""

    term: Term
    low: Term
    high: Term


class Search(_Node, frozen=True, tag="search"):
    """Any of these texts, whole words, beginnings, ends, regular expressions or wildcards, in a text."""

    sign: SearchSign
    term: Term
    texts: Texts | Words
    collation: Collation = "folded"


class InList(_Node, frozen=True, tag="in"):
    """A term that equals one of a list; bytes are equal here too."""

    term: Term
    values: Texts | Constants | Words
    collation: Collation = "folded"


class Under(_Node, frozen=True, tag="under"):
    """A role that is one of these or reports to one; of other text, one that is these words or goes on with a dot."""

    term: Term
    names: Texts | Words
    collation: Collation = "folded"


class Exists(_Node, frozen=True, tag="exists"):
    """Whether the message has it; `otherwise` says what it is where the message has not."""

    term: Term
    otherwise: Literal["false", "unknown"] = "false"


class IsEmpty(_Node, frozen=True, tag="empty"):
    """Whether there are no values, or nothing but empty text."""

    term: Term


class IsType(_Node, frozen=True, tag="type"):
    """Whether the values are of a type; `nan` asks a real number whether it is one."""

    term: Term
    type: TypeTest


class Fixed(_Node, frozen=True, tag="fixed"):
    """The same for every message."""

    truth: Certainty


class And(_Node, frozen=True, tag="and"):
    """All of them."""

    parts: tuple[Predicate, ...]


class Or(_Node, frozen=True, tag="or"):
    """One of them at least."""

    parts: tuple[Predicate, ...]


class Xor(_Node, frozen=True, tag="xor"):
    """An odd number of them."""

    parts: tuple[Predicate, ...]


class Not(_Node, frozen=True, tag="not"):
    """The contrary; unknown stays unknown."""

    part: Predicate


class Quantified(_Node, frozen=True, tag="quantified"):
    """Something of any, of all or of none of the recipients or attachments, one at a time."""

    over: Over
    quantifier: Quantifier
    part: Predicate


Leaf = Compare | Between | Search | InList | Under | Exists | IsEmpty | IsType | Fixed
Branch = And | Or | Xor | Not | Quantified
Predicate = Leaf | Branch
Node = Term | Predicate | Texts | Constants | Words

LEAVES = (Compare, Between, Search, InList, Under, Exists, IsEmpty, IsType, Fixed)
BRANCHES = (And, Or, Xor, Not, Quantified)


def children(branch: Predicate) -> tuple[Predicate, ...]:
    """Give the predicates a branch is made of; a leaf has none."""
    if isinstance(branch, And | Or | Xor):
        return branch.parts
    return (branch.part,) if isinstance(branch, Not | Quantified) else ()


def terms(leaf: Node) -> tuple[Term, ...]:
    """Give the terms a leaf or a term is made of."""
    if isinstance(leaf, Compare | Arithmetic):
        return leaf.left, leaf.right
    if isinstance(leaf, Between):
        return leaf.term, leaf.low, leaf.high
    if isinstance(leaf, Search | InList | Under | Exists | IsEmpty | IsType | Unary | Call):
        return (leaf.term,)
    return ()


def leaves(predicate: Predicate) -> Iterator[tuple[tuple[int, ...], Leaf]]:
    """Give every leaf with its path, in the order written; the path counts children from the top."""
    waiting: list[tuple[tuple[int, ...], Predicate]] = [((), predicate)]
    while waiting:
        path, node = waiting.pop()
        if isinstance(node, LEAVES):
            yield path, node
        else:
            inner = children(node)
            waiting += [((*path, place), inner[place]) for place in reversed(range(len(inner)))]
