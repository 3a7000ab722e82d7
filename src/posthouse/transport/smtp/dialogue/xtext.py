"""The encoding of parameter values of RFC 3461, section 4: `+` and two hexadecimal digits stand for one octet."""

from __future__ import annotations

import re
from typing import Final

_XTEXT: Final = re.compile(r"(?:[!-*,-<>-~]|\+[0-9A-F]{2})*")
_ESCAPED: Final = re.compile(r"\+([0-9A-F]{2})")
_TO_ESCAPE: Final = re.compile(rb"[^!-*,-<>-~]")


def decode(text: str) -> str | None:
    """Give the octets a value stands for, read as UTF-8; none where it is no such value."""
    if _XTEXT.fullmatch(text) is None:
        return None
    if "+" not in text:
        return text
    octets = _ESCAPED.sub(lambda escaped: chr(int(escaped[1], 16)), text).encode("latin-1")
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return None


def encode(text: str) -> str:
    """Give the value that stands for a text."""
    return _TO_ESCAPE.sub(lambda octet: b"+%02X" % octet[0][0], text.encode()).decode()
