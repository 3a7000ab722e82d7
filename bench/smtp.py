"""Mail by SMTP beside a Postfix that only accepts: how fast, how soon at half the load, and what large mails cost."""

from __future__ import annotations

import asyncio
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from bench.figure import OURS, Contender, Contest, Figure, Missing, Results, compete, figure_of, percentile
from bench.plan import Plan
from bench.served import served
from posthouse.testing import postfix
from posthouse.testing.port import free_port
from posthouse.testing.postfix import Postfix

_MISSING: Final = Missing("Postfix", "install the package postfix, and run this as root")
_SESSIONS: Final = 20
_BYTES: Final = 5_120
_LARGE_AT_ONCE: Final = 50
_LINE: Final = b"x" * 76 + b"\r\n"
_SENDER, _RECIPIENT = "cleo@mill.example", "ada@bakery.example"
_FIRST: Final = 500


class Ours(NamedTuple):
    """An office that takes mail, in a process of its own."""

    port: int
    process: int


@asynccontextmanager
async def office(folder: Path) -> AsyncIterator[Ours]:
    """Run an office with a door for mail."""
    port = free_port()
    settings = {
        "http.listen": "127.0.0.1:0",
        "mail.domains": "bakery.example",
        "mail.hostname": "mx.bakery.example",
        "doors.mx": f"smtp 127.0.0.1:{port}",
        "mail.client_connections": "1000",
        "mail.mails": "1000000",
        "mail.mail_bytes": "100MB",
    }
    async with served(folder / "office.db", settings) as running:
        yield Ours(port, running.process.pid)


async def accept(plan: Plan) -> Results:
    """Let both accept the same mails in turns, over connections that are kept and over new ones."""
    async with AsyncExitStack() as opened:
        folder = Path(opened.enter_context(TemporaryDirectory(prefix="posthouse-bench-")))
        ours = await opened.enter_async_context(office(folder))
        peer = None
        if postfix.find() is None:
            # Its queue lies beside our store, on the same disk.
            peer = await opened.enter_async_context(postfix.running({"smtpd_client_restrictions": "static:hold"}))
        if postfix.program("smtp-source") is None:
            return [_MISSING]
        figures: list[Figure] = []
        for kept in (True, False):
            figures += await _contest(plan, ours, peer=peer, kept=kept)
        half = next(figure.value for figure in figures if figure.name == "smtp_accept_per_s") / 2
        figures.append(await _at_half_load(plan, ours.port, per_second=half))
    return [*figures, *([] if peer else [_MISSING])]


async def _contest(plan: Plan, ours: Ours, *, peer: Postfix | None, kept: bool) -> list[Figure]:
    name = "smtp_accept" if kept else "smtp_accept_new"
    note = f"{_BYTES} B, {_SESSIONS} sessions, {'connections kept' if kept else 'a connection each'}"
    contenders = [Contender(f"{name}_per_s", OURS, round_of(plan, ours.port, kept=kept), note)]
    if peer is not None:
        contenders.append(
            Contender(f"{name}_postfix_per_s", "Postfix, HOLD", round_of(plan, peer.port, kept=kept, peer=peer), note)
        )
    for contender in contenders:
        await contender.round()
    figures = await compete(contenders, plan.scale.rounds)
    if peer is not None:
        ratio = figures[0].value / figures[1].value
        figures.append(figure_of(f"{name}_ratio_postfix", OURS, values=[ratio], note="medians of both"))
    return figures


def round_of(plan: Plan, port: int, *, kept: bool, peer: Postfix | None = None) -> Callable[[], Awaitable[float]]:
    async def measure() -> float:
        await _source(port, min(_FIRST, plan.scale.mails), kept=kept)
        if peer is not None:
            await _empty(peer)
        begun = time.perf_counter()
        await _source(port, plan.scale.mails, kept=kept)
        value = plan.scale.mails / (time.perf_counter() - begun)
        if peer is not None:
            await _empty(peer)
        return value

    return measure


async def _source(port: int, mails: int, *, kept: bool) -> None:
    process = await asyncio.create_subprocess_exec(
        postfix.program("smtp-source") or "smtp-source", "-s", str(_SESSIONS), "-l", str(_BYTES), "-m", str(mails),
        *(["-d"] if kept else []), "-f", _SENDER, "-t", _RECIPIENT, f"127.0.0.1:{port}", stdout=DEVNULL,
    )  # fmt: skip
    assert await process.wait() == 0, "smtp-source failed"


async def _empty(peer: Postfix) -> None:
    process = await asyncio.create_subprocess_exec(
        postfix.program("postsuper") or "postsuper", "-c", str(peer.folder), "-d", "ALL", "hold",
        stdout=DEVNULL, stderr=DEVNULL,
    )  # fmt: skip
    await process.wait()


class Client:
    """One connection, as plain as can be."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, port: int) -> Client:
        """Connect and say hello."""
        client = cls(*await asyncio.open_connection("127.0.0.1", port))
        await client.hear(b"220")
        await client.say(b"HELO mill.example\r\n", b"250")
        return client

    async def say(self, data: bytes, code: bytes) -> None:
        """Send something and wait for its answer."""
        self._writer.write(data)
        await self.hear(code)

    async def hear(self, code: bytes) -> None:
        """Wait for an answer of one line."""
        line = await self._reader.readline()
        assert line.startswith(code), f"expected {code!r}, heard {line!r}"

    async def send(self, pieces: AsyncIterator[bytes]) -> None:
        """Send one mail."""
        await self.say(f"MAIL FROM:<{_SENDER}>\r\n".encode(), b"250")
        await self.say(f"RCPT TO:<{_RECIPIENT}>\r\n".encode(), b"250")
        await self.say(b"DATA\r\n", b"354")
        async for piece in pieces:
            self._writer.write(piece)
            await self._writer.drain()
        await self.say(b".\r\n", b"250")

    def close(self) -> None:
        """Hang up."""
        self._writer.close()


async def content(size: int) -> AsyncIterator[bytes]:
    """Give the bytes of a mail in pieces."""
    yield b"Subject: a mail\r\n\r\n"
    piece = _LINE * 840
    left = size
    while left > 0:
        part = piece if left >= len(piece) else _LINE * max(1, left // len(_LINE))
        yield part
        left -= len(part)


async def _at_half_load(plan: Plan, port: int, *, per_second: float) -> Figure:
    """Send at half the pace that was reached, and measure each mail from MAIL to its answer."""
    clients = [await Client.open(port) for _ in range(_SESSIONS)]
    pause = _SESSIONS / per_second
    each = max(2, plan.scale.mails // _SESSIONS)
    times: list[float] = []

    async def send_all(number: int, client: Client) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + pause * number / _SESSIONS
        for _ in range(each):
            await asyncio.sleep(max(0.0, due - loop.time()))
            begun = time.perf_counter()
            await client.send(content(_BYTES))
            times.append(time.perf_counter() - begun)
            due += pause
        client.close()

    await asyncio.gather(*(send_all(number, client) for number, client in enumerate(clients)))
    note = f"MAIL to its answer, {per_second:.0f} mails/s"
    return figure_of("smtp_accept_p99_ms", OURS, values=[percentile(times, 0.99) * 1_000], note=note)


async def large(plan: Plan) -> Results:
    """Send 50 large mails at a time, and small ones beside them."""
    size = plan.scale.large_mb * 1_000_000
    with TemporaryDirectory(prefix="posthouse-bench-") as folder:
        async with office(Path(folder)) as ours:

            async def send_large() -> None:
                client = await Client.open(ours.port)
                await client.send(content(size))
                client.close()

            others = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "bench.small", str(ours.port), stdin=PIPE, stdout=PIPE
            )
            begun = time.perf_counter()
            await asyncio.gather(*(send_large() for _ in range(_LARGE_AT_ONCE)))
            seconds = time.perf_counter() - begun
            told, _ = await others.communicate(b"")
            times = [float(line) for line in told.split()]
            most = _most_resident(ours.process)
    note = f"{_LARGE_AT_ONCE} mails of {plan.scale.large_mb} MB at a time"
    speed = _LARGE_AT_ONCE * size / 1e6 / seconds
    return [
        figure_of("smtp_large_mb", OURS, values=[most], note=f"most resident memory, {note}"),
        figure_of(
            "smtp_large_other_p99_ms", OURS, values=[percentile(times, 0.99) * 1_000], note=f"small mails beside {note}"
        ),
        figure_of("smtp_large_mb_per_s", OURS, values=[speed], note=note),
    ]


def _most_resident(process: int) -> float:
    """Give the most a process ever held in memory, in MB of a million bytes."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


CONTESTS: Final = (
    Contest(
        (
            "smtp_accept_per_s", "smtp_accept_ratio_postfix", "smtp_accept_new_per_s",
            "smtp_accept_new_ratio_postfix", "smtp_accept_p99_ms",
        ),
        accept,
    ),
    Contest(("smtp_large_mb", "smtp_large_other_p99_ms", "smtp_large_mb_per_s"), large),
)  # fmt: skip
