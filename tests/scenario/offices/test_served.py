"""Two offices as anybody would start them: by settings, with `posthouse serve`."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from posthouse.client import Office
from posthouse.testing.port import free_port

PROGRAM = Path(sys.executable).with_name("posthouse")


async def told(folder: Path, *words: str) -> str:
    """Run a command to its end and give what it writes."""
    process = await asyncio.create_subprocess_exec(PROGRAM, *words, cwd=folder, stdout=PIPE, stderr=DEVNULL)
    written, _ = await process.communicate()
    assert process.returncode == 0, words
    return written.decode().strip()


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        PROGRAM, "serve", cwd=folder, stdout=PIPE, stderr=DEVNULL
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert await process.stdout.readline()
        yield process
    finally:
        process.terminate()
        assert await process.wait() == 0


def settle(folder: Path, *, port: int, peer: str = "") -> None:
    folder.mkdir(exist_ok=True)
    address = f"127.0.0.1:{port}"
    text = f'[office]\nname = "http://{address}/{folder.name}"\n[http]\nlisten = "{address}"\n'
    (folder / "posthouse.toml").write_text(text + (f'[peers]\nother = "{peer}"\n' if peer else ""))


async def test_two_offices_by_their_settings(tmp_path: Path) -> None:
    north, south, ports = tmp_path / "north", tmp_path / "south", (free_port(), free_port())
    for folder, port in zip((north, south), ports, strict=True):
        settle(folder, port=port)
    lines = [await told(folder, "peer", "key") for folder in (north, south)]
    settle(north, port=ports[0], peer=lines[1])
    settle(south, port=ports[1], peer=lines[0])
    bob = f"{lines[1].split()[0]}#bob"
    async with serving(north):
        async with Office.open(north / "office.db") as office:
            # Frames of a megabyte, in pieces as the network likes, none of them a head.
            for number in range(40):
                await office.put(bob, bytes([number]) * 60_000, sender="alice")
        async with serving(south), Office.open(south / "office.db") as there:
            for number in range(40):
                message = await there.get("bob", wait=30)
                assert message is not None
                assert message.body == bytes([number]) * 60_000
            assert "answers" in await told(north, "peer", "test", "other")
