"""A disk that does as it is told: it passes everything through to real files, fails on command, and keeps a record.

`Disk` stands below SQLite, `Layer` below the files of large bodies. What the record holds `powercut` turns into the
states a disk may be in after the power went.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Literal

import apsw

from posthouse.store.bodies import FileLayer

Operation = Literal["open", "read", "write", "truncate", "sync", "delete"]
Kind = Literal["full", "broken", "read-only"]

CHANGING: Final[frozenset[Operation]] = frozenset({"write", "truncate", "sync", "delete"})

_CODES: Final[dict[tuple[Kind, Operation], int]] = {
    ("broken", "open"): apsw.SQLITE_CANTOPEN,
    ("broken", "read"): apsw.SQLITE_IOERR_READ,
    ("broken", "write"): apsw.SQLITE_IOERR_WRITE,
    ("broken", "truncate"): apsw.SQLITE_IOERR_TRUNCATE,
    ("broken", "sync"): apsw.SQLITE_IOERR_FSYNC,
    ("broken", "delete"): apsw.SQLITE_IOERR_DELETE,
}
_WHOLE_CODES: Final[dict[Kind, int]] = {
    "full": apsw.SQLITE_FULL,
    "broken": apsw.SQLITE_IOERR,
    "read-only": apsw.SQLITE_READONLY,
}
_ERRNOS: Final[dict[Kind, int]] = {"full": errno.ENOSPC, "broken": errno.EIO, "read-only": errno.EROFS}


@dataclass(frozen=True)
class Trouble:
    """What the disk refuses, and for which files."""

    kind: Kind
    on: frozenset[Operation] = CHANGING
    ending: str = ""
    """Only files whose names end so, as in `-wal`."""
    after: int = 0
    """So many of these operations still succeed."""


@dataclass(frozen=True)
class Wrote:
    """Bytes handed to a file; on the disk for certain only after a sync."""

    file: int
    offset: int
    data: bytes


@dataclass(frozen=True)
class Cut:
    """A file made shorter, or longer."""

    file: int
    size: int


@dataclass(frozen=True)
class Named:
    """A name given to a file, in place of whatever bore it."""

    path: Path
    file: int
    instead_of: Path | None = None
    """The name it had before."""


@dataclass(frozen=True)
class Unnamed:
    """A name taken away."""

    path: Path


@dataclass(frozen=True)
class Synced:
    """All that was done to a file, or to the names in a folder, before place `upto` of the record is on the disk."""

    upto: int
    file: int | None = None
    folder: Path | None = None


Deed = Wrote | Cut | Named | Unnamed | Synced


@dataclass
class Record:
    """Everything that was done to a disk, in its order."""

    deeds: list[Deed] = field(default_factory=list)
    files: dict[Path, int] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)
    last: int = 0

    @property
    def place(self) -> int:
        """Where the record is now."""
        with self.lock:
            return len(self.deeds)

    def file(self, path: Path) -> int:
        """Give the number of the file with this name; a new one where there is none."""
        with self.lock:
            if path not in self.files:
                self.last += 1
                self.files[path] = self.last
                self.deeds.append(Named(path, self.last))
            return self.files[path]

    def add(self, deed: Deed) -> None:
        """Note what was done."""
        with self.lock:
            self.deeds.append(deed)


class Disk(apsw.VFS):
    """A disk for SQLite, known to it by its name."""

    def __init__(self, name: str, *, record: Record | None = None, syncing: bool = True) -> None:
        super().__init__(name, "", maxpathname=1_024)
        self.name = name
        self.record = record
        self.syncing = syncing
        """False leaves out the real syncs: for tests that cut no real power and have no time to lose."""
        self.trouble: Trouble | None = None
        self.counts: dict[Operation, int] = dict.fromkeys((*CHANGING, "open", "read"), 0)
        self._left = 0

    @contextmanager
    def in_trouble(self, trouble: Trouble) -> Iterator[None]:
        """Have trouble for a while."""
        self._left = trouble.after
        self.trouble = trouble
        try:
            yield
        finally:
            self.trouble = None

    def meet(self, operation: Operation, path: str) -> None:
        """Count what is about to be done, and refuse it where the trouble is about that."""
        self.counts[operation] += 1
        trouble = self.trouble
        if trouble is None or operation not in trouble.on or not path.endswith(trouble.ending):
            return
        if self._left > 0:
            self._left -= 1
            return
        code = _CODES.get((trouble.kind, operation), _WHOLE_CODES[trouble.kind])
        raise apsw.exception_for(code)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        path = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        self.meet("open", path)
        return _File(self, name, flags=flags, path=path)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: FBT001, N802 - SQLite's name and order
        self.meet("delete", filename)
        if self.record is None:
            super().xDelete(filename, syncdir)
            return
        with self.record.lock:
            super().xDelete(filename, syncdir)
            path = Path(filename)
            self.record.files.pop(path, None)
            self.record.add(Unnamed(path))
            if syncdir:
                self.record.add(Synced(self.record.place, folder=path.parent))

    def excepthook(
        self, _kind: type[BaseException] | None, _fault: BaseException | None, _trace: TracebackType | None
    ) -> bool:
        """Say nothing about what was told to fail."""
        return True


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: str | apsw.URIFilename | None, *, flags: list[int], path: str) -> None:
        super().__init__("", name, flags)
        self._disk = disk
        self._path = path
        self._record = disk.record if path else None
        self._number = self._record.file(Path(path)) if self._record is not None else 0
        self._is_new = True

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - SQLite's name
        self._disk.meet("read", self._path)
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        self._disk.meet("write", self._path)
        if self._record is None:
            super().xWrite(data, offset)
            return
        with self._record.lock:
            self._record.add(Wrote(self._number, offset, bytes(data)))
            super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite's name
        self._disk.meet("truncate", self._path)
        if self._record is None:
            super().xTruncate(newsize)
            return
        with self._record.lock:
            self._record.add(Cut(self._number, newsize))
            super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        self._disk.meet("sync", self._path)
        place = self._record.place if self._record is not None else 0
        if self._disk.syncing:
            super().xSync(flags)
        if self._record is not None:
            self._record.add(Synced(place, file=self._number))
            if self._is_new and self._path.endswith(("-wal", "-journal")):
                # SQLite syncs the folder with the first sync of a log or journal it made.
                self._record.add(Synced(place, folder=Path(self._path).parent))
        self._is_new = False

    def excepthook(
        self, _kind: type[BaseException] | None, _fault: BaseException | None, _trace: TracebackType | None
    ) -> bool:
        """Say nothing about what was told to fail."""
        return True


class Layer(FileLayer):
    """A disk for the files of large bodies; it shares the record and the trouble of a `Disk`."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._open: dict[int, tuple[int, int]] = {}

    def create(self, path: Path) -> int:
        self._meet("open", path)
        descriptor = super().create(path)
        self._open[descriptor] = (self._disk.record.file(path) if self._disk.record is not None else 0, 0)
        return descriptor

    def write(self, descriptor: int, data: memoryview) -> int:
        self._meet("write", Path("a body"))
        taken = super().write(descriptor, data)
        number, offset = self._open[descriptor]
        self._open[descriptor] = (number, offset + taken)
        if self._disk.record is not None:
            self._disk.record.add(Wrote(number, offset, bytes(data[:taken])))
        return taken

    def write_zeros(self, path: Path, start: int, *, size: int) -> None:
        self._meet("write", path)
        if self._disk.record is None:
            super().write_zeros(path, start, size=size)
            return
        with self._disk.record.lock:
            self._disk.record.add(Wrote(self._disk.record.file(path), start, bytes(size)))
            super().write_zeros(path, start, size=size)

    def sync(self, descriptor: int) -> None:
        self._meet("sync", Path("a body"))
        place = self._disk.record.place if self._disk.record is not None else 0
        if self._disk.syncing:
            super().sync(descriptor)
        if self._disk.record is not None:
            self._disk.record.add(Synced(place, file=self._open[descriptor][0]))

    def make_folder(self, path: Path) -> None:
        self._meet("open", path)
        is_new = not path.exists()
        super().make_folder(path)
        if self._disk.record is not None and is_new:
            self._disk.record.add(Named(path, 0))

    def move(self, old: Path, new: Path) -> None:
        self._meet("write", new)
        if self._disk.record is None:
            super().move(old, new)
            return
        with self._disk.record.lock:
            super().move(old, new)
            number = self._disk.record.files.pop(old)
            self._disk.record.files[new] = number
            self._disk.record.add(Named(new, number, instead_of=old))

    def sync_folder(self, path: Path) -> None:
        self._meet("sync", path)
        place = self._disk.record.place if self._disk.record is not None else 0
        if self._disk.syncing:
            super().sync_folder(path)
        if self._disk.record is not None:
            self._disk.record.add(Synced(place, folder=path))

    def _meet(self, operation: Operation, path: Path) -> None:
        try:
            self._disk.meet(operation, str(path))
        except apsw.Error as fault:
            trouble = self._disk.trouble
            assert trouble is not None
            number = _ERRNOS[trouble.kind]
            raise OSError(number, os.strerror(number), str(path)) from fault
