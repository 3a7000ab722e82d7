"""The written forms of a predicate, so that rule sets travel: JSON and MessagePack, each with its version."""

from __future__ import annotations

from typing import ClassVar, Final, NamedTuple

import msgspec

from posthouse.errors import PosthouseError
from posthouse.matching.predicate.check import Fault, check_predicate
from posthouse.matching.predicate.node import Predicate
from posthouse.message.reading import UNREADABLE, locate

VERSION: Final = 1
MAX_BYTES: Final = 64 << 20


class MalformedPredicate(PosthouseError):
    """A written predicate that cannot be read, or says something a predicate cannot say."""

    code: ClassVar[str] = "predicate.malformed"
    public: ClassVar[str] = "The predicate is malformed."


class _Written(NamedTuple):
    version: int
    predicate: Predicate


_packer: Final = msgspec.msgpack.Encoder()
_writer: Final = msgspec.json.Encoder()
_unpacker: Final = msgspec.msgpack.Decoder(_Written)
_reader: Final = msgspec.json.Decoder(_Written)


def encode_packed(predicate: Predicate) -> bytes:
    """Write a predicate as MessagePack."""
    return _packer.encode(_Written(VERSION, predicate))


def encode_json(predicate: Predicate) -> bytes:
    """Write a predicate as JSON."""
    return _writer.encode(_Written(VERSION, predicate))


def decode_packed(data: bytes) -> Predicate:
    """Read a predicate from MessagePack, or raise MalformedPredicate."""
    return _decode(data, _unpacker)


def decode_json(data: bytes) -> Predicate:
    """Read a predicate from JSON, or raise MalformedPredicate."""
    return _decode(data, _reader)


def _decode(data: bytes, decoder: msgspec.json.Decoder[_Written] | msgspec.msgpack.Decoder[_Written]) -> Predicate:
    if len(data) > MAX_BYTES:
        raise MalformedPredicate(f"expected at most {MAX_BYTES:,} bytes, found {len(data):,}")
    try:
        written = decoder.decode(data)
    except UNREADABLE as fault:
        what, path = locate(fault)
        raise MalformedPredicate(what, where=f"predicate, member {path}" if path else "predicate") from None
    if written.version != VERSION:
        raise MalformedPredicate(f"expected version {VERSION}, found {written.version}", where="predicate")
    faults = check_predicate(written.predicate)
    if faults:
        raise MalformedPredicate("; ".join(_tell(fault) for fault in faults[:10]), where="predicate")
    return written.predicate


def _tell(fault: Fault) -> str:
    return f"at {'.'.join(map(str, fault.path)) or 'the top'}: {fault.what}"
