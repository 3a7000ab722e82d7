"""The content of a mail on its way in: where it ends, its dots taken off, its lines looked at, its limits kept.

Only CRLF.CRLF ends a mail. What looks like an end to a laxer reader (a bare line feed before or after the dot, a NUL)
is found here, so that nobody behind this office ever reads one mail as two.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from posthouse.transport.smtp.dialogue.service import Caps

_END: Final = b"\r\n.\r\n"
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
# A lone dot between two line ends, at least one of them bare: whoever sends this means the end of the mail, or wants a
# laxer reader to take it for one.
_FALSE_END: Final = re.compile(rb"(?:\r|\n)\.(?:\r|\n)")
_LONE_RETURN: Final = re.compile(rb"\r(?!\n)")
# In small letters, behind a line end: what begins with letters that are known is found many times as quickly.
_RECEIVED: Final = re.compile(rb"\nreceived[ \t]*:")

Flaw = Literal["", "bare", "false end", "nul", "header", "line", "size", "hops"]
# The worst first: which one is named must not hang on where the mail was cut into pieces.
_WORST: Final[tuple[Flaw, ...]] = ("false end", "bare", "nul", "line", "header", "hops", "size", "")


class Content:
    """One mail's content; pieces come in as they were sent and go out as they are to be kept.

    What is worst in a mail is its `flaw`; from the first on nothing goes out, but the end is still looked for.
    """

    def __init__(self, caps: Caps, *, mend: bool) -> None:
        self._caps = caps
        self._mend = mend
        self._held = b""
        self._begun = False
        self._header: bytearray | None = bytearray()
        self._line = 0
        # The last bytes as they were sent; at first the line end of the command.
        self._tail = b"\r\n"
        self.size = 0
        """Bytes that went out."""
        self.flaw: Flaw = ""
        self.is_mended = False
        """Bare line ends were put in order."""

    def read_dotted(self, data: bytes) -> tuple[bytes, bytes | None]:
        """Take what came after DATA: give what goes out, and what came behind the end, or none before the end."""
        data = self._held + data if self._held else data
        if not self._begun:
            # The line end of the command is the one before a dot that comes first.
            if data.startswith(b".\r\n"):
                return b"", data[3:]
            if b".\r\n".startswith(data):
                self._held = data
                return b"", None
        # One search for both: where no line begins with a dot there is neither an end nor a dot to take off.
        dot = data.find(b"\r\n.")
        end = data.find(_END, dot) if dot >= 0 else -1
        if end >= 0:
            return self._unstuffed(data[: end + 2], stuffed=dot < end), data[end + 5 :]
        stop = len(data) - _held_back(data)
        self._held = data[stop:]
        return (self._unstuffed(data[:stop], stuffed=dot >= 0) if stop else b""), None

    def read_counted(self, data: bytes, *, last: bool) -> bytes:
        """Take what came after BDAT, byte for byte: give what goes out."""
        data = self._held + data if self._held else data
        self._held = b""
        if data.endswith(b"\r") and not last:
            # Its line feed may stand in the next chunk.
            self._held = b"\r"
            data = data[:-1]
        return self._checked(data, bare=_is_bare(data))

    def _unstuffed(self, data: bytes, *, stuffed: bool) -> bytes:
        """Take off the dots that were put on (RFC 5321, section 4.5.2)."""
        bare = _is_bare(data)
        # A false end may lie across the border of two pieces, of which only one shows a bare line end.
        if not self._mend and _FALSE_END.search(self._tail + (data if bare else data[:2])):
            self.flaw = "false end"
        self._tail = (self._tail + data)[-2:] if len(data) < 2 else data[-2:]
        if not self._begun:
            self._begun = True
            data = data.removeprefix(b".")
        return self._checked(data.replace(b"\r\n.", b"\r\n") if stuffed else data, bare=bare)

    def _checked(self, data: bytes, *, bare: bool) -> bytes:
        """Look at the lines and the limits; give what is kept."""
        if bare:
            if self._mend:
                self.is_mended = True
                data = _LINE_END.sub(b"\r\n", data)
            else:
                self._blame("bare")
        if b"\0" in data:
            self._blame("nul")
        self._look_at_lines(data)
        if self._header is not None:
            self._look_at_header(self._header, data)
        if self.size + len(data) > self._caps.mail_bytes:
            self._blame("size")
        if self.flaw:
            return b""
        self.size += len(data)
        return data

    def _look_at_lines(self, data: bytes) -> None:
        most = self._caps.line_bytes + len(b"\r\n")
        start, line = 0, self._line
        while line + len(data) - start > most:
            end = data.rfind(b"\n", start, start + most - line)
            if end < 0:
                self._blame("line")
                return
            start, line = end + 1, 0
        last = data.rfind(b"\n", start)
        self._line = len(data) - last - 1 if last >= 0 else line + len(data) - start

    def _look_at_header(self, header: bytearray, data: bytes) -> None:
        if not header and data.startswith(b"\r\n"):
            self._header = None
            return
        searched = max(len(header) - 3, 0)
        header += data[: self._caps.header_bytes + 4]
        end = header.find(b"\r\n\r\n", searched)
        if (end if end >= 0 else len(header)) > self._caps.header_bytes:
            self._blame("header")
        elif end < 0:
            return
        elif len(_RECEIVED.findall(b"\n" + header[:end].lower())) > self._caps.hops:
            self._blame("hops")
        self._header = None

    def _blame(self, flaw: Flaw) -> None:
        self.flaw = min(self.flaw, flaw, key=_WORST.index)


def _is_bare(data: bytes) -> bool:
    # Each CR has its LF, and there are as many of both. To count the pairs would take four times as long.
    return data.count(b"\r") != data.count(b"\n") or _LONE_RETURN.search(data) is not None


def _held_back(data: bytes) -> int:
    """Count the bytes at the end with which the end of the mail may begin."""
    if data[-1:] not in (b"\r", b"\n", b"."):
        return 0
    return next((count for count in (4, 3, 2, 1) if data.endswith(_END[:count])), 0)
