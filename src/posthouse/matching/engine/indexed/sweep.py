"""A batch of messages before a plan: facts column by column, candidates row by row, hits as `single` gives them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, compress

from posthouse.matching.engine.indexed.attribute import sweep_attribute
from posthouse.matching.engine.indexed.column import Column
from posthouse.matching.engine.indexed.plan import Plan, Reserve
from posthouse.matching.engine.indexed.row import Row
from posthouse.matching.match import FALSE, TRUE, Hits, Truth
from posthouse.matching.value.record import Record

Found = tuple[int, int, Truth, tuple[int, ...] | None]
"""Row, number, truth and recipients: a row of `Hits`."""


def match(plan: Plan, records: Sequence[Record]) -> Hits:
    """Give what of a plan's predicates is true or unknown for each record; what is not there is false."""
    return hits_of(find(plan, records))


def hits_of(found: Sequence[Found]) -> Hits:
    """Give the columns of what was found."""
    return Hits(*zip(*found, strict=True)) if found else Hits()


def find(plan: Plan, records: Sequence[Record]) -> list[Found]:
    """Give the same row by row, sorted."""
    found: list[Found] = []
    for place, row in enumerate(look(plan, records)):
        settled = _settle_open(plan, row) if row.open else _settle(plan, row)
        if settled:
            hits = sorted(_hits_of(plan, settled))
            found += [
                (place, number, truth, row.recipients(slot) if truth is TRUE else None) for number, truth, slot in hits
            ]
    return found


def look(plan: Plan, records: Sequence[Record]) -> list[Row]:
    """Give each record with its facts."""
    rows = [Row(plan, record) for record in records]
    columns = plan.columns
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
    for column in columns:
        column.begin()
        look_at, bit = column.look, column.bit
        for row in rows:
            if not look_at(row.ground, row.facts):
                row.open |= bit


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
    facts = row.facts
    postings = list(filter(None, map(plan.postings.get, facts)))
    slots = chain.from_iterable([posting.slots for posting in postings])
    seconds = chain.from_iterable([posting.seconds for posting in postings])
    found = [*plan.always, *compress(slots, map(facts.__contains__, seconds))]
    if not found:
        return {}
    rests, needs, holds = plan.rests, plan.needs, facts.issuperset
    chosen = [slot for slot in found if holds(needs[slot])]
    if plan.only_true:
        return {slot: TRUE for slot in chosen if row.is_true(slot)}
    return {slot: TRUE if (rest := rests[slot]) is None else row.judge(rest) for slot in chosen}


def _settle_open(plan: Plan, row: Row) -> dict[int, Truth]:
    """Judge the candidates of a row in which some columns are open."""
    settled: dict[int, Truth] = {}
    masks, needs, rests, left_open = plan.masks, plan.needs, plan.rests, row.open
    holds = row.facts.issuperset
    for posting in filter(None, map(plan.postings.get, row.facts)):
        for slot, second in zip(posting.slots, posting.seconds, strict=True):
            if masks[slot] & left_open:
                settled[slot] = row.truth(slot)
            elif second in row.facts and holds(needs[slot]):
                if plan.only_true:
                    settled[slot] = TRUE if row.is_true(slot) else FALSE
                else:
                    settled[slot] = TRUE if (rest := rests[slot]) is None else row.judge(rest)
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
