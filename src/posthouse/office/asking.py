"""Asking in somebody's name: what a permit refuses is recorded, who acts is who has signed in, and answers are cut.

Whatever comes by a key or an account goes through here; the machine's own people ask the office itself.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, Protocol, TypeVar, cast
from uuid import UUID

import msgspec

from posthouse.errors import PosthouseError
from posthouse.message.case import Case, Docket, Mailbag, Stop, Wrapper
from posthouse.message.message import Body
from posthouse.message.name import OfficeName
from posthouse.message.tiding import CaseEvent, Heard
from posthouse.office.calls import Call, Story, Tell
from posthouse.office.deskcalls import (
    DESK_REPLIES,
    CaseStory,
    CountDockets,
    Decide,
    Edit,
    FindCases,
    HearCases,
    ListDockets,
    ListMailbags,
    OpenDocket,
    Recall,
    TellCase,
)
from posthouse.office.permission import NotPermitted, is_own, permits, permits_case
from posthouse.office.permit import Permit
from posthouse.store.gateports import DocketCount, DocketOrder

Reply = TypeVar("Reply")

_MOST_FOUND: Final = 100


class CaseUnknown(PosthouseError):
    """No case of this id is here, or it is none of the asker's business."""

    code: ClassVar[str] = "case.not-found"
    public: ClassVar[str] = "There is no such case."


class Answers(Protocol):
    """An office that can be asked."""

    async def answer(self, call: Call[Reply]) -> Reply:
        """Do what is asked."""
        ...


class Refusals(Protocol):
    """Where it is recorded that somebody was refused."""

    async def note(self, permit: Permit, call: Call[Any], *, refusal: NotPermitted) -> None:
        """Record it."""
        ...


class Asking:
    """Asks one office in the names of those who come with a permit."""

    def __init__(self, office: Answers, name: OfficeName, *, refusals: Refusals) -> None:
        self._office = office
        self._name = name
        self._refusals = refusals

    async def ask(self, permit: Permit, call: Call[Reply]) -> Reply:
        """Ask; `NotPermitted` where the permit does not reach."""
        await self.check(permit, call)
        return await self.answer(permit, call)

    async def check(self, permit: Permit, call: Call[Any]) -> None:
        """Raise `NotPermitted` where the permit does not reach; of the calls of the desk that is recorded."""
        refusal = permits(permit, call, office=self._name)
        if refusal is not None:
            await self._refuse(permit, call, refusal)

    async def answer(self, permit: Permit, call: Call[Reply]) -> Reply:
        """Answer a call that was checked, as far as the permit reaches."""
        if type(call) not in DESK_REPLIES:
            reply = await self._office.answer(_signed(permit, call))
            if not isinstance(call, Tell):
                return reply
            return cast("Reply", await self._story(permit, call, cast("Story | None", reply)))
        signed = _signed(permit, call)
        # `Any`: each branch gives what its call is answered with.
        answer: Any
        match signed:
            case TellCase():
                answer = await self._case(permit, signed)
            case FindCases():
                answer = await self._found(permit, signed)
            case HearCases():
                answer = await self._heard(permit, signed)
            case Recall():
                await self._own(permit, signed)
                answer = await self._office.answer(signed)
            case ListDockets() if signed.chosen.gatekeeper is None and not _sees_all(permit):
                answer = await self._dockets(permit, signed)
            case _:
                await self._refuse_own(permit, signed)
                answer = _cut(permit, signed, await self._office.answer(signed))
        return cast("Reply", answer)

    async def _refuse(self, permit: Permit, call: Call[Any], refusal: NotPermitted) -> None:
        if type(call) in DESK_REPLIES:
            await self._refusals.note(permit, call, refusal=refusal)
        raise refusal

    async def _case(self, permit: Permit, call: TellCase) -> CaseStory | None:
        """Tell a case: whole to those who review it, its bare course to who sent the message, nothing to others."""
        # What is read of a held message is recorded: so look first, without its body.
        story = await self._office.answer(msgspec.structs.replace(call, body_limit=0))
        if story is None:
            return None
        refusal = permits_case(permit, story)
        if refusal is None:
            return await self._office.answer(call) if call.body_limit else story
        if story.envelope.principal == permit.principal:
            return for_sender(story)
        await self._refusals.note(permit, call, refusal=refusal)
        return None

    async def _found(self, permit: Permit, call: FindCases) -> list[Case]:
        if _sees_all(permit):
            return await self._office.answer(call)
        wide = msgspec.structs.replace(call, limit=_MOST_FOUND)
        seen: list[Case] = []
        for case in await self._office.answer(wide):
            story = await self._office.answer(TellCase(case=case.id, by=permit.signature))
            if story is None:
                continue
            if permits_case(permit, story) is None:
                seen.append(case)
            elif story.envelope.principal == permit.principal:
                seen.append(bare(case))
        return seen[: call.limit]

    async def _heard(self, permit: Permit, call: HearCases) -> Heard:
        """Tell what happened to the cases somebody may see; of those he sent himself, the bare fact."""
        heard = await self._office.answer(call)
        if _sees_all(permit):
            return heard
        events: list[CaseEvent] = []
        for event in heard.events:
            told = await self._told(permit, event)
            events += [] if told is None else [told]
        return Heard(events=events, after=heard.after)

    async def _told(self, permit: Permit, event: CaseEvent) -> CaseEvent | None:
        try:
            case = UUID(event.case)
        except ValueError:
            return None
        story = await self._office.answer(TellCase(case=case, by=permit.signature))
        if story is None:
            return None
        if permits_case(permit, story) is None:
            return event
        if story.envelope.principal == permit.principal and is_for_sender(event, story.case):
            return msgspec.structs.replace(event, by="", facts={"message": str(story.case.message)})
        return None

    async def _own(self, permit: Permit, call: Recall) -> None:
        """Let nobody recall but who handed the message in."""
        story = await self._office.answer(Tell(message=call.message))
        if story is None or story.envelope.principal != permit.principal:
            refusal = NotPermitted(
                f"no message {call.message} was sent with this key", hint="only who sent a message can recall it"
            )
            await self._refuse(permit, call, refusal)

    async def _refuse_own(self, permit: Permit, call: Call[Any]) -> None:
        """Let nobody decide on a message he sent or is to receive."""
        if not permit.address:
            return
        for case in _cases_of(call):
            story = await self._office.answer(TellCase(case=case, by=permit.signature))
            if story is not None and is_own(permit, story):
                refusal = NotPermitted("this message is the asker's own", hint="somebody else has to review it")
                await self._refuse(permit, call, refusal)

    async def _dockets(self, permit: Permit, call: ListDockets) -> list[Docket]:
        """List the dockets of every role somebody may act in, as if they were one list."""
        counts = await self._office.answer(CountDockets())
        named = {scope.pattern for scope in permit.scopes if scope.kind == "review" and "*" not in scope.pattern}
        roles = {count.gatekeeper for count in counts if permit.acts_as(count.gatekeeper)} | named | set(permit.roles)
        found: list[Docket] = []
        for role in sorted(roles):
            chosen = msgspec.structs.replace(call.chosen, gatekeeper=role)
            page: list[Docket] = await self._office.answer(
                ListDockets(chosen=chosen, order=call.order, after=call.after, limit=call.limit)
            )
            found += page
        return _others(permit, sorted(found, key=lambda docket: place_of(docket, call.order))[: call.limit])

    async def _story(self, permit: Permit, call: Tell, story: Story | None) -> Story | None:
        """Give the life of a message; of one that is held, or was not released as it came, no more than is allowed."""
        if story is None or story.envelope.principal == permit.principal:
            return story
        cases = await self._office.answer(FindCases(prefix=str(call.message)))
        if all(case.outcome.startswith("released") and case.edited is None for case in cases):
            return story
        # The head of a message with a large body names it by its hash, and whoever knows that could read it.
        if not permit.administers or isinstance(story.body, Body):
            return None
        return msgspec.structs.replace(story, body=b"")


def place_of(docket: Docket, order: DocketOrder) -> tuple[bool, int | str, UUID, int]:
    """Give where a docket stands in an order; those without a due time come last."""
    key: int | str | None = {"due": docket.due, "arrival": docket.arrived, "sender": docket.sender}[order]
    return key is None, 0 if key is None else key, docket.case, docket.turn


def is_for_sender(event: CaseEvent, case: Case) -> bool:
    """Say whether a sender hears of it: that his message is held, and how that ended; not what happens in between."""
    if event.type == "case.gated":
        return True
    return case.closed is not None and event.at >= case.closed and event.type == f"case.{case.outcome}"


def bare(case: Case) -> Case:
    """Give what the sender of a message may know of its case: that there is one, since when, and how it ended."""
    return Case(
        id=case.id, message=case.message, version=case.version, is_open=case.is_open, outcome=case.outcome,
        opened=case.opened, closed=case.closed,
    )  # fmt: skip


def for_sender(story: CaseStory) -> CaseStory:
    """Give of a case what the sender of the message may see: nothing of those who review it."""
    wrapper = story.wrapper
    told = wrapper.current is not None and wrapper.tell_sender == "with reason"
    reasons = wrapper.current.reasons if told and wrapper.current is not None else ()
    return CaseStory(
        case=bare(story.case),
        wrapper=Wrapper(
            case=wrapper.case,
            sender=wrapper.sender,
            recipients=story.envelope.recipients,
            created=wrapper.created,
            current=Stop(gatekeeper="", reasons=reasons) if reasons else None,
            tell_sender=wrapper.tell_sender,
        ),
        dockets=[],
        envelope=story.envelope,
        accepted=story.accepted,
        head=b"",
        body=b"",
        is_cut=True,
        steps=[],
        others=[bare(other) for other in story.others],
    )


def _sees_all(permit: Permit) -> bool:
    return permit.may("audit") or permit.acts_as_all


# `Any`, here and below: whichever call it is, with its reply.
def _signed(permit: Permit, call: Call[Reply]) -> Call[Reply]:
    """Give a call in the name of who asks, whatever it says itself."""
    if "by" not in call.__struct_fields__:
        return call
    return msgspec.structs.replace(call, by=permit.signature)


def _cut(permit: Permit, call: Call[Any], reply: Any) -> Any:
    """Leave out of a list what belongs to roles the asker does not act in."""
    if isinstance(call, ListDockets):
        return _others(permit, reply)
    if not isinstance(call, CountDockets | ListMailbags) or _sees_all(permit):
        return reply
    rows: list[DocketCount] | list[Mailbag] = reply
    return [row for row in rows if permit.acts_as(row.gatekeeper)]


def _others(permit: Permit, dockets: list[Docket]) -> list[Docket]:
    """Leave out what somebody sent himself; whoever audits sees that as well."""
    if not permit.address or permit.may("audit"):
        return dockets
    return [docket for docket in dockets if docket.sender.lower() != permit.address.lower()]


def _cases_of(call: Call[Any]) -> set[UUID]:
    if isinstance(call, Decide):
        return {decision.case for decision in call.decisions}
    return {call.case} if isinstance(call, OpenDocket | Edit) else set()
