"""Plays a script against the dialogue alone, without a socket, and against a door that listens."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections import deque
from typing import Protocol

from posthouse.message.maildoor import MailDoor, MailTerms
from posthouse.message.verdict import PASS, Verdict, refuse
from posthouse.testing.clock import FakeClock
from posthouse.testing.mailroom import FakeAccounts, FakeMailroom
from posthouse.transport.smtp.dialogue import answer, event
from posthouse.transport.smtp.dialogue.relay import Domains
from posthouse.transport.smtp.dialogue.server import ServerDialogue
from posthouse.transport.smtp.dialogue.service import Visitor
from posthouse.transport.smtp.entry import Networks, Office
from posthouse.transport.smtp.server import MailServer, service_of
from tests.dialogue.script import Script, is_as_expected, told

ACCOUNTS = {"ada": "rye bread"}
_NUMBERS = frozenset({
    "mail_bytes", "header_bytes", "line_bytes", "recipients", "hops", "errors", "commands", "mails",
    "connections", "client_connections",
})  # fmt: skip


class Peer(Protocol):
    """One end to play against."""

    async def send(self, data: bytes) -> None: ...
    async def line(self) -> bytes | None: ...
    async def encrypt(self) -> None: ...
    async def be_silent(self) -> None: ...


async def play(script: Script, peer: Peer) -> None:
    """Say what the client says, and compare what is answered."""
    for step in script.steps:
        place = f"{script.name}.txt:{step.line}"
        match step.kind:
            case "send":
                await peer.send(step.data)
            case "tls":
                await peer.encrypt()
            case "silence":
                await peer.be_silent()
            case "expect":
                found = await peer.line()
                heard = b"(closed)" if found is None else found
                assert is_as_expected(heard, step.data), f"{place}: expected {step.data!r}, heard {heard!r}"


def terms_of(script: Script) -> MailTerms:
    """Give how the door of a script is set up."""
    chosen = script.terms
    numbers = {name: int(value) for name, value in chosen.items() if name in _NUMBERS}
    silent = any(step.kind == "silence" for step in script.steps)
    door = MailDoor(
        name="door",
        speech="lmtp" if chosen.get("speech") == "lmtp" else "smtp",
        listen="127.0.0.1:0",
        tls=chosen.get("tls", "none"),  # type: ignore[arg-type] # a script says one of the words
        auth=chosen.get("auth", "none"),  # type: ignore[arg-type] # the same
        relay=tuple(chosen.get("relay", "").split()),
        front_ends=tuple(chosen.get("xclient", "").split()),
    )
    return MailTerms(
        doors=(door,),
        hostname="mx.bakery.example",
        domains=tuple(chosen.get("domains", "bakery.example").split()),
        relay_domains=tuple(chosen.get("relay_domains", "").split()),
        bare_line_ends="mend" if chosen.get("bare_line_ends") == "mend" else "refuse",
        idle_seconds=0.3 if silent else 30.0,
        **numbers,  # type: ignore[arg-type] # all of them are whole numbers
    )


def room_of(script: Script) -> FakeMailroom:
    """Give the office behind the door of a script."""
    room = FakeMailroom(unknown=_verdicts(script, "unknown"))
    room.full = _verdicts(script, "full")
    room.refusing = next(iter(_verdicts(script, "refuse").values()), PASS)
    return room


def _verdicts(script: Script, name: str) -> dict[str, Verdict]:
    """Read `recipient code temporary?`."""
    words = script.terms.get(name, "").split()
    if not words:
        return {}
    return {f"smtp:{words[0]}": refuse(words[1], f"it is {words[1]}", temporary=words[2:] == ["temporary"])}


class Bare:
    """The dialogue alone: what a door would do is done here by hand, and nothing else."""

    def __init__(self, script: Script, *, piece: int | None = None) -> None:
        self.terms = terms_of(script)
        (door,) = self.terms.doors
        self._trusted = Networks(door.relay)
        address = "127.0.0.1"
        visitor = Visitor(
            address=address, port=5025, tls="TLSv1.3 implicit" if door.tls == "implicit" else "",
            may_relay=address in self._trusted, is_front_end=address in Networks(door.front_ends),
        )  # fmt: skip
        self._dialogue = ServerDialogue(service_of(self.terms, door), visitor)
        self._domains = Domains(self.terms.domains, self.terms.relay_domains)
        self._room = room_of(script)
        self._accounts = FakeAccounts(ACCOUNTS, broken="broken" in script.terms)
        self._piece = piece
        self._said = bytearray()
        self._content = bytearray()
        self._closed = False
        self.given: list[bytes] = []

    async def begin(self) -> None:
        await self._carry_out(self._dialogue.begin())

    async def send(self, data: bytes) -> None:
        size = self._piece or len(data) or 1
        for start in range(0, len(data), size):
            await self._carry_out(self._dialogue.receive(data[start : start + size]))

    async def line(self) -> bytes | None:
        if not self._said and self._closed:
            return None
        line, mark, rest = bytes(self._said).partition(b"\r\n")
        assert mark, f"expected a line, found {bytes(self._said)!r}"
        self._said[:] = rest
        return line

    async def encrypt(self) -> None:
        self._dialogue.secured("TLSv1.3 TLS_AES_256_GCM_SHA384")

    async def be_silent(self) -> None:
        await self._carry_out(self._dialogue.end(answer.EXPIRED, "expired"))

    async def _carry_out(self, events: list[event.Event]) -> None:
        pending = deque(events)
        while pending:
            pending.extend(await self._do(pending.popleft()))

    async def _do(self, what: event.Event) -> list[event.Event]:
        assert not self._closed, f"{what} after hanging up"
        dialogue = self._dialogue
        match what:
            case event.Say(data):
                self._said += data
            case event.Piece(data):
                self._content += data
            case event.Discard():
                self._content.clear()
            case event.Consider(recipient, visitor):
                placed = self._domains.place(recipient, visitor)
                passed = placed.verdict.action == "pass"
                verdict = await self._room.consider(placed.name) if passed else placed.verdict
                return dialogue.considered(verdict, placed.name)
            case event.Deliver(mail):
                return dialogue.delivered(self._deliver(mail), "1")
            case event.Check(user, password):
                return dialogue.checked(right=await self._accounts.check(user, password))
            case event.FindKeys(user):
                return dialogue.found(await self._accounts.find(user), "nonce")
            case event.Reconsider(visitor):
                return dialogue.reintroduced(visitor)
            case event.HangUp():
                self._closed = True
            case event.StartTls():
                pass
        return []

    def _deliver(self, mail: event.Mail) -> list[Verdict]:
        content = bytes(self._content)
        self._content.clear()
        assert mail.size == len(content)
        full = [self._room.full.get(recipient, self._room.refusing) for recipient in mail.recipients]
        if self.terms.doors[0].speech == "lmtp":
            taken = [name for name, verdict in zip(mail.recipients, full, strict=True) if verdict is PASS]
            separate = len(taken) < len(full)
            self.given += [told(mail.sender or "", [name], content) for name in taken] if separate else []
            self.given += [] if separate else [told(mail.sender or "", dict.fromkeys(mail.recipients), content)]
            return full
        verdict = next((verdict for verdict in full if verdict is not PASS), PASS)
        if verdict is PASS:
            self.given.append(told(mail.sender or "", dict.fromkeys(mail.recipients), content))
        return [verdict]


class Wire:
    """A door that listens, and a socket connected to it."""

    def __init__(self, script: Script, context: ssl.SSLContext, client: ssl.SSLContext) -> None:
        self.terms = terms_of(script)
        self.room = room_of(script)
        accounts = FakeAccounts(ACCOUNTS, broken="broken" in script.terms)
        domains = Domains(self.terms.domains, self.terms.relay_domains)
        office = Office(FakeClock(), self.room, accounts, domains)
        self.server = MailServer(self.terms, office, context=context)
        self._client = client
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def begin(self) -> None:
        await self.server.open()
        host, _, port = self.server.addresses["door"][0].rpartition(":")
        implicit = self.terms.doors[0].tls == "implicit"
        self._reader, self._writer = await asyncio.open_connection(
            host, int(port), ssl=self._client if implicit else None, server_hostname="localhost" if implicit else None
        )

    async def send(self, data: bytes) -> None:
        assert self._writer is not None
        with contextlib.suppress(ConnectionError):
            self._writer.write(data)
            await self._writer.drain()

    async def line(self) -> bytes | None:
        assert self._reader is not None
        async with asyncio.timeout(10):
            try:
                line = await self._reader.readline()
            except ConnectionError:
                return None
        assert not line or line.endswith(b"\r\n"), line
        return line[:-2] if line else None

    async def encrypt(self) -> None:
        assert self._writer is not None
        await self._writer.start_tls(self._client, server_hostname="localhost")

    async def be_silent(self) -> None:
        return

    async def end(self) -> None:
        if self._writer is not None:
            self._writer.close()
            with contextlib.suppress(OSError, ssl.SSLError):
                await self._writer.wait_closed()
        await self.server.close()

    @property
    def given(self) -> list[bytes]:
        return [
            told(brought.envelope.sender or "", brought.envelope.everybody, brought.content)
            for brought in self.room.brought
        ]
