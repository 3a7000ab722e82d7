"""A backup is whole, made while the office works, and appears at once or not at all."""

from __future__ import annotations

import asyncio
import errno
import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from posthouse.message.changes import Changes
from posthouse.store.bodies import FileLayer
from posthouse.store.sqlite.keeping import back_up
from posthouse.store.sqlite.manifest import BackupFault, digest, read_manifest
from posthouse.store.sqlite.store import SqliteStore
from posthouse.testing.build import entry, post
from tests.unit.store.sqlite.office import LARGE, fill, opened, put, put_large


async def test_a_backup_says_what_it_holds(tmp_path: Path) -> None:
    async with opened(tmp_path / "office.db") as store:
        await fill(store)
        size = await back_up(store, tmp_path / "copy")
        manifest = read_manifest(tmp_path / "copy")
        assert manifest.database.letters == 52
        assert manifest.database.sha256 == digest(tmp_path / "copy" / "office.db")
        assert manifest.bodies.count == 1
        assert manifest.bodies.bytes == len(LARGE)
        assert size == manifest.database.bytes + len(LARGE)
    assert names(tmp_path / "copy") == ["bodies", "manifest.json", "office.db"]


async def test_a_backup_under_constant_load_ends_and_is_whole(tmp_path: Path) -> None:
    async with opened(tmp_path / "office.db") as store:
        await put(store, *range(1, 5_001))
        loads = [asyncio.create_task(load(store, first)) for first in (10_000, 20_000)]
        await back_up(store, tmp_path / "copy")
        accepted = sum([await stop(task) for task in loads])
    manifest = read_manifest(tmp_path / "copy")
    assert 5_000 <= manifest.database.letters <= 5_000 + accepted
    connection = apsw.Connection(str(tmp_path / "copy" / "office.db"))
    assert connection.execute("PRAGMA integrity_check").get == "ok"
    assert connection.execute("SELECT count(*) FROM entry").get == manifest.database.letters
    connection.close()


async def load(store: SqliteStore, first: int) -> int:
    numbers = itertools.count(first)
    accepted = 0
    try:
        while True:
            await store.commit([Changes(posts=(post(next(numbers), entry(), body=b"x" * 500),)) for _ in range(20)])
            accepted += 20
    except asyncio.CancelledError:
        return accepted + 20


async def stop(task: asyncio.Task[int]) -> int:
    task.cancel()
    return await task


async def test_bodies_saved_while_the_copy_is_made_are_in_it(tmp_path: Path) -> None:
    async with opened(tmp_path / "office.db") as store:
        await put(store, *range(1, 2_001))
        copying = asyncio.create_task(back_up(store, tmp_path / "copy"))
        number = 10_000
        while not copying.done():
            number += 1
            await put_large(store, number, b"%d" % number * 100)
        await copying
    connection = apsw.Connection(str(tmp_path / "copy" / "office.db"))
    named = [row[0] for row in connection.execute("SELECT sha256 FROM journal WHERE sha256 IS NOT NULL")]
    connection.close()
    assert all((tmp_path / "copy" / "bodies" / str(sha)[:2] / str(sha)).exists() for sha in named)
    assert read_manifest(tmp_path / "copy").bodies.missing == []


async def test_a_body_that_was_gone_is_told_and_the_rest_is_kept(tmp_path: Path) -> None:
    async with opened(tmp_path / "office.db") as store:
        body = await fill(store)
        store.bodies.path(body.sha256).unlink()
        await back_up(store, tmp_path / "copy")
    assert read_manifest(tmp_path / "copy").bodies.missing == [body.sha256]


class FarDisk(FileLayer):
    """Answers as another disk does."""

    def link(self, old: Path, new: Path) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(old), None, str(new))


async def test_bodies_are_copied_where_they_cannot_be_linked(tmp_path: Path) -> None:
    async with opened(tmp_path / "office.db", layer=FarDisk()) as store:
        body = await fill(store)
        store.bodies.path((await put_large(store, 60, b"soon damaged" * 50)).sha256).write_bytes(b"damaged")
        await back_up(store, tmp_path / "copy")
    assert (tmp_path / "copy" / "bodies" / body.sha256[:2] / body.sha256).read_bytes() == LARGE
    assert len(read_manifest(tmp_path / "copy").bodies.missing) == 1


async def test_an_empty_folder_is_taken_and_a_full_one_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("keep me")
    async with opened(tmp_path / "office.db") as store:
        await fill(store)
        await back_up(store, tmp_path / "empty")
        with pytest.raises(BackupFault, match="new or empty"):
            await back_up(store, tmp_path / "full")
        with pytest.raises(BackupFault, match="new or empty"):
            await back_up(store, tmp_path / "empty")
    assert read_manifest(tmp_path / "empty").database.letters == 52
    assert names(tmp_path / "full") == ["letter.txt"]


async def test_two_backups_into_one_folder_do_not_meet(tmp_path: Path) -> None:
    async with opened(tmp_path / "office.db") as store:
        await fill(store)
        results = await asyncio.gather(
            back_up(store, tmp_path / "copy"), back_up(store, tmp_path / "copy"), return_exceptions=True
        )
    assert [type(result) for result in results if not isinstance(result, int)] == [BackupFault]
    assert read_manifest(tmp_path / "copy").database.letters == 52


async def test_what_a_backup_broken_off_left_behind_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / ".copy.part" / "bodies").mkdir(parents=True)
    (tmp_path / ".copy.part" / "office.db").write_text("half a database")
    async with opened(tmp_path / "office.db") as store:
        await fill(store)
        await back_up(store, tmp_path / "copy")
    assert not (tmp_path / ".copy.part").exists()
    assert read_manifest(tmp_path / "copy").database.letters == 52


@pytest.mark.parametrize("turns", [0, 1, 2, 5, 20, 200])
async def test_a_backup_given_up_leaves_nothing(tmp_path: Path, turns: int) -> None:
    async with opened(tmp_path / "office.db") as store:
        await put(store, *range(1, 3_001))
        copying = asyncio.create_task(back_up(store, tmp_path / "copy"))
        for _ in range(turns):
            await asyncio.sleep(0)
        if turns:
            await put(store, 5_000)
        copying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await copying
        await put(store, 5_001)
    assert not [path for path in names(tmp_path) if "copy" in path]


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda folder: (folder / "manifest.json").unlink(), "expected a backup"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "cannot be read"),
        (lambda folder: renumber(folder / "manifest.json"), "format 1, found 2"),
    ],
    ids=["gone", "cut off", "newer"],
)
async def test_a_manifest_that_cannot_be_read_says_so(
    tmp_path: Path, spoil: Callable[[Path], object], told: str
) -> None:
    async with opened(tmp_path / "office.db") as store:
        await fill(store)
        await back_up(store, tmp_path / "copy")
    spoil(tmp_path / "copy")
    with pytest.raises(BackupFault, match=told):
        read_manifest(tmp_path / "copy")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def renumber(path: Path) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 2}))
