"""Keeping a store safe: a copy made while it runs.

The copy is read through the connection that writes, a little between every two transactions: what is committed
meanwhile SQLite carries over by itself. Through any other connection it would begin anew at every commit, or hold one
snapshot, and with it the log, for as long as it takes.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final, Self, TypeVar

import apsw

from posthouse.clock import SystemClock
from posthouse.store.bodies import BodyFiles, FileLayer
from posthouse.store.ports import StoreUnavailable
from posthouse.store.sqlite.manifest import (
    BODIES,
    DATABASE,
    BackupFault,
    Bodies,
    Manifest,
    bodies_named,
    describe,
    empty,
    faults_told,
    sync_tree,
    write_manifest,
)
from posthouse.store.sqlite.store import SqliteStore

Result = TypeVar("Result")

# One step, a MiB, holds up the writer for a millisecond or two. The copy is synced this often, beside the writer, so
# that a slow disk does not make the kernel hold up the writer instead.
_STEP_PAGES: Final = 256
_STEPS_A_SYNC: Final = 16


async def back_up(store: SqliteStore, folder: Path) -> int:
    """Copy the store and its bodies into a new folder; gives the bytes copied."""
    beginning = asyncio.create_task(asyncio.to_thread(_Passing.begin, folder))
    try:
        passing = await asyncio.shield(beginning)
        await _copy_database(store, passing.path / DATABASE)
        return await _to_its_end(_complete, store.bodies, passing)
    finally:
        # Also where the copy was given up before anybody knew that it had begun.
        await asyncio.wait([beginning])
        if beginning.exception() is None:
            await asyncio.to_thread(beginning.result().end)


async def _to_its_end(work: Callable[..., Result], *given: object) -> Result:
    """Do something in a thread; who gives up waits for it too, for a thread cannot be stopped half-way."""
    working = asyncio.create_task(asyncio.to_thread(work, *given))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait([working])
        raise


class _Passing:
    """A folder that becomes a backup; it bears a passing name until everything in it is durable."""

    def __init__(self, folder: Path, path: Path, *, descriptor: int) -> None:
        self.folder = folder
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def begin(cls, folder: Path) -> Self:
        folder = folder.absolute()
        path = folder.with_name(f".{folder.name}.part")
        with faults_told(folder):
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise BackupFault(
                    "expected a folder that is new or empty", where=str(folder), hint="choose another name"
                )
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                # The lock goes with the process that took it: what lies there without one was broken off.
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                empty(path)
            except BlockingIOError as fault:
                os.close(descriptor)
                raise BackupFault("another backup is being written there", where=str(folder)) from fault
            except OSError:
                os.close(descriptor)
                raise
        return cls(folder, path, descriptor=descriptor)

    def appear(self) -> None:
        """Give the folder its name, now that all of it is durable."""
        self.path.rename(self.folder)
        FileLayer().sync_folder(self.folder.parent)

    def end(self) -> None:
        """Remove what was not finished."""
        with contextlib.suppress(OSError):
            if self.path.exists():
                empty(self.path)
                self.path.rmdir()
        os.close(self._descriptor)


class _Copying:
    """The copy of a database while it is written; used in the writer's thread only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._source: apsw.Connection | None = None
        self._copy: apsw.Connection | None = None
        self._backup: apsw.Backup | None = None

    def step(self, source: apsw.Connection) -> bool:
        """Copy some pages; says whether that was all."""
        if self._backup is None:
            self._backup = self._begin(source)
        if source is not self._source:
            raise StoreUnavailable(
                "the store had trouble with its disk while it was copied", where=str(self._path), hint="try again"
            )
        return self._backup.step(_STEP_PAGES)

    def _begin(self, source: apsw.Connection) -> apsw.Backup:
        self._source = source
        self._copy = apsw.Connection(str(self._path))
        # Nobody wants half a copy: there is nothing to roll back to, and it is synced as a file.
        for pragma in ("journal_mode = off", "synchronous = off", "locking_mode = exclusive"):
            self._copy.execute(f"PRAGMA {pragma}").fetchall()
        return self._copy.backup("main", source, "main")

    def end(self, _source: apsw.Connection) -> None:
        with contextlib.suppress(apsw.Error):
            if self._backup is not None:
                self._backup.close(True)
        with contextlib.suppress(apsw.Error):
            if self._copy is not None:
                self._copy.close()


async def _copy_database(store: SqliteStore, path: Path) -> None:
    copying = _Copying(path)
    try:
        done = False
        while not done:
            for _ in range(_STEPS_A_SYNC):
                done = done or await store.between_commits(copying.step)
            await _to_its_end(_sync_file, path)
    finally:
        await asyncio.shield(store.between_commits(copying.end))
    await _to_its_end(_sync_file, path)


def _sync_file(path: Path) -> None:
    with faults_told(path), path.open("rb+") as file:
        os.fsync(file.fileno())


def _complete(bodies: BodyFiles, passing: _Passing) -> int:
    """Add the bodies the copy speaks of and the manifest, and let the folder appear."""
    with faults_told(passing.folder):
        database = describe(passing.path / DATABASE)
        copied = _copy_bodies(bodies, passing.path)
        manifest = Manifest(
            made=datetime.fromtimestamp(SystemClock().now() / 1_000_000, UTC).isoformat(timespec="seconds"),
            program=f"posthouse {version('posthouse')}",
            database=database,
            bodies=copied,
        )
        write_manifest(passing.path, manifest)
        sync_tree(passing.path)
        passing.appear()
        return database.bytes + copied.bytes


def _copy_bodies(bodies: BodyFiles, folder: Path) -> Bodies:
    """Copy each body the copied database speaks of; it is here, for bodies come before the messages that name them."""
    count = size = 0
    missing: list[str] = []
    (folder / BODIES).mkdir(mode=0o700)
    for body in bodies_named(folder / DATABASE):
        target = folder / BODIES / body.sha256[:2] / body.sha256
        target.parent.mkdir(mode=0o700, exist_ok=True)
        if bodies.hand_out(body.sha256, target):
            count += 1
            size += body.size
        else:
            missing.append(body.sha256)
    return Bodies(count=count, bytes=size, missing=missing)
