"""What is told of a case to whoever hears of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


class CaseEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened to a case."""

    id: str
    """The same however it is heard of: by the stream, by a webhook, twice."""
    type: str
    """`case.gated`, `case.released`, ...: the act as the audit names it."""
    case: str
    at: int
    by: str = ""
    # `Any`: facts of the act, as texts, numbers and lists of them.
    facts: Mapping[str, Any] = {}
    number: int = 0
    """The number of the record in the audit."""


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to cases, oldest first."""

    events: list[CaseEvent]
    after: int
    """What to ask with the next time."""
