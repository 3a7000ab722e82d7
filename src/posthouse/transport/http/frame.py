"""The sealed form of what two offices say to each other: one header, one payload, one signature over the exact bytes.

Four bytes of mark and version, four of the header's length, the header, the payload, 64 bytes of Ed25519. What the
payload says is not known here; it is unpacked only once somebody has found the signature good.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import ClassVar, Final, Literal, NamedTuple

import msgspec

from posthouse.errors import PosthouseError
from posthouse.message.reading import UNREADABLE, locate

MARK: Final = b"PHX\x01"
"""The letters of a frame, and the version of its form."""
SIGNATURE: Final = 64
MAX_HEADER: Final = 4_096
ID: Final = 16
KEY_ID: Final = 8

# Less is not worth a compressor's time.
_SMALLEST: Final = 1_024
_PROBE: Final = 4_096
_LEVEL: Final = 1
_LENGTH: Final = struct.Struct(">I")

About = Literal["letters", "piece", "call", "answer"]


class MalformedFrame(PosthouseError):
    """Bytes that are no frame, or a frame that says what it cannot say."""

    code: ClassVar[str] = "frame.malformed"
    public: ClassVar[str] = "The frame cannot be read."


class Header(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, rename={"sender": "from"}):
    """What a frame says about itself; a reader ignores what it does not know."""

    about: About
    sender: str
    """The office that speaks, as names are printed."""
    to: str
    """The office that is spoken to."""
    key: bytes
    """Which key of the speaker signed."""
    id: bytes
    """Drawn anew for each frame: no frame is heard twice."""
    instant: int
    """The speaker's clock."""
    answers: bytes = b""
    """The frame this one answers."""
    packed: Literal["", "zlib"] = ""
    size: int
    """Bytes of the payload before it was packed."""


class Sealed(NamedTuple):
    """A frame as it came, split; nobody has looked whether the signature is good."""

    header: Header
    signed: memoryview
    """What the signature is over."""
    signature: bytes
    payload: memoryview


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(Header).decode


def seal(header: Header, payload: bytes, *, sign: Callable[[bytes], bytes], pack: bool = True) -> bytes:
    """Write a frame; its payload is packed where that makes it smaller."""
    packed = zlib.compress(payload, _LEVEL) if pack and _is_worth_packing(payload) else payload
    if len(packed) < len(payload):
        header = msgspec.structs.replace(header, packed="zlib", size=len(payload))
    else:
        header, packed = msgspec.structs.replace(header, packed="", size=len(payload)), payload
    written = _encode(header)
    signed = b"".join((MARK, _LENGTH.pack(len(written)), written, packed))
    return signed + sign(signed)


def _is_worth_packing(payload: bytes) -> bool:
    """Say whether packing saves a third of a payload, as a piece from its middle tells; less is not worth the time."""
    if len(payload) < _SMALLEST:
        return False
    start = max(0, (len(payload) - _PROBE) // 2)
    piece = payload[start : start + _PROBE]
    return len(zlib.compress(piece, _LEVEL)) * 3 < len(piece) * 2


def split(data: bytes) -> Sealed:
    """Find the parts of a frame; `MalformedFrame` where it has none."""
    if len(data) < len(MARK) + _LENGTH.size + SIGNATURE or data[:3] != MARK[:3]:
        raise MalformedFrame("expected a frame", where="frame")
    if data[3] != MARK[3]:
        raise MalformedFrame(f"expected version {MARK[3]}, found {data[3]}", where="frame")
    start = len(MARK) + _LENGTH.size
    length = _LENGTH.unpack_from(data, len(MARK))[0]
    end = len(data) - SIGNATURE
    if length > min(MAX_HEADER, end - start):
        raise MalformedFrame(f"expected a header of at most {MAX_HEADER} bytes, found {length}", where="frame")
    view = memoryview(data)
    try:
        header = _decode(view[start : start + length])
    except UNREADABLE as fault:
        what, path = locate(fault)
        raise MalformedFrame(what, where=f"frame, {path}" if path else "frame") from None
    if len(header.id) != ID or len(header.key) != KEY_ID or len(header.answers) not in {0, ID}:
        raise MalformedFrame(f"expected ids of {ID} and a key of {KEY_ID} bytes", where="frame")
    return Sealed(header, view[:end], bytes(view[end:]), view[start + length : end])


def payload_of(sealed: Sealed, *, limit: int) -> bytes:
    """Unpack the payload, never to more than the limit nor to more than the header says."""
    size = sealed.header.size
    if not 0 <= size <= limit:
        raise MalformedFrame(f"expected a payload of at most {limit} bytes, found {size}", where="frame, size")
    payload = _unpacked(sealed.payload, size) if sealed.header.packed else bytes(sealed.payload)
    if len(payload) != size:
        raise MalformedFrame(f"expected a payload of {size} bytes, found {len(payload)}", where="frame, size")
    return payload


def _unpacked(packed: memoryview, size: int) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        payload = unpacker.decompress(packed, size + 1)
    except zlib.error:
        raise MalformedFrame("expected a payload packed by zlib", where="frame") from None
    if unpacker.unconsumed_tail or unpacker.unused_data or not unpacker.eof:
        raise MalformedFrame("expected the payload to end where it says", where="frame, size")
    return payload
