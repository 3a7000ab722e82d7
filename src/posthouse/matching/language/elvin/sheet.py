"""A subscription while it is read: its words, where what was read stands, and the faults with their numbers."""

from __future__ import annotations

from typing import Final, NoReturn, TypeVar

import msgspec

from posthouse.matching.language.elvin.fault import LIMIT, NESTING, PARSE, TRIVIAL
from posthouse.matching.language.elvin.word import LEXICON
from posthouse.matching.language.reader import Reader, Stumble
from posthouse.matching.predicate.check import MAX_NODES, check_predicate
from posthouse.matching.predicate.node import (
    Arithmetic,
    Boolean,
    Call,
    Leaf,
    Number,
    Part,
    Predicate,
    Term,
    Text,
    Unary,
    children,
    leaves,
    terms,
)
from posthouse.matching.predicate.typing import static_type
from posthouse.matching.value.type import GROUPS
from posthouse.message.spelling import quoted

MAX_NESTING: Final = 64
"""Parentheses, functions and figures inside each other."""
_Kind = TypeVar("_Kind", bound=Predicate | Term)
_TERMS: Final = (Part, Text, Number, Boolean, Arithmetic, Unary, Call)
_KINDS: Final = {"text": "a string", "number": "a number", "truth": "something that is true or false"}


class Place(msgspec.Struct, gc=False):
    """Where something stands in the text, and how many figures stand inside each other there."""

    # The node itself, so that nothing else gets its id while the text is read.
    node: Predicate | Term
    start: int
    end: int
    depth: int = 1


class Sheet:
    """What all parts of the reader share."""

    def __init__(self, text: str) -> None:
        self.codes: Final[dict[tuple[int, int], int]] = {}
        self.reader: Final = Reader(text, LEXICON)
        self.opened = 0
        """Parentheses that are open, those of functions too."""
        self._count = 0
        self._places: Final[dict[int, Place]] = {}

    # --- faults -------------------------------------------------------------------------------------------------------

    def note(
        self,
        expected: str,
        *,
        code: int = PARSE,
        found: str | None = None,
        hint: str | None = None,
        at: int | None = None,
    ) -> None:
        """Note a fault at the next token, or at an offset."""
        offset = self.reader.token.start if at is None else at
        self.codes.setdefault(self.reader.place(offset), code)
        self.reader.note(expected, found=found, hint=hint, at=at)

    def note_of(
        self, node: Predicate | Term, expected: str, *, code: int, found: str = "", hint: str | None = None
    ) -> None:
        """Note a fault of something that was read."""
        place = self.place_of(node)
        self.codes.setdefault(self.reader.place(place.start), code)
        length = max(1, place.end - place.start)
        shown = found or self.describe(node)
        self.reader.note(expected, found=shown, hint=hint, at=place.start, length=length)

    def stumble(self, expected: str, *, code: int = PARSE, hint: str | None = None) -> NoReturn:
        """Note a fault at the next token, and go back to where reading can go on."""
        self.note(expected, code=code, hint=hint)
        raise Stumble

    def is_faultless(self) -> bool:
        """Say whether nothing was wrong so far."""
        return not self.reader.problems

    # --- limits -------------------------------------------------------------------------------------------------------

    def count(self) -> None:
        """Count one name, function or parenthesis."""
        self._count += 1
        if self._count > MAX_NODES:
            self.note(f"at most {MAX_NODES:,} names and parentheses in one subscription", code=LIMIT, found="more")
            self.reader.give_up()

    def open(self) -> None:
        """Take an opening parenthesis."""
        if self.opened >= MAX_NESTING:
            self.too_deep()
        self.count()
        self.reader.take()
        self.opened += 1

    def still_open(self, start: int) -> str:
        """Give the hint about a parenthesis that nothing closes."""
        line, column = self.reader.place(start)
        return f"the parenthesis of line {line}, column {column} is still open"

    def too_deep(self) -> NoReturn:
        """Give up, as too much stands inside each other."""
        self.note(f"at most {MAX_NESTING} parentheses and figures inside each other", code=NESTING, found="one more")
        self.reader.give_up()

    # --- places -------------------------------------------------------------------------------------------------------

    def put(self, node: _Kind, start: int, *, depth: int = 1) -> _Kind:
        """Remember that something stands from here to the token that was taken last."""
        if depth > MAX_NESTING:
            self.too_deep()
        self._places[id(node)] = Place(node, start, self.reader.before.end, depth)
        return node

    def put_like(self, node: _Kind, other: Predicate | Term) -> _Kind:
        """Remember that something stands where something else was read."""
        place = self.place_of(other)
        self._places[id(node)] = Place(node, place.start, place.end, place.depth)
        return node

    def place_of(self, node: Predicate | Term) -> Place:
        """Give where something stands."""
        before = self.reader.before
        return self._places.get(id(node)) or Place(node, before.start, before.end)

    def source(self, node: Predicate | Term) -> str:
        """Give something as it was written."""
        place = self.place_of(node)
        return self.reader.text[place.start : place.end]

    def describe(self, node: Predicate | Term) -> str:
        """Give something for a person to read."""
        shown = quoted(self.source(node), 40)
        if isinstance(node, Part):
            return f"the name {shown}"
        if isinstance(node, Text):
            return f"the string {quoted(node.value, 40)}"
        if isinstance(node, Number):
            return f"the number {self.source(node)[:40]}"
        return shown if is_term(node) else f"the condition {shown}"

    # --- the whole ----------------------------------------------------------------------------------------------------

    def check(self, predicate: Predicate) -> None:
        """Note what no engine would take; called where nothing else is wrong."""
        for fault in check_predicate(predicate):
            node = predicate
            for step in fault.path:
                inner = children(node)
                if step >= len(inner):
                    break
                node = inner[step]
            expected, _, found = fault.what.removeprefix("expected ").partition(", found ")
            code = LIMIT if expected.startswith("at most") else PARSE
            self.note_of(node, expected, code=code, found=found or "more", hint=fault.hint)

    def check_trivial(self, predicate: Predicate) -> None:
        """Note a condition that names nothing of the message."""
        for _, leaf in leaves(predicate):
            if not has_part(leaf):
                hint = "this is the same for every message"
                self.note_of(predicate, "a condition that asks for a name", code=TRIVIAL, hint=hint)


def is_term(found: Predicate | Term) -> bool:
    """Say whether this is a value and no condition."""
    return isinstance(found, _TERMS)


def group_of(term: Term) -> str:
    """Give what a value is: `text`, `number`, `truth`, or `any` where only the message knows."""
    if isinstance(term, Arithmetic | Unary):
        return "number"
    kind = static_type(term)
    return "any" if kind == "any" else GROUPS.get(kind, "any")


def kind_word(group: str) -> str:
    """Give a group for a person to read."""
    return _KINDS.get(group, "a value")


def has_part(leaf: Leaf) -> bool:
    """Say whether anything of the message is asked for."""
    waiting: list[Term] = list(terms(leaf))
    while waiting:
        term = waiting.pop()
        if isinstance(term, Part):
            return True
        waiting += terms(term)
    return False
