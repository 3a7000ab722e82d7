"""The mail doors of an office: they listen, look after the time of their connections, and close with nothing lost."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Final

import structlog

from posthouse.errors import PosthouseError
from posthouse.message.maildoor import MailDoor, MailTerms
from posthouse.transport.smtp.dialogue import answer
from posthouse.transport.smtp.dialogue.service import Caps, Service
from posthouse.transport.smtp.entry import Crowd, Entry, Networks, Office
from posthouse.transport.smtp.milter import MilterSession
from posthouse.transport.smtp.port import Pace
from posthouse.transport.smtp.session import Session

_BACKLOG: Final = 1_024
_GRACE: Final = 10.0
_LONGEST_LOOK: Final = 1.0
_HANDSHAKE: Final = 30.0

_log = structlog.get_logger("posthouse.smtp")


class MailDoorShut(PosthouseError):
    """A door for mail cannot be opened at the address it was given."""

    code: ClassVar[str] = "mail.listen"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The office is not set up correctly."


class MailServer:
    """All mail doors of one office."""

    def __init__(self, terms: MailTerms, office: Office, *, context: ssl.SSLContext | None = None) -> None:
        self._terms = terms
        self._office = office
        self._context = context
        self._pace = pace_of(terms)
        self._crowd = Crowd(self._pace)
        self._servers: list[asyncio.Server] = []
        self._sockets: list[str] = []
        self._looking: asyncio.TimerHandle | None = None
        self.addresses: dict[str, list[str]] = {}
        """Where each door listens, by its name; with the port that port 0 became."""

    async def open(self) -> None:
        """Begin to listen at all doors, or at none."""
        try:
            for door in self._terms.doors:
                self.addresses[door.name] = await self._listen(door, self._sessions_of(door))
        except BaseException:
            await self.close()
            raise
        self._look_at_clocks()

    async def close(self) -> None:
        """Stop listening; mails that are being stored are answered, everybody else is sent away."""
        for server in self._servers:
            server.close()
        if self._looking is not None:
            self._looking.cancel()
        for member in tuple(self._crowd.members):
            member.end(answer.CLOSING, "closing")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await self._crowd.empty.wait()
        for member in tuple(self._crowd.members):
            member.abort()
        if self._crowd.clearing:
            await asyncio.wait(tuple(self._crowd.clearing), timeout=_GRACE)
        self._remove_sockets()

    def _remove_sockets(self) -> None:
        for path in self._sockets:
            Path(path).unlink(missing_ok=True)

    def _sessions_of(self, door: MailDoor) -> Callable[[], asyncio.Protocol]:
        loop = asyncio.get_running_loop()
        entry = Entry(
            service_of(self._terms, door),
            self._office,
            pace=self._pace,
            crowd=self._crowd,
            trust=(Networks(door.relay), Networks(door.front_ends)),
            context=self._context,
        )
        kind = MilterSession if door.speech == "milter" else Session
        return lambda: kind(entry, loop)

    async def _listen(self, door: MailDoor, protocol: Callable[[], asyncio.Protocol]) -> list[str]:
        loop = asyncio.get_running_loop()
        context = self._context if door.tls == "implicit" else None
        handshake = _HANDSHAKE if context is not None else None
        try:
            if door.listen.startswith("unix:"):
                path = door.listen.removeprefix("unix:")
                self._servers.append(await loop.create_unix_server(protocol, sock=_bound(path), backlog=_BACKLOG))
                self._sockets.append(path)
                return [door.listen]
            host, _, port = door.listen.rpartition(":")
            server = await loop.create_server(
                protocol, host.strip("[]"), int(port), backlog=_BACKLOG, ssl=context, ssl_handshake_timeout=handshake
            )
        except OSError as fault:
            raise _shut(fault, door) from fault
        self._servers.append(server)
        names = [listening.getsockname()[:2] for listening in server.sockets]
        return [f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in names]

    def _look_at_clocks(self) -> None:
        """Look at the time of all connections together: thousands of timers would cost more than the mail."""
        loop = asyncio.get_running_loop()
        pace = self._pace
        shortest = min(pace.idle_seconds, pace.mail_seconds, pace.connection_seconds)
        for member in tuple(self._crowd.members):
            member.look_at_clock(loop.time())
        self._looking = loop.call_later(min(_LONGEST_LOOK, shortest / 4), self._look_at_clocks)


def _bound(path: str) -> socket.socket:
    """Give a socket at a path, for this user and its group; one left by a process that died is replaced."""
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        Path(path).unlink(missing_ok=True)
        bound.bind(path)
        Path(path).chmod(0o660)
    except BaseException:
        bound.close()
        raise
    return bound


def pace_of(terms: MailTerms) -> Pace:
    """Give how long connections may last, and how many there may be."""
    return Pace(
        connections=terms.connections,
        client_connections=terms.client_connections,
        idle_seconds=terms.idle_seconds,
        mail_seconds=terms.mail_seconds,
        connection_seconds=terms.connection_seconds,
        inline_bytes=terms.inline_bytes,
    )


def service_of(terms: MailTerms, door: MailDoor) -> Service:
    """Give what a door offers and demands."""
    return Service(
        hostname=terms.hostname or socket.getfqdn(),
        lmtp=door.speech == "lmtp",
        tls="starttls" if door.tls == "required" else door.tls,
        tls_required=door.tls == "required",
        auth=door.auth,
        bare_line_ends=terms.bare_line_ends,
        caps=Caps(
            line_bytes=terms.line_bytes,
            header_bytes=terms.header_bytes,
            mail_bytes=terms.mail_bytes if door.mail_bytes is None else door.mail_bytes,
            recipients=terms.recipients,
            hops=terms.hops,
            errors=terms.errors,
            idle_commands=terms.commands,
            mails=terms.mails,
        ),
    )


def _shut(fault: OSError, door: MailDoor) -> MailDoorShut:
    if fault.errno == errno.EADDRINUSE or "in use" in str(fault):
        what, hint = "another program answers there already", "choose another port, or port 0"
    elif fault.errno in (errno.EACCES, errno.EPERM):
        what, hint = "this user may not answer there", "choose a port above 1023, or a folder of this user"
    else:
        what, hint = f"nobody can answer there: {fault.strerror or os.strerror(fault.errno or 0)}", None
    return MailDoorShut(what, where=f"doors.{door.name} {door.listen}", hint=hint)
