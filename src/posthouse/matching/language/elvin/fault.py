"""What is wrong with a subscription, with the numbers by which Elvin tells it: P-034."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from posthouse.errors import PosthouseError
from posthouse.matching.language.reader import Problem, UnreadableText

LIMIT: Final = 2006
PARSE: Final = 2101
TOKEN: Final = 2102
UNTERMINATED: Final = 2103
UNKNOWN_FUNCTION: Final = 2104
OVERFLOW: Final = 2105
MISMATCH: Final = 2106
FEW_ARGUMENTS: Final = 2107
MANY_ARGUMENTS: Final = 2108
REGEX: Final = 2109
TRIVIAL: Final = 2110
COMPLEX_REGEX: Final = 2111
NESTING: Final = 2112

# What the reader that all languages share notes by itself.
_OF_READER: Final = {
    "the quotation mark that ends this text": UNTERMINATED,
    "a word, a number or a text in quotes": TOKEN,
    "straight quotation marks": TOKEN,
}


class UnreadableSubscription(UnreadableText):
    """A subscription that has faults; all of them are told, each with its place and Elvin's number for it."""

    code: ClassVar[str] = "subscription.unreadable"
    public: ClassVar[str] = "The subscription has faults."

    def __init__(self, problems: Sequence[Problem], codes: Mapping[tuple[int, int], int]) -> None:
        super().__init__(problems)
        self.codes: Final = tuple(
            codes.get((problem.line, problem.column)) or _OF_READER.get(problem.expected, PARSE)
            for problem in self.problems
        )
        """The number of each problem, in their order."""


class UnsayablePredicate(PosthouseError):
    """A predicate that asks for something a subscription has no words for."""

    code: ClassVar[str] = "subscription.unsayable"
    public: ClassVar[str] = "A subscription cannot say this."
