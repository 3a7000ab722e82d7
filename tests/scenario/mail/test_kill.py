"""An office that is killed while mail comes in: what was answered with 250 is there when it is started again."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path
from uuid import UUID

import pytest

from posthouse.office.terms import Terms
from posthouse.server.assemble import open_house
from posthouse.testing.port import free_port

CLIENTS = 8
LARGE = (b"x" * 70 + b"\r\n") * 3_000


async def send_for_ever(port: int, accepted: list[UUID], *, content: bytes, enough: asyncio.Event) -> None:
    """Send mail after mail, and write down what was accepted."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    async def ask(data: bytes, code: bytes) -> bytes:
        writer.write(data)
        line = await reader.readline()
        if not line.startswith(code):
            raise ConnectionResetError
        return line

    with contextlib.suppress(ConnectionError):
        await ask(b"", b"220")
        await ask(b"HELO mill.example\r\n", b"250")
        while True:
            await ask(b"MAIL FROM:<cleo@mill.example>\r\n", b"250")
            await ask(b"RCPT TO:<ada@bakery.example>\r\n", b"250")
            await ask(b"DATA\r\n", b"354")
            line = await ask(content + b".\r\n", b"250")
            accepted.append(UUID(line.split()[-1].decode()))
            if len(accepted) >= 60:
                enough.set()
    writer.close()


@pytest.mark.parametrize("run", range(2))
async def test_what_was_accepted_outlives_a_kill(tmp_path: Path, run: int) -> None:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        Path(sys.executable).with_name("posthouse"), "serve", "--store", tmp_path / "office.db",
        "--set", "http.listen=off", "--set", "mail.domains=bakery.example", "--set", f"doors.mx=smtp 127.0.0.1:{port}",
        stdout=PIPE, stderr=DEVNULL,
    )  # fmt: skip
    accepted: list[UUID] = []
    enough = asyncio.Event()
    try:
        assert process.stdout is not None
        assert b"is open" in await process.stdout.readline()
        contents = [b"Subject: a mail\r\n\r\n" + (LARGE if number == run else b"x\r\n") for number in range(CLIENTS)]
        clients = [
            asyncio.create_task(send_for_ever(port, accepted, content=content, enough=enough)) for content in contents
        ]
        async with asyncio.timeout(30):
            await enough.wait()
    finally:
        process.kill()
        await process.wait()
    await asyncio.gather(*clients)
    async with open_house(tmp_path / "office.db", Terms(), socket=False) as house:
        store = house._stores.durable
        missing = [identity for identity in accepted if await store.journal.letter(identity) is None]
        waiting = sum(depth.messages for depth in await store.queue.depths())
    assert missing == []
    assert waiting >= len(accepted) >= 60
