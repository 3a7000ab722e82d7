"""What may happen to a queue entry, and what becomes of it: a table, and the one function that reads it."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from posthouse.message.changes import Settle
from posthouse.message.trace import Happening, Step
from posthouse.office.terms import SECOND, Patience

State = Literal["waiting", "leased", "held"]
Event = Literal[
    "acknowledged", "delivered", "returned", "failed", "unreachable", "refused", "divided", "dropped", "lease ended",
    "due", "expired", "given up",
]  # fmt: skip
Act = Literal["done", "back", "retry now", "retry", "wake", "bury"]

# (state, event) -> what becomes of the entry, and the line in its trace. What is not here cannot happen.
TABLE: Final[dict[tuple[State, Event], tuple[Act, Happening | None]]] = {
    ("leased", "acknowledged"): ("done", "acknowledged"),
    ("leased", "delivered"): ("done", "forwarded"),
    ("leased", "returned"): ("back", "returned"),
    # A consumer that failed: a growing pause, and after so many failures the dead letters.
    ("leased", "failed"): ("retry", "failed"),
    # A consumer that vanished: somebody else may have it at once, but it counts as a failure.
    ("leased", "lease ended"): ("retry now", "failed"),
    # A destination that did not answer: a growing pause, and after so many days the dead letters.
    ("leased", "unreachable"): ("retry", "retry"),
    ("leased", "refused"): ("bury", "dead"),
    # Its recipients fared differently, or are to wait without their lane: other entries take its place.
    ("leased", "divided"): ("done", None),
    # A stage that a waiting message came back to wants it gone, and nobody is to be told.
    ("leased", "dropped"): ("done", "purged"),
    ("leased", "expired"): ("bury", "expired"),
    ("waiting", "expired"): ("bury", "expired"),
    ("held", "expired"): ("bury", "expired"),
    # Nobody answers there, and its time is over though others were tried in its stead.
    ("waiting", "given up"): ("bury", "dead"),
    # The instant it was held back for, or the end of a pause.
    ("held", "due"): ("wake", None),
    ("waiting", "due"): ("wake", None),
}


class Held(NamedTuple):
    """The entry as whoever settles it knows it."""

    entry: int
    token: int
    box: str
    state: State
    failures: int
    arrived: int


def settle(held: Held, event: Event, *, now: int, patience: Patience, chance: float, reason: str = "") -> Settle:
    """Say what becomes of an entry after an event; `chance` in [0, 1) spreads the retries of a crowd."""
    act, happening = TABLE[held.state, event]
    at = now
    if act in {"retry", "retry now"}:
        if _is_hopeless(held, event, now=now, patience=patience):
            act, happening, reason = "bury", "dead", _given_up(held, event, reason=reason)
        elif act == "retry":
            at = now + pause(held.failures, patience, chance=chance)
    step = Step(now, happening, held.box, reason) if happening is not None else None
    final: Literal["done", "back", "retry", "wake", "bury"] = "retry" if act == "retry now" else act
    return Settle(act=final, entry=held.entry, token=held.token, at=at, step=step, reason=reason, box=held.box)


def pause(failures: int, patience: Patience, *, chance: float) -> int:
    """Give the microseconds to wait after so many failures: growing, bounded, and not the same for everybody."""
    seconds = min(patience.first_pause * patience.growth ** min(failures, 64), patience.longest_pause)
    return int(seconds * (0.75 + chance / 2) * SECOND)


def _is_hopeless(held: Held, event: Event, *, now: int, patience: Patience) -> bool:
    if event == "unreachable":
        return now - held.arrived >= patience.give_up_after * SECOND
    return held.failures + 1 >= patience.attempts


def _given_up(held: Held, event: Event, *, reason: str) -> str:
    if event == "unreachable":
        return given_up(reason)
    last = f": {reason}" if reason else ""
    return f"failed {held.failures + 1} times, last {event}{last}"


def given_up(reason: str) -> str:
    """Say why a message is given up whose time is over."""
    return f"not delivered in the time given{f': {reason}' if reason else ''}"
