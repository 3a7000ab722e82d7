"""Replies of SMTP and LMTP: a code, an enhanced status (RFC 3463) and a text, as values and as bytes."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

# RFC 5321, section 4.5.3.1.5: a reply line has at most 512 octets, its end included; room is left for code and status.
MAX_TEXT: Final = 480
_UNPRINTABLE: Final = re.compile(r"[^\x20-\x7e]")


class Reply(NamedTuple):
    """One reply; its text may have several lines."""

    code: int
    status: str = ""
    """The enhanced status, such as 2.1.0; the greeting and the answers to HELO and EHLO have none."""
    text: str = ""

    @property
    def is_positive(self) -> bool:
        """True for 2xx and 3xx."""
        return self.code < 400

    @property
    def is_temporary(self) -> bool:
        """True where the same may be accepted later."""
        return 400 <= self.code < 500

    def encode(self) -> bytes:
        """Give the lines as they go out."""
        return _encode(self)


@lru_cache(maxsize=1024)
def _encode(reply: Reply) -> bytes:
    lines = [_printable(line) for line in reply.text.split("\n")]
    status = f"{reply.status} " if reply.status else ""
    last = len(lines) - 1
    return "".join(
        f"{reply.code}{' ' if number == last else '-'}{status}{line}\r\n" for number, line in enumerate(lines)
    ).encode()


def _printable(text: str) -> str:
    """Give a line no stranger's words can break out of."""
    return _UNPRINTABLE.sub("?", text)[:MAX_TEXT]
