"""The same talks with a real server at the other end of a real line."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from posthouse.transport.smtp.client import NoTalk, Patience, Place, Said, open_talk, trust
from posthouse.transport.smtp.dialogue.reply import Reply
from tests.dialogue.test_client_talks import SCRIPTS, lines_of, mail_of, manner_of

PATIENCE = Patience(connect=5, greeting=5, reply=5, piece=5, end=5)
CONTENT = b"Subject: x\r\n\r\n.\r\n"
# Encrypting needs a certificate: tests/scenario/mail_out does that.
PLAIN = [
    script
    for script in SCRIPTS
    if not script.stem.startswith(("starttls", "auth_plain", "auth_scram", "auth_refused", "auth_asked"))
]


class Reader:
    """The server of a script: it says its lines once it was told those before them."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = [line for line in lines if line.startswith(("s", "c", "= content"))]
        self.wrong = ""
        self.over = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = ""
        try:
            for line in self.lines:
                mark, _, rest = line.partition(" ")
                if mark == "s":
                    writer.write(f"{rest.removeprefix('← ')}\r\n".encode())
                elif mark == "c":
                    heard = (await reader.readuntil(b"\r\n")).decode().strip()
                    self.wrong = self.wrong or ("" if f"c → {heard}".strip() == line else f"{line}: heard {heard!r}")
                else:
                    heard = (await reader.readuntil(b"\r\n.\r\n")).decode()
                    assert heard == "Subject: x\r\n\r\n..\r\n.\r\n"
        except (OSError, asyncio.IncompleteReadError) as fault:
            self.wrong = self.wrong or f"{line}: {type(fault).__name__}"
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
            self.over.set()


async def pieces() -> AsyncIterator[bytes]:
    yield CONTENT[:15]
    yield CONTENT[15:]


def codes(said: Said) -> str:
    return " ".join(str(reply.code) if isinstance(reply, Reply) else "none" for reply in said.replies)


@pytest.mark.parametrize("script", PLAIN, ids=lambda script: script.stem)
async def test_a_talk_over_a_line_goes_as_written(script: Path) -> None:
    lines = lines_of(script)
    there = Reader(lines)
    server = await asyncio.start_server(there.serve, "127.0.0.1", 0)
    words = next((line.split()[1:] for line in lines if line.startswith("manner")), [])
    place = Place("127.0.0.1", server.sockets[0].getsockname()[1], is_lmtp="lmtp" in words)
    awaited = [line.removeprefix("= answered ").removesuffix(" wishes") for line in lines if "answered" in line]
    mails = [mail_of(line.split()[1:]) for line in lines if line.startswith("!") and ">" in line]
    heard: list[str] = []
    talk = None
    try:
        talk = await open_talk(place, manner_of(words), trusted=trust(), patience=PATIENCE)
        for mail in mails:
            if not await talk.settle():
                break
            heard.append(codes(await talk.bring(mail, pieces)))
            await talk.settle()
    except NoTalk:
        assert any(line.startswith("= over") for line in lines)
    finally:
        if talk is not None:
            await talk.end()
        async with asyncio.timeout(10):
            await there.over.wait()
        server.close()
    assert heard[: len(awaited)] == awaited
    if lines[-1] == "= ready" or lines[-1].startswith("s"):
        assert there.wrong == ""
