"""A DNS of a test's own: it knows what it is told, counts its questions, and may be out of order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from posthouse.transport.smtp.authentication.lookup import Answer, Kind, Questions
from posthouse.transport.smtp.names import NamesUnavailable

Zone = Mapping[tuple[str, str], Sequence[Answer] | Literal["broken"]]


class FakeLookup:
    """As `transport.smtp.authentication.lookup.Lookup` asks."""

    def __init__(self, zone: Zone) -> None:
        self._zone = zone
        self.asked: list[tuple[str, str]] = []

    def ask(self, name: str, kind: Kind, *, seconds: float) -> Sequence[Answer]:
        assert seconds > 0
        self.asked.append((name, kind))
        found = self._zone.get((name, kind), ())
        if isinstance(found, str):
            raise NamesUnavailable(f"{name}: no answer")
        return found


def questions(zone: Zone) -> Questions:
    """Give the questions of one mail that has all the time it wants."""
    return Questions(FakeLookup(zone), lambda: 0.0, deadline=1.0)
