"""The read ports on SQLite: short statements on connections of their own, run beside the event loop."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final, TypeVar
from uuid import UUID

import apsw

from posthouse.message import trace
from posthouse.message.changes import Filter, Letter
from posthouse.message.credential import Account, Issue
from posthouse.message.trace import Step
from posthouse.store.ports import Aside, Dead, Depth, Queued
from posthouse.store.sqlite.connection import all_statements, open_reader, wrapped
from posthouse.store.sqlite.gaterows import account_of
from posthouse.store.sqlite.rows import Cell, issue_of, letter_of, queued_of

Result = TypeVar("Result")

_THREADS: Final = 2
# How many entries of all boxes are looked at before those of one box are sorted.
_NEAR: Final = 20_000


class Reader:
    """A few connections that only read; a statement gets all its rows at once, so no snapshot is held."""

    def __init__(self, path: str, vfs: str | None) -> None:
        self._path = path
        self._vfs = vfs
        self._sql = all_statements()
        self._idle: queue.SimpleQueue[apsw.Connection] = queue.SimpleQueue()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="posthouse-reader")

    async def rows(self, statement: str, *bindings: Cell) -> list[Any]:
        """Give all rows of a named statement."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._rows, statement, bindings)

    async def run(self, work: Callable[[apsw.Connection, Mapping[str, str]], Result]) -> Result:
        """Do a few short statements on one connection, as if at one instant."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._run, work)

    def close(self) -> None:
        """Close all connections, once the statements under way have ended."""
        self._pool.shutdown(wait=True)
        while not self._idle.empty():
            self._idle.get_nowait().close()

    def _rows(self, statement: str, bindings: Sequence[Cell]) -> list[Any]:
        with self._connected() as connection:
            return connection.execute(self._sql[statement], bindings).fetchall()

    def _run(self, work: Callable[[apsw.Connection, Mapping[str, str]], Result]) -> Result:
        with self._connected() as connection:
            connection.execute("BEGIN").fetchall()
            result = work(connection, self._sql)
            connection.execute("COMMIT").fetchall()
            return result

    @contextmanager
    def _connected(self) -> Iterator[apsw.Connection]:
        with wrapped(self._path):
            try:
                connection = self._idle.get_nowait()
            except queue.Empty:
                connection = open_reader(self._path, self._vfs)
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            self._idle.put(connection)


def id_range(prefix: str) -> tuple[bytes, bytes] | None:
    """Give between which bytes the ids lie that begin with these hexadecimal digits; nothing where none can."""
    digits = prefix.replace("-", "").lower()
    if len(digits) > 32 or not all(digit in "0123456789abcdef" for digit in digits):
        return None
    return bytes.fromhex(digits.ljust(32, "0")), bytes.fromhex(digits.ljust(32, "f")) + b"\0"


class SqliteJournal:
    """See `ports.Journal`."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def letter(self, message: UUID) -> Letter | None:
        rows = await self._reader.rows("letter", message.bytes)
        return letter_of(rows[0]) if rows else None

    async def trace(self, message: UUID) -> list[Step]:
        first = await self._reader.rows("letter-step", message.bytes)
        if not first:
            return []
        later = await self._reader.rows("trace", first[0][0])
        return [trace.decode(first[0][1]), *(trace.decode(row[0]) for row in later)]

    async def find(self, prefix: str, limit: int) -> list[UUID]:
        within = id_range(prefix)
        rows = await self._reader.rows("journal-find", *within, limit) if within else []
        return [UUID(bytes=bytes(row[0])) for row in rows]

    async def count(self) -> int:
        return int((await self._reader.rows("journal-count"))[0][0])

    async def pulse(self) -> int | None:
        instant: int | None = (await self._reader.rows("pulse"))[0][0]
        return instant


class SqliteQueue:
    """See `ports.Queue`."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def entries(self, box: str, *, after: int = 0, limit: int = 100) -> list[Queued]:
        near = await self._reader.rows("entries-of-box-near", box, after, limit, _NEAR)
        if len(near) == limit:
            return list(map(queued_of, near))
        return list(map(queued_of, await self._reader.rows("entries-of-box", box, after, limit)))

    async def depths(self, *, after: str = "", limit: int = 1000) -> list[Depth]:
        rows = await self._reader.rows("depths", after, limit)
        return [Depth(box=name, messages=messages, bytes=size) for name, messages, size in rows]

    async def due(self, now: int, limit: int) -> list[Queued]:
        return list(map(queued_of, await self._reader.rows("entries-due", now, limit)))

    async def next_due(self) -> int | None:
        instant: int | None = (await self._reader.rows("next-due"))[0][0]
        return instant

    async def oldest(self) -> int | None:
        rows = await self._reader.rows("oldest-entry")
        return int(rows[0][0]) if rows else None

    async def destinations(self) -> list[str]:
        return [row[0] for row in await self._reader.rows("destinations")]


class SqliteDeadLetters:
    """See `ports.DeadLetters`."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def dead(self, box: str | None, chosen: Filter, *, after: int = 0, limit: int = 100) -> list[Dead]:
        rows = await self._reader.rows("dead-page", after, box, chosen.kind, limit)
        return [
            Dead(number=n, box=at_box, kind=kind, message=UUID(bytes=bytes(i)), at=at, attempts=tries, reason=reason)
            for n, at_box, kind, i, at, tries, reason in rows
        ]

    async def dead_count(self) -> int:
        return int((await self._reader.rows("dead-count"))[0][0])

    async def asides(self, *, after: int = 0, limit: int = 100) -> list[Aside]:
        rows = await self._reader.rows("aside-page", after, limit)
        return [Aside(number=n, message=UUID(bytes=bytes(i)), at=at, reason=reason) for n, i, at, reason in rows]

    async def aside_count(self) -> int:
        return int((await self._reader.rows("aside-count"))[0][0])


class SqliteCredentials:
    """See `ports.Credentials`."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def issued(self, *, after: str = "", limit: int = 1000) -> list[Issue]:
        return list(map(issue_of, await self._reader.rows("credentials", after, limit)))

    async def accounts(self) -> list[Account]:
        return [account_of(row[0]) for row in await self._reader.rows("accounts")]
