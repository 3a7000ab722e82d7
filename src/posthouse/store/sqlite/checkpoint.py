"""Moves what is committed from the log into the file, beside the writer, so that no commit waits long for it."""

from __future__ import annotations

import contextlib
import threading
from typing import Final

import apsw

from posthouse.store.bodies import FileLayer
from posthouse.store.sqlite.headroom import Headroom

# Begin when the log has this many pages (32 MiB). While the writer never pauses, the log is emptied but goes on
# growing; at twice the size the writer is held up for the moment it takes to begin the log anew.
LOG_PAGES: Final = 8_192
# The longest the writer is held up for a reader that still reads from the log; then the log grows on for a while.
_PATIENCE_MS: Final = 50


class Checkpointer:
    """A thread with a connection of its own, woken by the writer's commits."""

    def __init__(self, path: str, vfs: str | None, *, layer: FileLayer, log_pages: int = LOG_PAGES) -> None:
        self._path = path
        self._vfs = vfs
        self._soft = log_pages
        self._hard = 2 * log_pages
        self._headroom = Headroom(path, layer, most=self._hard)
        self._pages = 0
        self._stopping = False
        self._news = threading.Event()
        self._thread = threading.Thread(target=self._run, name="posthouse-checkpoint", daemon=True)

    def start(self) -> None:
        """Begin to watch the log."""
        self._thread.start()

    def stop(self) -> None:
        """End after the checkpoint under way."""
        self._stopping = True
        self._news.set()
        if self._thread.is_alive():
            self._thread.join()

    def note(self, _connection: apsw.Connection, _database: str, pages: int) -> int:
        """Hear from SQLite, in the writer's thread, how long the log is after a commit."""
        self._pages = pages
        if pages >= self._soft:
            self._news.set()
        return apsw.SQLITE_OK

    def make_room(self) -> None:
        """See that the next commits do not lengthen the file; called by the writer's thread, between two commits."""
        self._headroom.make(self._pages)

    def _run(self) -> None:
        connection: apsw.Connection | None = None
        while True:
            self._news.wait()
            if self._stopping:
                break
            self._news.clear()
            try:
                connection = connection or self._connect()
                self._move(connection)
            except apsw.Error:
                # The disk is full or broken: the next commit asks again, on a new connection.
                _close(connection)
                connection = None
        _close(connection)

    def _move(self, connection: apsw.Connection) -> None:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        if self._pages < self._hard:
            return
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)
        except (apsw.BusyError, apsw.LockedError):
            # Somebody reads for long, as a check of the whole store does. The office goes on meanwhile.
            self._hard = self._pages + self._soft
        else:
            self._hard = 2 * self._soft

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(self._path, flags=apsw.SQLITE_OPEN_READWRITE, vfs=self._vfs)
        try:
            connection.set_busy_timeout(_PATIENCE_MS)
            connection.execute("PRAGMA synchronous = full").fetchall()
        except apsw.Error:
            _close(connection)
            raise
        return connection


def _close(connection: apsw.Connection | None) -> None:
    if connection is not None:
        with contextlib.suppress(apsw.Error):
            connection.close()
