"""The stage `gate`: the rules of the office, its gatekeepers' cases, and what becomes of each message by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from posthouse.gate.judge import RuleJudge, Snapshot
from posthouse.message.journey import Journey
from posthouse.message.passage import Facts, Passage

_WITHOUT_RULES: Final = RuleJudge(Snapshot())
"""What a message goes by that comes back from a gatekeeper after the rules have ended."""


def gate(journeys: Sequence[Journey], facts: Facts) -> Passage:
    """Let pass what no rule speaks of; hold, return, delete, forward or put off what one does."""
    if facts.judge is not None:
        return facts.judge.judge(journeys, facts)
    if facts.cases:
        return _WITHOUT_RULES.judge(journeys, facts)
    return Passage(tuple(journeys))
