"""Mail kept in maildirs: written beside, synced, then moved to where readers look; whole there, or not at all."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import Final

from posthouse.message.answer import Answer
from posthouse.transport.ports import Outgoing, Result, result_of
from posthouse.transport.smtp.parcel import Parcel

# What may stand for a folder: a recipient chooses its local part, and must not choose the folder with it.
_PLAIN: Final = re.compile(r"(?!\.)[A-Za-z0-9._+=@-]{1,200}")


class Maildirs:
    """The maildirs this office writes to; a message has the same file name every time it is brought."""

    def __init__(self, name: str) -> None:
        self._name = re.sub(r"[^A-Za-z0-9.-]", "_", name)

    async def keep(self, parcel: Parcel, outgoing: Outgoing, *, pattern: str) -> Result:
        """Keep a mail for each of its recipients."""
        answers: list[Answer] = []
        for name, recipient in zip(parcel.names, parcel.mail.recipients, strict=True):
            folder = folder_of(pattern, recipient.address)
            if folder is None:
                answers.append(Answer(name, "refused", f"no folder can be called {recipient.address}", "5.1.3"))
                continue
            try:
                await self._write(folder, parcel, file=f"{outgoing.message.id}.{self._name}")
            except OSError as fault:
                reason = f"{folder}: {(fault.strerror or type(fault).__name__).lower()}"
                answers.append(Answer(name, "deferred", reason, "4.2.0"))
            else:
                answers.append(Answer(name, "delivered", "", "2.1.5"))
        return result_of(answers)

    async def _write(self, folder: Path, parcel: Parcel, *, file: str) -> None:
        # The lines that a last server puts before a mail (RFC 5321, section 4.4).
        lines = f"Return-Path: <{parcel.mail.sender}>\r\n".encode()
        descriptor = await asyncio.to_thread(_begin, folder, file)
        try:
            await asyncio.to_thread(_append, descriptor, lines)
            async for piece in parcel.pieces():
                await asyncio.to_thread(_append, descriptor, piece)
            await asyncio.to_thread(os.fsync, descriptor)
        finally:
            os.close(descriptor)
        await asyncio.to_thread(_finish, folder, file)


def folder_of(pattern: str, address: str) -> Path | None:
    """Give the maildir of an address; none where the address would lead out of its place."""
    local, _, domain = address.rpartition("@")
    if not _PLAIN.fullmatch(local) or not _PLAIN.fullmatch(domain):
        return None
    return Path(pattern.replace("{local}", local).replace("{domain}", domain))


def _begin(folder: Path, file: str) -> int:
    for name in ("tmp", "new", "cur"):
        (folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    return os.open(folder / "tmp" / file, flags, 0o600)


def _append(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _finish(folder: Path, file: str) -> None:
    if not (folder / "cur").exists() or not any((folder / "cur").glob(f"{file}*")):
        (folder / "tmp" / file).replace(folder / "new" / file)
    else:
        (folder / "tmp" / file).unlink()
    descriptor = os.open(folder / "new", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
