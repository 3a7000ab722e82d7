"""A look at the office: everything the status page and the metrics show, gathered once for all who ask."""

from __future__ import annotations

import asyncio
from typing import Final, Protocol, TypeVar

import msgspec

from posthouse.office.calls import AskStatus, Call, ListAside, ListDead, ListMailboxes, Status
from posthouse.store.ports import Aside, Dead, Depth

_HOLDS_FOR: Final = 1.0
# Looking takes at most a twentieth of the office's time, however much it holds and however many look.
_SHARE: Final = 20.0
_PAGE: Final = 1_000
_MOST_BOXES: Final = 20_000
MOST_LETTERS: Final = 200


Reply = TypeVar("Reply")


class Answers(Protocol):
    """An office that can be asked."""

    async def answer(self, call: Call[Reply]) -> Reply:
        """Do what is asked."""
        ...


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen."""

    status: Status
    boxes: list[Depth]
    """The deepest first."""
    dead: list[Dead]
    """The oldest first, as many as are shown."""
    asides: list[Aside]


class Watchman:
    """Looks when somebody asks; those who ask soon after are told the same."""

    def __init__(self, office: Answers) -> None:
        self._office = office
        self._seen: Look | None = None
        self._until = 0.0
        self._looking = asyncio.Lock()

    async def look(self, *, anew: bool = False) -> Look:
        """Give what there is to see; anew where something was just changed."""
        loop = asyncio.get_running_loop()
        async with self._looking:
            if self._seen is None or anew or loop.time() >= self._until:
                began = loop.time()
                self._seen = await self._gather()
                self._until = loop.time() + max(_HOLDS_FOR, _SHARE * (loop.time() - began))
            return self._seen

    async def _gather(self) -> Look:
        office = self._office
        boxes: list[Depth] = []
        after = ""
        while len(boxes) < _MOST_BOXES and (page := await office.answer(ListMailboxes(after=after, limit=_PAGE))):
            boxes += page
            after = page[-1].box
        return Look(
            status=await office.answer(AskStatus()),
            boxes=sorted(boxes, key=lambda box: (-box.messages, box.box)),
            dead=await office.answer(ListDead(limit=MOST_LETTERS)),
            asides=await office.answer(ListAside(limit=MOST_LETTERS)),
        )
