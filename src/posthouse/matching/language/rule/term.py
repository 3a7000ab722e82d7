"""Reads the terms of a condition: names of parts, constants, functions and figures."""

from __future__ import annotations

from typing import Final, NoReturn

from posthouse.matching.language.reader import Reader, nearest_word
from posthouse.matching.language.rule.literal import WEEKDAYS, quote_hint, read_constant, read_number, read_text
from posthouse.matching.language.rule.word import CONDITION_WORDS, FUNCTIONS, LEVELS
from posthouse.matching.predicate.check import nearest
from posthouse.matching.predicate.node import (
    Arithmetic,
    ArithmeticSign,
    Boolean,
    Call,
    Moment,
    Number,
    Octets,
    Part,
    Term,
    Text,
    Unary,
)
from posthouse.matching.value.catalogue import ALIASES, CATALOGUE, Entry

_TERMS: Final = (Part, Text, Number, Moment, Octets, Boolean, Arithmetic, Unary, Call)
MAX_FIGURES: Final = 40
_LEVEL_OF: Final[dict[ArithmeticSign, int]] = {sign: level for level, signs in enumerate(LEVELS) for sign in signs}
_TAILED: Final = tuple(name for name, entry in CATALOGUE.items() if entry.argument == "tail")


def is_term(found: object) -> bool:
    """Say whether this is a term and not yet a condition."""
    return isinstance(found, _TERMS)


def is_name(word: str) -> bool:
    """Say whether a word can be the beginning of a term, and no text that lacks its quotes."""
    small = word.lower()
    return small in CATALOGUE or small in ALIASES or word in FUNCTIONS or "." in word or word == "wrapping"


class TermReader:
    """Reads one term at a time."""

    def __init__(self, reader: Reader) -> None:
        self._reader: Final = reader
        self._depth = 0

    def read(self) -> Term:
        """Read a term, figures and all."""
        return self._read_level(0)

    def read_from(self, first: Term) -> Term:
        """Go on from a term that was read already."""
        return self._read_rest(first, 0)

    # --- figures ------------------------------------------------------------------------------------------------------

    def _read_level(self, level: int) -> Term:
        return self._read_rest(self._read_unary(), level)

    def _read_rest(self, first: Term, level: int) -> Term:
        found = first
        count = 0
        while (sign := self._sign_from(level)) is not None:
            self._reader.take()
            # A long sum is a deep tree, as its left side is always the sum so far.
            count += 1
            self._enter(count)
            found = Arithmetic(sign, found, self._read_level(_LEVEL_OF[sign] + 1))
            self._depth -= 1
        return found

    def _sign_from(self, level: int) -> ArithmeticSign | None:
        token = self._reader.token
        if token.kind != "sign" or _LEVEL_OF.get(token.text, -1) < level:  # type: ignore[call-overload]  # or it is none
            return None
        return next(sign for sign in _LEVEL_OF if sign == token.text)

    def _read_unary(self) -> Term:
        reader = self._reader
        sign = reader.token.text
        if reader.token.kind != "sign" or sign not in ("-", "+", "~"):
            return self._read_primary()
        reader.take()
        if sign == "-" and reader.token.kind == "number":
            return read_number(reader, is_negative=True)
        self._enter()
        found = self._read_unary()
        self._depth -= 1
        return Unary("-", found) if sign == "-" else Unary("+", found) if sign == "+" else Unary("~", found)

    def _read_primary(self) -> Term:
        reader = self._reader
        if reader.token.text == "(":
            reader.take()
            self._enter()
            inner = self._read_level(0)
            self._depth -= 1
            reader.expect(")")
            return inner
        constant = read_constant(reader)
        if constant is not None:
            return constant
        if reader.token.kind != "word":
            joined = reader.token.text in ("&", "|") or reader.before.text in ("&", "|")
            hint = "conditions are joined by AND and OR" if joined else None
            if reader.before.text + reader.token.text in ("=>", "=<"):
                hint = f"did you mean {reader.token.text}=?"
            reader.stumble("a part of the message or a value", hint=hint)
        word = reader.token.text
        if word.lower() in CONDITION_WORDS:
            reader.stumble("a part of the message or a value")
        if word == "wrapping":
            return self._read_wrapping()
        if word in FUNCTIONS and word not in CATALOGUE and reader.stands(word, "("):
            reader.take()
            return Call(FUNCTIONS[word], self._read_argument())
        return self.read_part()

    def _read_wrapping(self) -> Term:
        reader = self._reader
        start = reader.take()
        inner = self._read_argument()
        if isinstance(inner, Arithmetic):
            return Arithmetic(inner.sign, inner.left, inner.right, "wrap")
        if isinstance(inner, Unary):
            return Unary(inner.sign, inner.term, "wrap")
        reader.note("a figure, such as wrapping(a + b)", found="a single term", at=start.start, length=8)
        return inner

    def _read_argument(self) -> Term:
        self._reader.expect("(")
        self._enter()
        inner = self._read_level(0)
        self._depth -= 1
        self._reader.expect(")")
        return inner

    def _enter(self, count: int = 0) -> None:
        self._depth += 1
        if max(self._depth, count) > MAX_FIGURES:
            self._reader.note(f"at most {MAX_FIGURES} figures inside each other")
            self._reader.give_up()

    # --- parts --------------------------------------------------------------------------------------------------------

    def read_part(self) -> Part:
        """Read the name of a part with its argument, if it takes one."""
        reader = self._reader
        token = reader.token
        name = ALIASES.get(token.text.lower(), token.text.lower())
        tailed = next((family for family in _TAILED if name.startswith(f"{family}.")), None)
        if tailed is not None:
            reader.take()
            # Figures may have capital letters in their names, families have not.
            return Part(tailed, token.text[len(tailed) + 1 :])
        entry = CATALOGUE.get(name)
        if entry is None:
            self._stumble_at_name(token.text)
        reader.take()
        return Part(name, self._read_argument_of(entry) if entry.argument else None)

    def _stumble_at_name(self, word: str) -> NoReturn:
        hint = nearest(word.lower()) or nearest_word(word, (*WEEKDAYS, "true", "false"))
        if hint is None and "." not in word:
            hint = quote_hint(self._reader.token)
        self._reader.stumble("a part of the message", hint=hint)

    def _read_argument_of(self, entry: Entry) -> str:
        reader = self._reader
        example = f'{entry.name}("…")' if entry.argument == "name" else f'{entry.name}.… or {entry.name}("…")'
        if reader.token.text != "(":
            reader.stumble(f"( and a name in quotes, as in {example}")
        reader.take()
        if reader.token.kind != "text":
            reader.stumble(f"a name in quotes, as in {example}")
        name = read_text(reader.take().text)
        if not name:
            reader.note("a name that is not empty", found='""', at=reader.before.start, length=2)
        reader.expect(")")
        return name
