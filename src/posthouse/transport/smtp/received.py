"""The one line an office writes into a mail that passes through it (RFC 5321, section 4.4), and nothing else."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Final
from uuid import UUID

from posthouse.message.arrival import Arrival

_SECOND: Final = 1_000_000
# What a client called itself stands there as it said it, if it can stand there at all.
_GREETING: Final = re.compile(r"[A-Za-z0-9._:\[\]-]{1,255}")
_WORD: Final = re.compile(r"[A-Za-z0-9._+-]{1,40}")
_COMMENT: Final = re.compile(r"[A-Za-z0-9 ._/+-]{1,80}")
_ADDRESS: Final = re.compile(r"[!-=?-~]+@[!-=?-~]+")


def received(arrival: Arrival, *, name: str, identity: UUID, at: int, recipients: tuple[str, ...] = ()) -> bytes:
    """Write the line for a mail that came in as `arrival` says, at an instant; `name` is this office's own."""
    lines = [*_from(arrival), f"by {arrival.by or name} (Posthouse) with {_protocol(arrival)} id {identity}"]
    # Who else gets the mail is nobody's business.
    if len(recipients) == 1 and _ADDRESS.fullmatch(recipients[0]):
        lines.append(f"for <{recipients[0]}>")
    folded = "\r\n\t".join(lines)
    return f"Received: {folded}; {_date(at)}\r\n".encode()


def _from(arrival: Arrival) -> list[str]:
    if not (arrival.helo or arrival.client):
        return []
    greeting = arrival.helo if _GREETING.fullmatch(arrival.helo) else "unknown"
    told = [arrival.name if _GREETING.fullmatch(arrival.name) else ""]
    if _GREETING.fullmatch(arrival.client):
        told.append(f"[IPv6:{arrival.client}]" if ":" in arrival.client else f"[{arrival.client}]")
    known = " ".join(word for word in told if word)
    return [f"from {greeting} ({known})" if known else f"from {greeting}"]


def _protocol(arrival: Arrival) -> str:
    protocol = arrival.protocol if _WORD.fullmatch(arrival.protocol) else "SMTP"
    return f"{protocol} ({arrival.tls})" if _COMMENT.fullmatch(arrival.tls) else protocol


def _date(instant: int) -> str:
    return format_datetime(datetime.fromtimestamp(instant // _SECOND, UTC))
