"""Transfer encodings undone (RFC 2045, section 6, and uuencode), as far as what is left of them allows."""

from __future__ import annotations

import binascii
import re
import string
from collections.abc import Iterator
from typing import Final, NamedTuple

IDENTITY: Final = frozenset({"", "7bit", "8bit", "binary"})
_UU: Final = frozenset({"x-uuencode", "uuencode", "uue", "x-uue"})

_BASE64: Final = (string.ascii_letters + string.digits + "+/").encode()
_NOT_BASE64: Final = bytes(code for code in range(256) if code not in _BASE64)
_BEGIN: Final = re.compile(rb"begin[ \t]{1,8}[0-7]{3,4}[ \t]{1,8}([^\r\n]{1,1000})\r?(?=\n)")


def decode_content(data: bytes, encoding: str) -> bytes | None:
    """Give what stands in an encoding; none where nobody knows it."""
    if encoding in IDENTITY:
        return data
    if encoding == "base64":
        return decode_base64(data)
    if encoding == "quoted-printable":
        return binascii.a2b_qp(data)
    if encoding in _UU:
        first = next(find_uuencoded(data), None)
        return None if first is None else first.content
    return None


def decode_base64(data: bytes) -> bytes:
    """Give the bytes of base64; what does not belong is left out, and padding ends it (RFC 2045, section 6.8)."""
    try:
        return binascii.a2b_base64(data)
    except binascii.Error:
        pass
    # Its end is damaged: one digit alone says nothing, two or three want their padding.
    digits = data.split(b"=", 1)[0].translate(None, _NOT_BASE64)
    rest = len(digits) % 4
    if rest == 1:
        digits = digits[:-1]
    return binascii.a2b_base64(digits + b"=" * (-len(digits) % 4))


class Uuencoded(NamedTuple):
    """A file that stands in a text."""

    name: bytes
    start: int
    end: int
    content: bytes


def find_uuencoded(data: bytes) -> Iterator[Uuencoded]:
    """Give the files that stand uuencoded in a text, from `begin` to `end`."""
    at = data.find(b"begin ")
    while at >= 0:
        begin = _BEGIN.match(data, at) if at == 0 or data[at - 1] == 10 else None
        found = _read_uuencoded(data, begin) if begin else None
        if found is not None:
            yield found
        at = data.find(b"begin ", at + 6 if found is None else found.end)


def _read_uuencoded(data: bytes, begin: re.Match[bytes]) -> Uuencoded | None:
    content: list[bytes] = []
    at = begin.end() + 1
    while at < len(data):
        stop = data.find(b"\n", at)
        stop = len(data) if stop < 0 else stop
        # Mail programs cut blanks off the ends of lines, and a blank is the digit zero.
        line = data[at:stop].rstrip(b"\r")
        if line.rstrip() == b"end":
            return Uuencoded(begin[1].rstrip(), begin.start(), stop, b"".join(content)) if content else None
        decoded = _uu_line(line)
        if decoded is None:
            return None
        content.append(decoded)
        at = stop + 1
    # It was cut off: what is there is the beginning of a file.
    return Uuencoded(begin[1].rstrip(), begin.start(), len(data), b"".join(content)) if len(content) > 1 else None


def _uu_line(line: bytes) -> bytes | None:
    line = line.rstrip()
    if not line:
        return b""
    if not 32 <= line[0] <= 96:
        return None
    count = (line[0] - 32) & 63
    digits = (count * 4 + 5) // 3
    if len(line) > digits + 5:
        return None
    try:
        return binascii.a2b_uu(line[: digits + 1])
    except binascii.Error:
        return None
