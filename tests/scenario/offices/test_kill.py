"""Either office is killed again and again in the middle of a transfer; nothing is lost, doubled or out of order."""

from __future__ import annotations

import random
import signal
from collections import defaultdict
from pathlib import Path

import pytest

from posthouse.message.message import read_head
from posthouse.office.calls import Taken
from tests.scenario.offices.town import Place, neighbours, number_of, town

SENDERS = ("alice", "carol", "dave")
MAILBOXES = ("red", "blue")


class Transfer:
    """What was accepted at one office, and what the other has found in its mailboxes."""

    def __init__(self, north: Place, south: Place, chance: random.Random) -> None:
        self._north = north
        self._south = south
        self._chance = chance
        self._last = 0
        self.accepted: dict[tuple[str, str], list[int]] = defaultdict(list)
        self.found: dict[tuple[str, str], list[int]] = defaultdict(list)

    async def send(self) -> None:
        """Have some messages accepted."""
        sender, mailbox = self._chance.choice(SENDERS), self._chance.choice(MAILBOXES)
        numbers = range(self._last + 1, self._last + 1 + self._chance.randint(1, 150))
        self._last = numbers[-1]
        await self._north.put(f"{self._south.name}#{mailbox}", *numbers, sender=sender)
        self.accepted[sender, mailbox] += numbers

    async def kill_in_the_middle(self) -> None:
        """Kill one of the two while messages are on their way."""
        victim = self._chance.choice((self._north, self._south))
        watched = self._south if victim is self._north else self._north
        # Somewhere in the transfer: as many questions later as chance will have it.
        for _ in range(self._chance.randint(0, 25)):
            await watched.status()
        await victim.end(signal.SIGKILL)
        await victim.start()

    async def find_all(self) -> None:
        """Find everything that arrives."""
        while any(self._missing(mailbox) for mailbox in MAILBOXES):
            for mailbox in MAILBOXES:
                for taken in await self._take(mailbox):
                    self.found[_sender(taken), mailbox].append(number_of(taken))

    async def _take(self, mailbox: str) -> list[Taken]:
        missing = self._missing(mailbox)
        return await self._south.take(mailbox, min(100, missing)) if missing else []

    def _missing(self, mailbox: str) -> int:
        accepted = sum(len(numbers) for (_, to), numbers in self.accepted.items() if to == mailbox)
        return accepted - sum(len(numbers) for (_, to), numbers in self.found.items() if to == mailbox)


def _sender(taken: Taken) -> str:
    letter = taken.leased.letter
    return read_head(letter.head, letter.body).sender or ""


async def kill(folder: Path, seed: int, *, rounds: int) -> None:
    north, south = neighbours(folder)
    async with town(north, south):
        transfer = Transfer(north, south, random.Random(seed))
        for _ in range(rounds):
            for _ in range(3):
                await transfer.send()
            await transfer.kill_in_the_middle()
        await transfer.find_all()
        await north.until(lambda status: not status.queued)
        assert transfer.found == transfer.accepted
        for mailbox in MAILBOXES:
            assert await south.rest(mailbox) == [], "a message arrived twice"
        assert (await north.status()).dead == 0


@pytest.mark.timeout(80)
async def test_twenty_kills_and_each_message_arrives_once_in_order(tmp_path: Path) -> None:
    await kill(tmp_path, 1, rounds=20)


@pytest.mark.soak
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("seed", range(2, 12))
async def test_a_thousand_kills_and_each_message_arrives_once_in_order(tmp_path: Path, seed: int) -> None:
    await kill(tmp_path, seed, rounds=100)
