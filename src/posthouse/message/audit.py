"""The chain of the audit: how a record is written down and linked to those before it, and how a seal is signed.

The same few lines make the chain when it is written and prove it when it is verified; see `docs/explanation/audit.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Final, NamedTuple

import msgspec

from posthouse.message.case import AuditEntry

START: Final = bytes(32)
"""What the first record of all is linked to."""

_encode: Final = msgspec.json.Encoder().encode

Sign = Callable[[bytes], bytes]
"""Signs with the Ed25519 key of the office; the key stays with whoever made this."""


class Signer(NamedTuple):
    """What an office signs with."""

    key: bytes
    """The public key, 32 bytes."""
    sign: Sign


class Seal(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The newest record of the chain as it stood at an instant, signed by the office."""

    number: int
    epoch: int
    chain: bytes
    at: int
    office: str
    key: bytes
    """The public key it is signed with, 32 bytes."""
    signature: bytes = b""


def commitment_of(salt: bytes, payload: bytes) -> bytes:
    """Give what binds a record to its payload and tells nothing of it once the salt is gone."""
    return sha256(salt + payload).digest()


def audit_entry(
    act: str, subject: str, *, at: int, actor: str = "", salt: bytes = b"", payload: bytes = b""
) -> AuditEntry:
    """Give an act to be recorded; the salt is 32 bytes of chance where there is a payload."""
    return AuditEntry(
        at=at,
        actor=actor,
        act=act,
        subject=subject,
        commitment=commitment_of(salt, payload),
        salt=salt,
        payload=payload,
    )


def record_of(number: int, epoch: int, *, entry: AuditEntry) -> bytes:
    """Give the bytes of a record that its chain is made of: a JSON list without white space.

    The number stands first and the commitment last, so that who verifies finds both without reading the list.
    """
    return _encode((number, epoch, entry.at, entry.actor, entry.act, entry.subject, entry.commitment.hex()))


def linked(before: bytes, record: bytes) -> bytes:
    """Give the chain after a record."""
    return sha256(before + record).digest()


def sealed_bytes(seal: Seal) -> bytes:
    """Give the bytes that are signed."""
    return _encode(
        ("posthouse audit seal", 1, seal.office, seal.number, seal.epoch, seal.chain.hex(), seal.at, seal.key.hex())
    )


def signed(seal: Seal, sign: Sign) -> Seal:
    """Give a seal with its signature."""
    return msgspec.structs.replace(seal, signature=sign(sealed_bytes(seal)))
