"""A record comes back from its columns, and says the same there."""

from __future__ import annotations

import msgspec
from hypothesis import given

from posthouse.matching.engine.single.evaluate import evaluate
from posthouse.matching.predicate.node import Predicate
from posthouse.matching.value.column import COLUMNS, from_row, to_row
from posthouse.matching.value.record import Record
from posthouse.testing.predicate import PREDICATES
from posthouse.testing.record import LISTS, RECORDS


@given(RECORDS)
def test_a_record_comes_back(record: Record) -> None:
    row = to_row(record)
    assert set(row) == set(COLUMNS)
    # NaN differs from itself, so what is compared is how they are told.
    assert repr(from_row(row, record.context)) == repr(record)


@given(RECORDS, PREDICATES)
def test_the_same_is_true_of_it(record: Record, predicate: Predicate) -> None:
    again = from_row(to_row(record), record.context)
    assert evaluate(predicate, again, lists=LISTS) == evaluate(predicate, record, lists=LISTS)


def test_an_older_table_lacks_columns() -> None:
    assert from_row({"message.kind": "event"}) == Record(kind="event")
    assert msgspec.structs.replace(from_row({"is_mail": True}), mail=None) == Record()
