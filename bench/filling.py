"""Writes a filled store: rows as the store itself would write them, but in one transaction with one sync at its end."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple
from uuid import UUID

from rich.console import Console
from rich.progress import track

from bench import workloads
from bench.plan import Size
from posthouse.message import features
from posthouse.message.changes import Letter, lane_of
from posthouse.message.features import VERSION, Features
from posthouse.message.trace import Step
from posthouse.store.sqlite.connection import all_statements, open_writer
from posthouse.store.sqlite.lanes import Newcomers
from posthouse.store.sqlite.ledger import Ledger
from posthouse.store.sqlite.rows import (
    JOURNAL_COLUMNS,
    WAITING,
    Arrival,
    Cell,
    encode_arrivals,
    inserts,
    journal_row,
)

# A message of the filled store is a copy of one of so many, with an id, a time and a recipient of its own.
_PATTERNS: Final = 2_048
_FIRST_TIME: Final = int(workloads.EPOCH.timestamp()) * 1_000_000
_TIME_BETWEEN: Final = 100_000
_CHUNK: Final = 4_096
_FAST: Final = ("PRAGMA journal_mode = off", "PRAGMA synchronous = off", "PRAGMA cache_size = -1000000")

# What stands in a pattern where each copy has its own; found by their bytes, so all are unlikely and unlike.
_ID: Final = UUID("01b58d5c-9f4a-7e63-8b1d-6a2f5c7e9d31")
_TIME: Final = 0x2F63_A9D1_7B45_E80C
_MAILBOX: Final = workloads.mailbox(987_654)
_SENDER: Final = workloads.sender(987_654)


class Pattern(NamedTuple):
    """A message composed once."""

    head: bytes
    body: bytes
    envelope: bytes

    def letter(self, identity: UUID, *, mailbox: str, sender: str, accepted: int) -> Letter:
        """Give the journal's record of a copy."""
        to, by = mailbox.encode(), sender.encode()
        head = self.head.replace(_ID.bytes, identity.bytes).replace(_MAILBOX.encode(), to)
        return Letter(
            id=identity,
            accepted=accepted,
            head=head.replace(_TIME.to_bytes(8), accepted.to_bytes(8)).replace(_SENDER.encode(), by),
            body=self.body,
            envelope=self.envelope.replace(_MAILBOX.encode(), to).replace(_SENDER.encode(), by),
            features=features.encode(Features(VERSION, sender, 1, len(self.body), accepted)),
            step=Step(accepted, "accepted", f"#{mailbox}"),
        )


class Rows(NamedTuple):
    """Rows that follow one another: letters as their cells, end to end, and entries."""

    letters: list[Cell]
    entries: list[Arrival]


def fill(path: Path, seed: int, *, size: Size) -> None:
    """Write a filled store; it is on the disk when this returns."""
    connection = open_writer(str(path))
    for pragma in _FAST:
        connection.execute(pragma).fetchall()
    statements = all_statements()
    ledger = Ledger(connection, statements)
    connection.execute("BEGIN").fetchall()
    boxes = [ledger.box_or_new(f"#{workloads.mailbox(number)}") for number in range(size.mailboxes)]
    chunks = track(
        rows(seed, size=size, boxes=boxes),
        description=f"Writing a store with {size.journal:,} messages",
        total=-(-size.journal // _CHUNK),
        console=Console(stderr=True),
        transient=True,
    )
    for chunk in chunks:
        ledger.write_boxes()
        for statement, cells in inserts("journal", JOURNAL_COLUMNS, cells=chunk.letters):
            connection.execute(statement, cells).fetchall()
        connection.execute(statements["entries-add"], (encode_arrivals(chunk.entries).decode(), b"")).fetchall()
    connection.execute("COMMIT").fetchall()
    connection.execute("PRAGMA journal_mode = wal").fetchall()
    connection.close()
    with path.open("rb") as file:
        os.fsync(file.fileno())


def rows(seed: int, *, size: Size, boxes: Sequence[int]) -> Iterator[Rows]:
    """Give the rows of a filled store: any message may be one of those that still wait."""
    chance = random.Random(f"posthouse filled {workloads.VERSION} {seed}")
    patterns = [_pattern(chance) for _ in range(min(_PATTERNS, size.journal))]
    senders = [workloads.sender(number) for number in range(size.senders)]
    lanes = [lane_of(f"from {sender}") for sender in senders]
    queued = set(chance.sample(range(1, size.journal + 1), size.queued))
    newcomers = Newcomers()
    written = Rows([], [])
    last_entry = 0
    for number in range(1, size.journal + 1):
        pattern = patterns[int(chance.random() * len(patterns))]
        place, by = int(chance.random() * size.mailboxes), int(chance.random() * size.senders)
        name, accepted = workloads.mailbox(place), _FIRST_TIME + number * _TIME_BETWEEN
        letter = pattern.letter(_identity(chance, accepted), mailbox=name, sender=senders[by], accepted=accepted)
        written.letters.extend(journal_row(number, letter))
        if number in queued:
            last_entry += 1
            box, lane, length = boxes[place], lanes[by], len(pattern.body)
            mark = newcomers.mark(box, lane, priority=5, kind="mail")
            arrival = Arrival(
                last_entry, box, lane, 5, "mail", WAITING, mark, None, None, accepted, 0, length, number, None, 1, 0
            )  # fmt: skip
            written.entries.append(arrival)
        if number % _CHUNK == 0 or number == size.journal:
            yield written
            written = Rows([], [])


def _pattern(chance: random.Random) -> Pattern:
    draft = workloads.draft(chance, to=_MAILBOX, by=_SENDER)
    head, body, envelope = workloads.written(draft, identity=_ID, created=_TIME)
    assert head.count(_TIME.to_bytes(8)) == head.count(_MAILBOX.encode()) == 1
    return Pattern(head, body, envelope)


def _identity(chance: random.Random, accepted: int) -> UUID:
    """Draw a UUIDv7 of that time: RFC 9562, with chance in its lower bits."""
    high = (accepted // 1000) << 16 | 0x7000 | chance.getrandbits(12)
    return UUID(int=high << 64 | 0x8000_0000_0000_0000 | chance.getrandbits(62))
