"""What offices say to each other, said by hand: an office behind its entrance, and frames as anybody may make them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Final

from posthouse.message.envelope import Envelope
from posthouse.message.message import Body
from posthouse.message.name import parse_office
from posthouse.message.peer import Exchange, Peer
from posthouse.testing.build import START
from posthouse.testing.clock import FakeClock
from posthouse.testing.journey import message
from posthouse.testing.key import a_key
from posthouse.transport.http.arrival import Arrivals
from posthouse.transport.http.cargo import Answer, Letter, encode, letter_of, read_answer
from posthouse.transport.http.entrance import Entrance, Inside, Reply
from posthouse.transport.http.frame import Header, payload_of, seal, split
from posthouse.transport.http.trust import OwnKey, Ring
from posthouse.transport.ports import Outgoing, Result

EAST: Final = "http://east.example:8025/east"
WEST: Final = "http://west.example:8025/west"
EAST_KEY, WEST_KEY, WRONG_KEY = a_key(1), a_key(2), a_key(3)


class Shelf:
    """See `arrival.Shelf`."""

    def __init__(self) -> None:
        self.bodies: dict[Body, bytes] = {}

    async def has(self, body: Body) -> bool:
        return body in self.bodies

    async def save(self, chunks: AsyncIterator[bytes], *, limit: int) -> Body:
        data = b"".join([chunk async for chunk in chunks])
        assert len(data) <= limit
        body = Body(hashlib.sha256(data).hexdigest(), len(data))
        self.bodies[body] = data
        return body


class West:
    """The office that is spoken to, and what it was brought."""

    def __init__(self, folder: Path, **exchange: Any) -> None:
        self.clock = FakeClock()
        self.shelf = Shelf()
        self.got: list[Outgoing] = []
        self.heard: list[str] = []
        self.hanging: asyncio.Event | None = None
        given = {"peers": (Peer(name="east", office=EAST, keys=(str(EAST_KEY.public),)),)} | exchange
        self.exchange = Exchange(**given)
        arrivals = Arrivals(folder / "arriving", self.shelf, bounds=self.exchange, body_bytes=10_000, clock=self.clock)
        inside = Inside(parse_office(WEST), self.take_in, self.shelf, 10_000, self.heard.append)
        self.entrance = Entrance(
            self.clock, self.exchange, key=WEST_KEY, ring=Ring(self.exchange.peers), inside=inside, arrivals=arrivals
        )  # fmt: skip
        self.arrivals = arrivals

    async def take_in(self, batch: Sequence[Outgoing]) -> list[Result]:
        if self.hanging is not None:
            await self.hanging.wait()
        self.got += batch
        return [Result("delivered")] * len(batch)

    async def hears(self, data: bytes, *, body: str = "", office: str = "west") -> Reply:
        await self.arrivals.open()
        return await self.entrance.answer(data, about=(office, body))


def letter(number: int = 1, *, to: str = "bob") -> Letter:
    written = message(number, recipients=(f"{WEST}#{to}",))
    return letter_of(written, Envelope(sender="alice", recipients=(f"{WEST}#{to}",)))


# `Any`: whatever stands in the payload, and the fields of a header.
def frame(payload: Any = None, *, key: OwnKey = EAST_KEY, **header: Any) -> bytes:
    """Give a frame from east to west, but for what is given."""
    given: dict[str, Any] = {
        "about": "letters",
        "sender": EAST,
        "to": WEST,
        "key": key.public.id,
        "id": b"i" * 16,
        "instant": START,
    }
    written = payload if isinstance(payload, bytes) else encode([letter()] if payload is None else payload)
    return seal(Header(**given | header, size=0), written, sign=key.sign)


def said(reply: Reply) -> Answer:
    """Read an answer, and see that it is one of west to east."""
    assert reply.status == 200
    sealed = split(reply.data)
    assert WEST_KEY.public.has_signed(sealed.signature, sealed.signed)
    assert (sealed.header.about, sealed.header.to) == ("answer", EAST)
    return read_answer(payload_of(sealed, limit=1_000_000))
