"""Between values and rows: how letters, entries and dead letters stand in their tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final
from uuid import UUID

import msgspec

from posthouse.message import trace
from posthouse.message.changes import Entry, Leased, Letter
from posthouse.message.credential import Credential, Issue
from posthouse.message.journey import Work
from posthouse.message.message import Body, Section
from posthouse.store.ports import Queued

# What SQLite binds and returns in one column.
Cell = int | float | str | bytes | None
Row = tuple[Cell, ...]

WORKS: Final[tuple[Work, ...]] = ("take", "deliver", "resume")
WORK_NUMBER: Final = {work: number for number, work in enumerate(WORKS)}
WAITING, LEASED, HELD = 0, 1, 2
STATES: Final = ("waiting", "leased", "held")

JOURNAL_COLUMNS: Final = "seq, id, accepted, head, body, sha256, size, envelope, features, step, sections"
ENTRY_COLUMNS: Final = (
    "seq, box, lane, priority, kind, state, front, ready_at, next_at, expires, token, attempt, failures, arrived, work,"
    " size, message, correlation, holder, luggage"
)
BOX_COLUMNS: Final = "id, name"
TRACE_COLUMNS: Final = "message, stamp, step"

# Rows go in by the hundred: one statement steps once, so the writer gives the interpreter lock away once, not per row.
# Few sizes, so that every statement stays in the cache of prepared ones.
_CHUNKS: Final = (256, 64, 16, 4, 1)

_encode_sections: Final = msgspec.msgpack.Encoder().encode
_decode_sections: Final = msgspec.msgpack.Decoder(tuple[Section, ...]).decode
_decode_json: Final = msgspec.json.decode


def journal_row(seq: int, letter: Letter) -> Row:
    """Give the journal's row of a letter."""
    body = letter.body
    return (
        seq,
        letter.id.bytes,
        letter.accepted,
        letter.head,
        None if isinstance(body, Body) else body,
        body.sha256 if isinstance(body, Body) else None,
        body.size if isinstance(body, Body) else len(body),
        letter.envelope,
        letter.features,
        trace.encode(letter.step),
        _encode_sections(letter.sections) if letter.sections else None,
    )


def letter_of(row: Sequence[Any]) -> Letter:
    """Give the letter of a row of the statement `letter`."""
    identity, accepted, head, body, sha256, size, envelope, features, step, sections = row
    return Letter(
        id=UUID(bytes=bytes(identity)),
        accepted=accepted,
        head=head,
        body=Body(sha256, size) if sha256 is not None else (body or b""),
        envelope=envelope,
        features=features,
        step=trace.decode(step),
        sections=_decode_sections(sections) if sections else (),
    )


def entry_row(seq: int, entry: Entry, *, box: int, front: int, message: int, arrived: int) -> Row:
    """Give the queue's row of a new entry."""
    held = entry.not_before is not None and entry.not_before > arrived
    next_at = entry.expires
    if held and entry.not_before is not None:
        next_at = entry.not_before if next_at is None else min(next_at, entry.not_before)
    return (
        seq,
        box,
        entry.lane,
        -entry.priority if held else entry.priority,
        entry.kind,
        HELD if held else WAITING,
        front,
        0,
        next_at,
        entry.expires,
        0,
        0,
        0,
        arrived,
        WORK_NUMBER[entry.work],
        entry.size,
        message,
        entry.correlation,
        "",
        entry.luggage,
    )


def leased_of(packed: tuple[Any, Any], *, box: str, until: int) -> tuple[Leased, ...]:
    """Take apart what the statement `leased` packed into one row."""
    blob = memoryview(packed[1] or b"")
    offset = 0
    leased = []
    for row in _decode_json(packed[0]):
        parts = []
        for length in row[10:]:
            parts.append(bytes(blob[offset : offset + length]) if length else b"")
            offset += length or 0
        leased.append(_leased(row, parts, box, until))
    return tuple(leased)


def _leased(row: list[Any], parts: list[bytes], box: str, until: int) -> Leased:
    entry, token, attempt, failures, work, priority, arrived, accepted, sha256, size = row[:10]
    luggage, identity, head, body, envelope, features, step, sections = parts
    return Leased(
        entry=entry,
        token=token,
        attempt=attempt,
        failures=failures,
        until=until,
        box=box,
        work=WORKS[work],
        priority=priority,
        arrived=arrived,
        luggage=luggage,
        letter=letter_of((identity, accepted, head, body, sha256, size, envelope, features, step, sections)),
    )


def queued_of(row: Sequence[Any]) -> Queued:
    """Give what a reader sees of one queue entry."""
    return Queued(
        entry=row[0],
        token=row[1],
        box=row[2],
        work=WORKS[row[3]],
        state=STATES[row[4]],
        priority=row[5],
        kind=row[6],
        correlation=row[7],
        size=row[8],
        arrived=row[9],
        attempt=row[10],
        failures=row[11],
        next_at=row[12],
        expires=row[13],
        holder=row[14],
        message=UUID(bytes=bytes(row[15])),
    )


def issue_row(issue: Issue) -> Row:
    """Give the row of a credential."""
    known = issue.credential
    scopes = msgspec.json.encode(known.scopes).decode()
    return (known.id, known.name, scopes, issue.digest, known.created, known.expires, known.revoked)


def issue_of(row: Sequence[Any]) -> Issue:
    """Give the credential of a row."""
    identity, name, scopes, digest, created, expires, revoked = row
    known = Credential(
        id=identity, name=name, scopes=tuple(_decode_json(scopes)), created=created, expires=expires, revoked=revoked
    )
    return Issue(credential=known, digest=bytes(digest))


def inserts(table: str, columns: str, *, cells: Sequence[Cell], over: str = "") -> Iterator[tuple[str, Sequence[Cell]]]:
    """Give the statements and bindings that insert many rows, which come as the cells of all of them end to end.

    `over` is the part of an upsert behind its values: what becomes of a row that is there already.
    """
    width = columns.count(",") + 1
    start = 0
    for size in _CHUNKS:
        while len(cells) - start >= size * width:
            yield _insert(table, columns, size, over), cells[start : start + size * width]
            start += size * width


@cache
def _insert(table: str, columns: str, size: int, over: str, /) -> str:
    marks = f"({', '.join('?' * (columns.count(',') + 1))})"
    return f"INSERT INTO {table} ({columns}) VALUES {', '.join([marks] * size)}{over}"  # noqa: S608 - our own names


def written_over(key: str, columns: str) -> str:
    """Give what has a row of this key keep its place and take over these columns; no index of others is touched."""
    return f" ON CONFLICT ({key}) DO UPDATE SET " + ", ".join(f"{one} = excluded.{one}" for one in columns.split(", "))


def numbers(values: Iterable[int]) -> str:
    """Give whole numbers as the JSON list that `json_each` reads."""
    return f"[{','.join(map(str, values))}]"
