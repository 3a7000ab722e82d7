"""Large bodies as files named by their SHA-256, written beside the event loop and synced as they grow.

A body is complete and durable before anything refers to it: it grows under a passing name, is synced, renamed to its
address, and the folder is synced. What a crash leaves under a passing name is removed at the next start.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import itertools
import os
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

from posthouse.message.message import Body
from posthouse.store.ports import BodyMissing, BodyTooLarge, StoreUnavailable

# A sync this often keeps the kernel from saving up writes that would stand before the journal's own sync.
_SYNC_EVERY: Final = 8 * 1_048_576
_PIECE: Final = 1_048_576

Result = TypeVar("Result")


class FileLayer:
    """What is asked of the disk; a test puts another layer in its place, to fail or to keep a record."""

    def create(self, path: Path) -> int:
        """Make a file that must not be there yet; gives its descriptor."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)

    def write(self, descriptor: int, data: memoryview) -> int:
        """Append to a file; gives how much of it the disk took."""
        return os.write(descriptor, data)

    def write_zeros(self, path: Path, start: int, *, size: int) -> None:
        """Write zeros into a file that is there; they need not be durable."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.pwrite(descriptor, bytes(size), start)
        finally:
            os.close(descriptor)

    def sync(self, descriptor: int) -> None:
        """Return once all that was written is durable."""
        os.fsync(descriptor)

    def make_folder(self, path: Path) -> None:
        """Make a folder that may be there already; its parent must be."""
        path.mkdir(mode=0o700, exist_ok=True)

    def move(self, old: Path, new: Path) -> None:
        """Give a file another name, in place of what bears it."""
        old.replace(new)

    def link(self, old: Path, new: Path) -> None:
        """Give a file a second name; raises where that lies on another disk."""
        os.link(old, new)

    def sync_folder(self, path: Path) -> None:
        """Return once the names in a folder are durable."""
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class BodyFiles:
    """A folder of bodies."""

    def __init__(self, folder: Path, layer: FileLayer) -> None:
        self._folder = folder
        self._layer = layer
        self._incoming = folder / "incoming"
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="posthouse-bodies")
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._durable: set[Path] = set()
        """Folders whose own names are known to be durable."""

    def clear_incoming(self) -> None:
        """Remove what was broken off by a crash; called while nobody writes."""
        for file in self._incoming.glob("*"):
            file.unlink(missing_ok=True)

    def close(self) -> None:
        """Wait for the writes under way."""
        self._pool.shutdown(wait=True)

    async def save(self, chunks: AsyncIterator[bytes], *, limit: int) -> Body:
        """Keep a body and give its address once it is durable."""
        begun = asyncio.ensure_future(self._aside(self._begin))
        try:
            growing = await asyncio.shield(begun)
        except asyncio.CancelledError:
            # The file is there, or will be in a moment, and nobody else would clear it away.
            await self._aside((await begun).abandon)
            raise
        try:
            pending = bytearray()
            async for chunk in chunks:
                pending += chunk
                if growing.size + len(pending) > limit:
                    raise BodyTooLarge(f"expected a body of at most {limit} bytes, found more")
                if len(pending) >= _PIECE:
                    await self._aside(growing.write, bytes(pending))
                    pending.clear()
            body = await self._aside(growing.finish, bytes(pending))
            await self._aside(self._place, growing.path, body)
        finally:
            await self._aside(growing.abandon)
        return body

    async def read(self, body: Body, *, start: int = 0) -> AsyncIterator[bytes]:
        """Give the body in pieces from a byte on."""
        file = await self._aside(self._open, body)
        try:
            if start:
                file.seek(start)
            while piece := await self._aside(file.read, _PIECE):
                yield piece
        finally:
            file.close()

    async def has(self, body: Body) -> bool:
        """Say whether the body is here whole."""
        path = self.path(body.sha256)
        return await self._aside(lambda: path.exists() and path.stat().st_size == body.size)

    async def use(self) -> float | None:
        """Give how many percent of the disk they lie on are used."""
        return await self._aside(self._used)

    def _used(self) -> float:
        # The folder itself is made with the first body.
        folder = next(path for path in (self._folder, *self._folder.parents) if path.exists())
        disk = shutil.disk_usage(folder)
        return round(100 * disk.used / max(disk.used + disk.free, 1), 1)

    def addresses(self) -> Iterator[str]:
        """Give the addresses of all bodies here, one folder after the other."""
        for shelf in sorted(self._folder.glob("[0-9a-f][0-9a-f]")):
            yield from sorted(file.name for file in shelf.iterdir() if len(file.name) == 64)

    def path(self, sha256: str) -> Path:
        """Give where the body of an address stands."""
        return self._folder / sha256[:2] / sha256

    def hand_out(self, sha256: str, target: Path) -> bool:
        """Put a body under another name, for a backup; says whether it was here and, as far as it was read, whole."""
        try:
            # A body is never written again, so both names may well mean one file. It was synced before it was named.
            self._layer.link(self.path(sha256), target)
        except FileNotFoundError:
            return False
        except OSError:
            if copy_file(self.path(sha256), target) != sha256:
                target.unlink()
                return False
        return True

    def is_older(self, sha256: str, moment: float) -> bool:
        """Say whether a body is here and was saved before the moment."""
        path = self.path(sha256)
        return path.exists() and path.stat().st_mtime < moment

    def remove_older(self, sha256: str, moment: float) -> bool:
        """Remove a body nobody refers to, unless it was saved after the moment; says whether it is gone."""
        path = self.path(sha256)
        # Nobody saves the same body again between the look and the removal.
        with self._lock:
            if not self.is_older(sha256, moment):
                return False
            path.unlink()
            return True

    def _begin(self) -> _Growing:
        self._make_durable(self._folder)
        self._layer.make_folder(self._incoming)
        return _Growing(self._incoming / f"{os.getpid()}-{next(self._numbers)}", self._layer)

    def _place(self, path: Path, body: Body) -> None:
        """Give a body that is synced its address, and return once the address is durable too."""
        address = self.path(body.sha256)
        self._make_durable(address.parent)
        with self._lock:
            self._layer.move(path, address)
        self._layer.sync_folder(address.parent)

    def _make_durable(self, folder: Path) -> None:
        # Under the lock, so that nobody relies on a name that another thread is about to make durable.
        with self._lock:
            if folder not in self._durable:
                self._layer.make_folder(folder)
                self._layer.sync_folder(folder.parent)
                self._durable.add(folder)

    def _open(self, body: Body) -> BinaryIO:
        try:
            return self.path(body.sha256).open("rb")
        except FileNotFoundError as fault:
            raise BodyMissing("the file of a large body is gone", where=body.sha256) from fault

    async def _aside(self, work: Callable[..., Result], *given: object) -> Result:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: work(*given))
        except OSError as fault:
            # Whoever mends the disk may have removed the folders, too.
            self._durable.clear()
            raise StoreUnavailable(
                f"a large body cannot be kept or read: {fault.strerror}",
                where=str(self._folder),
                hint="check the room on the disk and the permissions; the office tries again by itself",
            ) from fault


class _Growing:
    """A body while it is written, in a worker thread.

    Who gives up may do so in another thread than the one that is still writing; the lock lets them come one by one.
    """

    def __init__(self, path: Path, layer: FileLayer) -> None:
        self.path = path
        self.size = 0
        self._layer = layer
        self._file = layer.create(path)
        self._lock = threading.Lock()
        self._digest = hashlib.sha256()
        self._synced = 0

    def write(self, piece: bytes) -> None:
        with self._lock:
            rest = memoryview(piece)
            while rest and self._file >= 0:
                # A disk about to be full takes less than it is given, and says so only the next time.
                rest = rest[self._layer.write(self._file, rest) :]
            self._digest.update(piece)
            self.size += len(piece)
            if self.size - self._synced >= _SYNC_EVERY:
                self._sync()

    def finish(self, rest: bytes) -> Body:
        self.write(rest)
        with self._lock:
            self._sync()
            self._close()
        return Body(self._digest.hexdigest(), self.size)

    def abandon(self) -> None:
        """Close and remove what is left under the passing name; harmless once the body has its address."""
        with self._lock:
            self._close()
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)

    def _sync(self) -> None:
        if self._file >= 0:
            self._layer.sync(self._file)
            self._synced = self.size

    def _close(self) -> None:
        descriptor, self._file = self._file, -1
        if descriptor >= 0:
            os.close(descriptor)


def copy_file(source: Path, target: Path) -> str:
    """Copy a file so that the copy is durable but for its name; gives the SHA-256 of what was copied."""
    found = hashlib.sha256()
    with source.open("rb") as reading, target.open("xb") as writing:
        while piece := reading.read(_PIECE):
            writing.write(piece)
            found.update(piece)
        writing.flush()
        os.fsync(writing.fileno())
    return found.hexdigest()
