"""What the readers of strangers' bytes share: where a decoder found fault, and which member stands twice.

A member said twice means one thing to one reader and another to the next, so nothing that repeats itself is taken.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What a decoder of msgspec raises on bytes it cannot read."""

_MAX_LINE: Final = 200
_PLACED: Final = re.compile(r"(.*?)(?: - at `(?:key in )?\$\.?(.*)`)?", re.DOTALL)
_MISSING: Final = re.compile(r"Object missing required field `(.*)`")
_LEADS: Final = ("Expected", "Object", "Input", "Invalid")
_TOO_DEEP: Final = "expected fewer lists and objects inside each other"

# How a map or a list begins in MessagePack.
_MAPS: Final = frozenset((*range(0x80, 0x90), 0xDE, 0xDF))
_LISTS: Final = frozenset((*range(0x90, 0xA0), 0xDC, 0xDD))
_decode_any: Final = msgspec.json.Decoder().decode
_encode_any: Final = msgspec.json.Encoder().encode
_NAMED: Final = b'":'
# What may stand between a name and its colon, and how text may hold both without showing them.
_APART: Final = (b'" ', b'"\t', b'"\n', b'"\r', b"\\u")
_decode_map: Final = msgspec.msgpack.Decoder(dict[str, msgspec.Raw]).decode
_decode_list: Final = msgspec.msgpack.Decoder(list[msgspec.Raw]).decode


class Repetition(Exception):
    """A member that stands twice in one object; the reader makes its own error of it."""


def locate(fault: Exception) -> tuple[str, str]:
    """Give what a decoder found wrong, in one short line, and the path of the member, empty for the whole."""
    if isinstance(fault, RecursionError):
        return _TOO_DEEP, ""
    if isinstance(fault, UnicodeDecodeError):
        return "expected text in UTF-8", ""
    placed = _PLACED.fullmatch(str(fault))
    what, path = (placed[1], placed[2] or "") if placed else (str(fault), "")
    if missing := _MISSING.fullmatch(what):
        what, path = "expected it to be there", f"{path}.{missing[1]}" if path else missing[1]
    return plain(what[:1].lower() + what[1:] if what.startswith(_LEADS) else what), plain(path)


def plain(text: str) -> str:
    """Give a stranger's text fit for one line of an error: short, and all of it to be seen."""
    text = text.replace("`", "'")
    text = text if len(text) <= _MAX_LINE else f"{text[:_MAX_LINE]}..."
    return text if text.isprintable() else ascii(text)[1:-1]


def refuse_repetition(data: bytes, *, outermost: bool = False) -> None:
    """Raise Repetition where an object of this JSON document, or only the outermost, says a member twice."""
    if _names_all(data):
        return
    hook = _names if outermost else _each_once
    try:
        # Numbers are not looked at, and their length is cheaper than their value.
        found = json.loads(data, object_pairs_hook=hook, parse_int=len, parse_float=len)
        if outermost:
            _each_once([(name, None) for name in found])
    except RecursionError:
        raise Repetition(_TOO_DEEP) from None
    except ValueError as fault:
        # What msgspec skips as unknown it does not read to the last byte.
        raise Repetition(plain(str(fault))) from None


def _names_all(data: bytes) -> bool:
    """Say whether it is plain that no member stands twice: written again, the document has as many names.

    Where a name may stand apart from its colon, or letters are escaped, nothing is plain.
    """
    if any(data.count(sign) for sign in _APART):
        return False
    try:
        return data.count(_NAMED) == _encode_any(_decode_any(data)).count(_NAMED)
    except (*UNREADABLE, OverflowError):
        return False


def refuse_packed_repetition(data: bytes | msgspec.Raw) -> None:
    """Raise Repetition where a map of this MessagePack document says a member twice."""
    first = memoryview(data)[0]
    if first in _MAPS:
        for member in packed_members(data).values():
            refuse_packed_repetition(member)
    elif first in _LISTS:
        for item in _decode_list(data):
            refuse_packed_repetition(item)


def packed_members(data: bytes | msgspec.Raw) -> dict[str, msgspec.Raw]:
    """Give the members of a MessagePack map, not yet read, or raise Repetition if one stands there twice."""
    try:
        members = _decode_map(data)
    except UNREADABLE as fault:
        raise Repetition(locate(fault)[0]) from None
    begin = bytes(memoryview(data)[:5])
    count = begin[0] & 0x0F if begin[0] < 0xDE else int.from_bytes(begin[1:3] if begin[0] == 0xDE else begin[1:5])
    if len(members) != count:
        raise Repetition(f"expected each member once, found {count - len(members)} more of the same name")
    return members


# The values, of any type, are of no interest, so nothing is kept of them.
def _names(pairs: list[tuple[str, Any]]) -> list[str]:
    return [name for name, _ in pairs]


def _each_once(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) == len(pairs):
        return
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise Repetition(f"expected each member once, found '{plain(name)}' twice")
        seen.add(name)
