"""Writes terms and leaves as the rule language says them, so that reading gives back exactly what was written."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from posthouse.matching.language.rule.leaf import single_of
from posthouse.matching.language.rule.literal import print_constant, print_text
from posthouse.matching.language.rule.word import COLLATIONS, FUNCTIONS, LEVELS, SEARCHES
from posthouse.matching.predicate.node import (
    Arithmetic,
    Between,
    Boolean,
    Call,
    Compare,
    Constants,
    Exists,
    Fixed,
    InList,
    IsEmpty,
    IsType,
    Leaf,
    Moment,
    Number,
    Part,
    Search,
    Term,
    Text,
    Texts,
    Unary,
    Under,
    Words,
)
from posthouse.matching.predicate.typing import static_type
from posthouse.matching.value.catalogue import CATALOGUE
from posthouse.matching.value.fold import Collation
from posthouse.matching.value.type import GROUPS

_TAIL: Final = re.compile(r"\w+(\.\w+)*")
_FUNCTION_NAMES: Final = {function: name for name, function in FUNCTIONS.items()}
_LEVEL_OF: Final = {sign: level for level, signs in enumerate(LEVELS) for sign in signs}
_UNARY: Final = len(LEVELS)

Within = frozenset[str]
"""What is being looked at one at a time: recipients, attachments."""


# --- terms ------------------------------------------------------------------------------------------------------------


def print_term(term: Term, level: int = 0) -> str:
    """Write a term; a figure that is looser than its surroundings stands in parentheses."""
    if isinstance(term, Part):
        return print_part(term)
    if isinstance(term, Call):
        return f"{_FUNCTION_NAMES[term.function]}({print_term(term.term)})"
    if isinstance(term, Arithmetic):
        own = _LEVEL_OF[term.sign]
        text = f"{print_term(term.left, own)} {term.sign} {print_term(term.right, own + 1)}"
        if term.overflow == "wrap":
            return f"wrapping({text})"
        return f"({text})" if own < level else text
    if isinstance(term, Unary):
        inner = print_term(term.term, _UNARY)
        # A sign before a number would be read as the sign of the number.
        text = f"{term.sign}({inner})" if isinstance(term.term, Number) else f"{term.sign}{inner}"
        return f"wrapping({text})" if term.overflow == "wrap" else text
    return print_constant(term)


def print_part(part: Part) -> str:
    """Write the name of a part with its argument."""
    if part.argument is None:
        return part.name
    if CATALOGUE[part.name].argument == "tail" and _TAIL.fullmatch(part.argument):
        return f"{part.name}.{part.argument}"
    return f"{part.name}({print_text(part.argument)})"


# --- leaves -----------------------------------------------------------------------------------------------------------


class Phrase:
    """A leaf as text, in one line or with its list opened out."""

    def __init__(self, head: str, items: tuple[str, ...] = (), *, tail: str = "") -> None:
        self.head: Final = head
        self.items: Final = items
        self.tail: Final = tail

    def inline(self) -> str:
        """Give it in one line."""
        return f"{self.head}{', '.join(self.items)}{self.tail}"

    def lines(self, width: int) -> list[str]:
        """Give it in lines, each value of a list that is too long on its own."""
        if not self.items or len(self.inline()) <= width:
            return [self.inline()]
        return [self.head, *(f"    {item}," for item in self.items), self.tail]


def print_leaf(leaf: Leaf, within: Within) -> Phrase:
    """Write a leaf."""
    return _WRITERS[type(leaf)](leaf, within)


def print_contrary(leaf: Leaf, within: Within) -> Phrase | None:
    """Write the contrary of a leaf in words of its own, if it has any here."""
    # Of recipients and attachments such words mean "one of them does not", which is something else.
    if isinstance(leaf, Fixed | Compare | IsType | Under) or single_of(leaf.term, within) is not None:
        return None
    if isinstance(leaf, Search):
        return _listed(f"{print_term(leaf.term)} {SEARCHES[leaf.sign][1]} ", leaf.texts, leaf.collation)
    if isinstance(leaf, InList):
        return _in_list(leaf, "not in")
    if isinstance(leaf, Between):
        return _between(leaf, "not between")
    if isinstance(leaf, IsEmpty):
        return Phrase(f"{print_term(leaf.term)} is not empty")
    return Phrase(f"{print_term(leaf.term)} does not exist") if leaf.otherwise == "false" else None


def _write_compare(leaf: Compare, within: Within) -> Phrase:
    sign: str = leaf.sign
    if sign in ("=", "!=") and _says_is(leaf):
        sign = "is" if sign == "=" else "is not"
    if leaf.sign == "!=" and single_of(leaf.left, within) is not None:
        sign = "excludes"
    text = f"{print_term(leaf.left)} {sign} {print_term(leaf.right)}"
    return Phrase(f"{text}{_collation(leaf.collation)}")


def _says_is(leaf: Compare) -> bool:
    """Say whether `is` reads better than a sign: of texts, truths and weekdays."""
    left = GROUPS.get(static_type(leaf.left))
    if left is None:
        return isinstance(leaf.right, Text | Boolean) or (
            isinstance(leaf.right, Moment) and leaf.right.type == "weekday"
        )
    return left in ("text", "truth", "weekday")


def _write_between(leaf: Between, _: Within) -> Phrase:
    return _between(leaf, "between")


def _between(leaf: Between, words: str) -> Phrase:
    return Phrase(f"{print_term(leaf.term)} {words} {print_term(leaf.low)} and {print_term(leaf.high)}")


def _write_search(leaf: Search, _: Within) -> Phrase:
    return _listed(f"{print_term(leaf.term)} {SEARCHES[leaf.sign][0]} ", leaf.texts, leaf.collation)


def _write_under(leaf: Under, _: Within) -> Phrase:
    return _listed(f"{print_term(leaf.term)} is or under ", leaf.names, leaf.collation)


def _listed(head: str, texts: Texts | Words, collation: Collation) -> Phrase:
    if isinstance(texts, Words):
        return Phrase(f"{head}any of words {print_text(texts.name)}{_collation(collation)}")
    if len(texts.values) == 1:
        return Phrase(f"{head}{print_text(texts.values[0])}{_collation(collation)}")
    return Phrase(f"{head}any of (", tuple(map(print_text, texts.values)), tail=f"){_collation(collation)}")


def _write_in_list(leaf: InList, _: Within) -> Phrase:
    return _in_list(leaf, "in")


def _in_list(leaf: InList, words: str) -> Phrase:
    head = f"{print_term(leaf.term)} {words} "
    if isinstance(leaf.values, Words):
        return Phrase(f"{head}words {print_text(leaf.values.name)}{_collation(leaf.collation)}")
    if isinstance(leaf.values, Constants):
        items = tuple(map(print_constant, leaf.values.values))
    else:
        items = tuple(map(print_text, leaf.values.values))
    return Phrase(f"{head}(", items, tail=f"){_collation(leaf.collation)}")


def _write_exists(leaf: Exists, _: Within) -> Phrase:
    return Phrase(f"{print_term(leaf.term)} {'exists' if leaf.otherwise == 'false' else 'must exist'}")


def _write_empty(leaf: IsEmpty, _: Within) -> Phrase:
    return Phrase(f"{print_term(leaf.term)} is empty")


def _write_type(leaf: IsType, _: Within) -> Phrase:
    return Phrase(f"{print_term(leaf.term)} is of type {leaf.type}")


def _write_fixed(leaf: Fixed, _: Within) -> Phrase:
    return Phrase({"true": "always", "false": "never", "unknown": "unknown"}[leaf.truth])


def _collation(collation: Collation) -> str:
    return f" {' '.join(COLLATIONS[collation])}" if collation in COLLATIONS else ""


# `...`: each writer is called with its own leaf only.
_WRITERS: Final[dict[type, Callable[..., Phrase]]] = {
    Compare: _write_compare,
    Between: _write_between,
    Search: _write_search,
    InList: _write_in_list,
    Under: _write_under,
    Exists: _write_exists,
    IsEmpty: _write_empty,
    IsType: _write_type,
    Fixed: _write_fixed,
}
