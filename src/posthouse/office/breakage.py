"""Rules that break, counted in a row: one that keeps breaking is told to its owner once, until it works again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import structlog

from posthouse.gate.decide import Broken

TOLD_AFTER: Final = 10
"""How often in a row a rule breaks before its owner is told."""

_log = structlog.get_logger("posthouse.library")


class Flagged(NamedTuple):
    """A rule that somebody has to look at."""

    book: str
    rule: str
    owner: str
    fault: str
    digest: str


class Breakage:
    """What broke since the office was opened."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}
        self._flagged: list[Flagged] = []

    def hear(self, book: str, broken: Sequence[Broken], *, is_whole: bool = True) -> None:
        """Hear that a book was asked; where it was asked as a whole, all rules that did not break work."""
        if not self._counts and not broken:
            return
        for rule, fault in broken:
            key = (book, rule.digest)
            if not fault:
                self._counts.pop(key, None)
                continue
            count = self._counts[key] = self._counts.get(key, 0) + 1
            if count == 1:
                _log.warning("rule.broken", book=book, rule=rule.name, fault=fault)
            elif count == TOLD_AFTER:
                owner = rule.rule.owner or ""
                _log.error("rule.keeps-breaking", book=book, rule=rule.name, owner=owner, fault=fault)
                self._flagged.append(Flagged(book, rule.name, owner, fault, rule.digest))
        if is_whole:
            heard = {rule.digest for rule, _ in broken}
            for key in [key for key in self._counts if key[0] == book and key[1] not in heard]:
                del self._counts[key]

    def flagged(self) -> list[Flagged]:
        """Give the rules whose owners are to be told, each once."""
        found, self._flagged = self._flagged, []
        return found
