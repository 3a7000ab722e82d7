"""The doors to offices that are reached over HTTP and HTTPS: messages go in frames, large bodies before them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from typing import Final, Literal, cast

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.message.message import Body
from posthouse.message.name import parse_office
from posthouse.message.peer import Exchange, Peer
from posthouse.transport.http.caller import Caller, FrameRefused, NotHeard
from posthouse.transport.http.cargo import Answer, Letter, Piece, encode, letter_of, weight_of
from posthouse.transport.ports import Outgoing, Pieces, Result

_SECOND: Final = 1_000_000

Lane = tuple[str | None, str | None]


class HttpDoor:
    """See `ports.Door`; one stands for `http:` names and one for `https:` names, before the same caller."""

    def __init__(self, protocol: Literal["http", "https"], caller: Caller, *, clock: Clock, bounds: Exchange) -> None:
        self.protocol = protocol
        self._caller = caller
        self._clock = clock
        self._bounds = bounds
        self._most: dict[str, tuple[int, int]] = {}
        """How many bytes and messages a peer takes at once, where it has said so."""

    async def deliver(self, office: str, batch: Sequence[Outgoing]) -> list[Result]:
        peer = self._caller.route(office)
        if peer is None:
            reason = f"{office} is not among the peers of this office: list it under [peers], with its key"
            return [Result("unreachable", reason)] * len(batch)
        return await _Walk(self._caller, peer, clock=self._clock, bounds=self._bounds, most=self._most).carry(batch)

    async def greet(self) -> None:
        peers = [
            peer for peer in self._caller.peers if peer.keys and parse_office(peer.office).protocol == self.protocol
        ]
        await asyncio.gather(*(self._greet(peer) for peer in peers))

    async def _greet(self, peer: Peer) -> None:
        with contextlib.suppress(PosthouseError):
            await self._caller.greet(peer)

    async def close(self) -> None:
        await self._caller.close()


class _Walk:
    """One batch for one peer."""

    def __init__(
        self, caller: Caller, peer: Peer, *, clock: Clock, bounds: Exchange, most: dict[str, tuple[int, int]]
    ) -> None:
        self._caller = caller
        self._peer = peer
        self._clock = clock
        self._bounds = bounds
        self._most = most
        self._ends = clock.now() + int(bounds.upload_seconds * _SECOND)
        self._results: dict[int, Result] = {}
        self._blocked: dict[Lane, Result] = {}

    async def carry(self, batch: Sequence[Outgoing]) -> list[Result]:
        """Bring what needs no body brought before it; then body by body, each with what waits for it."""
        quick, slow = _parted(batch)
        await self._send(quick)
        for number, outgoing in slow:
            if number in self._results or self._is_blocked(number, outgoing):
                continue
            fault = await self._bring_body(outgoing)
            if fault is not None:
                self._settle(number, outgoing, result=fault)
                continue
            await self._send([(number, outgoing)])
        return [self._results[number] for number in range(len(batch))]

    async def _send(self, items: Sequence[tuple[int, Outgoing]]) -> None:
        """Send messages in as many frames as it takes, one after the other."""
        waiting = [(number, outgoing, letter_of(outgoing.message, outgoing.envelope)) for number, outgoing in items]
        while waiting:
            waiting = [each for each in waiting if not self._is_blocked(each[0], each[1])]
            count = self._fitting([letter for _, _, letter in waiting])
            if not count:
                return
            going = waiting[:count]
            try:
                results = await self._frame([letter for _, _, letter in going])
            except FrameRefused as fault:
                if count > 1:
                    self._learn(bytes_=sum(weight_of(letter) for _, _, letter in going) // 2)
                    continue
                results = [Result("unreachable", str(fault))]
            except NotHeard as fault:
                results = [Result("unreachable", str(fault), fault.pause)] * len(waiting)
                going = waiting
            if results is None:
                continue
            for (number, outgoing, _), result in zip(going, results, strict=True):
                self._settle(number, outgoing, result=result)
            waiting = waiting[len(going) :]

    async def _frame(self, letters: Sequence[Letter]) -> list[Result] | None:
        """Send one frame; gives nothing where it has to be made smaller first."""
        answer = await self._caller.say(self._peer, encode(letters), about="letters")
        if answer.verdict == "too large" and len(letters) > 1 and answer.most_letters < len(letters):
            self._learn(bytes_=answer.most_bytes, letters=max(1, answer.most_letters))
            return None
        if answer.verdict != "taken":
            return [Result("unreachable", f"it could not read the frame: {answer.reason}")] * len(letters)
        if len(answer.fates) != len(letters):
            reason = f"{len(answer.fates)} answers came for {len(letters)} messages"
            return [Result("unreachable", reason)] * len(letters)
        return [Result(fate.status, fate.reason) for fate in answer.fates]

    def _fitting(self, letters: Sequence[Letter]) -> int:
        """Say how many of these go into the next frame: at least one."""
        most_bytes, most_letters = self._most.get(
            self._peer.office, (self._bounds.aim_bytes, self._bounds.frame_letters)
        )  # fmt: skip
        weight = 0
        for count, letter in enumerate(letters):
            weight += weight_of(letter)
            if count and (weight > min(most_bytes, self._bounds.aim_bytes) or count >= most_letters):
                return count
        return len(letters)

    def _learn(self, *, bytes_: int, letters: int | None = None) -> None:
        known = self._most.get(self._peer.office, (self._bounds.aim_bytes, self._bounds.frame_letters))
        self._most[self._peer.office] = (max(1, bytes_), known[1] if letters is None else letters)

    async def _bring_body(self, outgoing: Outgoing) -> Result | None:
        """See that a large body is there before its message; gives a result only where it is not."""
        body = outgoing.message.body
        if not isinstance(body, Body) or outgoing.pieces is None:
            return None
        begun = have = body.size
        try:
            answer = await self._piece(body, 0)
            begun = have = answer.have
            while answer.verdict == "taken" and have < body.size:
                async with contextlib.aclosing(self._parts(outgoing.pieces, have)) as parts:
                    async for part in parts:
                        if self._clock.now() >= self._ends:
                            return Result("unreachable", f"{have} of {body.size} bytes of its body are there", 0.0)
                        answer = await self._piece(body, have, part)
                        if answer.verdict != "taken" or answer.have != have + len(part):
                            break
                        have = answer.have
                if answer.reason:
                    break
                have = answer.have
        except NotHeard as fault:
            return Result("unreachable", str(fault), 0.0 if have > begun else fault.pause)
        except PosthouseError as fault:
            return Result("refused" if fault.permanent else "unreachable", str(fault))
        if answer.verdict == "taken":
            return Result("unreachable", answer.reason) if answer.reason else None
        return Result("refused", answer.reason)

    async def _parts(self, pieces: Pieces, start: int) -> AsyncGenerator[bytes]:
        """Give a body from a byte on, in parts that are as large as one piece may be."""
        most = self._bounds.piece_bytes
        async with contextlib.aclosing(cast("AsyncGenerator[bytes]", pieces(start))) as reading:
            async for data in reading:
                for at in range(0, len(data), most):
                    yield data[at : at + most]

    async def _piece(self, body: Body, start: int, data: bytes = b"") -> Answer:
        return await self._caller.say(self._peer, encode(Piece(body, start, data)), about="piece", body=body.sha256)

    def _is_blocked(self, number: int, outgoing: Outgoing) -> bool:
        result = self._blocked.get(_lane(outgoing))
        if result is not None:
            self._results[number] = result
        return result is not None

    def _settle(self, number: int, outgoing: Outgoing, *, result: Result) -> None:
        self._results[number] = result
        if result.status == "unreachable":
            self._blocked.setdefault(_lane(outgoing), result)


def _parted(batch: Sequence[Outgoing]) -> tuple[list[tuple[int, Outgoing]], list[tuple[int, Outgoing]]]:
    """Part what can go at once from large bodies and what stands behind them in their lanes."""
    slow_lanes: set[Lane] = set()
    quick: list[tuple[int, Outgoing]] = []
    slow: list[tuple[int, Outgoing]] = []
    for number, outgoing in enumerate(batch):
        if isinstance(outgoing.message.body, Body):
            slow_lanes.add(_lane(outgoing))
        (slow if _lane(outgoing) in slow_lanes else quick).append((number, outgoing))
    return quick, slow


def _lane(outgoing: Outgoing) -> Lane:
    return outgoing.message.lane, outgoing.envelope.sender
