"""The log's file is longer than the log, and what is behind the log means nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

from posthouse.store.bodies import FileLayer
from posthouse.store.sqlite.headroom import Headroom
from tests.unit.store.sqlite.office import opened, put

FRAME = 4_096 + 24
STEP = 262_144


class FullLayer(FileLayer):
    def __init__(self) -> None:
        self.asked = 0

    def write_zeros(self, path: Path, start: int, *, size: int) -> None:  # noqa: ARG002 - there is no room anywhere
        self.asked += 1
        raise OSError(28, "No space left on device", str(path))


def log_of(tmp_path: Path, frames: int) -> Path:
    path = tmp_path / "office.db-wal"
    path.write_bytes(b"\1" * (32 + frames * FRAME))
    return path


def commit(headroom: Headroom, times: int, pages: int) -> None:
    for _ in range(times):
        headroom.make(pages)


def test_the_first_commits_make_no_room(tmp_path: Path) -> None:
    path = log_of(tmp_path, 10)
    size = path.stat().st_size
    headroom = Headroom(str(tmp_path / "office.db"), FileLayer(), most=1_000)
    commit(headroom, 31, 10)
    assert path.stat().st_size == size


def test_room_is_made_behind_the_log_and_never_in_it(tmp_path: Path) -> None:
    path = log_of(tmp_path, 10)
    before = path.read_bytes()
    headroom = Headroom(str(tmp_path / "office.db"), FileLayer(), most=1_000)
    commit(headroom, 40, 10)
    after = path.read_bytes()
    assert after == before + bytes(STEP)


def test_room_is_made_again_only_when_it_is_used_up(tmp_path: Path) -> None:
    path = log_of(tmp_path, 10)
    headroom = Headroom(str(tmp_path / "office.db"), FileLayer(), most=1_000)
    commit(headroom, 40, 10)
    size = path.stat().st_size
    commit(headroom, 40, 30)
    assert path.stat().st_size == size
    headroom.make(60)
    assert path.stat().st_size == size + STEP


def test_no_room_is_made_beyond_the_length_at_which_the_log_begins_anew(tmp_path: Path) -> None:
    path = log_of(tmp_path, 20)
    size = path.stat().st_size
    headroom = Headroom(str(tmp_path / "office.db"), FileLayer(), most=10)
    commit(headroom, 40, 20)
    assert path.stat().st_size == size


def test_a_full_disk_is_not_asked_after_each_commit(tmp_path: Path) -> None:
    log_of(tmp_path, 10)
    layer = FullLayer()
    headroom = Headroom(str(tmp_path / "office.db"), layer, most=1_000)
    commit(headroom, 320, 10)
    assert layer.asked == 10


async def test_a_log_with_room_behind_it_is_read_to_its_last_commit(tmp_path: Path) -> None:
    async with opened(tmp_path / "office.db") as store:
        for number in range(1, 61):
            await put(store, number)
        log = tmp_path / "office.db-wal"
        assert log.read_bytes().endswith(bytes(32_768))
        # What a crash leaves: the file and its log, copied while nobody writes.
        for name in ("office.db", "office.db-wal"):
            shutil.copy(tmp_path / name, tmp_path / f"crashed-{name}")
    async with opened(tmp_path / "crashed-office.db") as store:
        assert await store.journal.count() == 60
        assert len(await store.queue.entries("#inbox")) == 60
