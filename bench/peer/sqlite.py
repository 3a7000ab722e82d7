"""Bare SQLite: the same bytes into one table, one connection, WAL, every commit synced."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import apsw

WHO = "SQLite"


class BareSqlite:
    """One table in a file of its own."""

    def __init__(self, folder: Path) -> None:
        self._connection = apsw.Connection(str(folder / "bare.db"))
        for statement in (
            "PRAGMA journal_mode = wal",
            "PRAGMA synchronous = full",
            "CREATE TABLE message (seq INTEGER PRIMARY KEY, data BLOB NOT NULL)",
        ):
            self._connection.execute(statement).fetchall()

    async def accept(self, messages: Sequence[bytes], *, rows: int) -> None:
        """Insert messages, so many in a transaction."""
        await asyncio.to_thread(self._accept, messages, rows)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _accept(self, messages: Sequence[bytes], rows: int) -> None:
        cursor = self._connection.cursor()
        for start in range(0, len(messages), rows):
            with self._connection:
                cursor.executemany(
                    "INSERT INTO message (data) VALUES (?)", [(data,) for data in messages[start : start + rows]]
                )
