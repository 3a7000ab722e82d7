"""The lock beside the store: one process writes, and whoever comes second asks it.

While it is held the file names the process that holds it, so that the next one sees whether that process let go of the
store or died with it. The kernel lets go of the lock itself when a process dies, at that moment and not before.
"""

from __future__ import annotations

import fcntl
import functools
import os
from pathlib import Path
from typing import Final, Self

from posthouse.store.bodies import FileLayer
from posthouse.store.ports import StoreLocked, StoreUnavailable

_MOST: Final = 200


class StoreLock:
    """The lock of one store, held from `take` to `release`."""

    def __init__(self, descriptor: int, died: str) -> None:
        self._descriptor = descriptor
        self.died = died
        """The mark of the process that died with the store open, or nothing where the last one let go of it."""

    @classmethod
    def take(cls, path: Path) -> Self:
        """Lock the store at a path; `StoreLocked` where a process has it."""
        lock = path.with_name(f"{path.name}.lock")
        try:
            _make_folder(path.parent)
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as fault:
            raise StoreUnavailable(
                f"the lock cannot be opened: {fault.strerror}",
                where=str(lock),
                hint="the folder must be there, and yours to write in",
            ) from fault
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as fault:
            os.close(descriptor)
            raise StoreLocked("another process has this office open", where=str(path)) from fault
        return cls(descriptor, os.pread(descriptor, _MOST, 0).decode(errors="replace"))

    def sign(self, mark: str) -> None:
        """Write who holds it, once what the process before left behind is dealt with."""
        self._write(mark)
        self.died = ""

    def release(self, *, cleanly: bool = True) -> None:
        """Let go; the mark stays where what was left behind is still to be dealt with."""
        if self._descriptor < 0:
            return
        if cleanly and not self.died:
            self._write("")
        os.close(self._descriptor)
        self._descriptor = -1

    @property
    def is_held(self) -> bool:
        """Say whether the lock is ours."""
        return self._descriptor >= 0

    def _write(self, mark: str) -> None:
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, mark.encode(), 0)
        except OSError:
            # On a full disk nobody learns who died: leases then end by their time.
            return


def _make_folder(folder: Path) -> None:
    """Make a folder with those above it, and see that their names survive a power cut."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing:
        FileLayer().sync_folder(each.parent)


def mark_of_this_process() -> str:
    """Give the word by which leases taken inside this process are known; no two processes ever share one."""
    return _mark(os.getpid())


@functools.cache
def _mark(process: int) -> str:
    return f"process {process} inside the office ({os.urandom(4).hex()})"
