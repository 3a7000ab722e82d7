"""The audit as JSON Lines: what it takes to prove it far from the office, and to read it without a program.

The first line names the office and its key; then come records, each seal behind the record it seals.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final, Literal

import msgspec

from posthouse.errors import PosthouseError
from posthouse.message.audit import START, Seal, record_of
from posthouse.message.case import AuditEntry
from posthouse.message.proof import Link, Row

FORMAT: Final = 1
_KEY: Final = "ed25519:"


class AuditUnreadable(PosthouseError):
    """A file is no export of an audit, or a line of it cannot be read."""

    code: ClassVar[str] = "audit.unreadable"


class Head(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", tag="audit"):
    """The first line."""

    format: int = FORMAT
    office: str
    key: str | None = None
    """The public key of the newest seal; none where nothing was ever sealed."""
    exported: int
    after: int = 0
    """The number of the record before the first one here."""
    chain: str = START.hex()
    """Where the chain stands after that record."""


class RecordLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", tag="record"):
    """One record."""

    number: int
    epoch: int
    at: int
    actor: str
    act: str
    subject: str
    commitment: str
    chain: str
    salt: str | None
    payload: str | None
    """In base64, as it is bound by the commitment; none once it was erased."""
    # `Any`: the payload again, for people; whatever it holds.
    says: Any = None


class SealLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", tag="seal"):
    """One seal."""

    number: int
    epoch: int
    chain: str
    at: int
    office: str
    key: str
    signature: str


_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(Head | RecordLine | SealLine).decode


def head_line(office: str, key: bytes | None, *, behind: Link, now: int) -> bytes:
    """Give the first line."""
    shown = shown_key(key) if key else None
    return _encode(Head(office=office, key=shown, exported=now, after=behind.number, chain=behind.chain.hex()))


def record_line(entry: AuditEntry, *, number: int, epoch: int, chain: bytes, is_erased: bool) -> bytes:
    """Give the line of a record."""
    line = RecordLine(
        number=number,
        epoch=epoch,
        at=entry.at,
        actor=entry.actor,
        act=entry.act,
        subject=entry.subject,
        commitment=entry.commitment.hex(),
        chain=chain.hex(),
        salt=None if is_erased else entry.salt.hex(),
        payload=None if is_erased else base64.b64encode(entry.payload).decode(),
        says=says(entry.payload),
    )
    return _encode(line)


def seal_line(seal: Seal) -> bytes:
    """Give the line of a seal."""
    line = SealLine(
        number=seal.number,
        epoch=seal.epoch,
        chain=seal.chain.hex(),
        at=seal.at,
        office=seal.office,
        key=shown_key(seal.key),
        signature=base64.b64encode(seal.signature).decode(),
    )
    return _encode(line)


# `Any`: whatever was packed.
def says(payload: bytes | None) -> Any:
    """Give what a payload says, nothing where it was erased, holds nothing or cannot be told in JSON."""
    if not payload:
        return None
    try:
        return msgspec.json.decode(_encode(msgspec.msgpack.decode(payload)))
    except (msgspec.DecodeError, msgspec.EncodeError, TypeError, ValueError):
        return None


def shown_key(key: bytes) -> str:
    """Give a public key as offices list each other's."""
    return f"{_KEY}{base64.b64encode(key).decode()}"


def read_key(text: str) -> bytes:
    """Read such a key; `ValueError` where it is none."""
    return base64.b64decode(text.removeprefix(_KEY), validate=True)


def beginning(head: Head) -> Link:
    """Give where the chain stands before the first record of an export."""
    return Link(head.after, bytes.fromhex(head.chain))


Line = Head | Row | Seal


def read_lines(lines: Iterable[bytes], where: str) -> Iterator[Line]:
    """Read an export line by line; `AuditUnreadable` names the line at which that ends."""
    kind: Literal["audit", "line"] = "audit"
    for number, text in enumerate(lines, 1):
        try:
            line = _decode(text)
            if (kind == "audit") != isinstance(line, Head):
                raise AuditUnreadable(
                    "expected the first line of an export of an audit, and no other such line",
                    where=f"{where}, line {number}", hint="posthouse audit export makes one",
                )  # fmt: skip
            kind = "line"
            yield _value(line)
        except (msgspec.DecodeError, UnicodeDecodeError, binascii.Error, ValueError) as fault:
            raise AuditUnreadable(f"the line cannot be read: {fault}", where=f"{where}, line {number}") from fault
    if kind == "audit":
        raise AuditUnreadable("expected an export of an audit, found nothing", where=where)


def _value(line: Head | RecordLine | SealLine) -> Line:
    if isinstance(line, Head):
        return line
    if isinstance(line, SealLine):
        return Seal(
            number=line.number,
            epoch=line.epoch,
            chain=bytes.fromhex(line.chain),
            at=line.at,
            office=line.office,
            key=read_key(line.key),
            signature=base64.b64decode(line.signature, validate=True),
        )
    return Row(
        number=line.number,
        record=_record(line),
        chain=bytes.fromhex(line.chain),
        salt=None if line.salt is None else bytes.fromhex(line.salt),
        payload=None if line.payload is None else base64.b64decode(line.payload, validate=True),
    )


def _record(line: RecordLine) -> bytes:
    entry = AuditEntry(
        at=line.at,
        actor=line.actor,
        act=line.act,
        subject=line.subject,
        commitment=bytes.fromhex(line.commitment),
    )
    return record_of(line.number, line.epoch, entry=entry)
