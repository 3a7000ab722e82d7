"""What may be commanded for a docket in which state, by whom, and what state it has afterwards: two tables.

A command is recorded first and carried out when it can no longer be taken back; an `Order` is what is recorded.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, Literal, NamedTuple

import msgspec

from posthouse.gate.policy import FourEyes, Policy
from posthouse.message.case import INBOX, REVIEW, Case, Command, Docket, Fired, Review, Side, Status, Stop
from posthouse.message.instant import from_microseconds, print_instant

Actor = Literal["person", "rules", "mailbag", "retain date", "sender"]
Answer = Literal["may", "already", "refused"]

_ENDS: Final[Mapping[Command, Status]] = {
    "release": "released", "return": "returned", "delete": "deleted", "forward": "released", "gate": "released",
    "recall": "returned", "purge": "deleted", "file": "filed",
}  # fmt: skip
_ANYTHING: Final[Mapping[Command, Status]] = {**_ENDS, "copy": "reviewed", "review": "gated"}

STATES: Final[Mapping[Status, Mapping[Command, Status]]] = {
    "gated": _ANYTHING,
    "reviewed": _ANYTHING,
    "filed": _ANYTHING,
    "awaiting response": _ANYTHING,
    # Whoever wants something else takes back what is under way first.
    "in progress": {},
    "released": {},
    "returned": {},
    "deleted": {},
}
"""By state, what each command that is allowed there makes of it."""

WHO: Final[Mapping[Command, frozenset[Actor]]] = {
    "release": frozenset({"person", "rules", "mailbag"}),
    "return": frozenset({"person", "rules", "mailbag"}),
    "delete": frozenset({"person", "rules", "mailbag"}),
    "forward": frozenset({"person", "rules", "mailbag"}),
    "file": frozenset({"person", "rules"}),
    "copy": frozenset({"person", "rules"}),
    "review": frozenset({"person", "rules", "mailbag"}),
    "gate": frozenset({"rules"}),
    "recall": frozenset({"sender"}),
    "purge": frozenset({"retain date"}),
}
"""Who may give which command."""

FINAL: Final[frozenset[Status]] = frozenset({"released", "returned", "deleted"})
_ERASING: Final[frozenset[Command]] = frozenset({"delete", "purge"})
_AGREED: Final[frozenset[str]] = frozenset({"release", "return", "delete"})
_UNDONE: Final[frozenset[Command]] = frozenset({"release", "return", "delete", "forward"})


class Order(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A command as it is recorded in a docket, with everything needed to carry it out."""

    id: str
    """Of the decision."""
    command: Command
    actor: Actor
    person: str
    at: int
    before: Status
    """What the docket was, should it be taken back."""
    folder_before: str = INBOX
    to: str = ""
    mailbag: str = ""
    saying: str = ""
    comment: str = ""
    recipients: tuple[str, ...] = ()
    comes_back: bool = True
    within: int | None = None
    includes_original: bool = True
    second: str = ""
    """Who agreed, where two are needed."""
    awaits_second: bool = False
    rule: str = ""
    edition: int = 0
    fired: tuple[Fired, ...] = ()
    """Of a gatekeeper's own rules."""
    stops: tuple[Stop, ...] = ()
    """Of `gate`."""
    sides: tuple[Side, ...] = ()
    """Copies and notices that a gatekeeper's own rules want besides."""


class Standing(NamedTuple):
    """Whether a command may be given, or why not."""

    answer: Answer
    text: str = ""


MAY: Final = Standing("may")

pack_order = msgspec.msgpack.Encoder().encode
unpack_order = msgspec.msgpack.Decoder(Order).decode


def judge(docket: Docket, case: Case, *, command: Command, actor: Actor) -> Standing:
    """Say whether a command may be given for a docket as it stands."""
    if actor not in WHO[command]:
        return Standing("refused", f"{command} is nothing that {_A[actor]} can ask for")
    if case.is_on_hold and command in _ERASING:
        return Standing("refused", "a legal hold keeps the message from being deleted")
    if command in STATES[docket.status]:
        return MAY
    return Standing("already", told(docket))


def told(docket: Docket) -> str:
    """Say what was decided on a docket, by whom and when, for the one who comes too late."""
    if docket.pending:
        order = unpack_order(docket.pending)
        return f"{order.command} was commanded by {order.person} at {_shown(order.at)}"
    return f"already {word_of(docket)} by {docket.decided_by or 'the office'} at {_shown(docket.decided_at or 0)}"


def _shown(at: int) -> str:
    """Give an instant for people, to the second."""
    instant = from_microseconds(at)
    return "some time" if instant is None else print_instant(instant.replace(microsecond=0))


def word_of(docket: Docket) -> str:
    """Give the state of a docket in words: a forwarded one says so, although it counts as released."""
    if docket.status == "released" and docket.last_action.startswith("forward"):
        return f"released ({docket.last_action})"
    if docket.status == "gated" and docket.last_action == "back from forward":
        return "gated (back from forward)"
    return docket.status


def needs_second(command: Command, policy: Policy) -> bool:
    """Say whether two people have to agree on a command."""
    agreed: Collection[FourEyes] = policy.four_eyes
    return command in _AGREED and command in agreed


def is_undoable(command: Command) -> bool:
    """Say whether something would leave the office by a command, so that it waits before it is carried out."""
    return command in _UNDONE


def recorded(docket: Docket, order: Order, *, due: int, case: Case) -> Docket:
    """Give a docket with a command that is to be carried out at an instant."""
    awaits = order.awaits_second
    return msgspec.structs.replace(
        docket,
        version=docket.version + 1,
        status=docket.status if awaits else "in progress",
        pending=pack_order(order),
        due=due_of(docket, case) if awaits else due,
        fault="",
        last_action=f"{order.command}: waits for a second person" if awaits else docket.last_action,
    )


def undone(docket: Docket, *, case: Case) -> Docket:
    """Give a docket as it was before the command that stands in it."""
    order = unpack_order(docket.pending)
    back = msgspec.structs.replace(
        docket, version=docket.version + 1, status=order.before, pending=b"", last_action="taken back"
    )
    return msgspec.structs.replace(back, due=due_of(back, case))


def concluded(docket: Docket, order: Order, *, now: int, status: Status, action: str) -> Docket:
    """Give a docket on which something final was decided; it stays as a record."""
    return msgspec.structs.replace(
        docket,
        version=docket.version + 1,
        status=status,
        is_open=False,
        pending=b"",
        due=None,
        fault="",
        claimed_by="",
        claimed_until=None,
        last_action=action,
        decided_by=order.person,
        decided_at=now,
        is_automatic=order.actor != "person",
    )


def due_of(docket: Docket, case: Case) -> int | None:
    """Give when the office looks at an open docket by itself."""
    retain = None if case.is_on_hold or docket.folder != INBOX else docket.retain
    expires = None if docket.folder == REVIEW else docket.expires
    return min((one for one in (expires, retain) if one is not None), default=None)


def review_of(order: Order, docket: Docket, *, now: int, content: str, action: Command | None = None) -> Review:
    """Give the line of the routing history for what was done."""
    return Review(
        gatekeeper=docket.gatekeeper,
        person=order.person,
        action=action or order.command,
        at=now,
        decision=order.id,
        comment=order.comment,
        instructions=order.saying if order.command == "forward" else "",
        is_automatic=order.actor != "person",
        rule=order.rule,
        edition=order.edition,
        content_before=content,
        content_after=content,
        recipients=order.recipients,
    )


_A: Final[Mapping[Actor, str]] = {
    "person": "a gatekeeper", "rules": "a rule of a gatekeeper", "mailbag": "the function of a mailbag",
    "retain date": "a retain date", "sender": "the sender",
}  # fmt: skip
