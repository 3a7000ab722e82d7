"""Keeps the log's file longer than the log: syncing what lengthens a file takes about twice as long as what does not.

The room is zeros behind the last frame. SQLite reads a log up to the first frame that is none, so they mean nothing to
it. Only the writer's thread may make room, between two commits: nobody else knows where the log ends.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from posthouse.store.bodies import FileLayer

# https://www.sqlite.org/fileformat2.html#the_write_ahead_log: the log's own header, and that of each frame.
_HEADER: Final = 32
_FRAME_HEADER: Final = 24
_PAGE: Final = 4_096

_LEAST: Final = 65_536
_STEP: Final = 262_144
# A command that commits once or twice gains nothing.
_FROM: Final = 32


class Headroom:
    """The room behind one log."""

    def __init__(self, path: str, layer: FileLayer, *, most: int) -> None:
        self._path = Path(f"{path}-wal")
        self._layer = layer
        self._frame = _PAGE + _FRAME_HEADER
        self._most = most * self._frame
        self._size = 0
        self._commits = 0

    def make(self, pages: int) -> None:
        """See that a log of so many pages has room behind it; a disk that has none will say so to the next commit."""
        self._commits += 1
        used = _HEADER + pages * self._frame
        if self._commits < _FROM or used + _LEAST <= self._size or used > self._most:
            return
        try:
            self._size = self._path.stat().st_size
            if used + _LEAST > self._size:
                self._layer.write_zeros(self._path, max(used, self._size), size=_STEP)
                self._size = max(used, self._size) + _STEP
        except OSError:
            # Tried again after as many commits: a full disk must not be asked after each.
            self._commits = 0
