"""TOML as a book of the organisation is written in: tables `[kind."name"]` of keys with values, each with its place.

It reads less than TOML has (no text over several lines, no dotted keys, no numbers), and what it reads means the same
in TOML. Unlike the reader of the standard library it tells every fault, with its place, and goes on at the next line.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from posthouse.organisation.form.fault import Faults
from posthouse.organisation.form.walk import Stumble, Value, Walk

_EOL: Final = r"[ \t]*+(?:#[^\n]*+)?(?:\r?\n|\Z)"
_PLAIN: Final = r'"[^"\\\x00-\x1f\x7f]*+"'
_KEY: Final = r"[ \t]*+([A-Za-z0-9_-]++)[ \t]*+=[ \t]*+"
_TEXT_LINE: Final = re.compile(rf"{_KEY}({_PLAIN}){_EOL}")
_LIST_LINE: Final = re.compile(rf"{_KEY}\[\s*+((?:{_PLAIN}\s*+(?:,\s*+{_PLAIN}\s*+)*+(?:,\s*+)?+)?+)\]{_EOL}")
_HEADER: Final = re.compile(rf"[ \t]*+\[[ \t]*+([A-Za-z0-9_-]++)[ \t]*+\.[ \t]*+({_PLAIN})[ \t]*+\]{_EOL}")
_NOTHING: Final = re.compile(rf"(?:[ \t]*+(?:#[^\n]*+)?\r?\n)++|{_EOL}")
_START: Final = re.compile(r"^[ \t]*+(?:\[[ \t]*+[A-Za-z]|[A-Za-z0-9_-]++[ \t]*+=)", re.MULTILINE)
LOST: Final = "["
"""The kind of a table whose header has a fault."""


class Table(msgspec.Struct, gc=False):
    """One table: what it is about, what it says, and where."""

    kind: str
    name: str
    at: int
    values: dict[str, Value]
    places: dict[str, int]
    """Where the value of each key begins."""


def scan(text: str, faults: Faults) -> list[Table]:
    """Give the tables of a text, the first of them for the keys before any header."""
    tables = [Table("", "", 0, {}, {})]
    at, end = int(text.startswith("\ufeff")), len(text)
    while at < end:
        table = tables[-1]
        if line := _TEXT_LINE.match(text, at):
            _put(table, line[1], line[2][1:-1], line.start(2), faults=faults)
        elif line := _HEADER.match(text, at):
            tables.append(Table(line[1], line[2][1:-1], line.start(2), {}, {}))
        elif line := _NOTHING.match(text, at):
            pass
        elif line := _LIST_LINE.match(text, at):
            # The marks stand at every second place, as no plain text holds one.
            _put(table, line[1], list(line[2].split('"')[1::2]), line.start(2), faults=faults)
        else:
            at = _read_slowly(text, at, tables=tables, faults=faults)
            continue
        at = line.end()
    return tables


def item_place(text: str, at: int, *, number: int) -> int:
    """Give where an item of a list begins, of which the first stands at or behind `at`."""
    walk = Walk(text, at, faults=Faults(""))
    if walk.sign == "[":
        walk.take()
    inside = 0
    while number or inside:
        if not walk.kind:
            return at
        if inside == 0 and walk.sign == ",":
            number -= 1
        inside += {"[": 1, "{": 1, "]": -1, "}": -1}.get(walk.sign, 0)
        walk.take()
    return walk.start


def _put(table: Table, key: str, value: Value, at: int, *, faults: Faults) -> None:
    if key in table.values:
        faults.note(at, f"{key} once in a table", found="it a second time")
        return
    table.values[key] = value
    table.places[key] = at


def _read_slowly(text: str, at: int, *, tables: list[Table], faults: Faults) -> int:
    """Read what is written in no usual way, or note what is wrong with it; give where to go on."""
    walk = Walk(text, at, faults=faults)
    try:
        if walk.sign == "[":
            # Where the header cannot be read, what stands below belongs to nothing that is known.
            tables.append(Table(LOST, "", at, {}, {}))
            kind, name, place = walk.header()
            tables[-1] = Table(kind, name, place, {}, {})
        else:
            key, place, value = walk.pair()
            _put(tables[-1], key, value, place, faults=faults)
        return walk.end_of_line()
    except Stumble:
        line_end = text.find("\n", walk.start)
        following = _START.search(text, line_end + 1) if line_end >= 0 else None
        return following.start() if following else len(text)
