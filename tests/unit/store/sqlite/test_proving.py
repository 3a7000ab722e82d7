"""The audit of a store is proved from its file, in parts at once, beside the office that writes it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from posthouse.message.changes import Changes
from posthouse.message.proof import BEGINNING, Flaw, Link
from posthouse.store.sqlite.checking import verify
from posthouse.store.sqlite.proving import AuditFile, prove_file
from posthouse.store.sqlite.store import SqliteStore
from posthouse.testing.gated import audited
from tests.unit.store.sqlite.office import opened

RECORDS = 60


async def recorded(store: SqliteStore) -> None:
    await store.commit([Changes(audits=(audited(f"case {number}"),)) for number in range(RECORDS)])


async def test_a_store_without_records_is_proved(tmp_path: Path) -> None:
    async with opened(tmp_path / "office.db"):
        assert prove_file(tmp_path / "office.db") == BEGINNING


async def test_the_audit_is_proved_while_the_office_is_open_whole_or_in_parts(tmp_path: Path) -> None:
    async with opened(tmp_path / "office.db") as store:
        await recorded(store)
        last = await store.gate.audit.last()
        assert last is not None
        end = Link(RECORDS, last.chain)
        assert prove_file(tmp_path / "office.db") == end
        assert prove_file(tmp_path / "office.db", per_process=10) == end
        with closing(AuditFile(tmp_path / "office.db")) as file:
            assert (file.last(), file.chain_at(RECORDS), file.chain_at(99)) == (RECORDS, last.chain, None)


async def test_each_opening_begins_an_epoch_on_the_same_chain(tmp_path: Path) -> None:
    for epoch in (1, 2):
        async with opened(tmp_path / "office.db") as store:
            await recorded(store)
            last = await store.gate.audit.last()
            assert last is not None
            assert (last.epoch, last.number) == (epoch, epoch * RECORDS)
    async with opened(tmp_path / "office.db"):
        assert isinstance(prove_file(tmp_path / "office.db"), Link)


@pytest.mark.parametrize(
    ("statement", "number", "ill"),
    [
        ("UPDATE audit SET record = CAST(replace(CAST(record AS TEXT), 'ada', 'bob') AS BLOB) WHERE number = 31", 31,
         "changed"),
        ("UPDATE audit SET chain = zeroblob(32) WHERE number = 30", 30, "changed"),
        ("UPDATE audit SET payload = x'00' WHERE number = 45", 45, "payload"),
        ("DELETE FROM audit WHERE number = 30", 30, "removed"),
        ("DELETE FROM audit WHERE number BETWEEN 10 AND 50", 10, "removed"),
        ("UPDATE audit SET number = -1 WHERE number = 7", 7, "removed"),
    ],
)  # fmt: skip
async def test_what_was_done_to_the_file_is_found(tmp_path: Path, statement: str, number: int, ill: str) -> None:
    async with opened(tmp_path / "office.db") as store:
        await recorded(store)
        await store.between_commits(lambda connection: connection.execute(statement).fetchall())
        for per_process in (1_000, 20):
            found = prove_file(tmp_path / "office.db", per_process=per_process)
            assert isinstance(found, Flaw)
            assert (found.number, found.ill) == (number, ill)
        assert any(
            f"record {number}" in line or f"records {number}" in line for line in await verify(store, repair=False)
        )


async def test_what_is_erased_is_overwritten_in_the_file(tmp_path: Path) -> None:
    said = b"what nobody may know any more " * 4
    async with opened(tmp_path / "office.db") as store:
        await store.commit([Changes(audits=(audited("ada", said=said), audited("bob")))])
    async with opened(tmp_path / "office.db") as store:
        assert said in (tmp_path / "office.db").read_bytes()
        await store.commit([Changes(erasures=("ada",))])
    assert said not in (tmp_path / "office.db").read_bytes()
    assert isinstance(prove_file(tmp_path / "office.db"), Link)
