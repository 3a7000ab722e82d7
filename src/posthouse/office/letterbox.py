"""The letterbox: what postmen of other offices bring is taken in here, and each message is answered for."""

from __future__ import annotations

from collections.abc import Sequence

from posthouse.errors import PosthouseError
from posthouse.message.changes import Register
from posthouse.message.message import Body
from posthouse.message.name import MalformedName, parse_mailbox
from posthouse.office.intake import Intake, Receipt
from posthouse.office.sorting import Parcel
from posthouse.office.terms import Terms
from posthouse.transport.ports import Outgoing, Result

Lane = tuple[str | None, str | None]
Numbered = tuple[int, Outgoing]


class Letterbox:
    """Takes in batches; many postmen may come at once."""

    def __init__(self, terms: Terms, intake: Intake) -> None:
        self._terms = terms
        self._intake = intake

    async def take_in(self, batch: Sequence[Outgoing]) -> list[Result]:
        """Take in a batch; once a message has to be brought again, so has the rest of its lane.

        All is accepted at once where it can be. A mailbox with a quota may refuse one message and have room for the
        next, so the lanes of its messages are taken in one by one.
        """
        results: dict[int, Result] = {}
        blocked: dict[Lane, Result] = {}
        slow = await self._slow_lanes(batch)
        waiting = list(enumerate(batch))
        while waiting:
            going, waiting = _next_round(waiting, slow)
            taken = await self._take_round([outgoing for _, outgoing in going])
            for (number, outgoing), result in zip(going, taken, strict=True):
                results[number] = result
                if result.status == "unreachable":
                    blocked.setdefault(_lane(outgoing), result)
            results |= {number: blocked[_lane(outgoing)] for number, outgoing in waiting if _lane(outgoing) in blocked}
            waiting = [(number, outgoing) for number, outgoing in waiting if number not in results]
        return [results[number] for number in range(len(batch))]

    async def _take_round(self, batch: Sequence[Outgoing]) -> list[Result]:
        answers = [await self._fetch_body(outgoing) for outgoing in batch]
        here = [outgoing for outgoing, answer in zip(batch, answers, strict=True) if answer is None]
        receipts = iter(await self._intake.accept([Parcel(outgoing.message, outgoing.envelope) for outgoing in here]))
        return [_result(next(receipts)) if answer is None else answer for answer in answers]

    async def _fetch_body(self, outgoing: Outgoing) -> Result | None:
        """See that a large body is here before its message is; give a result only where it cannot be."""
        body, bodies = outgoing.message.body, self._intake.bodies
        if not isinstance(body, Body) or outgoing.pieces is None:
            return None
        try:
            if await bodies.has(body):
                return None
            kept = await bodies.save(outgoing.pieces(), limit=self._terms.limits.body_bytes)
        except PosthouseError as fault:
            return Result("refused" if fault.permanent else "unreachable", fault.public)
        if kept != body:
            return Result("refused", "the body is not the one the message names")
        return None

    async def _slow_lanes(self, batch: Sequence[Outgoing]) -> frozenset[Lane]:
        register = (await self._intake.facts()).register
        if not register.setups:
            return frozenset()
        return frozenset(_lane(outgoing) for outgoing in batch if _has_quota(outgoing, register))


def _next_round(waiting: Sequence[Numbered], slow: frozenset[Lane]) -> tuple[list[Numbered], list[Numbered]]:
    """Divide what waits: of slow lanes the first message goes, of all others everything."""
    going: list[Numbered] = []
    staying: list[Numbered] = []
    seen: set[Lane] = set()
    for number, outgoing in waiting:
        lane = _lane(outgoing)
        (staying if lane in seen else going).append((number, outgoing))
        if lane in slow:
            seen.add(lane)
    return going, staying


def _lane(outgoing: Outgoing) -> Lane:
    return outgoing.message.lane, outgoing.envelope.sender


def _has_quota(outgoing: Outgoing, register: Register) -> bool:
    for recipient in outgoing.envelope.everybody:
        try:
            setup = register.setups.get(parse_mailbox(recipient).mailbox)
        except MalformedName:
            continue
        if setup is not None and (setup.max_messages is not None or setup.max_bytes is not None):
            return True
    return False


def _result(receipt: Receipt) -> Result:
    if receipt.status == "refused":
        return Result("unreachable" if receipt.temporary else "refused", receipt.reason)
    return Result("delivered")
