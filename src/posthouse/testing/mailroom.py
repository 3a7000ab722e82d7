"""A mail room that keeps what it is brought in memory, and refuses what a test tells it to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import NamedTuple

from posthouse.message.envelope import Envelope
from posthouse.message.judgement import HeaderEdit, Judgement
from posthouse.message.message import Body, Message
from posthouse.message.verdict import PASS, Verdict
from posthouse.transport.smtp.dialogue.scram import Keys, is_password, make_keys


class Brought(NamedTuple):
    """One mail as it was taken."""

    message: Message
    envelope: Envelope
    content: bytes


class FakeMailroom:
    """As `transport.smtp.port.Mailroom` asks."""

    def __init__(self, *, unknown: Mapping[str, Verdict] | None = None, refusing: Verdict = PASS) -> None:
        self.unknown = dict(unknown or {})
        """What is said of a recipient before its mail comes, by its name."""
        self.refusing = refusing
        """What is said of every mail."""
        self.full: dict[str, Verdict] = {}
        """What is said of a mail for a recipient, by its name."""
        self.edits: tuple[HeaderEdit, ...] = ()
        """What a mail server that asks is to change in a header."""
        self.brought: list[Brought] = []
        self.arrived = asyncio.Event()
        self._bodies: dict[str, bytes] = {}

    async def consider(self, recipient: str) -> Verdict:
        return self.unknown.get(recipient, PASS)

    async def accept(self, message: Message, envelope: Envelope) -> Verdict:
        for verdict in (self.refusing, *(self.full.get(recipient, PASS) for recipient in envelope.everybody)):
            if verdict.action != "pass":
                return verdict
        body = message.body
        content = self._bodies[body.sha256] if isinstance(body, Body) else body
        self.brought.append(Brought(message, envelope, content))
        self.arrived.set()
        return PASS

    async def judge(self, message: Message, envelope: Envelope, *, whole: bool = True) -> Judgement:
        assert whole or message.body
        self.brought.append(Brought(message, envelope, message.body if isinstance(message.body, bytes) else b""))
        return Judgement(self.refusing, self.edits)

    async def save_body(self, chunks: AsyncIterator[bytes]) -> Body:
        content = b"".join([chunk async for chunk in chunks])
        # An address of the right form is all that a door needs.
        address = f"{len(self._bodies):064x}"
        self._bodies[address] = content
        return Body(address, len(content))


class FakeAccounts:
    """As `transport.smtp.port.Accounts` asks: passwords in the open."""

    def __init__(self, passwords: Mapping[str, str] | None = None, *, broken: bool = False) -> None:
        self._keys = {user: make_keys(password, b"salt", iterations=1) for user, password in (passwords or {}).items()}
        self._broken = broken

    async def check(self, user: str, password: str) -> bool | None:
        return None if self._broken else user in self._keys and is_password(self._keys[user], password)

    async def find(self, user: str) -> Keys | None:
        return None if self._broken else self._keys.get(user) or make_keys("nobody", b"nobody", iterations=1)
