"""What lies on the desk for one docket, and what is to be written when something is done with it."""

from __future__ import annotations

from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from posthouse.gate.emission import Writer
from posthouse.gate.opening import STAGE, Setting, docket_at, parties_of
from posthouse.gate.record import record
from posthouse.gate.review import Order, concluded, review_of
from posthouse.gate.seat import seated
from posthouse.gate.wrapper import with_fired
from posthouse.message.case import (
    AuditEntry,
    Case,
    Command,
    Docket,
    Mailbag,
    Review,
    Status,
    Wrapper,
    pack_wrapper,
)
from posthouse.message.changes import Onward, Post
from posthouse.message.journey import Emitted, Journey, unpack
from posthouse.message.message import Message
from posthouse.message.trace import Step
from posthouse.message.verdict import PASS
from posthouse.office.sorting import entries

_SAID: Final = {"release": "released", "forward": "forwarded", "gate": "gated further", "recall": "recalled"}


class Papers(NamedTuple):
    """A docket with its case, its message and what is commanded."""

    docket: Docket
    case: Case
    wrapper: Wrapper
    message: Message
    """As it stands: an edited one as it was edited."""
    original: Message
    """As it came in."""
    order: Order
    setting: Setting
    writer: Writer
    bag: Mailbag | None = None
    """Of `file`: the mailbag that is meant, where there is one."""

    @property
    def now(self) -> int:
        """The instant at which it is done."""
        return self.setting.now

    @property
    def journey(self) -> Journey:
        """The journey of the message, which goes on from here."""
        return unpack(self.message, self.case.luggage)


class Deed(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be written, all of it or nothing."""

    cases: tuple[Case, ...] = ()
    dockets: tuple[Docket, ...] = ()
    onwards: tuple[Onward, ...] = ()
    posts: tuple[Post, ...] = ()
    emitted: tuple[Emitted, ...] = ()
    """Messages the office writes; they take the same route."""
    must_arrive: bool = False
    """Nothing of it is done as long as what the office writes cannot go."""
    audits: tuple[AuditEntry, ...] = ()


def reviewed(papers: Papers, *, action: Command | None = None) -> Review:
    """Give the line of the routing history for what is commanded."""
    return review_of(papers.order, papers.docket, now=papers.now, content=papers.wrapper.content, action=action)


def ruled(papers: Papers) -> Wrapper:
    """Give the wrapper with the gatekeeper's own rules in its history, where they decided."""
    return with_fired(papers.wrapper, papers.order.fired) if papers.order.fired else papers.wrapper


def concluding(papers: Papers, status: Status, *, action: str) -> Docket:
    """Give the docket on which something final was decided."""
    return concluded(papers.docket, papers.order, now=papers.now, status=status, action=action)


def audited(papers: Papers, act: str, *, subject: UUID | None = None, **facts: object) -> AuditEntry:
    """Give the line of the audit for what is done."""
    order = papers.order
    return record(
        act, subject or papers.case.id, at=papers.now, actor=order.person, decision=order.id, turn=papers.docket.turn,
        gatekeeper=papers.docket.gatekeeper, by=order.actor, rule=order.rule, edition=order.edition or None,
        comment=order.comment, second=order.second, **facts,
    )  # fmt: skip


def changed(case: Case, wrapper: Wrapper, **fields: object) -> Case:
    """Give the next version of a case with its wrapper."""
    return msgspec.structs.replace(case, version=case.version + 1, wrapper=pack_wrapper(wrapper), **fields)


def ended(papers: Papers, wrapper: Wrapper, *, outcome: str) -> Case:
    """Give a case that is over."""
    return changed(papers.case, wrapper, is_open=False, outcome=outcome, closed=papers.now)


def go_on(papers: Papers, wrapper: Wrapper, *, done: Docket) -> Deed:
    """Take a case to its next stop, or home to the rules where there is none."""
    act = f"case.{_SAID.get(papers.order.command, papers.order.command)}".replace(" ", "-")
    if wrapper.current is None:
        moved = changed(papers.case, wrapper)
        audit = audited(papers, act, to="the rules")
        return Deed(cases=(moved,), dockets=(done,), onwards=(homeward(papers, papers.journey),), audits=(audit,))
    parties = parties_of(wrapper.sender, (*wrapper.recipients, *wrapper.blind))
    (stop,) = seated([wrapper.current], papers.setting.organisation, now=papers.now, parties=parties)
    wrapper = msgspec.structs.replace(wrapper, current=stop)
    moved = changed(papers.case, wrapper, turn=papers.case.turn + 1)
    docket = docket_at(papers.docket, moved, wrapper=wrapper, setting=papers.setting)
    audit = audited(papers, act, to=docket.gatekeeper, via=stop.via)
    return Deed(cases=(moved,), dockets=(done, docket), audits=(audit,))


def homeward(papers: Papers, journey: Journey, *, case: UUID | None = None) -> Onward:
    """Give the way of a message back to the rules of this office."""
    going = journey.carrying(stage=STAGE, verdict=PASS, resume_at=None, case=case or papers.case.id)
    told = f"released by {papers.docket.gatekeeper}"
    return Onward(
        message=journey.message.id, step=Step(papers.now, "resumed", STAGE, told[:1_000]), entries=entries(going)
    )
