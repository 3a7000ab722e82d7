"""A mail server that keeps every byte it gets and answers as a test wants."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

EXTENSIONS = ("PIPELINING", "SIZE 52428800", "8BITMIME", "SMTPUTF8", "DSN", "ENHANCEDSTATUSCODES")

Answering = Callable[[str, "Visit"], str | None]
"""Gives the reply to a line (`.` for the end of a mail), "" for silence, "hang up" for that; none for the usual one."""


@dataclass
class Recorded:
    """One mail as it came."""

    sender: str
    recipients: tuple[str, ...]
    content: bytes
    """Without the dots that were put on."""
    raw: bytes
    """As it stood on the line, without the end."""
    encrypted: bool


@dataclass
class Visit:
    """One connection."""

    number: int
    encrypted: bool = False
    lines: list[str] = field(default_factory=list)
    mails: int = 0


class Recorder:
    """The server."""

    def __init__(
        self, *, extensions: Sequence[str] = EXTENSIONS, answering: Answering | None = None, lmtp: bool = False,
        tls: ssl.SSLContext | None = None, greeting: str = "220 sink.example ESMTP",
    ) -> None:  # fmt: skip
        self.extensions = tuple(extensions)
        self.answering = answering or (lambda _line, _visit: None)
        self.lmtp = lmtp
        self.tls = tls
        self.greeting = greeting
        self.mails: list[Recorded] = []
        self.visits: list[Visit] = []
        self.port = 0
        self._news = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, port: int = 0) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port, limit=2**26)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def got(self, count: int) -> list[Recorded]:
        """Return once so many mails are here."""
        while len(self.mails) < count:
            self._news.clear()
            await self._news.wait()
        return self.mails

    async def said(self, word: str) -> None:
        """Return once some client has said a line that begins with this."""
        while not any(line.startswith(word) for visit in self.visits for line in visit.lines):
            self._news.clear()
            await self._news.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        visit = Visit(len(self.visits))
        self.visits.append(visit)
        try:
            await self._talk(reader, writer, visit)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, visit: Visit) -> None:
        sender = ""
        recipients: list[str] = []
        greeting = self.answering("", visit)
        await self._say(writer, self.greeting if greeting is None else greeting)
        while True:
            line = (await reader.readuntil(b"\r\n"))[:-2].decode("utf-8", "surrogateescape")
            visit.lines.append(line)
            self._news.set()
            verb = line.split(" ")[0].split(":")[0].upper()
            reply = self.answering(line, visit)
            if reply is None:
                out_of_order = (verb == "RCPT" and not sender) or (verb == "DATA" and not recipients)
                reply = "503 5.5.1 out of order" if out_of_order else self._usual(verb, visit)
            await self._say(writer, reply)
            if verb == "STARTTLS" and reply.startswith("220"):
                assert self.tls is not None
                await writer.start_tls(self.tls)
                visit.encrypted = True
            elif verb in {"MAIL", "RSET"}:
                sender, recipients = (line[len("MAIL FROM:") :] if reply.startswith("2") else ""), []
            elif verb == "RCPT" and reply.startswith("2"):
                recipients.append(line[len("RCPT TO:") :])
            elif verb == "DATA" and reply.startswith("3"):
                await self._content(reader, writer, visit, sender, recipients)
            elif verb == "QUIT":
                return

    async def _content(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, visit: Visit, sender: str,
        recipients: list[str],
    ) -> None:  # fmt: skip
        raw = (await reader.readuntil(b"\r\n.\r\n"))[:-3]
        replies = [
            self.answering(f". {one}" if self.lmtp else ".", visit) for one in (recipients if self.lmtp else [""])
        ]
        content = raw.removeprefix(b".") if raw.startswith(b"..") else raw
        content = content.replace(b"\r\n..", b"\r\n.")
        if any(reply is None or reply.startswith("2") for reply in replies):
            kept = Recorded(sender, tuple(recipients), content, raw, visit.encrypted)
            self.mails.append(kept)
            visit.mails += 1
        self._news.set()
        for reply in replies:
            await self._say(writer, "250 2.0.0 kept" if reply is None else reply)

    def _usual(self, verb: str, visit: Visit) -> str:
        if verb in {"EHLO", "LHLO"}:
            offered = [*self.extensions, *(["STARTTLS"] if self.tls and not visit.encrypted else [])]
            lines = ["sink.example", *offered]
            return "\r\n".join(f"250{'-' if n < len(lines) - 1 else ' '}{each}" for n, each in enumerate(lines))
        return {
            "HELO": "250 sink.example", "MAIL": "250 2.1.0 ok", "RCPT": "250 2.1.5 ok", "DATA": "354 go ahead",
            "RSET": "250 2.0.0 ok", "QUIT": "221 2.0.0 bye", "STARTTLS": "220 2.0.0 go ahead",
        }.get(verb, "500 5.5.2 what?")  # fmt: skip

    async def _say(self, writer: asyncio.StreamWriter, reply: str) -> None:
        if reply == "hang up":
            raise ConnectionResetError
        if reply:
            writer.write(f"{reply}\r\n".encode())
            await writer.drain()


@asynccontextmanager
async def recorder(**given: object) -> AsyncIterator[Recorder]:
    server = Recorder(**given)  # type: ignore[arg-type]  # a test names what it changes
    await server.open()
    try:
        yield server
    finally:
        await server.close()
