"""The process that holds the office is killed again and again under load, and nothing that was answered is undone."""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import os
import random
import signal
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from pathlib import Path

import msgspec
import pytest

from posthouse.client import Office
from posthouse.office.calls import ListMailboxes
from tests.scenario.crash.worker import MAILBOXES, Told, work

WORKERS = 3
SILENCE_S = 30.0

# The workers are forked from a process that has imported everything, for a start must not take longer than a life.
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.scenario.crash.worker"])


class Crowd:
    """Workers on one office, of whom the one that holds it is killed."""

    def __init__(self, path: Path, seed: int) -> None:
        self._path = path
        self._seed = seed
        self._names = itertools.count(1)
        self._living: dict[int, multiprocessing.process.BaseProcess] = {}
        self._accounts: list[Connection] = []
        self.told: list[Told] = []

    def hire(self) -> None:
        ours, theirs = _context.Pipe(duplex=False)
        process = _context.Process(target=work, args=(str(self._path), f"w{self._seed}-{next(self._names)}", theirs))
        process.start()
        theirs.close()
        assert process.pid is not None
        self._living[process.pid] = process
        self._accounts.append(ours)

    def listen(self, lines: int) -> None:
        """Return when so many more lines were told; nobody may be silent for long."""
        last = len(self.told) + lines
        while len(self.told) < last:
            ready = wait(self._accounts, timeout=SILENCE_S)
            assert ready, f"nobody said anything for {SILENCE_S} s; the last was {self.told[-1:]}"
            for account in ready:
                assert isinstance(account, Connection)
                self._hear(account)

    def _hear(self, account: Connection) -> None:
        try:
            while account.poll():
                self.told.append(msgspec.json.decode(account.recv_bytes(), type=Told))
        except EOFError:
            self._accounts.remove(account)
            account.close()

    def kill_holder(self) -> bool:
        """Kill the worker that holds the office; false where it is just changing hands."""
        mark = self._path.with_name(f"{self._path.name}.lock").read_text()
        holder = int(mark.split()[1]) if mark else 0
        if holder not in self._living:
            return False
        self.kill(holder)
        return True

    def kill(self, process: int) -> None:
        os.kill(process, signal.SIGKILL)
        killed = self._living.pop(process)
        killed.join(SILENCE_S)
        assert killed.exitcode == -signal.SIGKILL, f"{killed.name} ended by itself with {killed.exitcode}"

    def end(self) -> None:
        for process in list(self._living):
            self.kill(process)
        while self._accounts:
            for account in list(self._accounts):
                self._hear(account)


@contextmanager
def crowd(path: Path, seed: int) -> Iterator[Crowd]:
    people = Crowd(path, seed)
    try:
        for _ in range(WORKERS):
            people.hire()
        yield people
    finally:
        people.end()


def kill_and_count(path: Path, seed: int, *, kills: int) -> list[Told]:
    """Kill the holder so many times at moments of chance, then everybody; gives all that was told."""
    chance = random.Random(seed)
    with crowd(path, seed) as people:
        people.listen(20)
        done = 0
        while done < kills:
            people.listen(chance.randint(1, 120))
            if people.kill_holder():
                done += 1
                people.hire()
    return people.told


async def drain(path: Path) -> list[str]:
    """Take everything that is left, as soon as the leases of the dead are over."""
    left = []
    async with Office.open(path) as office:
        while await office.call(ListMailboxes()):
            for mailbox in MAILBOXES:
                deliveries = await office.take_many(mailbox, limit=500, wait=0.5)
                left += [str(delivery.message.attributes["key"]) for delivery in deliveries]
                for delivery in deliveries:
                    size = sum([len(piece) async for piece in office.body(delivery.message)])
                    assert size == delivery.message.size
                await office.acknowledge(*deliveries)
    return left


def check(told: list[Told], left: list[str]) -> None:
    """Compare what was left with what everybody was told."""
    accepted = {line.key for line in told if line.what == "accepted"}
    asked = {line.key for line in told if line.what == "putting"}
    acknowledged = {line.key: line.at for line in told if line.what == "acknowledged"}
    maybe = {line.key for line in told if line.what == "acknowledging"}
    assert len(left) == len(set(left)), "a message was there twice"
    assert not accepted - maybe - set(left), "accepted messages were lost"
    assert not set(left) - asked, "there were messages nobody had sent"
    assert not set(left) & set(acknowledged), "acknowledged messages came back"
    for line in told:
        if line.what == "taken":
            assert line.key in asked
            before = acknowledged.get(line.key)
            assert before is None or line.asked < before, f"{line} was delivered after it was acknowledged"
    check_order(told, left)


def check_order(told: list[Told], left: list[str]) -> None:
    """Within a lane, nobody got a message before the ones before it were dealt with, or in the same hands."""
    lanes: dict[str, list[tuple[int, ...]]] = defaultdict(list)
    for line in told:
        if line.what == "accepted":
            lanes[lane_of(line.key)].append(number_in(line.key))
    hands: dict[str, set[tuple[int, ...]]] = defaultdict(set)
    for line in sorted(told, key=lambda line: line.at):
        if line.what == "taken":
            seen = hands[lane_of(line.key)]
            seen.add(number_in(line.key))
            overtaken = [number for number in lanes[lane_of(line.key)] if number < number_in(line.key)]
            assert seen.issuperset(overtaken), f"{line} overtook {sorted(set(overtaken) - seen)[:3]}"
    for key in MAILBOXES:
        order = [(lane_of(each), number_in(each)) for each in left if f" {key} " in each]
        for lane in {lane for lane, _ in order}:
            numbers = [number for other, number in order if other == lane]
            assert numbers == sorted(numbers), f"{lane} came out of order"


def lane_of(key: str) -> str:
    return key.rpartition(" ")[0]


def number_in(key: str) -> tuple[int, ...]:
    return tuple(map(int, key.rpartition(" ")[2].split(".")))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", [1])
def test_the_holder_is_killed_twenty_times_and_nothing_is_lost(tmp_path: Path, seed: int) -> None:
    told = kill_and_count(tmp_path / "office.db", seed, kills=20)
    left = asyncio.run(drain(tmp_path / "office.db"))
    check(told, left)


@pytest.mark.soak
@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("seed", range(2, 12))
def test_the_holder_is_killed_a_thousand_times_and_nothing_is_lost(tmp_path: Path, seed: int) -> None:
    told = kill_and_count(tmp_path / "office.db", seed, kills=100)
    left = asyncio.run(drain(tmp_path / "office.db"))
    check(told, left)
