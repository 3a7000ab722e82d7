"""The store of an office in one SQLite file, with a lock beside it and a folder for large bodies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Self, TypeVar

import apsw

from posthouse.errors import PosthouseError
from posthouse.message.changes import Changes, Outcome, Register
from posthouse.store.bodies import BodyFiles, FileLayer
from posthouse.store.ports import Listener, StoreDamaged, StoreUnavailable
from posthouse.store.sqlite.checkpoint import LOG_PAGES, Checkpointer
from posthouse.store.sqlite.gatereading import SqliteGate
from posthouse.store.sqlite.lock import StoreLock, mark_of_this_process
from posthouse.store.sqlite.reader import Reader, SqliteCredentials, SqliteDeadLetters, SqliteJournal, SqliteQueue
from posthouse.store.sqlite.writer import Errand, Job, Writer

Result = TypeVar("Result")

_END_LEASES: Final = "UPDATE entry SET next_at = 0 WHERE state = 1 AND next_at IS NOT NULL AND holder = ?"


class SqliteStore:
    """See `ports.Store`; `open` makes one, `close` ends it."""

    def __init__(
        self, path: Path, vfs: str | None = None, *, layer: FileLayer | None = None, log_pages: int = LOG_PAGES
    ) -> None:
        self.path = path
        self.vfs = vfs
        reader = Reader(str(path), vfs)
        self.journal = SqliteJournal(reader)
        self.queue = SqliteQueue(reader)
        self.dead_letters = SqliteDeadLetters(reader)
        self.credentials = SqliteCredentials(reader)
        self.gate = SqliteGate(reader)
        self._layer = layer or FileLayer()
        self.bodies = BodyFiles(bodies_of(path), self._layer)
        self._reader = reader
        self._listeners: list[Listener] = []
        self._checkpointer = Checkpointer(str(path), vfs, layer=self._layer, log_pages=log_pages)
        self._writer = Writer(str(path), vfs, told=self._tell, checkpointer=self._checkpointer)
        self._lock: StoreLock | None = None

    @classmethod
    async def open(
        cls,
        path: Path | str,
        *,
        vfs: str | None = None,
        layer: FileLayer | None = None,
        log_pages: int = LOG_PAGES,
    ) -> Self:
        """Open or create the store; `StoreLocked` where another process has it."""
        store = cls(Path(path), vfs, layer=layer, log_pages=log_pages)
        lock = StoreLock.take(store.path)
        try:
            _refuse_half_restored(store.path)
            await store._writer.start()
            await asyncio.to_thread(store._settle_in)
            await store._end_leases_of_the_dead(lock)
        except BaseException:
            await store._writer.stop()
            lock.release(cleanly=False)
            raise
        store._checkpointer.start()
        store._lock = lock
        return store

    async def close(self) -> None:
        """Write what is queued, then let go of the file."""
        await self._writer.stop()
        await asyncio.to_thread(self._checkpointer.stop)
        await asyncio.to_thread(self._reader.close)
        await asyncio.to_thread(self.bodies.close)
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        if not changes:
            return []
        self._check_open()
        answer: asyncio.Future[list[Outcome]] = asyncio.get_running_loop().create_future()
        self._writer.put(Job(changes, answer))
        return await answer

    async def between_commits(self, work: Callable[[apsw.Connection], Result]) -> Result:
        """Do something short on the connection that writes, between two transactions: everybody waits for it."""
        self._check_open()
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._writer.put(Errand(work, answer))
        return await answer

    async def register(self) -> Register:
        ledger = self._writer.ledger
        return ledger.register if ledger is not None else Register()

    def watch(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def _tell(self, boxes: frozenset[str]) -> None:
        for listener in self._listeners:
            listener(boxes)

    def _check_open(self) -> None:
        if self._lock is None:
            raise StoreUnavailable("the store is closed", where=str(self.path))

    def _settle_in(self) -> None:
        """See that the names of new files survive a power cut, and clear away what the last one left behind."""
        try:
            self._layer.sync_folder(self.path.parent)
            self.bodies.clear_incoming()
        except OSError:
            # The disk is full or cannot be written: each commit will say so, and what is there can be read.
            return

    async def _end_leases_of_the_dead(self, lock: StoreLock) -> None:
        """Let leases taken inside a process that died with the store open end at once instead of in their time.

        It held the lock until it died, so nobody inside it lives; who came by the socket may, and is left alone.
        """
        if lock.died:
            answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._writer.put(Errand(lambda connection: _end_leases(connection, lock.died), answer))
            try:
                await answer
            except PosthouseError:
                # The next to open the store tries again; until then leases end in their time.
                return
        lock.sign(mark_of_this_process())


def _end_leases(connection: apsw.Connection, holder: str) -> None:
    with connection:
        connection.execute(_END_LEASES, (holder,)).fetchall()


def bodies_of(path: Path) -> Path:
    """Give the folder of large bodies that belongs to a store."""
    return path.with_name(f"{path.name}.bodies")


def restoring_of(path: Path) -> Path:
    """Give the folder in which a store is put together before it takes its place."""
    return path.with_name(f"{path.name}.restoring")


def replaced_of(path: Path) -> Path:
    """Give where a store is kept that is being replaced; while it is there and no store is, the replacing goes on."""
    return restoring_of(path) / "replaced"


def _refuse_half_restored(path: Path) -> None:
    if replaced_of(path).exists() and not path.exists():
        raise StoreDamaged(
            "a restore was broken off here", where=str(path), hint="run the same `posthouse restore` again"
        )
