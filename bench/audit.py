"""Proving an audit of a million records from the file of its store, as `posthouse audit verify` does."""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from pathlib import Path
from typing import Final

from bench.figure import OURS, Contest, Results, figure_of
from bench.plan import Plan
from posthouse.message.audit import audit_entry
from posthouse.message.proof import Link
from posthouse.store.queries import migrations
from posthouse.store.sqlite.connection import all_statements, open_writer
from posthouse.store.sqlite.gaterows import AUDIT_COLUMNS
from posthouse.store.sqlite.ledger import Ledger
from posthouse.store.sqlite.proving import prove_file
from posthouse.store.sqlite.rows import Cell, inserts

_NOW: Final = 1_767_225_600_000_000
_CHUNK: Final = 4_096
_FAST: Final = ("PRAGMA journal_mode = off", "PRAGMA synchronous = off")
_WHO: Final = "OpenSSL"


async def measure_verify(plan: Plan) -> Results:
    """Follow the chain; beside it stands how many hashes of that size one core makes in Python and nothing else."""
    count = plan.scale.dockets
    path = _filled(plan, count)
    rates = []
    for _ in range(max(plan.scale.rounds, 3)):
        began = time.perf_counter()
        found = prove_file(path)
        rates.append(count / (time.perf_counter() - began))
        assert isinstance(found, Link)
        assert found.number == count
    record = os.urandom(256)
    began = time.perf_counter()
    for _ in range(count):
        hashlib.sha256(record).digest()
    bare = [count / (time.perf_counter() - began)]
    return [
        figure_of("audit_verify_per_s", OURS, values=rates, note="chain and payloads, from the file"),
        figure_of("audit_bare_hash_per_s", _WHO, values=bare, note="one hash a record, one core, nothing read"),
    ]


def _filled(plan: Plan, count: int) -> Path:
    tables = "\0".join([*migrations("posthouse.store.sqlite.schema"), AUDIT_COLUMNS])
    digest = hashlib.blake2b(tables.encode(), digest_size=6).hexdigest()
    kept = plan.cache / f"audit-{count}-{digest}.db"
    if not kept.exists():
        plan.cache.mkdir(parents=True, exist_ok=True)
        for older in plan.cache.glob(f"audit-{count}-*"):
            older.unlink()
        part = kept.with_suffix(".part")
        part.unlink(missing_ok=True)
        _fill(part, count)
        part.rename(kept)
    # Read once, so that the first round does not measure the disk.
    subprocess.run(["cat", kept], check=True, stdout=subprocess.DEVNULL)
    return kept


def _fill(path: Path, count: int) -> None:
    connection = open_writer(str(path))
    for pragma in _FAST:
        connection.execute(pragma).fetchall()
    gate = Ledger(connection, all_statements()).gate
    connection.execute("BEGIN").fetchall()
    cells: list[Cell] = []
    for number in range(1, count + 1):
        subject = f"01b58d5c-9f4a-7e63-8b1d-{number // 3:012x}"
        payload = b"\x82\xa6person\xafada@example.org" + b"\xa7comment\xd9\x40" + b"c" * 64
        entry = audit_entry(
            "case.released", subject, at=_NOW + number, actor="ada", salt=hashlib.sha256(b"%d" % number).digest(),
            payload=payload,
        )  # fmt: skip
        cells += gate.record(entry)
        if number % _CHUNK == 0 or number == count:
            for statement, bindings in inserts("audit", AUDIT_COLUMNS, cells=cells):
                connection.execute(statement, bindings).fetchall()
            cells = []
    connection.execute("COMMIT").fetchall()
    connection.execute("PRAGMA journal_mode = wal").fetchall()
    connection.close()


CONTESTS: Final = (Contest(("audit_verify_per_s",), measure_verify),)
