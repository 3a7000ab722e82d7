"""Proving the audit of a store from its file, beside the office that goes on writing it, on as many cores as there are.

A record holds the chain before it, so each part of the audit can be proved by itself, from where the one before ends.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from posthouse.message.audit import Seal
from posthouse.message.proof import BEGINNING, Flaw, Link, prove
from posthouse.store.sqlite.connection import all_statements, open_reader, wrapped
from posthouse.store.sqlite.gaterows import seal_of

# One read; large enough that what a statement costs does not count, small enough to hold.
_BLOCK: Final = 8_192
# Below this many records a process costs more than it brings.
_PER_PROCESS: Final = 250_000
_SEALS: Final = 1_000


class AuditFile:
    """The audit in the file of a store, read only."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self._sql = all_statements()
        self._connection = open_reader(self._path)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def last(self) -> int:
        """Give the number of the newest record."""
        rows = self._ask("audit-end")
        return int(rows[0][0]) if rows else 0

    def chain_at(self, number: int) -> bytes | None:
        """Give the chain as it stands after a record."""
        rows = self._ask("audit-chain", number)
        return bytes(rows[0][0]) if rows else None

    def seals(self) -> Iterator[Seal]:
        """Give all seals in the order they were made."""
        last = 0
        while rows := self._ask("seals-page", last, _SEALS):
            yield from (seal_of(content) for _, content in rows)
            last = rows[-1][0]

    def prove(self, behind: Link, last: int) -> Link | Flaw:
        """Follow the chain up to a record."""
        while behind.number < last:
            rows = self._ask("audit-block", behind.number, min(_BLOCK, last - behind.number))
            if not rows:
                return Flaw(behind.number + 1, "removed", f"records {behind.number + 1} to {last} are missing")
            found = prove(rows, behind)
            if isinstance(found, Flaw):
                return found
            behind = found
        return behind

    # `Any`: rows of whatever the statement gives.
    def _ask(self, statement: str, *bindings: int) -> list[Any]:
        with wrapped(self._path):
            return self._connection.execute(self._sql[statement], bindings).fetchall()


def prove_file(path: Path, *, per_process: int = _PER_PROCESS) -> Link | Flaw:
    """Follow the whole chain of a store; give where it ends, or its first flaw."""
    with closing(AuditFile(path)) as file:
        last = file.last()
        shares = max(1, min(os.cpu_count() or 1, last // per_process))
        if shares == 1:
            return file.prove(BEGINNING, last)
        starts = [_link(file, last * share // shares) for share in range(shares)]
    ends = [start.number for start in starts[1:]] + [last]
    # Not a copy of this process: it has threads and open files.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(shares, mp_context=context) as pool:
        results = list(pool.map(_prove_part, [path] * shares, starts, ends))
    return next((found for found in results if isinstance(found, Flaw)), results[-1])


def _prove_part(path: Path, behind: Link, last: int) -> Link | Flaw:
    with closing(AuditFile(path)) as file:
        return file.prove(behind, last)


def _link(file: AuditFile, number: int) -> Link:
    # Where the record is gone, whoever proves the part before says so.
    return Link(number, file.chain_at(number) or b"") if number else BEGINNING
