"""Places elsewhere that nothing is brought to until somebody says so, and what is brought now instead of later.

That a place is held stands in the register beside the mailboxes, so it outlives the process.
"""

from __future__ import annotations

from typing import Final

from posthouse.clock import Clock
from posthouse.message import envelope as envelopes
from posthouse.message.changes import Changes, Setup
from posthouse.message.name import parse_office
from posthouse.office.calls import FlushPlace, HoldPlace, ListHeld
from posthouse.office.clerk import Clerk, Matter
from posthouse.office.counter import Unavailable
from posthouse.office.delivery import Held, State
from posthouse.office.intake import Stores
from posthouse.office.mailbox import HELD_PLACE
from posthouse.office.postmen import Postmen
from posthouse.store.ports import Queued, Store

_PAGE: Final = 500


class Holding:
    """Holds places and lets them go."""

    def __init__(self, clock: Clock, *, stores: Stores, clerk: Clerk, postmen: list[Postmen]) -> None:
        self._clock = clock
        self._stores = stores
        self._clerk = clerk
        self._postmen = postmen

    async def hold(self, call: HoldPlace) -> None:
        """Hold a place, or let it go; what waits for it then goes at once."""
        box = str(parse_office(call.place))
        setup = Setup(mailbox=f"{HELD_PLACE}{box}", closed=call.held, removed=not call.held)
        for store in (self._stores.durable, self._stores.passing):
            outcome = (await store.commit([Changes(setups=(setup,))]))[0]
            if outcome.status == "refused":
                raise Unavailable(outcome.detail)
        if not call.held:
            self._send(box)

    async def held(self, _call: ListHeld) -> list[str]:
        """Give the places that are held."""
        register = await self._stores.durable.register()
        return sorted(name.removeprefix(HELD_PLACE) for name in register.setups if name.startswith(HELD_PLACE))

    async def flush(self, call: FlushPlace) -> int:
        """Bring at once what waits for a place because it was brought in vain; answers how many messages that are."""
        box = str(parse_office(call.place))
        count = 0
        for store in (self._stores.durable, self._stores.passing):
            count += await self._wake(store, box)
        self._send(box)
        return count

    async def _wake(self, store: Store, box: str) -> int:
        count = after = 0
        now = self._clock.now()
        while page := await store.queue.entries(box, after=after, limit=_PAGE):
            matters = [matter for each in page if (matter := await self._matter(store, each, now)) is not None]
            if matters:
                outcomes = await self._clerk.settle(store, matters)
                count += sum(outcome.status == "done" for outcome in outcomes)
            after = page[-1].entry
        return count

    async def _matter(self, store: Store, each: Queued, now: int) -> Matter | None:
        """Give what wakes an entry that waits for a time of the office's own; its sender's own is kept."""
        if each.next_at is None or each.next_at <= now or each.state not in {"waiting", "held"}:
            return None
        if each.state == "waiting":
            if not each.failures:
                return None
            return _due(each, "waiting")
        letter = await store.journal.letter(each.message)
        if letter is None or (envelopes.decode.decode(letter.envelope).not_before or 0) > now:
            return None
        return _due(each, "held")

    def _send(self, box: str) -> None:
        for postmen in self._postmen:
            postmen.set_out(box)


def _due(each: Queued, state: State) -> Matter:
    return Matter(Held(each.entry, each.token, each.box, state, each.failures, each.arrived), each.message, "due")
