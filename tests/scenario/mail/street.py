"""An office with doors for mail, on a store and sockets of its own."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from posthouse.message.changes import Leased
from posthouse.message.maildoor import MailTerms
from posthouse.message.message import Body, Message, read_head
from posthouse.message.passage import Limits
from posthouse.office.calls import SettleTaken, TakeNext, slip_of
from posthouse.office.house import House
from posthouse.office.terms import Terms
from posthouse.server.assemble import open_house, open_mail_doors
from posthouse.server.maildoor import door_of
from posthouse.transport.smtp.authentication.lookup import Lookup

MAIL = MailTerms(hostname="mx.bakery.example", domains=("bakery.example",), client_connections=200)


class Street:
    """The office, and where its doors are."""

    def __init__(self, house: House, addresses: Mapping[str, list[str]]) -> None:
        self.house = house
        self._addresses = addresses

    def port(self, door: str) -> int:
        """Give the port of a door."""
        return int(self._addresses[door][0].rpartition(":")[2])

    async def take(self, mailbox: str, *, wait: float = 20.0) -> tuple[Message, bytes]:
        """Take a mail out of a mailbox, with all its bytes."""
        (taken,) = await self.house.answer(TakeNext(mailbox=mailbox, wait=wait, limit=1, holder="reader"))
        await self.house.answer(SettleTaken(slips=[slip_of(taken)], event="acknowledged"))
        return await self.read(taken.leased)

    async def read(self, leased: Leased) -> tuple[Message, bytes]:
        """Give a mail that was taken, with all its bytes."""
        return _message(leased), await self._content(leased)

    async def count(self, mailbox: str) -> int:
        """Say how many mails lie in a mailbox."""
        depths = await self.house._stores.durable.queue.depths()
        return sum(depth.messages for depth in depths if depth.box == f"#{mailbox}")

    async def _content(self, leased: Leased) -> bytes:
        body = leased.letter.body
        if isinstance(body, Body):
            return b"".join([piece async for piece in self.house._stores.durable.bodies.read(body)])
        return body


def _message(leased: Leased) -> Message:
    return read_head(leased.letter.head, leased.letter.body, sections=leased.letter.sections)


@asynccontextmanager
async def street(
    folder: Path,
    doors: Sequence[str],
    *,
    context: ssl.SSLContext | None = None,
    limits: Limits = Limits(),  # noqa: B008 - a frozen value
    lookup: Lookup | None = None,
    **mail: object,
) -> AsyncIterator[Street]:
    """Open an office; the first word of each door's line is its name."""
    lines = [line.partition(" ") for line in doors]
    terms = msgspec.structs.replace(MAIL, doors=tuple(door_of(name, line) for name, _, line in lines), **mail)
    async with (
        open_house(folder / "office.db", Terms(mail=terms, limits=limits), socket=False) as house,
        open_mail_doors(house, context, lookup=lookup) as addresses,
    ):
        yield Street(house, addresses)
