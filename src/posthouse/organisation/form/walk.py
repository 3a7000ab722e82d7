"""A walk over the words of a TOML text, one after the other, for what is not written in the usual way."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Final, TypeAlias

from posthouse.message.instant import read_instant
from posthouse.message.spelling import quoted
from posthouse.organisation.form.fault import Faults

Value: TypeAlias = "str | bool | date | datetime | list[Value] | dict[str, Value]"

MAX_INSIDE: Final = 4
"""Lists and tables inside each other."""
_TOKEN: Final = re.compile(
    r"(?P<blank>(?:[ \t\r\n]|#[^\n]*)++)"
    r'|(?P<basic>"(?:[^"\\\x00-\x1f\x7f]|\\[^\n])*+")'
    r"|(?P<literal>'[^'\x00-\x1f\x7f]*+')"
    r"|(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9][0-9:.Zz+-]*+)?+)(?![A-Za-z0-9_-])"
    r"|(?P<word>[A-Za-z0-9_-]++)"
    r"|(?P<sign>.)"
)
_ESCAPE: Final = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")
_ESCAPES: Final = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}


class Stumble(Exception):
    """The fault has been noted; the reader goes on at the next line."""


class Walk:
    """Where a reader stands in a text: the word that comes next, and where the one before it ended."""

    def __init__(self, text: str, at: int, *, faults: Faults) -> None:
        self.token = self.kind = self.sign = ""
        self.before = self.start = self.end = at
        self._text: Final = text
        self._faults: Final = faults
        self.take()

    def take(self) -> str:
        """Take the next word."""
        taken = self.token
        self.before = self.end
        found = _TOKEN.match(self._text, self.end)
        while found is not None and found.lastgroup == "blank":
            found = _TOKEN.match(self._text, found.end())
        self.kind = found.lastgroup or "" if found else ""
        self.token = found.group() if found else ""
        self.sign = self.token if self.kind == "sign" else ""
        self.start, self.end = found.span() if found else (len(self._text), len(self._text))
        return taken

    def stumble(self, expected: str, hint: str | None = None) -> Stumble:
        """Note a fault at the next word; the caller raises what this gives."""
        shown = quoted(self.token, 40) if self.token else "the end of the text"
        self._faults.note(self.start, expected, found=shown, hint=hint, length=max(1, len(self.token)))
        return Stumble()

    def end_of_line(self) -> int:
        """Give where the next line begins, if nothing else stands on this one."""
        end = self._text.find("\n", self.before)
        stop = len(self._text) if end < 0 else end + 1
        if self.kind and self.start < stop:
            raise self.stumble("the end of the line")
        return stop

    def header(self) -> tuple[str, str, int]:
        """Read `[kind."name"]`; give kind and name, and where the name stands."""
        self._expect("[")
        if self.sign == "[":
            raise self.stumble('one "["', hint="a table stands once, under its own name")
        kind = self._word("a kind of table, such as role")
        self._expect(".", '"." and a name, such as [role."Clerk"]')
        place = self.start
        name = self._text_value() if self.kind in ("basic", "literal") else self._word("a name in quotes")
        self._expect("]", '"]" behind the name', hint="a name that is no single word stands in quotes")
        return kind, name, place

    def pair(self) -> tuple[str, int, Value]:
        """Read `key = value`; give the key, where the value stands, and the value."""
        key = self._word('a key and its value, such as name = "Ann", or a table, such as [role."Clerk"]')
        self._expect("=")
        place = self.start
        return key, place, self._value(0)

    def _expect(self, sign: str, expected: str | None = None, hint: str | None = None) -> None:
        if self.sign != sign:
            raise self.stumble(expected or f'"{sign}"', hint)
        self.take()

    def _word(self, expected: str) -> str:
        if self.kind not in ("word", "time"):
            raise self.stumble(expected)
        return self.take()

    def _value(self, inside: int) -> Value:
        if inside >= MAX_INSIDE:
            raise self.stumble(f"at most {MAX_INSIDE} lists and tables inside each other")
        if self.kind in ("basic", "literal"):
            return self._text_value()
        if self.kind == "time":
            return self._time()
        if self.token in ("true", "false"):
            return self.take() == "true"
        if self.sign == "[":
            return self._list(inside)
        if self.sign == "{":
            return self._inline(inside)
        if self.sign in ('"', "'"):
            raise self.stumble("the quotation mark that ends this text")
        hint = "text stands in quotes" if self.kind == "word" else None
        raise self.stumble("a text in quotes, a day, true, false or a list", hint)

    def _text_value(self) -> str:
        if self.token in ('""', "''") and self._text[self.end : self.end + 1] == self.token[0]:
            raise self.stumble("a text on one line", hint="text over several lines has no use here")
        if self.kind == "literal":
            return self.take()[1:-1]
        if wrong := next((found for found in _ESCAPE.finditer(self.token) if not _is_escape(found[1])), None):
            raise self.stumble('an escape such as \\" or \\u00e9', hint=f"found {quoted(wrong.group())}")
        return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1]) or chr(int(found[1][1:], 16)), self.take()[1:-1])

    def _time(self) -> date | datetime:
        text = self.token.upper().replace(" ", "T")
        try:
            found = read_instant(text) if "T" in text else date.fromisoformat(text)
        except ValueError:
            raise self.stumble(
                "a day such as 2026-01-31 or a time with its zone such as 2026-01-31T12:00:00Z"
            ) from None
        self.take()
        return found

    def _list(self, inside: int) -> list[Value]:
        self.take()
        values: list[Value] = []
        while self.sign != "]":
            values.append(self._value(inside + 1))
            if self.sign != "]":
                self._expect(",", '"," or "]"')
        self.take()
        return values

    def _inline(self, inside: int) -> dict[str, Value]:
        self.take()
        values: dict[str, Value] = {}
        while self.sign != "}":
            at = self.start
            key = self._word("a key")
            if key in values:
                self._faults.note(at, f"{key} once", found="it a second time")
            self._expect("=")
            values[key] = self._value(inside + 1)
            if self.sign != "}":
                self._expect(",", '"," or "}"')
        self.take()
        return values


def _is_escape(name: str) -> bool:
    if len(name) == 1:
        return name in _ESCAPES
    number = int(name[1:], 16)
    return number < 0x110000 and not 0xD800 <= number < 0xE000
