"""Senders and reviewers on an office that is killed under them: what each asked and was told, message by message."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar
from uuid import UUID

from posthouse.client import Draft, Office
from posthouse.client.way import hand_in, known
from posthouse.clock import SystemClock
from posthouse.message.case import Case, Docket
from posthouse.message.envelope import Envelope
from posthouse.message.message import Body, Message
from posthouse.office.calls import Call, ListQueue
from posthouse.office.deskcalls import Decide, Decided, Decision, Edit, FindCases, HearCases, ListDockets, Recall
from posthouse.office.intake import Receipt
from posthouse.server.assemble import reach_house
from posthouse.server.control import OfficeLink
from posthouse.store.gateports import DocketFilter
from posthouse.transport.ports import Disconnected, Unreachable
from tests.scenario.crash.plans import BLUE, PLANS, RED, SENDER, Deed, Plan

Reply = TypeVar("Reply")

WORKERS: Final = 6
NEW_IN_A_LIFE: Final = 25
ENDS_WITHIN_S: Final = 60.0
EDITED: Final = "one sack"


class LinkWay:
    """The way to the office another process runs: never opens it itself, never asks twice."""

    office: str | None = None
    principal = ""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._link: OfficeLink | None = None

    async def open(self) -> None:
        self._link = await reach_house(self._path)

    async def close(self) -> None:
        if self._link is not None:
            await self._link.close()

    async def answer(self, call: Call[Reply]) -> Reply:
        assert self._link is not None
        return await self._link.answer(call)

    async def put(self, batch: list[tuple[Message, Envelope]]) -> list[Receipt]:
        return [known(receipt) for receipt in await self.answer(hand_in(batch))]

    async def save_body(self, chunks: object) -> Body:  # noqa: ARG002 - there are none
        raise AssertionError("no reviewer sends a body too large to travel inline")


@dataclass
class Letter:
    """One message, what was done with it so far, and what everybody was told of it."""

    id: UUID
    kind: str
    accepted: bool = False
    done: int = 0
    """How many of the deeds of its plan were answered as done."""
    asked: int = 0
    """How many were asked for, answered or not."""
    versions: dict[tuple[UUID, int], int] = field(default_factory=dict)
    """The newest version of each docket anybody was told of."""
    is_over: bool = False
    is_busy: bool = False

    @property
    def plan(self) -> Plan:
        return PLANS[self.kind]

    @property
    def may_be_there(self) -> bool:
        """Whether a recipient may have it by now: everything was asked for that lets it go."""
        plan = self.plan
        if self.kind == "divide":
            return self.asked > 0
        return bool(plan.red) and self.asked == len(plan.deeds)


class Reviewers:
    """A crowd of senders and reviewers, and the book of all messages they ever had to do with."""

    def __init__(self, path: Path, chance: random.Random) -> None:
        self._path = path
        self._chance = chance
        self._clock = SystemClock()
        self._moves = 0
        self.letters: dict[UUID, Letter] = {}

    async def live(self, *, moves: int, kill: Callable[[], None]) -> None:
        """Work on an office that has just been opened, until it is killed at some moment after so many moves."""
        await self.look_around()
        self._moves = moves
        room = len(self.letters) + NEW_IN_A_LIFE
        loop = asyncio.get_running_loop()

        async def work() -> None:
            try:
                async with Office(LinkWay(self._path), clock=self._clock) as office:
                    while True:
                        await self._act(office, may_send=len(self.letters) < room)
                        self._moves -= 1
                        if self._moves == 0:
                            # Neither before nor after what anybody asks just now: somewhere within it.
                            loop.call_later(self._chance.uniform(0.0, 0.01), kill)
            except (Disconnected, Unreachable):
                return

        async with asyncio.TaskGroup() as group:
            for _ in range(WORKERS):
                group.create_task(work())

    async def finish(self) -> None:
        """Bring everything to its end on an office that nobody kills."""
        last = asyncio.get_running_loop().time() + ENDS_WITHIN_S
        async with Office(LinkWay(self._path), clock=self._clock) as office:
            heard = await office.call(HearCases())
            while waiting := [letter for letter in self.letters.values() if not letter.is_over]:
                assert asyncio.get_running_loop().time() < last, f"there is no end to {waiting[:3]}"
                for letter in waiting:
                    await self._go_on(letter, office)
                heard = await office.call(HearCases(after=heard.after, wait=0.2))

    async def look_around(self) -> None:
        """Nobody has got anything that nobody has let go."""
        async with Office(LinkWay(self._path), clock=self._clock) as office:
            for box in (RED, BLUE):
                found = await office.call(ListQueue(box=f"#{box}", limit=1_000))
                messages = [queued.message for queued in found]
                assert len(messages) == len(set(messages)), f"{box} has a message twice"
                for message in messages:
                    letter = self.letters.get(message)
                    assert letter is None or letter.kind == "good machine" or letter.may_be_there, (box, letter)

    async def _act(self, office: Office, *, may_send: bool) -> None:
        """Send a message, or do the next thing with one that was sent."""
        open_letters = [letter for letter in self.letters.values() if not letter.is_over and not letter.is_busy]
        if may_send and (not open_letters or self._chance.random() < 0.3):
            letter = Letter(self._clock.new_id(), self._chance.choice(list(PLANS)))
            self.letters[letter.id] = letter
        elif open_letters:
            letter = self._chance.choice(open_letters)
        else:
            await office.call(HearCases(wait=0.01))
            return
        letter.is_busy = True
        try:
            await self._go_on(letter, office)
        finally:
            letter.is_busy = False

    async def _go_on(self, letter: Letter, office: Office) -> None:
        if not letter.accepted:
            draft = Draft(
                to=(RED, BLUE), sender=SENDER, body=letter.plan.text, id=letter.id, attributes={"key": str(letter.id)}
            )
            (receipt,) = await office.put_many([draft])
            assert receipt.status == "accepted", receipt
            letter.accepted = True
            return
        dockets = await office.call(ListDockets(chosen=DocketFilter(message=letter.id, is_open=None)))
        cases = await office.call(FindCases(prefix=str(letter.id)))
        check_told(letter, dockets)
        letter.is_over = is_over(letter, dockets, cases)
        if letter.done < len(letter.plan.deeds):
            await self._do(letter, office, letter.plan.deeds[letter.done], dockets)

    async def _do(self, letter: Letter, office: Office, deed: Deed, dockets: list[Docket]) -> None:
        lying = [one for one in dockets if one.gatekeeper == deed.role and is_meant(one, letter)]
        if not lying:
            return
        docket = max(lying, key=lambda one: one.turn)
        is_again = letter.asked > letter.done
        if docket.pending and not is_again:
            # What was commanded before is not carried out yet.
            return
        letter.asked = letter.done + 1
        answer = await self._ask(letter, office, deed, docket)
        if answer.docket is not None:
            seen = letter.versions.get((answer.case, answer.turn), 0)
            letter.versions[answer.case, answer.turn] = max(seen, answer.docket.version)
        if answer.status == "done" or is_done_before(deed, answer, is_again=is_again):
            letter.done += 1
        else:
            assert answer.status == "stale", (letter, answer)

    async def _ask(self, letter: Letter, office: Office, deed: Deed, docket: Docket) -> Decided:
        match deed.act:
            case "edit":
                return await office.call(
                    Edit(
                        case=docket.case, turn=docket.turn, gatekeeper=deed.role, text=EDITED, by="ada",
                        version=docket.version,
                    )
                )  # fmt: skip
            case "recall":
                answers = await office.call(Recall(message=letter.id, by=SENDER))
                # Nothing is said of a case that is over.
                return answers[0] if answers else Decided(case=docket.case, turn=docket.turn, status="already")
            case "release" | "return" | "delete" | "forward" | "file":
                is_part = deed.act == "release" and deed.to
                decision = Decision(
                    case=docket.case, turn=docket.turn, command=deed.act, id=f"{letter.id} {letter.done}",
                    to=deed.to if deed.act == "forward" else "", mailbag=deed.to if deed.act == "file" else "",
                    recipients=(deed.to,) if is_part else (), comes_back=deed.comes_back,
                )  # fmt: skip
                (answer,) = await office.call(Decide(decisions=[decision], gatekeeper=deed.role, by="ada"))
                return answer
        raise AssertionError(deed)


def is_meant(docket: Docket, letter: Letter) -> bool:
    """Say whether the next deed is about this docket: the open one, or one an unanswered deed may have closed."""
    return docket.is_open or letter.asked > letter.done


def is_done_before(deed: Deed, answer: Decided, *, is_again: bool) -> bool:
    """Say whether what was asked for again, as its answer was lost, had been done the first time."""
    if deed.act == "edit":
        return is_again and answer.docket is not None and answer.docket.last_action == "edited"
    return is_again and deed.act == "recall" and answer.status == "already"


def check_told(letter: Letter, dockets: list[Docket]) -> None:
    """What somebody was told of a docket holds for ever."""
    known = {(one.case, one.turn): one.version for one in dockets}
    for place, version in letter.versions.items():
        assert known.get(place, 0) >= version, f"{letter} was told of version {version}, it is {known.get(place)}"


def is_over(letter: Letter, dockets: list[Docket], cases: list[Case]) -> bool:
    """Say whether nothing more is going to happen to a message."""
    plan = letter.plan
    if plan.outcome is None:
        assert (dockets, cases) == ([], [])
        return True
    assert cases, f"{letter} was accepted and has no case"
    if plan.outcome == "":
        return True
    return letter.done == len(plan.deeds) and not any(case.is_open for case in cases)
