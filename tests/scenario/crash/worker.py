"""A program that sends and takes until it is killed, and tells its parent of everything it asks and is answered.

It is a program like any other: where it comes first it holds the office, else it goes through the control socket, and
when the holder dies one of those who are left opens the office in its place.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import uvloop

from posthouse.client import Delivery, Draft, LeaseLost, Office
from posthouse.clock import SystemClock
from posthouse.transport.ports import Disconnected, Unreachable

MAILBOXES = ("red", "blue")
# Long enough to be settled on a busy machine, short enough that the test can wait for those of the dead.
LEASE_S = 5.0
LARGE = 70_000

What = Literal["ready", "putting", "accepted", "taken", "acknowledging", "acknowledged", "returned", "lost"]


class Told(NamedTuple):
    """One line of a worker's account; instants are of the clock all processes of the machine share."""

    what: What
    worker: str
    key: str = ""
    """Sender, mailbox and number of a message."""
    at: int = 0
    asked: int = 0
    attempt: int = 0


class Worker:
    """One sender and one taker on the same office."""

    def __init__(self, path: Path, name: str, account: Connection) -> None:
        self._path = path
        self._name = name
        self._account = account
        self._chance = random.Random(name)
        self._clock = SystemClock()

    async def run(self) -> None:
        async with Office.open(self._path) as office, asyncio.TaskGroup() as tasks:
            self._tell("ready")
            tasks.create_task(self._send(office))
            tasks.create_task(self._take(office))

    def _tell(self, what: What, key: str = "", *, asked: int = 0, attempt: int = 0) -> None:
        told = Told(what, self._name, key, time.monotonic_ns(), asked, attempt)
        self._account.send_bytes(msgspec.json.encode(told))

    async def _send(self, office: Office) -> None:
        for number in itertools.count(1):
            drafts = [self._draft(f"{number}.{part}") for part in range(self._chance.choice((1, 1, 3)))]
            keys = [str(draft.attributes["key"]) for draft in drafts]
            for key in keys:
                self._tell("putting", key)
            while True:
                try:
                    receipts = await office.put_many(drafts)
                except (Disconnected, Unreachable):
                    # Whether they were accepted is not known: the same ids are handed in again.
                    continue
                break
            for key, receipt in zip(keys, receipts, strict=True):
                assert receipt.status in {"accepted", "duplicate"}, receipt
                self._tell("accepted", key)

    def _draft(self, number: str) -> Draft:
        mailbox = self._chance.choice(MAILBOXES)
        large = self._chance.random() < 0.05
        return Draft(
            to=mailbox,
            sender=self._name,
            body=self._chance.randbytes(LARGE if large else 40),
            attributes={"key": f"{self._name} {mailbox} {number}"},
            id=self._clock.new_id(),
        )

    async def _take(self, office: Office) -> None:
        while True:
            asked = time.monotonic_ns()
            try:
                mailbox = self._chance.choice(MAILBOXES)
                for delivery in await office.take_many(
                    mailbox, limit=self._chance.choice((1, 4)), wait=0.5, lease=LEASE_S
                ):
                    await self._settle(office, delivery, asked)
            except (Disconnected, Unreachable, LeaseLost):
                continue

    async def _settle(self, office: Office, delivery: Delivery, asked: int) -> None:
        key = str(delivery.message.attributes["key"])
        self._tell("taken", key, asked=asked, attempt=delivery.attempt)
        try:
            if self._chance.random() < 0.1:
                await office.give_back(delivery)
                self._tell("returned", key)
            else:
                self._tell("acknowledging", key)
                await office.acknowledge(delivery)
                self._tell("acknowledged", key)
        except LeaseLost:
            self._tell("lost", key)
            raise


def work(path: str, name: str, account: Connection) -> None:
    """Be a worker until killed."""
    uvloop.run(Worker(Path(path), name, account).run())
