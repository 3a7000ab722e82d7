"""A store written by an older program is brought up to date when it is opened, and keeps what it holds."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from posthouse.message.changes import Changes, Setup
from posthouse.message.credential import Credential, Issue
from posthouse.store.queries import migrations
from posthouse.store.sqlite.checking import verify
from posthouse.store.sqlite.connection import APPLICATION_ID, newest_version
from posthouse.store.sqlite.ledger import encode_setup
from posthouse.store.sqlite.store import SqliteStore
from posthouse.testing.build import START
from tests.unit.store.sqlite.office import gate, gate_of, put

STEPS = migrations("posthouse.store.sqlite.schema")


def older(path: Path, version: int) -> None:
    connection = apsw.Connection(str(path))
    for step in STEPS[:version]:
        connection.execute(step).fetchall()
    setup = Setup(mailbox="orders", max_messages=5)
    connection.execute("INSERT INTO mailbox VALUES ('orders', ?)", (encode_setup(setup),)).fetchall()
    connection.pragma("user_version", version)
    connection.pragma("application_id", APPLICATION_ID)
    connection.close()


@pytest.mark.parametrize("version", range(1, len(STEPS)))
async def test_an_older_store_is_brought_up_to_date(version: int, tmp_path: Path) -> None:
    path = tmp_path / "office.db"
    older(path, version)
    store = await SqliteStore.open(path)
    try:
        assert (await store.register()).setups["orders"].max_messages == 5
        known = Issue(credential=Credential(id="a", name="a", scopes=(), created=START), digest=b"d")
        await store.commit([Changes(issues=(known,), pulse=START)])
        assert await store.credentials.issued() == [known]
        await put(store, 1)
        await gate(store)
        assert all(await gate_of(store))
        assert await verify(store, repair=False) == []
    finally:
        await store.close()
    connection = apsw.Connection(str(path))
    assert connection.pragma("user_version") == newest_version()
    connection.close()
