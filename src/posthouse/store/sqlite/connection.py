"""Opening a SQLite file the way this store wants it, and saying in our words what SQLite refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from posthouse.errors import PosthouseError
from posthouse.store.ports import StoreDamaged, StoreLocked, StoreNewer, StoreUnavailable
from posthouse.store.queries import load, migrations

# "PH" in the header of the file tells it from other people's databases.
APPLICATION_ID: Final = 0x50480001

_PRAGMAS: Final = (
    # A reader never waits for the writer; a commit is one write and one sync at the end of the log.
    "PRAGMA journal_mode = wal",
    "PRAGMA synchronous = full",
    # The checkpointer does this beside the writer.
    "PRAGMA wal_autocheckpoint = 0",
    # After a time in which a reader kept the log from beginning anew, it is cut back to 128 MiB.
    "PRAGMA journal_size_limit = 134217728",
    "PRAGMA temp_store = memory",
    "PRAGMA foreign_keys = off",
)
_PACKAGE: Final = "posthouse.store.sqlite"
_WRITER_CACHE_KIB: Final = 131_072
_READER_CACHE_KIB: Final = 4_096


def open_writer(path: str, vfs: str | None = None, *, create: bool = True) -> apsw.Connection:
    """Open the one connection that writes; create or migrate the schema.

    Who opens a store again does not create it: where the disk was taken away there must not be an empty office.
    """
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    with wrapped(path):
        connection = apsw.Connection(path, flags=flags, vfs=vfs)
        try:
            connection.set_busy_timeout(2_000)
            check_header(connection, path)
            for pragma in (*_PRAGMAS, f"PRAGMA cache_size = -{_WRITER_CACHE_KIB}"):
                connection.execute(pragma).fetchall()
            _migrate(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def open_reader(path: str, vfs: str | None = None) -> apsw.Connection:
    """Open a connection that only reads."""
    with wrapped(path):
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
        try:
            connection.set_busy_timeout(2_000)
            connection.execute("PRAGMA query_only = on").fetchall()
            connection.execute(f"PRAGMA cache_size = -{_READER_CACHE_KIB}").fetchall()
        except BaseException:
            connection.close()
            raise
    return connection


def open_snapshot(path: str) -> apsw.Connection:
    """Open a copy that nobody writes to, without leaving anything beside it."""
    with wrapped(path):
        return apsw.Connection(
            f"{Path(path).absolute().as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )


def all_statements() -> dict[str, str]:
    """Give the named statements of the store, of queues and gate."""
    return {name: sql for file in ("statements.sql", "gate.sql") for name, sql in load(_PACKAGE, file).items()}


def newest_version() -> int:
    """Give the schema version this program writes."""
    return len(migrations("posthouse.store.sqlite.schema"))


def check_header(connection: apsw.Connection, path: str) -> None:
    """Refuse what is no store, or one this program does not know yet."""
    application = connection.pragma("application_id")
    version = connection.pragma("user_version")
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
    if application != APPLICATION_ID and (tables or version):
        raise StoreDamaged("expected the store of an office, found another program's database", where=path)
    if isinstance(version, int) and version > newest_version():
        raise StoreNewer(
            f"expected a store of version {newest_version()} or older, found {version}",
            where=path,
            hint="open it with the newer program that wrote it",
        )


def _migrate(connection: apsw.Connection) -> None:
    steps = migrations("posthouse.store.sqlite.schema")
    version = connection.pragma("user_version")
    for number, step in enumerate(steps, 1):
        if isinstance(version, int) and number > version:
            with connection:
                connection.execute(step).fetchall()
                connection.execute(f"PRAGMA user_version = {number}").fetchall()
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}").fetchall()


@contextmanager
def wrapped(path: str) -> Iterator[None]:
    """Turn what SQLite raises inside into errors of the house, the cause kept."""
    try:
        yield
    except apsw.Error as fault:
        raise translate(fault, path) from fault


def translate(fault: apsw.Error, path: str) -> PosthouseError:
    """Say what one SQLite error means for the office."""
    if isinstance(fault, (apsw.CorruptError, apsw.NotADBError)):
        return StoreDamaged(
            f"the file is damaged: {fault}", where=path, hint="restore a backup with `posthouse restore`"
        )
    if isinstance(fault, (apsw.BusyError, apsw.LockedError)):
        return StoreLocked("another program holds the file", where=path)
    for kind, what, hint in _UNAVAILABLE:
        if isinstance(fault, kind):
            return StoreUnavailable(f"{what}: {fault}", where=path, hint=hint)
    return StoreUnavailable(f"SQLite refused: {fault}", where=path)


_UNAVAILABLE: Final[tuple[tuple[type[apsw.Error], str, str], ...]] = (
    (apsw.FullError, "the disk is full", "free some room; the office goes on by itself"),
    (apsw.ReadOnlyError, "the file cannot be written", "check its permissions and the mount"),
    (apsw.CantOpenError, "the file cannot be opened", "check the path and its permissions"),
    (apsw.PermissionsError, "the file cannot be opened", "check its permissions"),
    (apsw.IOError, "the disk answers with errors", "check the disk; the office tries again by itself"),
)

# What the disk or another program refuses; any other error of SQLite is a bug of ours.
REFUSALS: Final[tuple[type[apsw.Error], ...]] = (
    *(kind for kind, _, _ in _UNAVAILABLE),
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.BusyError,
    apsw.LockedError,
)
