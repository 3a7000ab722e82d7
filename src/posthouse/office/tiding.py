"""What is told of a case to whoever hears of it: an event made of what the audit records, as a value.

Nothing that people wrote is in it: no comment, no instruction, no subject.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from posthouse.message.case import AuditEntry
from posthouse.message.form.plain import shown_instant
from posthouse.message.tiding import CaseEvent
from posthouse.store.gateports import AuditLine

CASES: Final = "case."
"""How the acts begin that are told of."""

_TOLD: Final = (
    "message", "gatekeeper", "turn", "status", "command", "action", "outcome", "course", "folder", "mailbag", "passes",
    "places", "office",
)  # fmt: skip

_encode: Final = msgspec.json.Encoder(order="deterministic").encode
_decode: Final = msgspec.msgpack.Decoder().decode


def event_of(record: AuditEntry | AuditLine) -> CaseEvent:
    """Make the event of an act on a case; the same act makes the same event, however it is heard of."""
    mark = f"{record.at} {record.act} {record.subject} ".encode() + record.commitment
    return CaseEvent(
        id=hashlib.sha256(mark).hexdigest()[:32],
        type=record.act,
        case=record.subject,
        at=record.at,
        by=record.actor,
        facts=_facts(record.payload),
        number=record.number if isinstance(record, AuditLine) else 0,
    )


def cloud_event(event: CaseEvent, source: str) -> bytes:
    """Write an event as a CloudEvent in JSON."""
    document = {
        "specversion": "1.0",
        "id": event.id,
        "source": source,
        "type": event.type,
        "subject": event.case,
        "time": shown_instant(event.at),
        "datacontenttype": "application/json",
        "data": {"case": event.case, "by": event.by, **event.facts},
    }
    return _encode(document)


# `Any`: facts of one act, as texts, numbers and lists of them.
def _facts(payload: bytes | None) -> Mapping[str, Any]:
    if not payload:
        return {}
    try:
        said = _decode(payload)
    except msgspec.DecodeError:
        return {}
    return {name: said[name] for name in _TOLD if name in said} if isinstance(said, dict) else {}
