"""The power goes at any moment: what was accepted is there, once; what was dealt with is gone; the tables agree."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from posthouse.store.sqlite.store import SqliteStore
from posthouse.testing.disk import Disk, Layer, Record, Wrote
from posthouse.testing.powercut import Replay, cuts
from tests.scenario.crash.inspection import Inspection
from tests.scenario.crash.load import Load

# Small, so that the log is emptied many times in a short load.
LOG_PAGES = 40
# So large that the log of a short load is never emptied: its file grows, and room is made behind it.
ROOMY_LOG_PAGES = 4_000

_names = itertools.count(1)


@dataclass(frozen=True)
class Played:
    """A load that was played, and the record of the disk it was played on."""

    load: Load
    record: Record


class ForgetfulLayer(Layer):
    """Says that it synced a file, and did not."""

    def sync(self, descriptor: int) -> None:
        pass


class NamelessLayer(Layer):
    """Says that it synced the names in a folder, and did not."""

    def sync_folder(self, path: Path) -> None:
        pass


@asynccontextmanager
async def store_on(disk: Disk, folder: Path, layer: Layer, log_pages: int) -> AsyncIterator[SqliteStore]:
    store = await SqliteStore.open(folder / "office.db", vfs=disk.name, layer=layer, log_pages=log_pages)
    try:
        yield store
    finally:
        await store.close()


async def play(
    folder: Path,
    seed: int,
    *,
    rounds: int,
    layer: type[Layer] = Layer,
    synchronous: bool = True,
    log_pages: int = LOG_PAGES,
) -> Played:
    """Play a load on a disk that keeps a record."""
    record = Record()
    disk = Disk(f"recording {next(_names)}", record=record, syncing=False)
    make_folder(folder)
    async with store_on(disk, folder, layer(disk), log_pages) as store:
        if not synchronous:
            await store.between_commits(lambda connection: connection.execute("PRAGMA synchronous = off").fetchall())
        load = Load(store, record, random.Random(seed))
        await load.play(rounds)
    disk.unregister()
    return Played(load, record)


async def cut(folder: Path, played: Played, seed: int, *, places: int, most: int) -> Counter[str]:
    """Cut the power at many places of a record and look at what is left; gives the faults, and how many states."""
    disk = Disk(f"cut {next(_names)}", syncing=False)
    inspection = Inspection(played.load.book, folder, folder.with_name("cut"), disk)
    chance = random.Random(seed)
    replay = Replay(played.record.deeds)
    told: Counter[str] = Counter()
    for place in cuts(played.record, chance, count=places):
        replay.go_to(place)
        for state in replay.states(chance, most=most):
            told[""] += 1
            told.update(await inspection.faults(state))
    disk.unregister()
    return told


def make_folder(folder: Path) -> None:
    folder.mkdir()


# Hundreds of stores are opened: on a busy machine that takes longer than tests usually may.
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
async def test_whatever_a_power_cut_leaves_nothing_answered_is_lost(tmp_path: Path, seed: int) -> None:
    played = await play(tmp_path / "disk", seed, rounds=80)
    told = await cut(tmp_path / "disk", played, seed, places=90, most=6)
    assert told.pop("") >= 300
    assert not told, told.most_common(10)


@pytest.mark.timeout(300)
async def test_a_power_cut_while_there_is_room_behind_the_log_loses_nothing(tmp_path: Path) -> None:
    played = await play(tmp_path / "disk", 6, rounds=80, log_pages=ROOMY_LOG_PAGES)
    # Room behind the log is written beside SQLite, so it must be part of what the power may leave.
    assert any(isinstance(deed, Wrote) and not any(deed.data) for deed in played.record.deeds)
    told = await cut(tmp_path / "disk", played, 6, places=60, most=6)
    assert told.pop("") >= 200
    assert not told, told.most_common(10)


@pytest.mark.soak
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("seed", range(100, 120))
async def test_thousands_of_power_cuts_lose_nothing_answered(tmp_path: Path, seed: int) -> None:
    played = await play(tmp_path / "disk", seed, rounds=300)
    told = await cut(tmp_path / "disk", played, seed, places=600, most=12)
    assert told.pop("") >= 2_000
    assert not told, told.most_common(10)


async def test_a_store_that_does_not_sync_is_found_out(tmp_path: Path) -> None:
    played = await play(tmp_path / "disk", 4, rounds=40, synchronous=False)
    told = await cut(tmp_path / "disk", played, 4, places=20, most=5)
    assert any(line.startswith("message") and "found [('absent',)]" in line for line in told), told.most_common(10)


@pytest.mark.parametrize(
    ("layer", "fault"),
    [(ForgetfulLayer, "its content is not what its name says"), (NamelessLayer, "the file is missing")],
)
async def test_bodies_that_are_not_synced_are_found_out(tmp_path: Path, layer: type[Layer], fault: str) -> None:
    played = await play(tmp_path / "disk", 5, rounds=60, layer=layer)
    told = await cut(tmp_path / "disk", played, 5, places=40, most=5)
    assert any(line.startswith("body") and line.endswith((fault, "found 0")) for line in told), told.most_common(10)
