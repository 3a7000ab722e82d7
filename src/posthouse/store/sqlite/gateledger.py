"""What the writer knows by heart of the gate: the numbers of the piles, and where the chain of the audit stands."""

from __future__ import annotations

from typing import Any

import apsw

from posthouse.message.audit import START, linked, record_of
from posthouse.message.case import AuditEntry
from posthouse.store.sqlite.gaterows import audit_row
from posthouse.store.sqlite.rows import Row


class GateLedger:
    """Part of the ledger; after a transaction that failed everything is read again."""

    def __init__(self, cursor: apsw.Cursor, sql: dict[str, str]) -> None:
        self._cursor = cursor
        self._sql = sql
        self._last_epoch = 0
        self.reload()
        # Each opening of the store begins an epoch; one in which nothing is recorded leaves no trace.
        self._epoch = self._last_epoch + 1

    def reload(self) -> None:
        """Read everything from the database again."""
        # `Any`: rows of what the statements give.
        piles: Any = self._cursor.execute(self._sql["piles"]).fetchall()
        self._piles: dict[tuple[str, str], int] = {(role, folder): number for role, folder, number in piles}
        end: Any = self._cursor.execute(self._sql["audit-end"]).fetchall()
        self.last_record: int
        self._chain: bytes
        self.last_record, self._chain, self._last_epoch = end[0] if end else (0, START, 0)

    def books(self) -> dict[str, int]:
        """Give the edition in force of each book, as the database has it."""
        rows: Any = self._cursor.execute(self._sql["books-in-force"]).fetchall()
        return dict(rows)

    def pile(self, gatekeeper: str, folder: str) -> int:
        """Give the number of a pile, a new one where it has none."""
        number = self._piles.get((gatekeeper, folder))
        if number is None:
            # `Any`: the one cell that is returned.
            found: Any = self._cursor.execute(self._sql["pile-add"], (gatekeeper, folder)).fetchall()
            number = self._piles[gatekeeper, folder] = int(found[0][0])
        return number

    def record(self, entry: AuditEntry) -> Row:
        """Give an act its number and its place in the chain."""
        self.last_record += 1
        record = record_of(self.last_record, self._epoch, entry=entry)
        self._chain = linked(self._chain, record)
        return audit_row(self.last_record, record, chain=self._chain, entry=entry)
