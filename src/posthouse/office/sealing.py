"""What is recorded in the audit is salted as it is written: with chance that goes when what it hides is erased."""

from __future__ import annotations

import msgspec

from posthouse.clock import Clock
from posthouse.gate.record import salted
from posthouse.message.changes import Changes


def sealed(changes: Changes, clock: Clock) -> Changes:
    """Give changes whose acts can be recorded."""
    if not changes.audits:
        return changes
    return msgspec.structs.replace(changes, audits=tuple(salted(entry, clock.secret()) for entry in changes.audits))
