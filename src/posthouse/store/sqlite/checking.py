"""A check of everything a store holds, beside an office that goes on working.

It reads on a connection of its own, a piece at a time. Only the check of one table's pages takes its time; meanwhile
the log grows, and nobody waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, Final

import apsw

from posthouse.clock import SystemClock
from posthouse.errors import PosthouseError
from posthouse.message.message import Body
from posthouse.message.proof import BEGINNING, Flaw, Link, prove
from posthouse.store.ports import StoreDamaged
from posthouse.store.queries import load
from posthouse.store.sqlite.connection import all_statements, open_reader, wrapped
from posthouse.store.sqlite.gaterows import seal_of
from posthouse.store.sqlite.manifest import digest
from posthouse.store.sqlite.store import SqliteStore

# A body may have been saved a moment ago, for a message that is not committed yet.
_SETTLED_AFTER_S: Final = 3_600.0
_PIECE: Final = 10_000
_MOST_TOLD: Final = 1_000

_TABLES: Final = (
    "journal",
    "trace",
    "box",
    "entry",
    "dead",
    "aside",
    "mailbox",
    "idempotency",
    "version",
    "credential",
    "gated",
    "pile",
    "docket",
    "mailbag",
    "edition",
    "activation",
    "account",
    "audit",
    "seal",
)

# (statement that ends a piece, statement that finds faults in it, what a number found means)
_ROWS: Final = (
    ("piece-of-journal", "letters-askew", "journal row {}: the lengths it gives are not those of what it holds"),
    ("piece-of-entries", "entries-askew", "queue entry {}: its state contradicts itself"),
    ("piece-of-entries", "entries-without-message", "queue entry {}: its message is not in the journal"),
    ("piece-of-entries", "entries-without-box", "queue entry {}: its box has no name"),
    ("piece-of-trace", "traces-without-message", "trace of journal row {}: there is no such row"),
    ("piece-of-cases", "cases-without-message", "case {}: its message is not in the journal"),
    ("piece-of-dockets", "dockets-without-case", "docket of case {}: there is no such case"),
    ("piece-of-dockets", "dockets-without-pile", "docket of case {}: it lies nowhere"),
)
_WHOLE: Final = (
    ("dead-without-message", "dead letter {}: its message is not in the journal"),
    ("asides-without-message", "message set aside {}: it is not in the journal"),
    ("piles-miscounted", "pile {}: it does not hold as many open dockets as it says"),
    ("activations-without-edition", "activation {}: its book has no such edition"),
)


async def verify(store: SqliteStore, *, repair: bool) -> list[str]:
    """Check pages, rows and bodies; one line for each fault. With `repair`, bodies nobody refers to are removed."""
    return await asyncio.to_thread(Check(store, repair=repair).run)


class Check:
    """One check; used in one thread."""

    def __init__(self, store: SqliteStore, *, repair: bool) -> None:
        self._store = store
        self._repair = repair
        self._sql = all_statements() | load("posthouse.store.sqlite", "checks.sql")
        self._connection: apsw.Connection | None = None

    def run(self) -> list[str]:
        """Give the faults."""
        told: list[str] = []
        parts: tuple[tuple[str, Callable[[], Iterator[str]]], ...] = (
            ("pages", self._pages),
            ("rows", self._rows),
            ("lanes", self._lanes),
            ("audit", self._audit),
            ("bodies", self._bodies),
            ("orphans", self._orphans),
        )
        try:
            for name, part in parts:
                told += _first(part(), name)
        finally:
            if self._connection is not None:
                self._connection.close()
        return told

    def _pages(self) -> Iterator[str]:
        for table in _TABLES:
            try:
                rows = self._ask(f"PRAGMA quick_check({table})")
            except StoreDamaged as fault:
                rows = [(fault.what,)]
            yield from (f"table {table}: {row[0]}" for row in rows if row[0] != "ok")

    def _rows(self) -> Iterator[str]:
        for piece, faults, wording in _ROWS:
            first = 0
            while (last := self._ask(self._sql[piece], first, _PIECE)[0][0]) is not None:
                yield from (wording.format(row[0]) for row in self._ask(self._sql[faults], first, last))
                first = last
        for faults, wording in _WHOLE:
            yield from (wording.format(row[0]) for row in self._ask(self._sql[faults]))

    def _lanes(self) -> Iterator[str]:
        last = 0
        while boxes := self._ask(self._sql["boxes"], last, 100):
            for box, name in boxes:
                for lane, priority in self._ask(self._sql["lanes-with-wrong-head"], box):
                    yield f"box {name}, lane {lane}, priority {priority}: the first is not marked as the only head"
                for lane, priority, kind in self._ask(self._sql["kinds-with-wrong-first"], box):
                    yield f"box {name}, lane {lane}, priority {priority}: the first {kind} is not marked as the first"
            last = boxes[-1][0]

    def _audit(self) -> Iterator[str]:
        """Follow the chain; that its seals are signed is proved by `posthouse audit verify`."""
        found: Link | Flaw = BEGINNING
        while isinstance(found, Link) and (rows := self._ask(self._sql["audit-block"], found.number, _PIECE)):
            found = prove(rows, found)
        if isinstance(found, Flaw):
            yield f"audit: {found.text}"
        last = 0
        while rows := self._ask(self._sql["seals-page"], last, _PIECE):
            for seal in (seal_of(content) for _, content in rows):
                chain = self._ask(self._sql["audit-chain"], seal.number)
                if [(seal.chain,)] != chain:
                    yield f"audit: record {seal.number} was sealed and is {'not the same' if chain else 'gone'}"
            last = rows[-1][0]

    def _bodies(self) -> Iterator[str]:
        last = ""
        while rows := self._ask(self._sql["files"], last, 500):
            for sha256, size in rows:
                yield from self._body(Body(sha256, size))
            last = rows[-1][0]

    def _body(self, body: Body) -> Iterator[str]:
        path = self._store.bodies.path(body.sha256)
        try:
            size = path.stat().st_size
            if size != body.size:
                yield f"body {body.sha256}: expected {body.size} bytes, found {size}"
            elif digest(path) != body.sha256:
                yield f"body {body.sha256}: its content is not what its name says"
        except FileNotFoundError:
            yield f"body {body.sha256}: the file is missing"
        except OSError as fault:
            yield f"body {body.sha256}: it cannot be read: {fault.strerror}"

    def _orphans(self) -> Iterator[str]:
        moment = SystemClock().now() / 1_000_000 - _SETTLED_AFTER_S
        for sha256 in self._store.bodies.addresses():
            if self._ask(self._sql["file-known"], sha256)[0][0] or not self._store.bodies.is_older(sha256, moment):
                continue
            gone = self._repair and self._store.bodies.remove_older(sha256, moment)
            yield f"body {sha256}: no message refers to it{'; removed' if gone else ''}"

    # `Any`: rows of whatever the statement gives.
    def _ask(self, statement: str, *bindings: int | str) -> list[Any]:
        path = str(self._store.path)
        if self._connection is None:
            self._connection = open_reader(path, self._store.vfs)
        with wrapped(path):
            return self._connection.execute(statement, bindings).fetchall()


def _first(lines: Iterator[str], part: str) -> Iterator[str]:
    """Give the first lines of one part; what ends it is a fault like the others."""
    try:
        for number, line in enumerate(lines):
            if number == _MOST_TOLD:
                yield f"{part}: there are more faults than these"
                return
            yield line
    except PosthouseError as fault:
        yield f"{part}: the check ended here: {fault.what}"
