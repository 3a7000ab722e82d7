"""What happens to a docket by itself: its time has come and nobody decided, its retain date has passed, it lies long.

The gatekeeper's own rules are asked first. What they say, or what is usual where none of them fires, becomes an order
like one a person gives.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

import msgspec

from posthouse.gate.calendar import Span, later
from posthouse.gate.opening import Setting
from posthouse.gate.policy import NoRule
from posthouse.gate.review import Order
from posthouse.gate.ruling import Course, Ruling
from posthouse.gate.wrapper import Gatekeeper, innoculant
from posthouse.message.case import INBOX, Command, Docket, Wrapper

Event = Literal["nothing", "carry out", "expired", "retain", "warn", "again", "put off", "extend"]

WRITING: Final = Span(15, "minutes")
"""How long after the last key stroke somebody is taken to be writing."""
PUT_OFF: Final = Span(1)
"""For how long an expiry waits at most for somebody who writes, once."""
RULES_OF: Final = "rules of "
_COMMANDS: Final[dict[Course, Command]] = {
    "release": "release", "return": "return", "delete": "delete", "forward": "forward", "gate": "gate",
    "review": "review", "file": "file",
}  # fmt: skip


class Coming(NamedTuple):
    """What a docket is due for."""

    event: Event
    at: int | None = None
    """Of `put off` and `extend`: until when."""


def due_for(docket: Docket, *, setting: Setting) -> Coming:
    """Say what a docket is due for now; where a case is held its retain date does not make it due."""
    now = setting.now
    if not docket.is_open or docket.due is None or docket.due > now:
        return Coming("nothing")
    if docket.status == "in progress":
        return Coming("carry out")
    if docket.folder != INBOX:
        is_left = bool(docket.fault) and docket.expires is not None and docket.expires <= now
        return Coming("again" if is_left else "warn")
    if docket.expires is not None and docket.expires <= now:
        return _expiring(docket, setting)
    if docket.retain is not None and docket.retain <= now:
        return Coming("retain")
    return Coming("nothing")


def put_off(docket: Docket, until: int) -> Docket:
    """Give a docket whose expiry waits for somebody who writes."""
    return msgspec.structs.replace(
        docket, version=docket.version + 1, due=_soonest(docket, until), expires=until, is_postponed=True
    )


def left_alone(docket: Docket, until: int) -> Docket:
    """Give a docket that somebody opened and is trusted to decide on."""
    return msgspec.structs.replace(docket, version=docket.version + 1, due=_soonest(docket, until), expires=until)


def on_expiry(docket: Docket, wrapper: Wrapper, *, ruling: Ruling | None, setting: Setting) -> Order:
    """Give the order that the rules of a gatekeeper amount to; none means that none of them fired."""
    if ruling is None or ruling.course == "deliver":
        return _unruled(docket, setting, ruling)
    command = _COMMANDS.get(ruling.course, "review")
    had = innoculant(wrapper, setting.policy)
    winner = next((one for one in ruling.fired if one.mark == "won"), None)
    order = Order(
        id=order_id(docket, "expiry"),
        command=command,
        actor="rules",
        person=f"{RULES_OF}{docket.gatekeeper}",
        at=setting.now,
        before=docket.status,
        folder_before=docket.folder,
        to=ruling.to if command == "forward" else "",
        mailbag=ruling.to if command == "file" else "",
        saying=ruling.saying or "; ".join(ruling.reasons),
        comment="; ".join(ruling.reasons),
        rule="" if winner is None else winner.rule,
        edition=0 if winner is None else winner.edition,
        fired=ruling.fired,
        stops=ruling.stops,
        sides=ruling.sides,
    )
    if command == "forward" and Gatekeeper(ruling.to, "") in had:
        # Whoever had it would forward it back, and so on: a person has to look.
        return msgspec.structs.replace(order, command="review", comment=f"{ruling.to} has had it already")
    if command == "gate" and all(
        Gatekeeper(stop.gatekeeper, "") in innoculant(wrapper, setting.policy) for stop in ruling.stops
    ):
        return msgspec.structs.replace(order, command="release")
    return order


def extension(docket: Docket, *, ruling: Ruling | None, setting: Setting) -> int | None:
    """Say until when a docket is extended where no rule fired and that is usual; none where it is not, or not again."""
    habits = setting.policy.habits(docket.gatekeeper)
    if (ruling is not None and ruling.course != "deliver") or habits.no_rule != "extend":
        return None
    if docket.extensions >= habits.extensions:
        return None
    return later(setting.now, habits.inbox, zone=setting.zone)


def on_retain(docket: Docket, *, now: int) -> Order:
    """Give the order by which a message leaves the inbox on its retain date."""
    return Order(
        id=order_id(docket, "retain"), command="purge", actor="retain date", person="the retain date", at=now,
        before=docket.status, folder_before=docket.folder,
    )  # fmt: skip


def order_id(docket: Docket, what: str) -> str:
    """Give the id of what a docket does by itself: the same where it is asked again after a crash."""
    return f"{what} {docket.case} {docket.turn} {docket.version}"


def warned(docket: Docket, *, setting: Setting) -> Docket:
    """Give a docket of which its gatekeeper, and the second time the administrator, is told; then once a period."""
    policy = setting.policy
    first, second = policy.warn_gatekeeper, policy.warn_administrator
    gap = Span(max(second.count - first.count, 1), first.unit) if first.unit == second.unit else second
    again = later(setting.now, gap if docket.warned == 0 else second, zone=setting.zone)
    return msgspec.structs.replace(docket, version=docket.version + 1, warned=docket.warned + 1, due=again)


def extended(docket: Docket, until: int) -> Docket:
    """Give a docket whose gatekeeper has one interval more."""
    return msgspec.structs.replace(
        docket, version=docket.version + 1, expires=until, due=_soonest(docket, until),
        extensions=docket.extensions + 1, last_action="extended",
    )  # fmt: skip


def _soonest(docket: Docket, until: int) -> int:
    return until if docket.retain is None else min(until, docket.retain)


def _expiring(docket: Docket, setting: Setting) -> Coming:
    habits = setting.policy.habits(docket.gatekeeper)
    if docket.status != "gated" and habits.opened_counts_as_handled and docket.folder == INBOX:
        return Coming("extend", later(setting.now, habits.inbox, zone=setting.zone))
    until = docket.claimed_until
    if until is not None and until > setting.now and not docket.is_postponed:
        return Coming("put off", min(until, later(setting.now, PUT_OFF, zone=setting.zone)))
    return Coming("expired")


def _unruled(docket: Docket, setting: Setting, ruling: Ruling | None) -> Order:
    habits = setting.policy.habits(docket.gatekeeper)
    command: Command = _USUAL.get(habits.no_rule, "review")
    return Order(
        id=order_id(docket, "expiry"), command=command, actor="rules", person=f"{RULES_OF}{docket.gatekeeper}",
        at=setting.now, before=docket.status, folder_before=docket.folder, comment="no rule fired",
        fired=() if ruling is None else ruling.fired, sides=() if ruling is None else ruling.sides,
    )  # fmt: skip


_USUAL: Final[dict[NoRule, Command]] = {"release": "release", "return": "return", "review": "review"}
