"""What was asked over HTTP, counted; `metrics` writes it down for whoever collects it."""

from __future__ import annotations

from typing import Final

from posthouse.office.meter import Spread

EDGES: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Seconds: an answer that took no longer than an edge is counted under it."""

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Tally:
    """Requests by area, method and status; all three are words from short lists, so that strangers cannot add any."""

    def __init__(self) -> None:
        self.requests: dict[tuple[str, str, int], int] = {}
        self.spreads: dict[str, Spread] = {}
        self.refused: dict[str, int] = {}
        """Requests turned away before they were looked at, by the code of the reason."""
        self.under_way = 0

    def note(self, area: str, method: str, *, status: int, seconds: float) -> None:
        """Count an answer."""
        known = (area, method if method in _METHODS else "other", status)
        self.requests[known] = self.requests.get(known, 0) + 1
        self.spreads.setdefault(area, Spread(EDGES)).add(seconds)

    def refuse(self, code: str) -> None:
        """Count a request that was turned away."""
        self.refused[code] = self.refused.get(code, 0) + 1
