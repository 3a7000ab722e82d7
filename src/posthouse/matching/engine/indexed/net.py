"""What is asked of plain attributes, handed to the compiled part in the form it reads.

`native.c` says why it is there. Where it was not compiled, or a column asks what it does not know, `sweep` does it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from posthouse.matching.engine.indexed.bound import Sign
from posthouse.matching.engine.indexed.check import Checks
from posthouse.matching.engine.indexed.column import Column
from posthouse.matching.engine.indexed.posting import Postings
from posthouse.matching.engine.indexed.search import native
from posthouse.matching.value.fold import fold
from posthouse.message.attribute import Int32

_MOST_EXACT: Final = 2**53
_SIGNS: Final[dict[Sign, int]] = {"<": 0, "<=": 1, ">": 2, ">=": 3}
_READ: Final = frozenset({"text", "number", "truth", "instant", "date", "time", "weekday", "there"})
# `Any`: tuples in tuples, taken apart and looked at in C.
Told = tuple[Any, ...]


class Rows(msgspec.Struct, frozen=True, gc=False):
    """The rows of numbers of a plan that is made; each is held, so that none of them grows any more."""

    numbers: array[int]
    flags: bytearray
    postings: Postings
    need_ends: array[int]
    needs: array[int]
    checks: Checks
    always: array[int]


class Cast(msgspec.Struct, frozen=True):
    """A net, and the columns that are looked at beside it."""

    # `Any`: None where there is no compiled part, and so nothing that could be called.
    net: Any
    beside: tuple[Column, ...]


def make_net(columns: Sequence[Column], rows: Rows) -> Cast | None:
    """Give the net of a plan; None where there is no compiled part."""
    if native is None:
        return None
    read = [column for column in columns if _is_read(column)]
    by_name: dict[str, list[Column]] = {name: [] for name in rows.checks.names}
    for column in read:
        by_name.setdefault(column.asked.part.argument or "", []).append(column)
    fields = tuple(_field(of_one) for of_one in by_name.values())
    net = native.Net(tuple(by_name), fields, _views(rows), rows.checks.texts, fold, Int32)
    return Cast(net, tuple(column for column in columns if column not in read))


def _views(rows: Rows) -> Told:
    checks, postings = rows.checks, rows.postings
    return (
        *(rows.numbers, rows.flags, postings.starts, postings.slots, postings.seconds, rows.need_ends, rows.needs),
        *(checks.range_ends, checks.range_places, checks.lows, checks.highs),
        *(checks.text_ends, checks.text_places, checks.text_numbers, rows.always),
    )


def _is_read(column: Column) -> bool:
    """Say whether all that a column asks of plain values is known to the net."""
    if column.asked.part.name != "attribute" or column.asked.group not in _READ or column.pattern_searches:
        return False
    numbers = [number for bounds, _ in column.bounds.rows.values() for number in bounds]
    numbers += column.cells.edges if column.cells is not None else []
    if not all(type(number) is float or abs(number) <= _MOST_EXACT for number in numbers):
        return False
    return all(isinstance(search, native.Lexicon) for search in column.word_searches.values())


def _field(columns: Iterable[Column]) -> Told:
    """Give what is asked of one attribute, in the order in which `read_field` takes it."""
    there = 0
    forms: tuple[Told, ...] = ()
    numbers: tuple[Told, ...] = ((), (), ())
    for column in columns:
        if column.asked.group == "there":
            there = column.there or 0
        elif column.asked.group == "text":
            forms = tuple(_form(column, collation) for collation in _collations(column))
        elif column.asked.group == "number":
            numbers = (tuple(column.equal.values()), _cells(column), _bounds(column))
    return there, forms, numbers[0], numbers[1] or None, numbers[2]


def _collations(column: Column) -> list[Any]:
    of_members = (collation for collation, _, _ in column.members)
    return list(dict.fromkeys((*column.equal, *column.starts, *column.ends, *column.word_searches, *of_members)))


# `Any`: a collation.
def _form(column: Column, collation: Any) -> Told:
    return (
        None if collation == "exact" else collation,
        column.equal.get(collation),
        tuple((members, fact) for other, members, fact in column.members if other == collation),
        _words(column.starts.get(collation)),
        _words(column.ends.get(collation)),
        column.word_searches.get(collation),
    )


# `Any`: a Lexicon, where there is one.
def _words(by_length: dict[int, dict[str, list[int]]] | None) -> Any:
    if by_length is None:
        return None
    each = (item for filed in by_length.values() for item in filed.items())
    return native.Lexicon({word.encode("utf-8", "surrogatepass"): tuple(facts) for word, facts in each})


def _cells(column: Column) -> Told:
    cells = column.cells
    if cells is None or not cells.is_asked:
        return ()
    return array("d", cells.edges), cells.starts, cells.facts


def _bounds(column: Column) -> Told:
    rows = column.bounds.rows.items()
    return tuple((_SIGNS[sign], array("d", bounds), array("I", facts)) for sign, (bounds, facts) in rows)
