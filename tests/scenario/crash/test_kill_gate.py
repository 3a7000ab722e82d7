"""The process that decides on gated messages is killed again and again: no case is lost, doubled or half there."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
from multiprocessing.connection import Connection
from pathlib import Path

from posthouse.message.proof import Link
from posthouse.store.gateports import DocketFilter
from posthouse.store.sqlite.checking import verify
from posthouse.store.sqlite.proving import prove_file
from posthouse.store.sqlite.store import SqliteStore
from posthouse.testing.build import identity
from posthouse.testing.gated import case_id
from tests.scenario.crash import gating
from tests.scenario.crash.book import Stage

KILLS = 6
CASES = 8
SILENCE_S = 30.0

# Forked from a process that has imported everything, for a start must not take longer than a life.
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.scenario.crash.test_kill_gate"])

Told = tuple[str, int, Stage]
"""`asked` or `answered`, the number of a case, and its stage after the move."""


async def _decide(path: Path, first: int, account: Connection) -> None:
    store = await SqliteStore.open(path)
    await asyncio.gather(*[_live(store, first + place, account) for place in range(CASES)])


async def _live(store: SqliteStore, number: int, account: Connection) -> None:
    """Take one case after the other through its life."""
    chance = random.Random(number)
    while True:
        move = gating.opened(number)
        while True:
            account.send(("asked", number, move.after.stage))
            (outcome,) = await store.commit([move.changes])
            assert outcome.status == "done", outcome
            account.send(("answered", number, move.after.stage))
            if move.is_onward:
                break
            move = gating.moved(move.after, chance)
        number += CASES


def decide(path: str, first: int, account: Connection) -> None:
    """Decide until killed."""
    asyncio.run(_decide(Path(path), first, account))


def killed(path: Path, first: int, *, after: int) -> list[Told]:
    """Let a process decide, kill it after so many lines of its account, and give all of them."""
    ours, theirs = _context.Pipe(duplex=False)
    process = _context.Process(target=decide, args=(str(path), first, theirs))
    process.start()
    theirs.close()
    told: list[Told] = []
    try:
        while len(told) < after:
            assert ours.poll(SILENCE_S), "nobody said anything"
            told.append(ours.recv())
    finally:
        process.kill()
        process.join()
    try:
        while ours.poll():
            told.append(ours.recv())
    except EOFError:
        # The last line may be cut short: what it would have said was not heard by anybody.
        pass
    ours.close()
    return told


async def stage_of(store: SqliteStore, number: int) -> Stage | None:
    """Give the stage of a case as the store has it; none where neither case nor letter is there."""
    found = await store.gate.cases.case(case_id(number))
    dockets = await store.gate.cases.dockets(DocketFilter(case=case_id(number), is_open=None))
    records = await store.gate.audit.of_subject(f"case {number}")
    letter = await store.journal.letter(identity(number))
    if found is None:
        assert (dockets, records, letter) == ([], [], None)
        return None
    assert letter is not None
    gone_on = await store.queue.entries(f"to {number}")
    assert len(gone_on) == (not found.is_open)
    return gating.stage_of(found, dockets, records=len(records))


async def test_whoever_decides_is_killed_and_no_decision_is_lost_or_done_twice(tmp_path: Path) -> None:
    path = tmp_path / "office.db"
    chance = random.Random(1)
    told: dict[int, list[Told]] = {}
    for kill in range(KILLS):
        for line in killed(path, 1 + kill * 100_000, after=chance.randint(40, 400)):
            told.setdefault(line[1], []).append(line)
        store = await SqliteStore.open(path)
        try:
            for number, lines in told.items():
                # One move of a case is asked for at a time: it is where it was answered to be, or one move on.
                allowed = [stage for _, _, stage in lines[-2:]] if len(lines) > 1 else [None, lines[-1][2]]
                assert await stage_of(store, number) in allowed, (kill, number)
            assert await verify(store, repair=False) == []
        finally:
            await store.close()
        assert isinstance(prove_file(path), Link)
    assert len(told) > KILLS
