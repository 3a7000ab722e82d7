"""Lines for the audit, as deciders write them; who commits them seals each with a salt nobody can guess."""

from __future__ import annotations

import hashlib

import msgspec

from posthouse.message.case import AuditEntry

_encode = msgspec.msgpack.Encoder(order="deterministic").encode


def record(act: str, subject: object, *, at: int, actor: str, **facts: object) -> AuditEntry:
    """Give a line for the audit, not sealed yet; facts that say nothing are left out."""
    said = {name: value for name, value in facts.items() if value not in ("", None, (), [])}
    payload = _encode(said) if said else b""
    return AuditEntry(at=at, actor=actor, act=act, subject=str(subject), commitment=b"", payload=payload)


def seal(entry: AuditEntry, salt: bytes) -> AuditEntry:
    """Give a line with what stays of it when what it says of persons is erased; a sealed one stays as it is."""
    if entry.commitment:
        return entry
    return msgspec.structs.replace(entry, salt=salt, commitment=hashlib.sha256(salt + entry.payload).digest())
