"""What a mail door asks of the office behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

import msgspec

from posthouse.message.envelope import Envelope
from posthouse.message.judgement import Judgement
from posthouse.message.message import Body, Message
from posthouse.message.verdict import Verdict
from posthouse.transport.smtp.dialogue.scram import Keys


class Mailroom(Protocol):
    """Takes mail in; every method may be called by many connections at once."""

    async def consider(self, recipient: str) -> Verdict:
        """Say whether a message for this recipient would be taken now; asked before the message comes."""
        ...

    async def accept(self, message: Message, envelope: Envelope) -> Verdict:
        """Take a mail; where the verdict is `pass` it is durable. What cannot be stored now is a temporary refusal."""
        ...

    async def judge(self, message: Message, envelope: Envelope, *, whole: bool = True) -> Judgement:
        """Say what the rules of the office say of a mail that another server keeps; not `whole`: of its beginning."""
        ...

    async def save_body(self, chunks: AsyncIterator[bytes]) -> Body:
        """Keep a large body while it comes; raises what refuses it."""
        ...


class Accounts(Protocol):
    """Those who may sign in."""

    async def check(self, user: str, password: str) -> bool | None:
        """Say whether this is the user's password; none where nobody can say now."""
        ...

    async def find(self, user: str) -> Keys | None:
        """Give the keys of a user, or keys nobody has for one that does not exist; none where nobody can look now."""
        ...


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """How long connections may last, and how many there may be."""

    connections: int = 1_000
    client_connections: int = 50
    idle_seconds: float = 300.0
    mail_seconds: float = 3_600.0
    connection_seconds: float = 14_400.0
    inline_bytes: int = 65_536
    """Mails up to this size are held in memory until they are complete."""
