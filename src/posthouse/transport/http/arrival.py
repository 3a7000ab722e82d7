"""Large bodies on their way in: their pieces are kept across broken links and restarts, until they are whole.

A body grows in a file of its own for each peer. What it must become is known from the beginning, so that a piece too
many is refused at once, and a body that became something else is thrown away.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final, Protocol

from posthouse.clock import Clock
from posthouse.message.message import Body
from posthouse.message.peer import Exchange
from posthouse.transport.http.cargo import Answer, Piece

_READ: Final = 1_048_576


class Shelf(Protocol):
    """Where whole bodies are kept."""

    async def has(self, body: Body) -> bool:
        """Say whether the body is here whole."""
        ...

    async def save(self, chunks: AsyncIterator[bytes], *, limit: int) -> Body:
        """Keep a body and give its address once it is durable."""
        ...


class Arrivals:
    """The half-done bodies of one office, in one folder."""

    def __init__(self, folder: Path, shelf: Shelf, *, bounds: Exchange, body_bytes: int, clock: Clock) -> None:
        self._folder = folder
        self._shelf = shelf
        self._bounds = bounds
        self._body_bytes = body_bytes
        self._clock = clock
        self._halves: dict[str, _Half] = {}

    async def open(self) -> None:
        """Take up what earlier processes left; what is too old goes."""
        await asyncio.to_thread(self._find)

    async def add(self, peer: str, piece: Piece) -> Answer:
        """Keep a piece, and say how much of its body is there now."""
        body = piece.body
        if body.size > self._body_bytes:
            return Answer(verdict="refused", reason=f"expected a body of at most {self._body_bytes} bytes")
        name = _name(peer, body)
        if name not in self._halves and await self._shelf.has(body):
            return Answer(have=body.size)
        half = self._halves.get(name)
        if half is None:
            if not piece.data and body.size:
                return Answer(have=0)
            if not await self._has_room(body.size):
                return Answer(verdict="busy", reason="no room for another large body now", pause=30.0)
            half = self._halves.setdefault(name, _Half(self._folder / name, body))
        async with half.lock:
            if self._halves.get(name) is not half:
                return Answer(have=body.size if await self._shelf.has(body) else 0)
            return await self._grow(name, half, piece=piece)

    async def _grow(self, name: str, half: _Half, *, piece: Piece) -> Answer:
        have = await asyncio.to_thread(half.append, piece.start, piece.data)
        if have < half.body.size:
            return Answer(have=have)
        try:
            if await asyncio.to_thread(half.is_sound):
                await self._shelf.save(half.pieces(), limit=half.body.size)
                return Answer(have=have)
            return Answer(have=0, reason="what arrived is not the body that was named: it begins again")
        finally:
            del self._halves[name]
            await asyncio.to_thread(half.remove)

    async def _has_room(self, size: int) -> bool:
        if self._taken() + size > self._bounds.half_bytes:
            await asyncio.to_thread(self._forget_old)
        return self._taken() + size <= self._bounds.half_bytes

    def _taken(self) -> int:
        return sum(half.body.size for half in self._halves.values())

    def _find(self) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        for path in sorted(self._folder.iterdir()):
            body = _body(path.name)
            if body is None or path.stat().st_size > body.size:
                path.unlink()
            else:
                self._halves[path.name] = _Half(path, body)
        self._forget_old()

    def _forget_old(self) -> None:
        last = self._clock.now() / 1_000_000 - self._bounds.half_seconds
        for name, half in list(self._halves.items()):
            if not half.lock.locked() and half.touched() < last:
                half.remove()
                self._halves.pop(name, None)


class _Half:
    """One body of which a part is here; a thread at a time works on it."""

    def __init__(self, path: Path, body: Body) -> None:
        self.body = body
        self.lock = asyncio.Lock()
        self._path = path
        self._have = -1
        self._digest = hashlib.sha256()

    def append(self, start: int, data: bytes) -> int:
        """Keep a piece if it is the next one; gives the bytes that are here."""
        if self._have < 0:
            self._begin()
        if start == self._have and data:
            with self._path.open("ab") as file:
                file.write(data)
            self._digest.update(data)
            self._have += len(data)
        return self._have

    def is_sound(self) -> bool:
        """Say whether what is here is the body that was named."""
        return self._digest.hexdigest() == self.body.sha256

    async def pieces(self) -> AsyncIterator[bytes]:
        with self._path.open("rb") as file:
            while piece := await asyncio.to_thread(file.read, _READ):
                yield piece

    def touched(self) -> float:
        """Give when the last piece came."""
        try:
            return self._path.stat().st_mtime
        except FileNotFoundError:
            # Begun in this moment.
            return math.inf

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)

    def _begin(self) -> None:
        descriptor = os.open(self._path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "rb") as file:
            self._have = 0
            while piece := file.read(_READ):
                self._digest.update(piece)
                self._have += len(piece)


def _name(peer: str, body: Body) -> str:
    """Give the name of the file: whose it is, what it becomes, and how much that is."""
    return f"{hashlib.sha256(peer.encode()).hexdigest()[:16]}-{body.sha256}-{body.size}"


def _body(name: str) -> Body | None:
    parts = name.split("-")
    if len(parts) != 3 or len(parts[1]) != 64 or not (parts[2].isascii() and parts[2].isdecimal()):
        return None
    return Body(parts[1], int(parts[2]))
