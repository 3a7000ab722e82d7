"""A backup comes back whole or not at all, and what it replaces is kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from posthouse.store.ports import StoreDamaged, StoreLocked
from posthouse.store.sqlite.checking import verify
from posthouse.store.sqlite.keeping import back_up
from posthouse.store.sqlite.manifest import BackupFault
from posthouse.store.sqlite.restoring import restore
from posthouse.store.sqlite.store import SqliteStore
from posthouse.testing.build import identity
from tests.unit.store.sqlite.office import LARGE, fill, gate_of, holds, opened, put, take


async def made(folder: Path) -> Path:
    """Give a backup of a store with something of everything in it."""
    async with opened(folder / "first" / "office.db") as store:
        await fill(store)
        await back_up(store, folder / "copy")
    return folder / "copy"


async def seen(store: SqliteStore) -> tuple[object, ...]:
    return (
        await store.queue.entries("#inbox"),
        await store.queue.entries("#other"),
        await store.queue.entries("#large"),
        await store.dead_letters.dead_count(),
        await store.dead_letters.aside_count(),
        await store.register(),
        await gate_of(store),
        [await store.journal.trace(identity(number)) for number in range(1, 53)],
        [await store.journal.letter(identity(number)) for number in range(1, 53)],
    )


async def test_what_was_there_is_there_again(tmp_path: Path) -> None:
    copy = await made(tmp_path)
    size = await restore(copy, tmp_path / "second" / "office.db")
    assert size > len(LARGE)
    async with opened(tmp_path / "first" / "office.db") as first, opened(tmp_path / "second" / "office.db") as second:
        assert await seen(first) == await seen(second)
        assert await verify(second, repair=False) == []
    assert not (tmp_path / "second" / "office.db.restoring").exists()


async def test_a_backup_can_be_taken_back_more_than_once(tmp_path: Path) -> None:
    copy = await made(tmp_path)
    for place in ("second", "third"):
        await restore(copy, tmp_path / place / "office.db")
        async with opened(tmp_path / place / "office.db") as store:
            await put(store, 100)
            assert await verify(store, repair=False) == []


async def test_entry_numbers_given_out_after_the_backup_are_not_given_out_again(tmp_path: Path) -> None:
    copy = await made(tmp_path)
    async with opened(tmp_path / "first" / "office.db") as store:
        await put(store, *range(100, 400), box="#new")
        given = {leased.entry for leased in await take(store, "#new", limit=300)}
    await restore(copy, tmp_path / "first" / "office.db", force=True)
    async with opened(tmp_path / "first" / "office.db") as store:
        await put(store, *range(100, 400), box="#new")
        assert given.isdisjoint(leased.entry for leased in await take(store, "#new", limit=300))


async def test_a_store_that_stands_there_is_left_alone(tmp_path: Path) -> None:
    copy = await made(tmp_path)
    async with opened(tmp_path / "first" / "office.db") as store:
        await put(store, 100)
        before = await holds(store)
    with pytest.raises(BackupFault, match="stands there already"):
        await restore(copy, tmp_path / "first" / "office.db")
    async with opened(tmp_path / "first" / "office.db") as store:
        assert await holds(store) == before


async def test_what_is_replaced_by_force_is_kept(tmp_path: Path) -> None:
    copy = await made(tmp_path)
    path = tmp_path / "first" / "office.db"
    async with opened(path) as store:
        await put(store, 100)
        before = await seen(store)
    await restore(copy, path, force=True)
    async with opened(path) as store:
        assert 100 not in await holds(store)
    (kept,) = path.parent.glob("office.db.replaced-*")
    async with opened(kept / "office.db") as store:
        assert await seen(store) == before
        assert await verify(store, repair=False) == []


async def test_an_office_that_runs_keeps_its_store(tmp_path: Path) -> None:
    copy = await made(tmp_path)
    async with opened(tmp_path / "first" / "office.db") as store:
        with pytest.raises(StoreLocked):
            await restore(copy, tmp_path / "first" / "office.db", force=True)
        await put(store, 100)


def flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 0x40
    path.write_bytes(content)


def body_in(copy: Path) -> Path:
    (body,) = (copy / "bodies").glob("*/*")
    return body


def unshare(body: Path) -> Path:
    """Make a file of its own of a body that was linked."""
    content = body.read_bytes()
    body.unlink()
    body.write_bytes(content)
    return body


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda copy: (copy / "office.db").unlink(), "the database is missing"),
        (lambda copy: flip(copy / "office.db", 5_000), "not the one the backup was made with"),
        (lambda copy: body_in(copy).unlink(), "is missing"),
        (lambda copy: flip(unshare(body_in(copy)), 70), "is damaged"),
        (lambda copy: (copy / "manifest.json").unlink(), "found no manifest.json"),
    ],
    ids=["database gone", "database flipped", "body gone", "body flipped", "manifest gone"],
)
async def test_a_damaged_backup_is_not_taken_back(tmp_path: Path, spoil: Callable[[Path], object], told: str) -> None:
    copy = await made(tmp_path)
    spoil(copy)
    with pytest.raises(BackupFault, match=told) as caught:
        await restore(copy, tmp_path / "second" / "office.db")
    assert caught.value.where is not None
    assert not (tmp_path / "second" / "office.db").exists()
    async with opened(tmp_path / "second" / "office.db") as store:
        assert await holds(store) == []


async def test_every_damaged_body_is_named_at_once(tmp_path: Path) -> None:
    copy = await made(tmp_path)
    body = body_in(copy)
    body.unlink()
    with pytest.raises(BackupFault, match=body.name):
        await restore(copy, tmp_path / "second" / "office.db")


async def test_a_body_that_was_gone_before_the_backup_does_not_stop_it(tmp_path: Path) -> None:
    async with opened(tmp_path / "first" / "office.db") as store:
        body = await fill(store)
        store.bodies.path(body.sha256).unlink()
        await back_up(store, tmp_path / "copy")
    await restore(tmp_path / "copy", tmp_path / "second" / "office.db")
    async with opened(tmp_path / "second" / "office.db") as store:
        assert await verify(store, repair=False) == [f"body {body.sha256}: the file is missing"]


@pytest.mark.parametrize("moved", ["nothing", "database", "log", "bodies", "new bodies"])
async def test_a_restore_broken_off_is_taken_up_again(tmp_path: Path, moved: str) -> None:
    copy = await made(tmp_path)
    path = tmp_path / "first" / "office.db"
    (path.parent / "office.db-wal").write_bytes(b"a log of the old store")
    break_off(path, copy, moved)
    if moved != "nothing":
        with pytest.raises(StoreDamaged, match="broken off"):
            await SqliteStore.open(path)
    await restore(copy, path, force=moved == "nothing")
    async with opened(path) as store:
        assert await verify(store, repair=False) == []
        assert len(await holds(store)) == 37
    (kept,) = path.parent.glob("office.db.replaced-*")
    assert (kept / "office.db-wal").read_bytes() == b"a log of the old store"
    assert sorted(entry.name for entry in kept.iterdir()) == ["office.db", "office.db-wal", "office.db.bodies"]


def break_off(path: Path, copy: Path, moved: str) -> None:
    """Leave the folder as a restore leaves it that dies after moving this."""
    order = ["nothing", "database", "log", "bodies", "new bodies"]
    site = path.with_name("office.db.restoring")
    (site / "replaced").mkdir(parents=True)
    shutil.copytree(copy / "bodies", site / "bodies")
    shutil.copy(copy / "office.db", site / "office.db")
    names = {"database": "office.db", "log": "office.db-wal", "bodies": "office.db.bodies"}
    for step in order[1 : order.index(moved) + 1]:
        if step == "new bodies":
            (site / "bodies").rename(path.with_name("office.db.bodies"))
        else:
            path.with_name(names[step]).rename(site / "replaced" / names[step])


async def test_a_restore_that_died_at_its_very_end_gives_up_nothing(tmp_path: Path) -> None:
    copy = await made(tmp_path)
    path = tmp_path / "first" / "office.db"
    site = path.with_name("office.db.restoring")
    (site / "replaced").mkdir(parents=True)
    (site / "replaced" / "office.db").write_text("the store before")
    async with opened(path) as store:
        await put(store, 100)
    await restore(copy, path, force=True)
    kept = sorted(path.parent.glob("office.db.replaced-*"))
    assert (kept[0] / "office.db").read_text() == "the store before"
    async with opened(kept[1] / "office.db") as store:
        assert 100 in await holds(store)
