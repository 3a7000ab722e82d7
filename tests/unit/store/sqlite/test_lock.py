"""The lock beside a store tells who holds it, and whether the last one let go of it or died."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from posthouse.store.ports import StoreLocked, StoreUnavailable
from posthouse.store.sqlite.lock import StoreLock, mark_of_this_process
from posthouse.testing.build import START
from tests.unit.store.sqlite.office import opened, put, take


def test_a_lock_is_held_once(tmp_path: Path) -> None:
    lock = StoreLock.take(tmp_path / "office.db")
    with pytest.raises(StoreLocked):
        StoreLock.take(tmp_path / "office.db")
    lock.release()
    StoreLock.take(tmp_path / "office.db").release()


def test_who_let_go_left_no_mark(tmp_path: Path) -> None:
    lock = StoreLock.take(tmp_path / "office.db")
    lock.sign(mark_of_this_process())
    assert (tmp_path / "office.db.lock").read_text() == mark_of_this_process()
    lock.release()
    assert StoreLock.take(tmp_path / "office.db").died == ""


def test_who_died_left_his_mark_until_somebody_dealt_with_it(tmp_path: Path) -> None:
    (tmp_path / "office.db.lock").write_text("process 1 inside the office (00)")
    lock = StoreLock.take(tmp_path / "office.db")
    assert lock.died == "process 1 inside the office (00)"
    lock.release()
    lock = StoreLock.take(tmp_path / "office.db")
    assert lock.died == "process 1 inside the office (00)"
    lock.sign(mark_of_this_process())
    lock.release()
    assert StoreLock.take(tmp_path / "office.db").died == ""


def test_a_lock_that_cannot_be_made_says_where(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StoreUnavailable, match="the lock cannot be opened") as caught:
        StoreLock.take(tmp_path / "file" / "office.db")
    assert caught.value.hint is not None


def test_each_process_has_a_mark_of_its_own() -> None:
    assert mark_of_this_process() == mark_of_this_process()
    assert f"process {os.getpid()} " in mark_of_this_process()


async def test_leases_of_those_who_died_with_the_store_end_at_once_and_others_do_not(tmp_path: Path) -> None:
    path = tmp_path / "office.db"
    async with opened(path) as store:
        await put(store, 1, 2, box="#dead")
        await put(store, 3, box="#alive")
        await take(store, "#dead", limit=1, holder="process 1 inside the office (00)")
        await take(store, "#alive", limit=1, holder="process 7")
        assert await store.queue.due(START, 10) == []
    (tmp_path / "office.db.lock").write_text("process 1 inside the office (00)")
    async with opened(path) as store:
        (due,) = await store.queue.due(START, 10)
        assert (due.box, due.state, due.attempt) == ("#dead", "leased", 1)


async def test_leases_outlive_a_store_that_was_closed(tmp_path: Path) -> None:
    path = tmp_path / "office.db"
    async with opened(path) as store:
        await put(store, 1)
        await take(store, holder=mark_of_this_process())
    async with opened(path) as store:
        assert await store.queue.due(START, 10) == []
