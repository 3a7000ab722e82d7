"""Reads names: a plain one is an attribute of the message, one that begins with @ any other part of it."""

from __future__ import annotations

import re
from typing import Final

from posthouse.matching.language.elvin.fault import LIMIT, MISMATCH, PARSE
from posthouse.matching.language.elvin.literal import unescape
from posthouse.matching.language.elvin.sheet import Sheet
from posthouse.matching.language.elvin.word import MAX_NAME
from posthouse.matching.language.reader import Stumble, Token
from posthouse.matching.predicate.check import nearest
from posthouse.matching.predicate.node import Part
from posthouse.matching.value.catalogue import ALIASES, CATALOGUE, Entry
from posthouse.matching.value.type import GROUPS

# A calendar has no constants here.
_GROUPS: Final = frozenset({"text", "number", "truth"})
_SIGNS: Final = re.compile(r"==|!=|<=|>=|&&|\|\||\^\^|[=<>]")


def is_readable(entry: Entry) -> bool:
    """Say whether a subscription may look at this part: it belongs to the message, and has constants here.

    Nothing of recipients: a subscriber could ask who is a blind one.
    """
    return entry.scope == "message" and GROUPS.get(entry.type) in _GROUPS and entry.argument != "tail"


READABLE: Final = tuple(name for name, entry in CATALOGUE.items() if is_readable(entry))


class PartReader:
    """Reads one name at a time."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet: Final = sheet
        self._reader: Final = sheet.reader

    def read_name(self, token: Token) -> Part:
        """Give the attribute of a name that was taken."""
        name = unescape(token.text)
        size = len(name.encode(errors="surrogatepass"))
        if size > MAX_NAME:
            expected = f"a name of at most {MAX_NAME:,} bytes"
            self._sheet.note(expected, code=LIMIT, at=token.start, found=f"one of {size:,}")
        return self._sheet.put(Part("attribute", name), token.start)

    def read_part(self) -> Part:
        """Read the name of a part of the message other than an attribute."""
        token = self._reader.take()
        name = token.text[1:].lower()
        name = ALIASES.get(name, name)
        entry = CATALOGUE.get(name)
        if entry is None or not is_readable(entry):
            hint: str | None = "subscriptions look at text, numbers and truths of the message itself"
            if name == "attribute":
                hint = "an attribute has its plain name, without @"
            elif entry is None:
                hint = re.sub(r"(mean |or )(?=\w)", r"\1@", nearest(name, READABLE) or "") or None
            expected = "a part of the message that subscriptions may read"
            self._sheet.note(expected, code=PARSE, at=token.start, found=f'"{token.text[:60]}"', hint=hint)
            raise Stumble
        argument = self._read_argument(entry) if entry.argument else None
        return self._sheet.put(Part(name, argument), token.start)

    def _read_argument(self, entry: Entry) -> str:
        reader = self._reader
        example = f'as in @{entry.name}("…")'
        if reader.token.text != "(":
            self._sheet.stumble("( and a name in quotes", hint=example)
        self._sheet.open()
        if reader.token.kind != "text":
            self._sheet.stumble("a name in quotes", code=MISMATCH, hint=example)
        name = unescape(reader.take().text[1:-1])
        if not name:
            self._sheet.note("a name that is not empty", at=reader.before.start, found='""')
        if reader.token.text != ")":
            self._sheet.stumble(")", hint=example)
        reader.take()
        self._sheet.opened -= 1
        return name

    def swallowed(self, written: str, following: str = "") -> str | None:
        """Give the hint for a name that holds a sign its writer meant to stand beside it."""
        if len(written) > 60 or not _SIGNS.search(written):
            return None
        spaced = _SIGNS.sub(lambda found: f" {'==' if found.group() == '=' else found.group()} ", written)
        meant = f"{spaced.strip()} {following[:20]}" if _SIGNS.fullmatch(spaced.split()[-1]) else spaced.strip()
        return f"a name goes on to the next blank: write {meant.strip()}"
