"""Lines for the audit, as deciders write them; who commits them salts each with what nobody can guess."""

from __future__ import annotations

import msgspec

from posthouse.message.audit import audit_entry, commitment_of
from posthouse.message.case import AuditEntry

_encode = msgspec.msgpack.Encoder(order="deterministic").encode


def record(act: str, subject: object, *, at: int, actor: str, **facts: object) -> AuditEntry:
    """Give a line for the audit, not salted yet; facts that say nothing are left out."""
    said = {name: value for name, value in facts.items() if value not in ("", None, (), [])}
    return audit_entry(act, str(subject), at=at, actor=actor, payload=_encode(said) if said else b"")


def salted(entry: AuditEntry, salt: bytes) -> AuditEntry:
    """Give a line from which nothing can be guessed once its payload is erased; one that was salted stays as it is."""
    if entry.salt or not entry.payload:
        return entry
    return msgspec.structs.replace(entry, salt=salt, commitment=commitment_of(salt, entry.payload))
