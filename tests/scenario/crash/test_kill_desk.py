"""A real office is killed while gatekeepers decide: nothing gets through undecided, no decision is lost or doubled."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from uuid import UUID

import msgspec
import pytest
import uvloop

from posthouse.client import Office
from posthouse.message.case import Mailbag, unpack_wrapper
from posthouse.message.proof import Link
from posthouse.office.deskcalls import Activate, WriteEdition, WriteMailbag
from posthouse.office.terms import Terms
from posthouse.server.assemble import open_house
from posthouse.store.sqlite.checking import verify
from posthouse.store.sqlite.proving import prove_file
from posthouse.store.sqlite.store import SqliteStore
from tests.scenario.crash.plans import BLUE, ORGANISATION, RED, RULES, RULES_OF_ROBOT, SENDER
from tests.scenario.crash.reviewers import EDITED, Letter, Reviewers

STARTS_WITHIN_S = 30.0
KILLS = 15

# Forked from a process that has imported everything, for a start must not take longer than a life.
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.scenario.crash.test_kill_desk"])


async def _serve(path: Path, account: Connection) -> None:
    async with open_house(path, Terms()):
        account.send("open")
        await asyncio.Event().wait()


def serve(path: str, account: Connection) -> None:
    """Be an office until killed."""
    uvloop.run(_serve(Path(path), account))


@contextmanager
def office(path: Path) -> Iterator[BaseProcess]:
    """Run an office in a process of its own; it is killed in the end, if it was not before."""
    ours, theirs = _context.Pipe(duplex=False)
    process = _context.Process(target=serve, args=(str(path), theirs))
    process.start()
    theirs.close()
    try:
        assert ours.poll(STARTS_WITHIN_S), "the office did not open"
        assert ours.recv() == "open"
        yield process
    finally:
        process.kill()
        process.join()
        ours.close()
    assert process.exitcode == -signal.SIGKILL, f"the office ended by itself with {process.exitcode}"


async def set_up(path: Path, *, undo: str) -> None:
    """Put the books in force and make a mailbag."""
    books = {
        "organisation": ORGANISATION, "rules": RULES, "rules of Robot": RULES_OF_ROBOT, "policy": f'undo = "{undo}"\n',
    }  # fmt: skip
    async with Office.open(path) as office:
        for book, text in books.items():
            written = await office.call(WriteEdition(book=book, text=text, by="zoe"))
            assert written.edition is not None, written.faults
            await office.call(Activate(book=book, number=1, by="zoe"))
        await office.call(WriteMailbag(mailbag=Mailbag(id="", gatekeeper="Sales", name="later"), by="ada"))


async def kill_again_and_again(path: Path, seed: int, *, kills: int) -> Reviewers:
    """Let reviewers work on an office that is killed so many times at moments of chance, and then come to an end."""
    chance = random.Random(seed)
    crowd = Reviewers(path, chance)
    for _ in range(kills):
        with office(path) as process:
            assert process.pid is not None
            number = process.pid
            await crowd.live(moves=chance.randint(5, 120), kill=partial(os.kill, number, signal.SIGKILL))
    with office(path):
        await crowd.finish()
        await crowd.look_around()
    return crowd


async def boxes(path: Path) -> dict[str, Counter[tuple[UUID, str]]]:
    """Take everything there is, and say which message lies where how often, and what it says."""
    found: dict[str, Counter[tuple[UUID, str]]] = {}
    async with Office.open(path) as office:
        for box in (RED, BLUE, SENDER):
            counts = found[box] = Counter()
            while deliveries := await office.take_many(box, limit=500, wait=0.0):
                for delivery in deliveries:
                    message = delivery.message
                    assert isinstance(message.body, bytes)
                    named = message.correlation if box == SENDER else message.attributes["key"]
                    counts[UUID(str(named)), message.body.decode()] += 1
                await office.acknowledge(*deliveries)
    return found


async def check(path: Path, letters: dict[UUID, Letter]) -> None:
    """Compare what there is with what was planned: everything is at its one end."""
    found = await boxes(path)
    for letter in letters.values():
        plan = letter.plan
        expected = (plan.red, plan.blue, plan.returned)
        there = tuple(sum(n for (key, _), n in found[box].items() if key == letter.id) for box in (RED, BLUE, SENDER))
        assert there == expected, f"{letter} lies in {RED}, {BLUE} and with its sender {there} times"
        texts = {text for box in (RED, BLUE) for key, text in found[box] if key == letter.id}
        assert all((EDITED in text) == (letter.kind == "edit") for text in texts), (letter, texts)
    assert {key for counts in found.values() for key, _ in counts} <= set(letters)
    store = await SqliteStore.open(path)
    try:
        for letter in letters.values():
            await check_cases(store, letter)
        assert await verify(store, repair=False) == []
    finally:
        await store.close()
    assert isinstance(prove_file(path), Link)


async def check_cases(store: SqliteStore, letter: Letter) -> None:
    """Compare the cases of a message with its plan: each ended as planned, and nothing was decided twice."""
    cases = await store.gate.cases.of_message(letter.id)
    outcomes = {case.outcome for case in cases}
    if letter.kind == "divide":
        assert outcomes == {"released", "deleted"}, letter
    else:
        assert outcomes == ({letter.plan.outcome} if letter.plan.outcome is not None else set()), letter
    for case in cases:
        assert case.is_open == (letter.plan.outcome == "")
        decisions = Counter(review.decision for review in unpack_wrapper(case.wrapper).reviews)
        assert not [one for one, count in decisions.items() if count > 1], (letter, decisions)
        lines = await store.gate.audit.of_subject(str(case.id))
        told = Counter((line.act, str(payload.get("turn"))) for line in lines if (payload := said(line.payload)))
        twice = [line for line, count in told.items() if count > 1 and line[0] in FINAL]
        assert not twice, (letter, told)


FINAL = {"case.released", "case.returned", "case.deleted", "case.recalled", "case.forwarded"}


def said(payload: bytes | None) -> dict[str, object]:
    assert payload is not None
    return msgspec.msgpack.decode(payload, type=dict[str, object])


# G-07, G-08, G-173, G-183, G-230
@pytest.mark.timeout(180)
@pytest.mark.parametrize(("seed", "undo"), [(1, "0 seconds"), (2, "1 second")])
async def test_an_office_is_killed_thirty_times_and_every_case_has_one_end(
    tmp_path: Path, seed: int, undo: str
) -> None:
    path = tmp_path / "office.db"
    await set_up(path, undo=undo)
    crowd = await kill_again_and_again(path, seed, kills=KILLS)
    assert len(crowd.letters) > KILLS
    await check(path, crowd.letters)


# G-07, G-08, G-173, G-183, G-230
@pytest.mark.soak
@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("undo", ["0 seconds", "1 second"])
@pytest.mark.parametrize("seed", range(3, 8))
async def test_an_office_is_killed_hundreds_of_times_and_every_case_has_one_end(
    tmp_path: Path, seed: int, undo: str
) -> None:
    path = tmp_path / "office.db"
    await set_up(path, undo=undo)
    crowd = await kill_again_and_again(path, seed, kills=100)
    await check(path, crowd.letters)
