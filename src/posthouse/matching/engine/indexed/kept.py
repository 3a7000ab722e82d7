"""A predicate put away small: of a million subscriptions the nodes would be most of the memory, and hardly asked."""

from __future__ import annotations

import zlib
from array import array
from typing import Final

import msgspec

from posthouse.matching.predicate.node import And, Between, Compare, Number, Part, Predicate, Search, Text, Texts

_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder(Predicate).decode
_PART: Final = Part("attribute", "x")
# What most subscriptions are made of, so that only the rest has to be written.
_USUAL: Final = b"".join(
    _pack(predicate)
    for predicate in (
        Search("starts", _PART, Texts(("",)), "folded"),
        Search("contains", _PART, Texts(("",)), "exact"),
        Compare("<=", _PART, Number(1.5, "real64"), "folded"),
        Compare(">=", _PART, Number(1, "int64"), "exact"),
        Between(_PART, Number(2.5, "real64"), Number(2.5, "real64")),
        And((Compare("=", _PART, Number(1, "int32"), "exact"), Compare("=", _PART, Text("x"), "exact"))),
    )
)
_WINDOW: Final = -9
"""No head, and a window of 512 bytes."""


class Kept:
    """The predicates of a plan by slot: some as nodes, some as a few bytes in one long row."""

    def __init__(self) -> None:
        self._nodes: Final[dict[int, Predicate]] = {}
        self._written: Final = bytearray()
        self._ends: Final = array("Q")

    def add(self, predicate: Predicate, *, is_rarely_asked: bool) -> None:
        """Keep the predicate of the next slot."""
        written = _press(predicate) if is_rarely_asked else None
        if written is None:
            self._nodes[len(self._ends)] = predicate
        else:
            self._written.extend(written)
        self._ends.append(len(self._written))

    def get(self, slot: int) -> Predicate:
        """Give the predicate of a slot."""
        node = self._nodes.get(slot)
        if node is not None:
            return node
        start = self._ends[slot - 1] if slot else 0
        press = zlib.decompressobj(_WINDOW, _USUAL)
        predicate: Predicate = _unpack(press.decompress(self._written[start : self._ends[slot]]) + press.flush())
        return predicate


def _press(predicate: Predicate) -> bytes | None:
    try:
        written = _pack(predicate)
    except (TypeError, OverflowError, UnicodeEncodeError):
        # A number of a kind of its own or beyond 64 bits, or text that UTF-8 cannot say.
        return None
    press = zlib.compressobj(1, zlib.DEFLATED, _WINDOW, 1, zlib.Z_FIXED, _USUAL)
    return press.compress(written) + press.flush()
