"""The bytes of a client that were not looked at yet, given out as lines or as they are."""

from __future__ import annotations

from typing import Literal


class Inbox:
    """Grows at one end and shrinks at the other, without being copied for every line."""

    def __init__(self) -> None:
        self._bytes = b""
        self._at = 0
        self._skipping = False

    def __len__(self) -> int:
        return len(self._bytes) - self._at

    def add(self, data: bytes) -> None:
        """Take in what came."""
        self._bytes = self._bytes[self._at :] + data if self._at < len(self._bytes) else data
        self._at = 0

    def clear(self) -> None:
        """Forget everything."""
        self._bytes, self._at = b"", 0

    def take(self, most: int | None = None) -> bytes:
        """Give so many bytes at most."""
        if not self._at and (most is None or most >= len(self._bytes)):
            taken, self._bytes = self._bytes, b""
            return taken
        taken = self._bytes[self._at :] if most is None else self._bytes[self._at : self._at + most]
        self._at += len(taken)
        return taken

    def take_line(self, most: int) -> bytes | Literal["long", "bad"] | None:
        """Give the next line without its end: none where it is not whole yet, or what is wrong with it."""
        end = self._bytes.find(b"\n", self._at)
        if end < 0:
            if len(self) > most:
                # The rest of it is thrown away as it comes, so that nobody can fill the memory.
                self._skipping = True
                self.clear()
            return None
        line = self._bytes[self._at : end]
        self._at = end + 1
        if self._skipping or len(line) > most:
            self._skipping = False
            return "long"
        if not line.endswith(b"\r") or line.find(b"\r") < len(line) - 1 or b"\0" in line:
            return "bad"
        return line[:-1]
