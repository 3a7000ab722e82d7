"""The hash of a body as DKIM signs it (RFC 6376, section 3.4): in linear time, and in pieces, so that others get on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_PIECE: Final = 131_072
_SPACE: Final = re.compile(rb"[\t ]+")


class BodyHash(NamedTuple):
    """The SHA-256 of a body in its plain form, and how long that is."""

    digest: bytes
    length: int


def hash_simple(body: bytes) -> BodyHash:
    """Hash a body as it is, but for empty lines at its end."""
    digest, length = hashlib.sha256(), 0
    for piece in _pieces(body, len(body.rstrip(b"\r\n"))):
        digest.update(piece)
        length += len(piece)
    digest.update(b"\r\n")
    return BodyHash(digest.digest(), length + 2)


def hash_relaxed(body: bytes) -> BodyHash:
    """Hash a body with each run of white space as one space, and none at the end of a line."""
    end = len(body.rstrip(b" \t\r\n"))
    digest, length = hashlib.sha256(), 0
    for piece in _pieces(body, end):
        plain = _SPACE.sub(b" ", piece).replace(b" \r\n", b"\r\n")
        digest.update(plain)
        length += len(plain)
    if end:
        digest.update(b"\r\n")
        length += 2
    return BodyHash(digest.digest(), length)


def _pieces(body: bytes, end: int) -> Iterator[bytes]:
    """Give whole lines, many at a time."""
    start = 0
    while start < end:
        cut = body.find(b"\r\n", start + _PIECE, end)
        stop = end if cut < 0 else cut + 2
        yield body[start:stop]
        start = stop
