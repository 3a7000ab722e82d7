"""Taking a backup back: checked from end to end beside the place it is meant for, and then put there by renaming."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from posthouse.clock import SystemClock
from posthouse.store.bodies import FileLayer, copy_file
from posthouse.store.queries import load
from posthouse.store.sqlite.connection import check_header, open_snapshot, open_writer, wrapped
from posthouse.store.sqlite.lock import StoreLock
from posthouse.store.sqlite.manifest import (
    BODIES,
    DATABASE,
    BackupFault,
    Manifest,
    bodies_named,
    empty,
    faults_told,
    read_manifest,
    sync_tree,
)
from posthouse.store.sqlite.store import bodies_of, replaced_of, restoring_of

_MOST_TOLD: Final = 10
# More entries than any office takes in between a backup and its return.
_SKIPPED_ENTRIES: Final = 1_000_000_000


async def restore(folder: Path, path: Path, *, force: bool = False) -> int:
    """Put a backup in the place of a store; gives the bytes put there.

    A store that stands there is left alone, or with `force` kept under another name. `StoreLocked` where an office
    runs on it.
    """
    return await asyncio.to_thread(_restore, folder, path, force=force)


def _restore(folder: Path, path: Path, *, force: bool) -> int:
    with faults_told(folder):
        manifest = read_manifest(folder)
        path = path.absolute()
        lock = StoreLock.take(path)
        try:
            _finish_last(path)
            _refuse_to_replace(path, force=force)
            size = _put_together(folder, restoring_of(path), manifest)
            _take_place(path)
            _finish_last(path)
        finally:
            lock.release()
        return size


def _refuse_to_replace(path: Path, *, force: bool) -> None:
    broken_off = replaced_of(path).exists() and not path.exists()
    if not force and not broken_off and (path.exists() or bodies_of(path).exists()):
        raise BackupFault(
            "a store stands there already",
            where=str(path),
            hint="choose another place, or use --force: the store that is there is then kept under another name",
        )


def _put_together(folder: Path, site: Path, manifest: Manifest) -> int:
    """Copy everything beside its place and check each byte of it."""
    site.mkdir(mode=0o700, exist_ok=True)
    empty(site, but="replaced")
    try:
        _copy_database(folder / DATABASE, site / DATABASE, manifest)
        size = _copy_bodies(folder / BODIES, site, manifest)
        _settle(site / DATABASE)
        sync_tree(site)
    except BaseException:
        empty(site, but="replaced")
        with contextlib.suppress(OSError):
            site.rmdir()
        raise
    return manifest.database.bytes + size


def _copy_bodies(source: Path, site: Path, manifest: Manifest) -> int:
    count = size = 0
    faults: list[str] = []
    (site / BODIES).mkdir(mode=0o700)
    for body in bodies_named(site / DATABASE):
        if body.sha256 in manifest.bodies.missing:
            continue
        old, new = (folder / body.sha256[:2] / body.sha256 for folder in (source, site / BODIES))
        new.parent.mkdir(mode=0o700, exist_ok=True)
        if not old.exists():
            faults.append(f"body {body.sha256} is missing")
        elif copy_file(old, new) != body.sha256:
            faults.append(f"body {body.sha256} is damaged")
        count += 1
        size += body.size
    if not faults and count != manifest.bodies.count:
        faults.append(f"expected {manifest.bodies.count} bodies, found {count}")
    _raise(faults, source)
    return size


def _copy_database(source: Path, target: Path, manifest: Manifest) -> None:
    if not source.exists():
        raise BackupFault("the database is missing", where=str(source))
    if copy_file(source, target) != manifest.database.sha256:
        raise BackupFault(
            "the database is not the one the backup was made with", where=str(source), hint="take another backup"
        )
    connection = open_snapshot(str(target))
    try:
        with wrapped(str(source)):
            check_header(connection, str(source))
            told = [str(row[0]) for row in connection.execute(f"PRAGMA quick_check({_MOST_TOLD})")]
            letters = connection.execute(load("posthouse.store.sqlite", "checks.sql")["letters"]).get
    finally:
        connection.close()
    faults = [line for line in told if line != "ok"]
    if letters != manifest.database.letters:
        faults.append(f"expected {manifest.database.letters} messages, found {letters}")
    _raise(faults, source)


def _settle(path: Path) -> None:
    """Bring the copy to the newest schema, and let it give out no number that was given out before."""
    connection = open_writer(str(path), create=False)
    try:
        with wrapped(str(path)):
            connection.execute(
                load("posthouse.store.sqlite", "checks.sql")["skip-entries"], (_SKIPPED_ENTRIES,)
            ).fetchall()
    finally:
        connection.close()


def _take_place(path: Path) -> None:
    """Move what was there aside and what was put together into its place.

    The database comes first on its way out and last on its way in: while it is not there, the office does not open.
    """
    site = restoring_of(path)
    replaced_of(path).mkdir(mode=0o700, exist_ok=True)
    FileLayer().sync_folder(site)
    FileLayer().sync_folder(path.parent)
    beside = [path.with_name(f"{path.name}{ending}") for ending in ("-wal", "-shm", "-journal")]
    for old in (path, *beside, bodies_of(path)):
        kept = replaced_of(path) / old.name
        if old.exists() and not kept.exists():
            _move(old, kept)
        elif old.exists():
            # The store was moved aside by an attempt that was broken off; this is what that attempt put here.
            _remove(old)
    _move(site / BODIES, bodies_of(path))
    _move(site / DATABASE, path)


def _finish_last(path: Path) -> None:
    """Give what was replaced a name of its own, once a store stands in its place."""
    replaced = replaced_of(path)
    if not restoring_of(path).exists() or not path.exists():
        return
    if replaced.exists() and any(replaced.iterdir()):
        stamp = datetime.fromtimestamp(SystemClock().now() / 1_000_000, UTC).strftime("%Y%m%dT%H%M%S.%f")
        _move(replaced, path.with_name(f"{path.name}.replaced-{stamp}"))
    _remove(restoring_of(path))


def _move(old: Path, new: Path) -> None:
    old.rename(new)
    FileLayer().sync_folder(new.parent)
    FileLayer().sync_folder(old.parent)


def _remove(old: Path) -> None:
    if old.is_dir():
        shutil.rmtree(old)
    else:
        old.unlink()


def _raise(faults: list[str], place: Path) -> None:
    if faults:
        more = f" and {len(faults) - _MOST_TOLD} more" if len(faults) > _MOST_TOLD else ""
        raise BackupFault(
            f"the backup is damaged: {'; '.join(faults[:_MOST_TOLD])}{more}",
            where=str(place),
            hint="take another backup",
        )
