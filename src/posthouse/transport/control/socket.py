"""The control socket of an office: frames over a Unix socket that belongs to its user alone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar, Final

from posthouse.errors import PosthouseError
from posthouse.transport.frames import Conversations, FrameLink
from posthouse.transport.ports import Session, Unreachable

_PEER: Final = struct.Struct("3i")


class SocketRefused(PosthouseError):
    """The control socket cannot be made where it has to be."""

    code: ClassVar[str] = "socket.refused"
    public: ClassVar[str] = "The office cannot be opened here."


class FrameServer:
    """Listens at a path and gives each connection a session; `begin` is told the user at the other end."""

    def __init__(self, path: Path, begin: Callable[[int], Session]) -> None:
        self._path = path
        self._begin = begin
        self._server: asyncio.Server | None = None
        self._conversations = Conversations()

    async def open(self) -> None:
        """Listen, for this user only; a socket left by a process that died is replaced."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._path.unlink(missing_ok=True)
            with _reachable(self._path) as short:
                listener.bind(short)
            # Before anybody can connect, for nobody listens yet.
            self._path.chmod(0o600)
            listener.setblocking(False)
            self._server = await asyncio.start_unix_server(self._serve, sock=listener, limit=1_048_576)
        except OSError as fault:
            listener.close()
            raise SocketRefused(
                f"the control socket cannot be made: {fault.strerror or fault}", where=str(self._path)
            ) from fault
        except BaseException:
            listener.close()
            raise

    async def close(self) -> None:
        """Stop listening and end all connections."""
        if self._server is None:
            return
        self._server.close()
        await self._conversations.close()
        self._path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._conversations.hold(self._begin(_peer(writer)), reader, sink=writer)


async def open_link(path: Path) -> FrameLink:
    """Connect; `Unreachable` where nobody answers."""
    try:
        with _reachable(path) as short:
            reader, writer = await asyncio.open_unix_connection(short, limit=1_048_576)
    except OSError as fault:
        raise Unreachable(f"no office answers: {fault.strerror or fault}", where=str(path)) from fault
    return FrameLink(reader, writer)


def _peer(writer: asyncio.StreamWriter) -> int:
    """Give the user at the other end; where the system does not say, it is who may open the socket."""
    if not hasattr(socket, "SO_PEERCRED"):
        return os.getuid()
    told = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    user: int = _PEER.unpack(told)[1]
    return user


@contextlib.contextmanager
def _reachable(path: Path) -> Iterator[str]:
    """Give a name for a socket that fits the 107 bytes the kernel allows, whatever folder it lies in."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}" if len(os.fsencode(path)) > 100 else str(path)
    finally:
        os.close(folder)
