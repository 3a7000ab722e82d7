"""Attributes of a whole batch at once, where only what is true is sought: a column of values before a column's facts.

What is plain, one text or one number in each message that has the attribute, is looked up without a detour; a column in
which anything else occurs is looked at message by message.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Final

from posthouse.matching.engine.indexed.column import Column
from posthouse.matching.engine.indexed.row import Row
from posthouse.matching.value.fold import fold
from posthouse.message.attribute import Int32

_NOTHING: Final = type(None)
_TEXTS: Final = frozenset({str, _NOTHING})
_NUMBERS: Final = frozenset({int, Int32, float, _NOTHING})
_ALONE: Final = _TEXTS | _NUMBERS


def sweep_attribute(column: Column, rows: Sequence[Row]) -> None:
    """Add the facts about one attribute to every row."""
    name = column.asked.part.argument or ""
    values = [row.record.attributes.get(name) for row in rows]
    kinds = set(map(type, values))
    facts = [row.facts for row in rows]
    group = column.asked.group
    if group == "text" and kinds <= _TEXTS and not column.pattern_searches:
        _sweep_texts(column, values, facts)
    elif group == "number" and kinds <= _NUMBERS:
        _sweep_numbers(column, values, facts)
    elif group == "there" and column.there is not None:
        for into, value in zip(facts, values, strict=True):
            if value is not None:
                into.add(column.there)
    elif group in ("text", "number", "under") or not kinds <= _ALONE:
        for row, value in zip(rows, values, strict=True):
            if value is not None and not column.look(row.ground, row.facts):
                row.open |= column.bit


# `Any`: the values are text or nothing, as their types have just been looked at.
def _sweep_texts(column: Column, values: Sequence[Any], facts: Sequence[set[int]]) -> None:
    for collation, keys in column.equal.items():
        if collation == "exact":
            _add(map(keys.get, values), facts)
        else:
            _add([None if value is None else keys.get(fold(value, collation)) for value in values], facts)
    for collation, lengths in column.starts.items():
        texts = _folded(values, collation)
        for length, starts in lengths.items():
            get = starts.get
            _add([get(text[:length]) for text in texts], facts)
    for collation, lengths in column.ends.items():
        texts = _folded(values, collation)
        for length, ends in lengths.items():
            get = ends.get
            _add([get(text[-length:]) for text in texts], facts)
    for collation, members, fact in column.members:
        for into, text, value in zip(facts, _folded(values, collation), values, strict=True):
            if text in members and value is not None:
                into.add(fact)
    for collation, search in column.word_searches.items():
        search.find_in_each([text.encode("utf-8", "surrogatepass") for text in _folded(values, collation)], facts)


def _folded(values: Sequence[Any], collation: Any) -> list[str]:
    """Give the texts as they are compared; nothing is empty, which no word is that is looked up."""
    if collation == "exact":
        return [value or "" for value in values]
    return [fold(value, collation) if value else "" for value in values]


def _add(found: Any, facts: Sequence[set[int]]) -> None:
    for into, hit in zip(facts, found, strict=True):
        if hit is not None:
            into.update(hit)


# `Any`: the values are numbers or nothing.
def _sweep_numbers(column: Column, values: Sequence[Any], facts: Sequence[set[int]]) -> None:
    for keys in column.equal.values():
        _add(map(keys.get, values), facts)
    cells, bounds = column.cells, column.bounds
    if cells is not None and cells.is_asked:
        facts_at, edges = cells.around, cells.edges
        for into, value in zip(facts, values, strict=True):
            if value is not None:
                # No number stands before the first edge; what is no number at all may stand where it likes.
                into.update(facts_at(bisect_left(edges, value) or 1))
    if bounds:
        for into, value in zip(facts, values, strict=True):
            if value is not None:
                bounds.look(value, into)
