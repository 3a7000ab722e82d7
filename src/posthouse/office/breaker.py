"""Whether it is worth walking to a destination now: a pure record of how the last walks went."""

from __future__ import annotations

from typing import Literal

import msgspec

from posthouse.office.delivery import pause
from posthouse.office.terms import Patience


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """The way to one destination."""

    failures: int = 0
    """Walks in a row on which nobody answered."""
    next_try: int = 0
    last_fault: str = ""

    def state(self, trip_after: int, now: int) -> Literal["open", "probing", "closed"]:
        """Say whether whole batches go, one message to try, or nothing."""
        if self.failures < trip_after:
            return "open"
        return "probing" if now >= self.next_try else "closed"

    def unanswered(self, fault: str, *, now: int, patience: Patience, chance: float) -> Way:
        """Give the way after a walk on which nobody did."""
        next_try = now + pause(self.failures, patience, chance=chance)
        return Way(failures=self.failures + 1, next_try=next_try, last_fault=fault)
