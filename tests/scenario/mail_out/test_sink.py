"""A peer of another house: the sink that comes with Postfix."""

from __future__ import annotations

import asyncio
import os
import shutil
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from posthouse.testing.port import free_port
from tests.scenario.mail_out.conftest import Opened
from tests.scenario.mail_out.letters import life, post

pytestmark = pytest.mark.service("smtp-sink")


@asynccontextmanager
async def sink(folder: Path, *words: str) -> AsyncIterator[int]:
    program = shutil.which("smtp-sink") or shutil.which("smtp-sink", path="/usr/sbin")
    if program is None:
        pytest.skip("smtp-sink is missing: install the package postfix")
    port = free_port()
    # Started by root it wants to be told whom to be.
    user = ("-u", "root") if os.geteuid() == 0 else ()
    process = await asyncio.create_subprocess_exec(
        program, *user, "-d", f"{folder}/%M.", *words, f"127.0.0.1:{port}", "16", stdout=DEVNULL, stderr=DEVNULL
    )
    try:
        yield port
    finally:
        process.terminate()
        await process.wait()


@pytest.mark.parametrize("words", [(), ("-a",), ("-e",), ("-p",), ("-8",)], ids=lambda words: "".join(words) or "usual")
async def test_the_sink_takes_mail_as_it_is(opened: Opened, tmp_path: Path, words: tuple[str, ...]) -> None:
    """`-e` knows no ESMTP, `-p` no PIPELINING, `-8` no 8BITMIME."""
    folder = tmp_path / "sunk"
    await asyncio.to_thread(folder.mkdir)
    async with sink(folder, *words) as port, opened(("*", f"smtp://127.0.0.1:{port}")) as office:
        identity = await post(office, b"Subject: x\r\n\r\n.dots\r\n..\r\n")
        while "forwarded" not in await life(office, identity):  # noqa: ASYNC110 - the trace sets no event
            await asyncio.sleep(0.02)
        (kept,) = await asyncio.to_thread(lambda: [file.read_bytes() for file in folder.iterdir()])
        assert b"\nSubject: x\n\n.dots\n..\n" in kept.replace(b"\r\n", b"\n")
