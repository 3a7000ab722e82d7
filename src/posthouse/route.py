"""The route of a message: the stages it passes, in their order. Start reading here.

A stage decides over a batch of journeys on one snapshot of facts; it writes nothing and waits for nothing. What must
wait says so, leaves its batch, and re-enters later at the stage its luggage names. docs/route.md says so in prose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from posthouse.gate.admit import admit
from posthouse.gate.stage import gate
from posthouse.message.journey import Journey
from posthouse.message.passage import Facts, Passage
from posthouse.switch.address import address

Step = Callable[[Sequence[Journey], Facts], Passage]


class Stage(NamedTuple):
    """One stage: its name, as it stands in queues, traces and documents, and what it does."""

    name: str
    step: Step


ROUTE: Final = (
    # Too large, expired, addressed to nobody: refused before anything else looks at it.
    Stage("admit", admit),
    # What rules say: held for gatekeepers, returned, deleted, forwarded, put off.
    Stage("gate", gate),
    # Mailboxes here, offices elsewhere.
    Stage("address", address),
)

END: Final = ""
"""The stage after the last one."""


def enter(journeys: Sequence[Journey], facts: Facts, *, route: Sequence[Stage] = ROUTE) -> Passage:
    """Send each journey through the stages from the one its luggage names."""
    going: list[Journey] = []
    waiting: list[Journey] = []
    stopped: list[Journey] = []
    entering = list(journeys)
    for number, stage in enumerate(route):
        going += [journey for journey in entering if journey.luggage.stage == stage.name]
        entering = [journey for journey in entering if journey.luggage.stage != stage.name]
        if not going:
            continue
        passage = stage.step(going, facts)
        following = route[number + 1].name if number + 1 < len(route) else END
        going = [journey.carrying(stage=following) for journey in passage.going]
        waiting += passage.waiting
        stopped += passage.stopped
    if entering:
        raise LookupError(f"no stage of the route is named {entering[0].luggage.stage!r}")
    return Passage(tuple(going), tuple(waiting), tuple(stopped))
