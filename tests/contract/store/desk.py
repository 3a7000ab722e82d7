"""A desk at which the scenarios are played: one store, one clock that the scenario moves, short words for changes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, Literal

from posthouse.message.changes import (
    Changes,
    Entry,
    Filter,
    Leased,
    Outcome,
    Post,
    Room,
    Settle,
    Setup,
    Take,
)
from posthouse.message.trace import Step
from posthouse.store.ports import Queued, Store
from posthouse.testing.build import SECOND, START, number_of, post
from tests.contract.store.adapters import Opening

Act = Literal["done", "renew", "back", "retry", "wake", "bury"]
LEASE = 30 * SECOND


class Desk:
    """What a scenario does and sees; messages are known by their numbers."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.now = START

    def later(self, seconds: int) -> int:
        return self.now + seconds * SECOND

    def wait(self, seconds: int) -> None:
        self.now = self.later(seconds)

    # The parts of a `Changes` under their own names; the struct checks nothing, mypy checks its other callers.
    def changes(self, **parts: Any) -> Changes:
        return Changes(**parts)

    async def change(self, **parts: Any) -> Outcome:
        (outcome,) = await self.store.commit([self.changes(**parts)])
        return outcome

    async def put(self, number: int, *entries: Entry, body: bytes = b"") -> Outcome:
        return await self.change(posts=(self.post(number, *entries, body=body),))

    def post(self, number: int, *entries: Entry, body: bytes = b"", aside: str | None = None) -> Post:
        return post(number, *entries, at=self.now, body=body, aside=aside)

    def taking(
        self, box: str = "#inbox", *, kind: str | None = None, correlation: str | None = None, limit: int = 1
    ) -> Take:
        until = self.now + LEASE
        return Take(box=box, now=self.now, until=until, holder="worker", filter=Filter(kind, correlation), limit=limit)

    async def take(
        self, box: str = "#inbox", *, kind: str | None = None, correlation: str | None = None, limit: int = 1
    ) -> tuple[Leased, ...]:
        outcome = await self.change(take=self.taking(box, kind=kind, correlation=correlation, limit=limit))
        assert outcome.status == "done"
        return outcome.taken

    async def take_one(self, box: str = "#inbox") -> Leased:
        (leased,) = await self.take(box)
        return leased

    async def takes(
        self, box: str = "#inbox", *, kind: str | None = None, correlation: str | None = None, limit: int = 100
    ) -> list[int]:
        """Take and give the numbers of what was taken."""
        return numbers(await self.take(box, kind=kind, correlation=correlation, limit=limit))

    def settling(
        self, place: Leased | Queued, act: Act, *, at: int | None = None, reason: str = "", step: Step | None = None
    ) -> Settle:
        when = self.now if at is None else at
        return Settle(act=act, entry=place.entry, token=place.token, at=when, reason=reason, step=step)

    async def settle(
        self, place: Leased | Queued, act: Act, *, at: int | None = None, reason: str = "", step: Step | None = None
    ) -> Outcome:
        return await self.change(settles=(self.settling(place, act, at=at, reason=reason, step=step),))

    async def queued(self, box: str = "#inbox") -> list[Queued]:
        return await self.store.queue.entries(box)

    async def queued_in_state(self, state: str, box: str = "#inbox") -> list[Queued]:
        return [queued for queued in await self.queued(box) if queued.state == state]

    async def only(self, box: str = "#inbox") -> Queued:
        (queued,) = await self.queued(box)
        return queued

    async def holds(self, box: str = "#inbox") -> list[int]:
        """Give the numbers of the messages in a box, in order of arrival."""
        return numbers(await self.queued(box))

    async def due(self, limit: int = 100) -> list[int]:
        return numbers(await self.store.queue.due(self.now, limit))

    async def set_up(self, setup: Setup) -> None:
        assert (await self.change(setups=(setup,))).status == "done"


def numbers(places: Iterable[Leased | Queued]) -> list[int]:
    return [number_of(place.letter.id if isinstance(place, Leased) else place.message) for place in places]


def room(box: str = "#inbox", *, messages: int | None = None, size: int | None = None) -> Room:
    return Room(box, messages, size)


Scenario = Callable[[Desk], Awaitable[None]]


def scenario(play: Scenario) -> Callable[[Opening, Path], Awaitable[None]]:
    """Make a test of a scenario: it gets a desk with an empty store."""

    # No functools.wraps: pytest would see the scenario's parameters instead of these.
    async def test(opening: Opening, tmp_path: Path) -> None:
        async with opening(tmp_path) as store:
            await play(Desk(store))

    test.__doc__ = play.__doc__
    test.__module__ = play.__module__
    test.__name__ = play.__name__
    return test


class News:
    """Collects what a store tells its listeners."""

    def __init__(self, store: Store) -> None:
        self._boxes: set[str] = set()
        self._told = asyncio.Event()
        store.watch(self._listen)

    def _listen(self, boxes: frozenset[str]) -> None:
        self._boxes |= boxes
        self._told.set()

    async def of(self, box: str) -> None:
        """Return once the box was named; the test's own deadline ends the wait."""
        while box not in self._boxes:
            self._told.clear()
            await self._told.wait()

    def forget(self) -> None:
        self._boxes.clear()

    @property
    def boxes(self) -> frozenset[str]:
        return frozenset(self._boxes)
