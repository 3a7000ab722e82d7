"""A check finds each fault, says it in one line, and removes nothing but bodies nobody refers to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from posthouse.message.changes import Changes, lane_of
from posthouse.store.sqlite.checking import verify
from posthouse.store.sqlite.store import SqliteStore
from posthouse.testing.build import SENDER
from tests.unit.store.sqlite.office import fill, opened, pieces, put, put_large


async def test_a_sound_store_has_no_faults(tmp_path: Path) -> None:
    async with opened(tmp_path / "office.db") as store:
        await fill(store)
        assert await verify(store, repair=True) == []


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("DELETE FROM journal WHERE seq = 45", "queue entry 45: its message is not in the journal"),
        ("UPDATE entry SET box = 99 WHERE seq = 45", "queue entry 45: its box has no name"),
        ("UPDATE entry SET state = 1 WHERE seq = 45", "queue entry 45: its state contradicts itself"),
        ("UPDATE journal SET size = size + 1 WHERE seq = 45", "journal row 45: the lengths it gives"),
        ("INSERT INTO trace VALUES (99, 1, x'')", "trace of journal row 99: there is no such row"),
        ("UPDATE dead SET message = 99", "dead letter 1: its message is not in the journal"),
        ("UPDATE aside SET message = 99", "message set aside 1: it is not in the journal"),
        ("UPDATE entry SET front = 0 WHERE seq = 41", "box #other, lane {}, priority 5: the first"),
        ("UPDATE entry SET front = 2 WHERE seq = 43", "box #other, lane {}, priority 5: the first"),
        ("UPDATE entry SET front = 1 WHERE seq = 43", "box #other, lane {}, priority 5: the first mail"),
        ("DELETE FROM gated", "docket of case 019B76DAA8017000800000000000CA5F: there is no such case"),
        ("UPDATE gated SET message = x'00'", "case 019B76DAA8017000800000000000CA5F: its message is not"),
        ("UPDATE docket SET pile = 99", "docket of case 019B76DAA8017000800000000000CA5F: it lies nowhere"),
        ("UPDATE pile SET held = held + 1", "pile Reviewer, inbox: it does not hold"),
        ("DELETE FROM edition", "activation 1: its book has no such edition"),
        ("DELETE FROM audit WHERE number = 1", "audit: record 1 is missing"),
        ("UPDATE audit SET chain = zeroblob(32)", "audit: record 1 is not what was recorded"),
        ("DELETE FROM audit WHERE number = 2", "audit: record 2 was sealed and is gone"),
    ],
)
async def test_rows_that_contradict_each_other_are_told(tmp_path: Path, statement: str, told: str) -> None:
    async with opened(tmp_path / "office.db") as store:
        await fill(store)
        await put(store, 100)
        await store.between_commits(lambda connection: connection.execute(statement).fetchall())
        faults = await verify(store, repair=True)
        assert any(line.startswith(told.format(lane_of(SENDER))) for line in faults), faults


async def test_a_damaged_page_is_told(tmp_path: Path) -> None:
    async with opened(tmp_path / "office.db") as store:
        await fill(store)
    pages = [5, 8, 12]
    with (tmp_path / "office.db").open("r+b") as file:
        for page in pages:
            file.seek(page * 4096 + 8)
            file.write(b"\xff" * 200)
    async with opened(tmp_path / "office.db") as store:
        faults = await verify(store, repair=True)
        assert any(line.startswith("table ") for line in faults), faults


def spoil(change: Callable[[Path], object]) -> Callable[[SqliteStore, str], object]:
    return lambda store, sha256: change(store.bodies.path(sha256))


@pytest.mark.parametrize(
    ("spoiled", "told"),
    [
        (spoil(lambda path: path.unlink()), "the file is missing"),
        (spoil(lambda path: path.write_bytes(path.read_bytes()[:-1])), "expected 200000 bytes, found 199999"),
        (spoil(lambda path: path.write_bytes(path.read_bytes()[::-1])), "its content is not what its name says"),
    ],
    ids=["missing", "short", "altered"],
)
async def test_a_body_that_is_not_what_it_should_be_is_told(
    tmp_path: Path, spoiled: Callable[[SqliteStore, str], object], told: str
) -> None:
    async with opened(tmp_path / "office.db") as store:
        body = await fill(store)
        spoiled(store, body.sha256)
        assert await verify(store, repair=True) == [f"body {body.sha256}: {told}"]


async def test_only_bodies_that_nobody_refers_to_for_an_hour_are_removed(tmp_path: Path) -> None:
    async with opened(tmp_path / "office.db") as store:
        await fill(store)
        old = await store.bodies.save(pieces(b"old orphan"), limit=100)
        young = await store.bodies.save(pieces(b"young orphan"), limit=100)
        kept = await put_large(store, 70, b"old and in use")
        for body in (old, kept):
            os.utime(store.bodies.path(body.sha256), (1_000_000, 1_000_000))
        assert await verify(store, repair=False) == [f"body {old.sha256}: no message refers to it"]
        assert await store.bodies.has(old)
        assert await verify(store, repair=True) == [f"body {old.sha256}: no message refers to it; removed"]
        assert await verify(store, repair=True) == []
        assert not await store.bodies.has(old)
        assert await store.bodies.has(young)
        assert await store.bodies.has(kept)


async def test_a_body_saved_again_is_young_again(tmp_path: Path) -> None:
    async with opened(tmp_path / "office.db") as store:
        body = await store.bodies.save(pieces(b"orphan"), limit=100)
        os.utime(store.bodies.path(body.sha256), (1_000_000, 1_000_000))
        assert await store.bodies.save(pieces(b"orphan"), limit=100) == body
        assert await verify(store, repair=True) == []


async def test_a_check_tells_at_most_a_thousand_faults_of_a_kind(tmp_path: Path) -> None:
    async with opened(tmp_path / "office.db") as store:
        await put(store, *range(1, 1_501))
        await store.between_commits(lambda connection: connection.execute("DELETE FROM journal").fetchall())
        faults = await verify(store, repair=False)
        assert len(faults) == 1_001
        assert faults[-1] == "rows: there are more faults than these"


async def test_the_office_works_on_while_it_is_checked(tmp_path: Path) -> None:
    async with opened(tmp_path / "office.db") as store:
        await fill(store)
        assert (await store.commit([Changes()]))[0].status == "done"
        assert await verify(store, repair=False) == []
        await put(store, 100)
