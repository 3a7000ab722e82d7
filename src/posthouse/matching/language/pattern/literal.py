"""Reads the values of patterns: texts, numbers, words of a kind, scopes, arguments and contexts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeVar, cast

from posthouse.matching.language.pattern.pattern import (
    IN_SESSION,
    OR_SESSION,
    SESSION,
    Argument,
    Bond,
    Context,
    Mode,
    Scope,
    Value,
)
from posthouse.matching.language.pattern.word import ANY, HEX, MAX_ARGUMENTS, MAX_TEXT, MAX_VALUES, MODES, STARTS
from posthouse.matching.language.reader import Reader, nearest_word
from posthouse.matching.predicate.node import Number, Octets, Text
from posthouse.matching.predicate.typing import LEAST, MOST

_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_One = TypeVar("_One")


class ValueReader:
    """Reads one value at a time."""

    def __init__(self, reader: Reader, types: frozenset[str]) -> None:
        self._reader: Final = reader
        self._types: Final = types

    def listed(self, read: Callable[[], _One], name: str) -> tuple[_One, ...]:
        """Read values with commas between them, each once."""
        reader = self._reader
        values: list[_One] = []
        seen: set[_One] = set()
        while True:
            start = reader.token
            value = read()
            if value in seen:
                reader.note("each value once", at=start.start, length=max(1, reader.before.end - start.start),
                            found="this one a second time")  # fmt: skip
            elif len(values) >= MAX_VALUES:
                reader.note(f"at most {MAX_VALUES:,} values of {name}", at=start.start, found="more")
                reader.give_up()
            else:
                values.append(value)
                seen.add(value)
            if reader.token.text != "," or reader.token.kind != "sign":
                return tuple(values)
            reader.take()

    def text(self) -> str:
        """Read a text in quotes that is not empty."""
        reader = self._reader
        token = reader.token
        if token.kind != "text":
            is_bare = token.kind in ("word", "whole", "real", "odd") and token.text not in STARTS
            reader.stumble("a text in quotes", hint=f'text stands in quotes: "{token.text[:40]}"' if is_bare else None)
        written = reader.take().text[1:-1]
        text = _ESCAPED.sub(r"\1", written) if "\\" in written else written
        if not text:
            reader.note("a text that is not empty", found='""', at=token.start, length=2)
        if len(text) > MAX_TEXT:
            reader.note(f"a text of at most {MAX_TEXT:,} characters", found=f"{len(text):,}", at=token.start)
        return text

    def word(self, known: tuple[str, ...]) -> str:
        """Read one of these words."""
        reader = self._reader
        if reader.token.kind != "word" or reader.token.text not in known:
            expected = f"{', '.join(known[:-1])} or {known[-1]}"
            hint = "these words stand without quotes" if reader.token.kind == "text" else None
            reader.stumble(expected, hint=hint or nearest_word(reader.token.text, known))
        return reader.take().text

    def whole(self, what: str, most: int) -> int:
        """Read a whole number between both limits."""
        reader = self._reader
        token = reader.token
        if token.kind != "whole":
            reader.stumble(f"{what} from -{most} to {most}")
        value = int(token.text) if len(token.text) <= 10 else most + 1
        if not -most <= value <= most:
            reader.note(f"{what} from -{most} to {most}")
        reader.take()
        return value

    # --- scopes -------------------------------------------------------------------------------------------------------

    def scopes(self) -> tuple[Scope, ...]:
        """Read scopes with `or` between them."""
        reader = self._reader
        scopes: list[Scope] = []
        while True:
            start = reader.token.start
            scope = self._read_scope()
            if any((scope.type, scope.bond) == (other.type, other.bond) for other in scopes):
                reader.note(
                    "each scope once", at=start, found="this one a second time", hint="ids have commas between them"
                )
            scopes.append(scope)
            if reader.token.kind != "word" or reader.token.text != "or":
                return tuple(scopes)
            reader.take()

    def _read_scope(self) -> Scope:
        reader = self._reader
        known = (SESSION, *(f"{kind}{bond}" for kind in sorted(self._types) for bond in ("", IN_SESSION, OR_SESSION)))
        word = reader.token.text
        if reader.token.kind != "word" or word not in known:
            hint = "a scope stands without quotes, its ids with them" if reader.token.kind == "text" else None
            reader.stumble(f"a scope: {', '.join(known)}", hint=hint or nearest_word(word, known))
        reader.take()
        kind, bond = word, "alone"
        for suffix in (IN_SESSION, OR_SESSION):
            if word.endswith(suffix):
                kind, bond = word.removesuffix(suffix), suffix[1:]
        if reader.token.kind != "text":
            return Scope(kind, cast("Bond", bond))
        if kind == SESSION:
            reader.stumble("or, another field or the end of the pattern", hint="a session has no ids")
        return Scope(kind, cast("Bond", bond), self.listed(self.text, word))

    # --- arguments and contexts ---------------------------------------------------------------------------------------

    def arguments(self) -> tuple[Argument, ...]:
        """Read arguments in parentheses."""
        reader = self._reader
        opened = reader.token.start
        if reader.token.text != "(" or reader.token.kind != "sign":
            reader.stumble("( and arguments", hint='as in arguments (in string "x", out)')
        reader.take()
        arguments: list[Argument] = []
        while True:
            if len(arguments) >= MAX_ARGUMENTS:
                reader.note(f"at most {MAX_ARGUMENTS} arguments", found="more")
                reader.give_up()
            arguments.append(self._read_argument())
            if reader.token.text != "," or reader.token.kind != "sign":
                break
            reader.take()
        if reader.token.text != ")" or reader.token.kind != "sign":
            line, column = reader.place(opened)
            reader.stumble(", or )", hint=f"the parenthesis of line {line}, column {column} is still open")
        reader.take()
        return tuple(arguments)

    def _read_argument(self) -> Argument:
        reader = self._reader
        mode = self.word((*MODES, ANY))
        kind = None
        if reader.stands("type") and reader.token.kind == "word" and self._has_quoted_type():
            reader.take()
            kind = self.text()
        elif reader.token.kind == "word" and reader.token.text != HEX:
            kind = reader.take().text
        value = None if reader.token.kind == "sign" else self.value()
        return Argument(None if mode == ANY else cast("Mode", mode), kind, value)

    def _has_quoted_type(self) -> bool:
        behind = self._reader.text[self._reader.token.end :][:200].lstrip()
        return behind.startswith(('"', "'"))

    def context(self) -> Context:
        """Read the name of a context with its value, if one is given."""
        reader = self._reader
        name = self.text()
        if reader.token.text != "=" or reader.token.kind != "sign":
            return Context(name)
        reader.take()
        return Context(name, self.value())

    def value(self) -> Value:
        """Read a value: text, a number or bytes."""
        reader = self._reader
        token = reader.token
        if token.kind == "text":
            written = reader.take().text[1:-1]
            return Text(_ESCAPED.sub(r"\1", written))
        if token.kind == "real":
            return self._read_real()
        if token.kind == "whole":
            reader.take()
            value = int(token.text) if len(token.text) <= 20 else MOST["int64"] + 1
            if not LEAST["int64"] <= value <= MOST["int64"]:
                reader.note("a number of 64 bits", found=token.text[:40], at=token.start, length=len(token.text))
                value = 0
            return Number(value, "int64")
        if token.kind == "word" and token.text == HEX:
            return self._read_octets()
        is_bare = token.kind == "word"
        return reader.stumble(
            'a value: "text", 5, 2.5 or hex "00ff"',
            hint=f'text stands in quotes: "{token.text[:40]}"' if is_bare else None,
        )

    def _read_real(self) -> Number:
        reader = self._reader
        token = reader.take()
        value = float(token.text)
        if abs(value) == float("inf"):
            reader.note("a number that fits into 64 bits", found=token.text[:40], at=token.start)
            value = 0.0
        return Number(value, "real64")

    def _read_octets(self) -> Octets:
        reader = self._reader
        reader.take()
        try:
            octets = bytes.fromhex(reader.token.text[1:-1]) if reader.token.kind == "text" else None
        except ValueError:
            octets = None
        if octets is None:
            reader.stumble('hexadecimal digits, two for each byte, such as hex "00ff"')
        reader.take()
        return Octets(octets)
