"""Records for the audit as values: what was done by whom, to what; what is said of persons can be erased later."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from posthouse.clock import Clock
from posthouse.message.case import AuditEntry

_encode = msgspec.msgpack.Encoder(order="deterministic").encode


# `Any`: facts of one act, as texts, numbers and lists of them.
def record(clock: Clock, act: str, *, actor: str, subject: str, **facts: Any) -> AuditEntry:
    """Make the record of an act that happens now."""
    salt = clock.secret()
    payload = _encode(facts)
    return AuditEntry(
        at=clock.now(),
        actor=actor,
        act=act,
        subject=subject,
        commitment=hashlib.sha256(salt + payload).digest(),
        salt=salt,
        payload=payload,
    )
