"""One program at the counter; what it leased and did not settle goes back when it leaves."""

from __future__ import annotations

import contextlib
from typing import TypeVar, cast

from posthouse.errors import PosthouseError
from posthouse.office.calls import Call, SettleTaken, Slip, Taken, TakeNext, slip_of
from posthouse.office.house import House

Reply = TypeVar("Reply")


class Visitor:
    """Asks an office in the name of one program, and remembers what that program has in hand."""

    def __init__(self, house: House) -> None:
        self.house = house
        self._leases: dict[tuple[str, bool, int], Slip] = {}

    async def answer(self, call: Call[Reply]) -> Reply:
        """Do what is asked."""
        reply = await self.house.answer(call)
        if isinstance(call, TakeNext):
            for taken in cast("list[Taken]", reply):
                self._leases[taken.office, taken.passing, taken.leased.entry] = slip_of(taken)
        elif isinstance(call, SettleTaken) and call.event != "renewed":
            self._forget(call.slips)
        return reply

    def has(self, slip: Slip) -> bool:
        """Say whether a message was lent to this very program, and not settled since."""
        known = self._leases.get((slip.office, slip.passing, slip.entry))
        return known is not None and known.token == slip.token

    async def leave(self) -> None:
        """Give back what is still in hand."""
        slips = list(self._leases.values())
        self._leases.clear()
        if slips:
            # What cannot be put back now comes back when its lease ends.
            with contextlib.suppress(PosthouseError):
                await self.house.answer(SettleTaken(slips=slips, event="returned"))

    def _forget(self, slips: list[Slip]) -> None:
        for slip in slips:
            self._leases.pop((slip.office, slip.passing, slip.entry), None)
