"""The content of a mail as it stands on the line: lines that begin with a dot get one more, and a dot alone ends it.

Nothing else is changed. What holds a CR or LF by itself has no place there at all, for servers disagree about where
such a line ends; `Look` finds that out before the first byte goes.
"""

from __future__ import annotations

import re
from typing import Final

_NEITHER, _AFTER_CR, _LINE_START = 0, 1, 2
_MAX_HEADER: Final = 1_048_576
# One at the end of a piece may have its LF in the next.
_LONE_RETURN: Final = re.compile(rb"\r(?!\n|\Z)")
# In small letters, behind a line end: what begins with letters that are known is found many times as quickly.
_RECEIVED: Final = re.compile(rb"\r\nreceived[ \t]*:")


class Stuffing:
    """Content goes in by pieces, as it is; out comes what stands on the line."""

    def __init__(self) -> None:
        self._at = _LINE_START

    def stuff(self, piece: bytes) -> bytes:
        """Give a piece as it is sent."""
        if not piece:
            return piece
        stuffed = piece.replace(b"\r\n.", b"\r\n..")
        if self._at == _LINE_START and piece.startswith(b"."):
            stuffed = b"." + stuffed
        elif self._at == _AFTER_CR and piece.startswith(b"\n."):
            stuffed = b"\n." + stuffed[1:]
        self._at = self._after(piece)
        return stuffed

    def end(self) -> bytes:
        """Give what ends the content: on a line of its own, which is begun where the content did not end with one."""
        return b".\r\n" if self._at == _LINE_START else b"\r\n.\r\n"

    def _after(self, piece: bytes) -> int:
        if piece.endswith(b"\r\n") or (piece == b"\n" and self._at == _AFTER_CR):
            return _LINE_START
        return _AFTER_CR if piece.endswith(b"\r") else _NEITHER


class Look:
    """What must be known of a content before it is offered to a server; it goes in by pieces, as it is."""

    def __init__(self) -> None:
        self.size = 0
        self.is_ascii = True
        self.header_is_ascii = True
        self.received = 0
        """How many servers say that they received it."""
        self._returns = self._feeds = 0
        self._has_lone_return = False
        self._ends_in_return = False
        self._header: bytearray | None = bytearray()

    @property
    def is_sound(self) -> bool:
        """Say whether every line ends with CR LF and no CR or LF stands by itself."""
        # Each CR has its LF, and there are as many of both. To count the pairs would take four times as long.
        return self._returns == self._feeds and not (self._has_lone_return or self._ends_in_return)

    def at(self, piece: bytes) -> None:
        """Look at the next piece."""
        if not piece:
            return
        self.size += len(piece)
        self.is_ascii = self.is_ascii and piece.isascii()
        self._returns += piece.count(b"\r")
        self._feeds += piece.count(b"\n")
        parted = self._ends_in_return and not piece.startswith(b"\n")
        self._has_lone_return = self._has_lone_return or parted or _LONE_RETURN.search(piece) is not None
        self._ends_in_return = piece.endswith(b"\r")
        if self._header is not None:
            self._look_at_header(piece)

    def end(self) -> None:
        """Hear that there is no more."""
        if self._header is not None:
            self._settle_header(self._header)

    def _look_at_header(self, piece: bytes) -> None:
        assert self._header is not None
        # The empty line that ends the header may lie across pieces.
        start = max(0, len(self._header) - 3)
        self._header += piece
        if self._header.startswith(b"\r\n"):
            self._header = None
            return
        end = self._header.find(b"\r\n\r\n", start)
        if end >= 0 or len(self._header) > _MAX_HEADER:
            self._settle_header(self._header[:end] if end >= 0 else self._header)

    def _settle_header(self, header: bytearray) -> None:
        self.header_is_ascii = header.isascii()
        self.received = len(_RECEIVED.findall(b"\r\n" + header.lower()))
        self._header = None
