"""Talks with mail servers: the bytes of `dialogue.client` moved over a line, with a limit on every wait."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from typing import ClassVar, Final, NamedTuple

import msgspec

from posthouse.errors import PosthouseError
from posthouse.message.mailroute import Encryption
from posthouse.transport.smtp.dialogue.client import (
    Answered,
    Client,
    Content,
    Event,
    Manner,
    Over,
    Secure,
)
from posthouse.transport.smtp.dialogue.hearing import is_good
from posthouse.transport.smtp.dialogue.mail import Mail
from posthouse.transport.smtp.dialogue.reply import Reply
from posthouse.transport.smtp.dialogue.stuffing import Stuffing
from posthouse.transport.smtp.line import Line


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds each wait may take; RFC 5321, section 4.5.3.2, says what a client should grant a server."""

    connect: float = 30.0
    greeting: float = 120.0
    reply: float = 120.0
    piece: float = 180.0
    """For the next piece of a content to find room on the line."""
    end: float = 600.0
    """For the reply to a whole content: given up too early, the mail arrives twice."""


class Place(NamedTuple):
    """Where a server listens: an address and a port, or the path of a socket."""

    address: str
    port: int = 25
    path: str = ""
    host: str = ""
    """The name it is known by; its certificate must say so where that is looked at."""
    is_lmtp: bool = False
    is_encrypted: bool = False
    """The line is encrypted from its first byte."""

    def __str__(self) -> str:
        if self.path:
            return self.path
        shown = f"[{self.address}]" if ":" in self.address else self.address
        if self.host in {"", self.address}:
            return f"{shown}:{self.port}"
        return f"{self.host}[{shown.strip('[]')}]:{self.port}"


class Said(NamedTuple):
    """What a server said about one mail; none for a recipient it said nothing about, and then `fault` says why."""

    replies: tuple[Reply | None, ...]
    passes_wishes_on: bool = False
    fault: str = ""


class NoTalk(PosthouseError):
    """A server could not be reached, or takes nothing from here."""

    code: ClassVar[str] = "relay.unreachable"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The next mail server does not answer."

    def __init__(self, what: str, *, reply: Reply | None = None, is_tls_fault: bool = False) -> None:
        self.reply = reply
        self.is_tls_fault = is_tls_fault
        super().__init__(what)


Pieces = Callable[[], AsyncIterator[bytes]]
_FLUSH: Final = 262_144
_LEAVING_SECONDS: Final = 5.0


class Trust(NamedTuple):
    """The two ways of encrypting: with whoever answers, or with the one whose certificate says that it is the host."""

    anybody: ssl.SSLContext
    proven: ssl.SSLContext


def trust(authorities: str = "") -> Trust:
    """Make the two ways; `authorities` is a file of certificates to believe beside the machine's own."""
    anybody = ssl.create_default_context()
    anybody.check_hostname = False
    anybody.verify_mode = ssl.CERT_NONE
    proven = ssl.create_default_context()
    if authorities:
        proven.load_verify_locations(authorities)
    return Trust(anybody, proven)


class Talk:
    """One talk with one server; mails go one after the other."""

    def __init__(self, line: Line, client: Client, *, place: Place, patience: Patience) -> None:
        self.place = place
        self.carried = 0
        self._line = line
        self._client = client
        self._patience = patience
        self._is_busy = False

    @property
    def is_ready(self) -> bool:
        """Say whether another mail may be brought."""
        return self._client.state == "ready" and self._line.is_open

    async def begin(self, context: ssl.SSLContext) -> None:
        """Go through the greetings; `NoTalk` where they end in nothing."""
        seconds = self._patience.greeting
        # What comes in one piece with the last greeting may end the talk again.
        while self._client.state != "ready":
            for event in await self._hear(seconds):
                if isinstance(event, Over):
                    # Some hang up when they are asked to encrypt, instead of saying that they cannot.
                    is_tls_fault = event.is_tls_fault or self._client.state == "securing"
                    raise NoTalk(event.reason, reply=event.reply, is_tls_fault=is_tls_fault)
                if isinstance(event, Secure):
                    await self._secure(context)
            seconds = self._patience.reply

    async def bring(self, mail: Mail, pieces: Pieces) -> Said:
        """Bring one mail; its pieces are asked for once the server wants them."""
        self.carried += 1
        events = self._client.offer(mail)
        said: Said | None = None
        try:
            await self._flush()
            while True:
                for event in events:
                    if isinstance(event, Content):
                        await self._send(pieces)
                    elif isinstance(event, Answered):
                        said = Said(event.replies, event.passes_wishes_on)
                    elif isinstance(event, Over):
                        return said or self._broken_off(mail, event.reason, reply=event.reply)
                if said is not None and self._client.state in {"ready", "forgetting"}:
                    return said
                seconds = self._patience.end if self._client.state == "ended" else self._patience.reply
                events = await self._hear(seconds)
        except (OSError, TimeoutError) as fault:
            return said or await self._last_words(mail, _told(fault))
        except BaseException:
            # Half a mail is on the line: whoever asked for this gave up, and nothing may follow it.
            self._line.abort()
            raise

    async def settle(self) -> bool:
        """Wait for the server to be ready for the next mail; say whether it is."""
        try:
            while self._client.state == "forgetting":
                if any(isinstance(event, Over) for event in await self._hear(self._patience.reply)):
                    self._line.abort()
                    break
        except (OSError, TimeoutError):
            self._line.abort()
        return self.is_ready

    async def end(self) -> None:
        """Say goodbye and hang up; nobody waits for the answer."""
        self._client.leave()
        try:
            await self._flush()
        except (OSError, TimeoutError):
            pass  # It hung up first, or listens no more.
        await self._line.close(_LEAVING_SECONDS)

    async def _hear(self, seconds: float) -> list[Event]:
        async with asyncio.timeout(seconds):
            data = await self._line.read()
        if not data:
            return [Over("the server closed the connection")]
        events = self._client.receive(data)
        await self._flush()
        return events

    async def _flush(self) -> None:
        if data := self._client.to_send():
            async with asyncio.timeout(self._patience.piece):
                await self._line.write(data)

    async def _secure(self, context: ssl.SSLContext) -> None:
        try:
            async with asyncio.timeout(self._patience.greeting):
                await self._line.encrypt(context, self.place.host or self.place.address)
        except (OSError, TimeoutError) as fault:
            raise NoTalk(f"the line could not be encrypted: {_told(fault)}", is_tls_fault=True) from fault
        self._client.secured()
        await self._flush()

    async def _send(self, pieces: Pieces) -> None:
        stuffing = Stuffing()
        waiting: list[bytes] = []
        size = 0
        async for piece in pieces():
            waiting.append(stuffing.stuff(piece))
            size += len(piece)
            if size > _FLUSH:
                await self._write(waiting)
                waiting, size = [], 0
        self._client.sent()
        await self._write([*waiting, stuffing.end()])

    async def _write(self, data: Sequence[bytes]) -> None:
        async with asyncio.timeout(self._patience.piece):
            await self._line.write(*data)

    async def _last_words(self, mail: Mail, reason: str) -> Said:
        """Hang up; a server that hung up first may have said why."""
        reply: Reply | None = None
        if self._line.has_news:
            overs = [event for event in self._client.receive(await self._line.read()) if isinstance(event, Over)]
            reply = overs[0].reply if overs else None
        self._line.abort()
        return self._broken_off(mail, reason, reply=reply)

    def _broken_off(self, mail: Mail, reason: str, *, reply: Reply | None = None) -> Said:
        known = self._client.answers or (None,) * len(mail.recipients)
        if reply is not None and not is_good(reply):
            known = tuple(answer or reply for answer in known)
        return Said(known, fault=reason)


async def open_talk(place: Place, manner: Manner, *, trusted: Trust, patience: Patience) -> Talk:
    """Open a talk up to the point where mails may be brought; `NoTalk` where that is not possible.

    Where encryption may be but need not be, a server that offers it and cannot do it is asked again in the open.
    """
    encryptions: list[Encryption] = ["may", "never"] if manner.encryption == "may" else [manner.encryption]
    while True:
        encryption = encryptions.pop(0)
        try:
            return await _open(place, manner._replace(encryption=encryption), trusted=trusted, patience=patience)
        except NoTalk as fault:
            if not (fault.is_tls_fault and encryptions) or place.is_encrypted or manner.credentials is not None:
                raise


async def _open(place: Place, manner: Manner, *, trusted: Trust, patience: Patience) -> Talk:
    context = trusted.proven if manner.encryption == "must" or place.is_encrypted else trusted.anybody
    try:
        async with asyncio.timeout(patience.connect):
            line = await _dial(place, context)
    except (OSError, TimeoutError) as fault:
        raise NoTalk(f"{place}: {_told(fault)}", is_tls_fault=isinstance(fault, ssl.SSLError)) from fault
    manner = manner._replace(lmtp=place.is_lmtp, is_encrypted=line.is_encrypted, is_private=bool(place.path))
    talk = Talk(line, Client(manner), place=place, patience=patience)
    try:
        await talk.begin(context)
    except NoTalk as fault:
        line.abort()
        raise NoTalk(f"{place}: {fault.what}", reply=fault.reply, is_tls_fault=fault.is_tls_fault) from fault
    except (OSError, TimeoutError) as fault:
        line.abort()
        raise NoTalk(f"{place}: {_told(fault)}") from fault
    except BaseException:
        line.abort()
        raise
    return talk


async def _dial(place: Place, context: ssl.SSLContext) -> Line:
    loop = asyncio.get_running_loop()
    if place.path:
        _, line = await loop.create_unix_connection(Line, place.path)
        return line
    if place.is_encrypted:
        host = place.host or place.address
        _, line = await loop.create_connection(Line, place.address, place.port, ssl=context, server_hostname=host)
        return line
    _, line = await loop.create_connection(Line, place.address, place.port)
    return line


def _told(fault: BaseException) -> str:
    if isinstance(fault, TimeoutError):
        return "no answer in time"
    # What the system says, without its number: people read it in reports.
    return (isinstance(fault, OSError) and fault.strerror) or str(fault) or type(fault).__name__
