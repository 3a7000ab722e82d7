"""What a backup says of itself, and the small steps on files that making one and taking one back share."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from posthouse.errors import PosthouseError
from posthouse.message.message import Body
from posthouse.store.bodies import FileLayer
from posthouse.store.queries import load
from posthouse.store.sqlite.connection import open_snapshot, wrapped

MANIFEST: Final = "manifest.json"
DATABASE: Final = "office.db"
BODIES: Final = "bodies"

_FORMAT: Final = 1
_PAGE: Final = 1_000


class BackupFault(PosthouseError):
    """A backup cannot be written there, or what lies there is none, or not a whole one."""

    code: ClassVar[str] = "backup.fault"


class Database(msgspec.Struct, frozen=True, kw_only=True):
    """The copy of the database."""

    bytes: int
    sha256: str
    schema: int
    letters: int


class Bodies(msgspec.Struct, frozen=True, kw_only=True):
    """The large bodies; which they are stands in the database."""

    count: int
    bytes: int
    missing: list[str]
    """Addresses of bodies that were gone or damaged already when the copy was made."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup holds. It is written last, so a folder without one is no backup."""

    format: int = _FORMAT
    made: str
    program: str
    database: Database
    bodies: Bodies


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of a backup, for people to read as well."""
    with (folder / MANIFEST).open("xb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a backup."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except FileNotFoundError as fault:
        raise BackupFault(
            f"expected a backup, found no {MANIFEST}", where=str(folder), hint="name the folder `backup` wrote"
        ) from fault
    except msgspec.DecodeError as fault:
        raise BackupFault(f"the manifest cannot be read: {fault}", where=str(folder / MANIFEST)) from fault
    if manifest.format != _FORMAT:
        raise BackupFault(
            f"expected a backup of format {_FORMAT}, found {manifest.format}",
            where=str(folder / MANIFEST),
            hint="take it back with the newer program that wrote it",
        )
    return manifest


def describe(path: Path) -> Database:
    """Say what a copied database holds."""
    sql = load("posthouse.store.sqlite", "checks.sql")
    with wrapped(str(path)):
        connection = open_snapshot(str(path))
        try:
            # `Any`: one number each.
            letters: Any = connection.execute(sql["letters"]).get
            schema: Any = connection.pragma("user_version")
        finally:
            connection.close()
    return Database(bytes=path.stat().st_size, sha256=digest(path), schema=schema, letters=letters)


def bodies_named(path: Path) -> Iterator[Body]:
    """Give the large bodies a copied database speaks of, by address."""
    sql = load("posthouse.store.sqlite", "checks.sql")
    connection = open_snapshot(str(path))
    try:
        last = ""
        while True:
            with wrapped(str(path)):
                rows: list[Any] = connection.execute(sql["files"], (last, _PAGE)).fetchall()
            if not rows:
                return
            yield from (Body(sha256, size) for sha256, size in rows)
            last = rows[-1][0]
    finally:
        connection.close()


def digest(path: Path) -> str:
    """Give the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync_tree(folder: Path) -> None:
    """Make the names in a folder and in those below it durable."""
    for place, _, _ in os.walk(folder, topdown=False):
        FileLayer().sync_folder(Path(place))


def empty(folder: Path, *, but: str = "") -> None:
    """Remove everything in a folder but one entry."""
    for entry in folder.iterdir():
        if entry.name == but:
            continue
        if entry.is_dir() and not entry.is_symlink():
            empty(entry)
            entry.rmdir()
        else:
            entry.unlink()


@contextmanager
def faults_told(folder: Path) -> Iterator[None]:
    """Say in our words what the disk refuses while a backup is made or taken back."""
    try:
        yield
    except OSError as fault:
        raise BackupFault(
            f"the disk refused: {fault.strerror or fault}",
            where=str(fault.filename or folder),
            hint="see that the folder is there, that it may be written, and that there is room",
        ) from fault
