"""A load with a bit of everything, drawn from a seed; what it asks of the store and what it is told go into a book."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from typing import Final, Literal

from posthouse.message.changes import (
    Changes,
    Entry,
    Filter,
    Key,
    Leased,
    Onward,
    Post,
    Redrive,
    Resend,
    Settle,
    Setup,
    Take,
)
from posthouse.message.message import Body
from posthouse.message.trace import Step
from posthouse.store.sqlite.store import SqliteStore
from posthouse.testing.build import SECOND, START, entry, letter, number_of
from posthouse.testing.disk import Record
from tests.scenario.crash import gating
from tests.scenario.crash.book import ASIDE, DEAD, GONE, SHELF, Book, Place, Stage, queued

BOXES: Final = ("#a", "#b", "far")
PRINCIPAL: Final = "alice"

Act = Literal["done", "renew", "back", "retry", "bury"]
ACTS: Final[tuple[Act, ...]] = ("done", "done", "done", "renew", "back", "retry", "bury")
Move = tuple[Place, Stage]


class Load:
    """The load and its book; `play` runs it, a few requests at a time."""

    def __init__(self, store: SqliteStore, record: Record, chance: random.Random) -> None:
        self.book = Book()
        self._store = store
        self._record = record
        self._chance = chance
        self._last = 0
        self._hands: list[Leased] = []
        self._cases: list[gating.Open] = []
        self._editions = 0

    async def play(self, rounds: int) -> None:
        acts = [self._put] * 8 + [self._take] * 4 + [self._settle] * 6 + [self._redrive] * 2
        acts += [self._gate] * 2 + [self._move_case] * 4 + [self._activate]
        acts += [self._put_large, self._put_aside, self._resend, self._set_up, self._wake, self._onward]
        for _ in range(rounds):
            await asyncio.gather(*[self._chance.choice(acts)() for _ in range(self._chance.randint(1, 4))])

    async def _commit(self, changes: Sequence[Changes], moves: Sequence[Move]) -> None:
        """Ask for changes and enter where they take each place."""
        asked = self._record.place
        entered = [self.book.enter(place, stage, asked=asked) for place, stage in moves]
        outcomes = await self._store.commit(changes)
        assert all(outcome.status == "done" for outcome in outcomes), outcomes
        for each in entered:
            each.answered = self._record.place

    def _is_at_rest(self, place: Place, stage: Stage) -> bool:
        """Say whether a place is at a stage, and nobody is moving it on."""
        entered = self.book.places.get(place, [])
        return bool(entered) and entered[-1].stage == stage and entered[-1].answered <= self._record.place

    # What goes in.

    async def _put(self) -> None:
        changes: list[Changes] = []
        moves: list[Move] = []
        for _ in range(self._chance.randint(1, 5)):
            post, moved = self._post()
            key = None
            if self._chance.random() < 0.2:
                key = Key(PRINCIPAL, f"key {number_of(post.letter.id)}", START + 3_600 * SECOND)
                self.book.keyed.add(number_of(post.letter.id))
            changes.append(Changes(posts=(post,), key=key))
            moves += moved
        await self._commit(changes, moves)

    async def _put_large(self) -> None:
        content = self._chance.randbytes(self._chance.randint(1, 6_000))
        body = await self._store.bodies.save(_pieces(content), limit=10_000)
        post, moves = self._post(body)
        await self._commit([Changes(posts=(post,))], moves)

    async def _put_aside(self) -> None:
        number = self._next()
        post = Post(letter=letter(number), aside="a bug")
        await self._commit([Changes(posts=(post,))], [((number, SHELF), ASIDE)])

    async def _set_up(self) -> None:
        setup = Setup(mailbox=self._chance.choice("abc"), max_messages=self._chance.randint(5_000, 9_000))
        await self._commit([Changes(setups=(setup,))], [self.book.next_register()])

    # What is gated on its way.

    async def _gate(self) -> None:
        number = self._next()
        move = gating.opened(number)
        await self._commit([move.changes], [((number, gating.GATED), move.after.stage)])
        self._cases.append(move.after)

    async def _move_case(self) -> None:
        if not self._cases:
            return
        # Nobody else moves it meanwhile.
        known = self._cases.pop(self._chance.randrange(len(self._cases)))
        move = gating.moved(known, self._chance)
        places = [((known.number, gating.GATED), move.after.stage)]
        if move.is_onward:
            places.append(((known.number, f"to {known.number}"), queued(0, 0)))
        await self._commit([move.changes], places)
        if not move.is_onward:
            self._cases.append(move.after)

    async def _activate(self) -> None:
        self._editions += 1
        await self._commit([gating.activated(self._editions)], [self.book.next_register()])

    def _next(self) -> int:
        self._last += 1
        return self._last

    def _post(self, body: Body | None = None) -> tuple[Post, list[Move]]:
        number = self._next()
        content = body or self._chance.randbytes(self._chance.randint(0, 900))
        entries: list[Entry] = []
        moves: list[Move] = []
        for box in self._chance.sample(BOXES, self._chance.choice((1, 1, 1, 2))):
            held = self._chance.random() < 0.1
            entries.append(
                entry(
                    box,
                    kind=self._chance.choice(("mail", "order")),
                    lane=self._chance.choice("xyz"),
                    priority=self._chance.choice((5, 5, 5, 9)),
                    correlation=self._chance.choice((None, None, "c")),
                    not_before=START + SECOND if held else None,
                )
            )
            moves.append(((number, box), queued(2 if held else 0, 0)))
        return Post(letter=letter(number, body=content), entries=tuple(entries)), moves

    # What comes out.

    async def _take(self) -> None:
        limit = self._chance.choice((1, 1, 3, 8))
        box = self._chance.choice(BOXES)
        wanted = Take(box=box, now=START, until=START + 60 * SECOND, holder="worker", limit=limit)
        asked = self._record.place
        (outcome,) = await self._store.commit([Changes(take=wanted)])
        answered = self._record.place
        for leased in outcome.taken:
            place = (number_of(leased.letter.id), leased.box)
            self.book.enter(place, queued(1, leased.token), asked=asked).answered = answered
            self.book.numbers.append((answered, leased.entry))
            self._hands.append(leased)

    async def _settle(self) -> None:
        changes: list[Changes] = []
        moves: list[Move] = []
        for leased in self._out_of_hand(4):
            act = self._chance.choice(ACTS)
            step = Step(START, "failed") if act in {"retry", "bury"} else None
            changes.append(_settling(leased, act, step))
            moves.append(((number_of(leased.letter.id), leased.box), _after(act, leased)))
        await self._commit(changes, moves)

    async def _onward(self) -> None:
        for leased in self._out_of_hand(1):
            number = number_of(leased.letter.id)
            following = Onward(message=leased.letter.id, step=Step(START, "resumed"), entries=(entry(f"to {number}"),))
            change = Changes(settles=_settling(leased, "done").settles, onwards=(following,))
            if (number, f"to {number}") not in self.book.places:
                moves = [((number, leased.box), GONE), ((number, f"to {number}"), queued(0, 0))]
                await self._commit([change], moves)

    async def _wake(self) -> None:
        for held in await self._store.queue.entries(self._chance.choice(BOXES), limit=1_000):
            place = (number_of(held.message), held.box)
            if held.state == "held" and self._is_at_rest(place, queued(2, held.token)):
                wake = Settle(act="wake", entry=held.entry, token=held.token, at=START)
                await self._commit([Changes(settles=(wake,))], [(place, queued(0, held.token + 1))])
                return

    async def _redrive(self) -> None:
        for dead in await self._store.dead_letters.dead(None, Filter()):
            place = (number_of(dead.message), dead.box)
            if self._is_at_rest(place, DEAD):
                drop = self._chance.random() < 0.3
                move = (place, GONE if drop else queued(0, 0))
                await self._commit([Changes(redrives=(Redrive(dead.number, START, drop),))], [move])
                return

    async def _resend(self) -> None:
        for aside in await self._store.dead_letters.asides():
            number = number_of(aside.message)
            if self._is_at_rest((number, SHELF), ASIDE):
                box = self._chance.choice(BOXES)
                resend = Resend(aside.number, (entry(box),), Step(START, "resent"))
                moves = [((number, SHELF), GONE), ((number, box), queued(0, 0))]
                await self._commit([Changes(resends=(resend,))], moves)
                return

    def _out_of_hand(self, most: int) -> list[Leased]:
        count = min(len(self._hands), self._chance.randint(1, most))
        return [self._hands.pop(self._chance.randrange(len(self._hands))) for _ in range(count)]


def _settling(leased: Leased, act: Act, step: Step | None = None) -> Changes:
    at = START + 90 * SECOND if act == "renew" else START
    return Changes(
        settles=(Settle(act=act, entry=leased.entry, token=leased.token, at=at, step=step, reason="it broke"),)
    )


def _after(act: Act, leased: Leased) -> Stage:
    match act:
        case "done":
            return GONE
        case "renew":
            return queued(1, leased.token)
        case "bury":
            return DEAD
        case _:
            return queued(0, leased.token + 1)


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    yield content
