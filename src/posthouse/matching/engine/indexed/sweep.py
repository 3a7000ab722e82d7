"""A batch of messages before a plan: facts column by column, candidates row by row, hits as `single` gives them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress, repeat

from posthouse.matching.engine.indexed.attribute import sweep_attribute
from posthouse.matching.engine.indexed.column import Column
from posthouse.matching.engine.indexed.net import Cast
from posthouse.matching.engine.indexed.plan import Plan, Reserve
from posthouse.matching.engine.indexed.row import Row
from posthouse.matching.match import FALSE, TRUE, Hits, Truth
from posthouse.matching.value.record import Record

Found = tuple[int, int, Truth, tuple[int, ...] | None]
"""Row, number, truth and recipients: a row of `Hits`."""


def match(plan: Plan, records: Sequence[Record]) -> Hits:
    """Give what of a plan's predicates is true or unknown for each record; what is not there is false."""
    if plan.cast is None or not plan.only_true:
        return hits_of(find(plan, records))
    rows, numbers, judged = _net(plan, plan.cast, records)
    if not judged:
        return Hits(tuple(rows), tuple(numbers), (TRUE,) * len(rows), (None,) * len(rows))
    return hits_of(_merged(rows, numbers, judged))


def hits_of(found: Sequence[Found]) -> Hits:
    """Give the columns of what was found."""
    return Hits(*zip(*found, strict=True)) if found else Hits()


def find(plan: Plan, records: Sequence[Record]) -> list[Found]:
    """Give the same row by row, sorted."""
    if plan.cast is not None and plan.only_true:
        return _merged(*_net(plan, plan.cast, records))
    return list(_settle_all(plan, enumerate(look(plan, records))))


def _settle_all(plan: Plan, rows: Iterable[tuple[int, Row]]) -> Iterator[Found]:
    for place, row in rows:
        settled = _settle_open(plan, row) if row.open else _settle(plan, row)
        if settled:
            for number, truth, slot in sorted(_hits_of(plan, settled)):
                yield place, number, truth, row.recipients(slot) if truth is TRUE else None


def _merged(rows: list[int], numbers: list[int], judged: list[Found]) -> list[Found]:
    found: list[Found] = list(zip(rows, numbers, repeat(TRUE), repeat(None), strict=False))
    return sorted(found + judged) if judged else found


def _net(plan: Plan, cast: Cast, records: Sequence[Record]) -> tuple[list[int], list[int], list[Found]]:
    """Give rows and numbers of what the compiled part finds true, and beside them what is judged here."""
    looked: dict[int, Row] = {}
    beside: list[set[int] | None] | None = None
    if cast.beside:
        looked = dict(enumerate(look(plan, records, columns=cast.beside)))
        beside = [None if row.open else row.facts for row in looked.values()]
    rows, numbers, unsure, left = cast.net.find(records, beside)
    judged: list[Found] = []
    for place, slot in unsure:
        row = looked.get(place)
        if row is None:
            row = looked[place] = Row(plan, records[place])
        if row.is_rest_true(slot):
            judged.append((place, plan.numbers[slot], TRUE, row.recipients(slot)))
    if left:
        judged += _settle_all(plan, zip(left, look(plan, [records[place] for place in left]), strict=True))
    return rows, numbers, judged


def look(plan: Plan, records: Sequence[Record], *, columns: tuple[Column, ...] | None = None) -> list[Row]:
    """Give each record with its facts, from all columns or some of them."""
    rows = [Row(plan, record) for record in records]
    columns = plan.columns if columns is None else columns
    if plan.only_true:
        for column in columns:
            if column.asked.part.name == "attribute":
                sweep_attribute(column, rows)
        columns = tuple(column for column in columns if column.asked.part.name != "attribute")
    _look_at(columns, rows)
    if plan.later:
        _look_at(plan.later, [row for row in rows if row.open])
    return rows


def _look_at(columns: tuple[Column, ...], rows: list[Row]) -> None:
    grounds, facts = [row.ground for row in rows], [row.facts for row in rows]
    for column in columns:
        for place in column.look_at_each(grounds, facts):
            rows[place].open |= column.bit


def candidates(plan: Plan, records: Sequence[Record]) -> list[int]:
    """Give how many predicates are judged for each record, beside those that are found false by their facts alone."""
    return [len((_settle_open if row.open else _settle)(plan, row)) for row in look(plan, records)]


def _hits_of(plan: Plan, settled: dict[int, Truth]) -> Iterator[tuple[int, Truth, int]]:
    """Give number, truth and slot of what is not false."""
    numbers, dead = plan.numbers, plan.dead
    for slot, truth in settled.items():
        if truth is not FALSE and (truth is TRUE or not plan.only_true) and slot not in dead:
            yield numbers[slot], truth, slot


def _settle(plan: Plan, row: Row) -> dict[int, Truth]:
    """Judge the candidates of a row whose facts decide everything they stand for."""
    facts, rests = row.facts, plan.rests
    if plan.cast is not None and not plan.only_true:
        chosen = plan.cast.net.candidates(facts)
    else:
        slots, seconds = plan.postings.under(facts)
        found = compress(chain.from_iterable(slots), map(facts.__contains__, chain.from_iterable(seconds)))
        needed, holds = plan.needed, facts.issuperset
        chosen = [slot for slot in chain(plan.always, found) if holds(needed(slot))]
    if not chosen:
        return {}
    if plan.only_true:
        return {slot: TRUE for slot in chosen if row.is_true(slot)}
    return {slot: row.rest(slot) if slot in rests else TRUE for slot in chosen}


def _settle_open(plan: Plan, row: Row) -> dict[int, Truth]:
    """Judge the candidates of a row in which some columns are open."""
    settled: dict[int, Truth] = {}
    masks, rests, left_open = plan.masks, plan.rests, row.open
    holds = row.facts.issuperset
    for slot, second in zip(*map(chain.from_iterable, plan.postings.under(row.facts)), strict=True):
        if masks[slot] & left_open:
            settled[slot] = row.truth(slot)
        elif second in row.facts and holds(plan.needed(slot)):
            if plan.only_true:
                settled[slot] = TRUE if row.is_true(slot) else FALSE
            else:
                settled[slot] = row.rest(slot) if slot in rests else TRUE
    for slot in plan.always:
        settled[slot] = row.truth(slot)
    for bit, reserve in plan.reserves.items():
        if bit & left_open:
            for slot in _called(reserve, row):
                if slot not in settled:
                    settled[slot] = row.truth(slot)
    return settled


def _called(reserve: Reserve, row: Row) -> Iterator[int]:
    """Give the predicates that may be unknown because the column of the reserve is open."""
    yield from reserve.rest
    for fact in reserve.by_fact.keys() & row.facts:
        yield from reserve.by_fact[fact]
    for bit, slots in reserve.by_column.items():
        if bit & row.open:
            yield from slots
