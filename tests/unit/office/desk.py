"""A desk in memory: cases, mailbags and books as values, and a note of everything that was asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from posthouse.message.case import Case, Docket, Mailbag, Stop, Wrapper
from posthouse.message.envelope import Envelope
from posthouse.message.message import Body
from posthouse.message.name import parse_office
from posthouse.message.tiding import CaseEvent, Heard
from posthouse.office import calls, deskcalls
from posthouse.office.asking import Asking
from posthouse.office.calls import Call
from posthouse.office.permission import NotPermitted
from posthouse.office.permit import Permit, parse_scope
from posthouse.store.gateports import DocketCount

HERE = parse_office("http://post.example:8025/main")


def permit(*scopes: str, principal: str = "key k", address: str = "", roles: tuple[str, ...] = ()) -> Permit:
    credential = principal if address or roles else "k"
    return Permit(
        principal=principal, credential=credential, name=principal.partition(" ")[2] if address else "robot",
        scopes=tuple(map(parse_scope, scopes)), address=address, roles=roles,
    )  # fmt: skip


def case_id(number: int) -> UUID:
    return UUID(int=number)


def message_id(number: int) -> UUID:
    return UUID(int=1_000 + number)


def docket(number: int, gatekeeper: str, **fields: Any) -> Docket:
    known = {"turn": 1, "sender": "ben@bakery.example", "subject": f"loaf {number}", "reason": "too large"}
    return Docket(case=case_id(number), message=message_id(number), gatekeeper=gatekeeper, **{**known, **fields})


class Desk:
    """Answers what tests of permissions ask, and remembers each call."""

    def __init__(self, dockets: Sequence[Docket], *, mailbags: Sequence[Mailbag] = ()) -> None:
        self.dockets = list(dockets)
        self.mailbags = list(mailbags)
        self.asked: list[Call[Any]] = []
        self.principal = "key sender"
        self.recipients: tuple[str, ...] = ("ada@bakery.example",)
        self.outcome = ""
        self.closed: int | None = None
        self.events: list[CaseEvent] = []
        self.tell_sender: Any = "no"
        self.body: bytes | Body = b"held"

    # `Any`: the reply of whichever call it is.
    async def answer(self, call: Call[Any]) -> Any:
        self.asked.append(call)
        match call:
            case deskcalls.ListDockets():
                wanted = call.chosen.gatekeeper
                return [one for one in self.dockets if wanted in (None, one.gatekeeper)][: call.limit]
            case deskcalls.CountDockets():
                roles = sorted({one.gatekeeper for one in self.dockets})
                return [DocketCount(role, "inbox", sum(d.gatekeeper == role for d in self.dockets)) for role in roles]
            case deskcalls.ListMailbags():
                return list(self.mailbags)
            case deskcalls.TellCase():
                return self._story(call)
            case deskcalls.FindCases():
                found = {one.case: self._case(one) for one in self.dockets}
                return [
                    case for case in found.values()
                    if str(case.id).startswith(call.prefix) or str(case.message).startswith(call.prefix)
                ]  # fmt: skip
            case deskcalls.HearCases():
                return Heard(events=self.events, after=len(self.events))
            case calls.Tell():
                known = any(one.message == call.message for one in self.dockets)
                return self._life() if known else None
            case _:
                return None

    def envelope(self) -> Envelope:
        return Envelope(sender="ben@bakery.example", recipients=self.recipients, principal=self.principal)

    def _case(self, one: Docket) -> Case:
        return Case(
            id=one.case,
            message=one.message,
            outcome=self.outcome,
            is_open=not self.outcome,
            wrapper=b"secret",
            closed=self.closed,
        )

    def _story(self, call: deskcalls.TellCase) -> deskcalls.CaseStory | None:
        own = [one for one in self.dockets if one.case == call.case]
        if not own:
            return None
        return deskcalls.CaseStory(
            case=self._case(own[0]),
            wrapper=Wrapper(
                case=call.case, current=Stop(gatekeeper=own[0].gatekeeper, reasons=("too large",)),
                tell_sender=self.tell_sender,
            ),
            dockets=own,
            envelope=self.envelope(),
            accepted=0,
            head=b"head",
            body=b"held"[: call.body_limit],
            is_cut=False,
            steps=[],
        )  # fmt: skip

    def _life(self) -> calls.Story:
        return calls.Story(head=b"", body=self.body, sections=(), envelope=self.envelope(), accepted=0, steps=[])


class Noted:
    """Remembers who was refused what."""

    def __init__(self) -> None:
        self.refused: list[tuple[str, str]] = []

    async def note(self, permit: Permit, call: Call[Any], *, refusal: NotPermitted) -> None:
        assert refusal.what
        self.refused.append((permit.principal, type(call).__name__))


def asking(desk: Desk) -> tuple[Asking, Noted]:
    noted = Noted()
    return Asking(desk, HERE, refusals=noted), noted
