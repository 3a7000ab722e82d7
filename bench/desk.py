"""The desk of the gatekeepers with a million dockets: what a page of the list costs, and what a decision costs."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import msgspec

from bench.figure import OURS, Contest, Results, figure_of, percentile
from bench.plan import Plan
from posthouse.message.audit import audit_entry
from posthouse.message.case import INBOX, REVIEW, Case, Docket, Wrapper, pack_wrapper
from posthouse.message.changes import Changes
from posthouse.store.gateports import DocketFilter, DocketOrder, place_of
from posthouse.store.queries import migrations
from posthouse.store.sqlite.connection import all_statements, open_writer
from posthouse.store.sqlite.gaterows import CASE_COLUMNS, DOCKET_COLUMNS, case_row, docket_row
from posthouse.store.sqlite.ledger import Ledger
from posthouse.store.sqlite.rows import Cell, inserts
from posthouse.store.sqlite.store import SqliteStore

GATEKEEPERS: Final = 60
_MAILBAGS: Final = 4
"""Of each gatekeeper."""
_FILED: Final = 0.12
"""The share of the dockets that lie in mailbags."""
_NOW: Final = 1_767_225_600_000_000
_HOUR: Final = 3_600_000_000
_CHUNK: Final = 4_096
_FAST: Final = ("PRAGMA journal_mode = off", "PRAGMA synchronous = off", "PRAGMA cache_size = -1000000")
_ORDERS: Final[tuple[DocketOrder, ...]] = ("due", "arrival", "sender")
_PAGE: Final = 100


def dockets(count: int, seed: int) -> Iterator[Docket]:
    """Give the dockets of a filled desk: a few gatekeepers have most of them, as it is."""
    chance = random.Random(f"posthouse desk {seed}")
    for number in range(count):
        role = f"Gatekeeper {int(GATEKEEPERS * chance.random() ** 2)}"
        drawn = chance.random()
        folder = f"{role} bag {chance.randrange(_MAILBAGS)}" if drawn < _FILED else REVIEW if drawn > 0.97 else INBOX
        identity = UUID(int=chance.getrandbits(128))
        yield Docket(
            case=identity,
            turn=1,
            message=UUID(int=identity.int ^ 1),
            gatekeeper=role,
            folder=folder,
            status="filed" if drawn < _FILED else "gated",
            sender=f"person{chance.randrange(20_000)}@example.org",
            subject=f"About matter {number}",
            reason="it speaks of a price",
            recipients=2,
            size=chance.randrange(1_000, 100_000),
            created=_NOW - number * 1_000,
            arrived=_NOW - number * 1_000,
            # Many share an instant: a rule says "by the end of the day".
            due=_NOW + chance.randrange(48) * _HOUR if drawn >= _FILED else None,
        )


def fill(path: Path, count: int, *, seed: int) -> None:
    """Write a store with so many gated messages; it is on the disk when this returns."""
    connection = open_writer(str(path))
    for pragma in _FAST:
        connection.execute(pragma).fetchall()
    gate = Ledger(connection, all_statements()).gate
    # Their indexes are made at the end in one go.
    # `Any`: what SQLite gives for a cell.
    indexes: list[Any] = connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name IN ('docket', 'gated') AND sql NOT NULL"
    ).fetchall()
    connection.execute("BEGIN").fetchall()
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}").fetchall()
    wrapper = pack_wrapper(Wrapper(case=UUID(int=0), sender="a@example.org")).ljust(800, b"\0")
    cases: list[Cell] = []
    rows: list[Cell] = []
    for number, docket in enumerate(sorted(dockets(count, seed), key=lambda docket: docket.case), 1):
        cases += case_row(Case(id=docket.case, message=docket.message, opened=docket.created, wrapper=wrapper))
        rows += docket_row(docket, gate.pile(docket.gatekeeper, docket.folder))
        if number % _CHUNK == 0 or number == count:
            for table, columns, cells in (("gated", CASE_COLUMNS, cases), ("docket", DOCKET_COLUMNS, rows)):
                for statement, bindings in inserts(table, columns, cells=cells):
                    connection.execute(statement, bindings).fetchall()
            cases, rows = [], []
    for _, statement in indexes:
        connection.execute(statement).fetchall()
    connection.execute("UPDATE pile SET held = (SELECT count(*) FROM docket WHERE pile = pile.id)").fetchall()
    connection.execute("COMMIT").fetchall()
    connection.execute("PRAGMA journal_mode = wal").fetchall()
    connection.close()
    with path.open("rb") as file:
        os.fsync(file.fileno())


def filled_desk(plan: Plan, folder: Path) -> Path:
    """Give a filled store of one's own in a folder; the one it is copied from is made where there is none."""
    tables = "\0".join([*migrations("posthouse.store.sqlite.schema"), DOCKET_COLUMNS, CASE_COLUMNS])
    digest = hashlib.blake2b(tables.encode(), digest_size=6).hexdigest()
    kept = plan.cache / f"desk-{plan.scale.dockets}-seed{plan.seed}-{digest}.db"
    if not kept.exists():
        plan.cache.mkdir(parents=True, exist_ok=True)
        for older in plan.cache.glob(f"desk-{plan.scale.dockets}-*"):
            older.unlink()
        part = kept.with_suffix(".part")
        part.unlink(missing_ok=True)
        fill(part, plan.scale.dockets, seed=plan.seed)
        part.rename(kept)
    copy = folder / "desk.db"
    subprocess.run([shutil.which("cp") or "cp", "--reflink=auto", kept, copy], check=True)
    return copy


@asynccontextmanager
async def opened(plan: Plan) -> AsyncIterator[SqliteStore]:
    """Give the filled desk, open."""
    with plan.folder() as folder:
        store = await SqliteStore.open(filled_desk(plan, folder))
        try:
            yield store
        finally:
            await store.close()


async def measure_list(plan: Plan) -> Results:
    """List pages as gatekeepers do: of one's own, of one folder, of all, in each order, at the front and farther on."""
    chance = random.Random(plan.seed)
    seconds: dict[str, list[float]] = {"own": [], "folder": [], "all": []}
    async with opened(plan) as store:
        for _ in range(plan.scale.takes):
            role = f"Gatekeeper {chance.randrange(GATEKEEPERS)}"
            order = chance.choice(_ORDERS)
            for name, chosen in (
                ("own", DocketFilter(gatekeeper=role)),
                ("folder", DocketFilter(gatekeeper=role, folder=INBOX)),
                ("all", DocketFilter()),
            ):
                seconds[name] += await _time_pages(store, chosen, order)
    every = [each for times in seconds.values() for each in times]
    return [
        figure_of("desk_list_p95_ms", OURS, values=[percentile(every, 0.95) * 1000], note="pages of 100, at the store"),
        *(
            figure_of(f"desk_list_{name}_p95_ms", OURS, values=[percentile(times, 0.95) * 1000])
            for name, times in seconds.items()
        ),
    ]


async def _time_pages(store: SqliteStore, chosen: DocketFilter, order: DocketOrder) -> list[float]:
    times = []
    after = None
    for _ in range(3):
        began = time.perf_counter()
        page = await store.gate.cases.dockets(chosen, order=order, after=after, limit=_PAGE)
        times.append(time.perf_counter() - began)
        if not page:
            break
        after = place_of(page[-1], order)
    return times


async def measure_decide(plan: Plan) -> Results:
    """Decide one docket at a time, each with its record; ask for what is due and for the counts between them."""
    times: dict[str, list[float]] = {"decide": [], "due": [], "next_due": [], "counts": []}
    async with opened(plan) as store:
        chance = random.Random(plan.seed)
        for _ in range(plan.scale.takes):
            chosen = DocketFilter(gatekeeper=f"Gatekeeper {chance.randrange(GATEKEEPERS)}")
            page = await store.gate.cases.dockets(chosen, limit=1)
            for docket in page:
                times["decide"].append(await _time_decision(store, docket))
            for name, read in (
                ("due", lambda: store.gate.cases.due(_NOW + 30 * _HOUR, 500)),
                ("next_due", store.gate.cases.next_due),
                ("counts", store.gate.cases.counts),
            ):
                began = time.perf_counter()
                await read()
                times[name].append(time.perf_counter() - began)
    return [
        figure_of("desk_decide_p99_ms", OURS, values=[percentile(times["decide"], 0.99) * 1000], note="at the store"),
        *(
            figure_of(f"desk_{name}_p99_ms", OURS, values=[percentile(times[name], 0.99) * 1000])
            for name in ("due", "next_due", "counts")
        ),
    ]


async def _time_decision(store: SqliteStore, docket: Docket) -> float:
    case = await store.gate.cases.case(docket.case)
    if case is None:
        return 0.0
    new = msgspec.structs.replace
    decided = Changes(
        cases=(new(case, version=case.version + 1, is_open=False, outcome="released", closed=_NOW),),
        dockets=(new(docket, version=docket.version + 1, status="released", is_open=False, due=None),),
        audits=(audit_entry("case.released", str(case.id), at=_NOW, actor="ada", salt=b"s" * 32, payload=b"p" * 80),),
    )
    began = time.perf_counter()
    (outcome,) = await store.commit([decided])
    seconds = time.perf_counter() - began
    assert outcome.status == "done"
    return seconds


CONTESTS: Final = (
    Contest(("desk_list_p95_ms",), measure_list),
    Contest(("desk_decide_p99_ms",), measure_decide),
)
