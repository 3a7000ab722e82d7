"""The executor carries out what was decided: it loads the papers, lets the action say what is to be written, commits.

Crash at any point and it is done once: what is written rests on the versions of its rows, all of it or nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final
from uuid import UUID

import msgspec
import structlog

from posthouse.clock import Clock
from posthouse.gate.emission import Writer, copied, noticed
from posthouse.gate.opening import Setting
from posthouse.gate.policy import DEFAULT
from posthouse.gate.record import record
from posthouse.gate.review import Order, concluded, judge, undone, unpack_order
from posthouse.gate.unreadable import moved, stand_in
from posthouse.message.case import Case, Command, Docket, UnreadableWrapper, Wrapper, unpack_wrapper
from posthouse.message.changes import Changes, Onward, Outcome
from posthouse.message.journey import Emitted
from posthouse.message.message import Message, read_head
from posthouse.message.passage import Facts
from posthouse.message.trace import Step
from posthouse.message.verdict import PASS, Verdict
from posthouse.office.agenda import Agenda
from posthouse.office.desk.copying import copy
from posthouse.office.desk.deletion import delete
from posthouse.office.desk.filing import file, mailbag_named
from posthouse.office.desk.forward import forward
from posthouse.office.desk.gating import gate_further
from posthouse.office.desk.listing import put_in_list
from posthouse.office.desk.papers import Deed, Papers
from posthouse.office.desk.release import release
from posthouse.office.desk.returning import give_back
from posthouse.office.intake import Intake
from posthouse.office.library import InForce
from posthouse.office.sealing import sealed
from posthouse.office.sorting import send
from posthouse.office.terms import SECOND, Terms
from posthouse.store.ports import Store

ACTIONS: Final[Mapping[Command, Callable[[Papers], Deed]]] = {
    "release": release,
    "return": give_back,
    "recall": give_back,
    "delete": delete,
    "purge": delete,
    "forward": forward,
    "file": file,
    "copy": copy,
    "review": put_in_list,
    "gate": gate_further,
}
"""What each command does."""

AGAIN: Final = 60 * SECOND
"""When it is tried again where something could not be done."""

_MEANWHILE: Final = Outcome(status="stale", detail="it is carried out already")

_log = structlog.get_logger("posthouse.desk")


class Hindered(Exception):
    """What has to arrive cannot go."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.text)
        self.verdict = verdict


class Executor:
    """Carries out the decisions of one office."""

    def __init__(self, clock: Clock, terms: Terms, *, store: Store, intake: Intake, agenda: Agenda) -> None:
        self._clock = clock
        self._terms = terms
        self._store = store
        self._intake = intake
        self._agenda = agenda
        self._in_hand: dict[tuple[UUID, int], asyncio.Future[None]] = {}
        """The dockets on which an order is being carried out, each with when that is over."""

    async def in_force(self) -> InForce | None:
        """Give the books in force; none where there are none."""
        return await self._intake.library.in_force(await self._store.register())

    async def setting(self) -> Setting:
        """Give what dockets are written by now."""
        in_force = await self.in_force()
        policy = DEFAULT if in_force is None else in_force.policy
        organisation = None if in_force is None else in_force.organisation
        return Setting(policy, organisation, self._clock.now(), policy.tzinfo)

    async def carry_out(self, dockets: Sequence[Docket]) -> list[Outcome]:
        """Carry out the command that stands in each docket; those that cannot be are told so and tried again."""
        return await self.do([(docket, unpack_order(docket.pending)) for docket in dockets])

    async def do(self, orders: Sequence[tuple[Docket, Order]]) -> list[Outcome]:
        """Carry out orders; the outcomes stand in their order."""
        places = [(docket.case, docket.turn) for docket, _ in orders]
        # Who commands and what is due come together where nothing can be taken back: one of them does it.
        others = [self._in_hand[place] for place in places if place in self._in_hand]
        mine = [number for number, place in enumerate(places) if place not in self._in_hand]
        over = asyncio.get_running_loop().create_future()
        self._in_hand |= dict.fromkeys((places[number] for number in mine), over)
        outcomes = [_MEANWHILE] * len(orders)
        try:
            for number, outcome in zip(mine, await self._do([orders[number] for number in mine]), strict=True):
                outcomes[number] = outcome
        finally:
            for number in mine:
                self._in_hand.pop(places[number], None)
            over.set_result(None)
        if others:
            await asyncio.wait(others)
        return outcomes

    async def _do(self, orders: Sequence[tuple[Docket, Order]]) -> list[Outcome]:
        if not orders:
            return []
        setting, facts = await self.setting(), await self._intake.facts()
        changes = await asyncio.gather(*(self._changes(docket, order, setting, facts) for docket, order in orders))
        return await self.commit(changes, keeping=[docket for docket, _ in orders])

    async def write(self, deed: Deed) -> Outcome:
        """Write one deed."""
        (outcome,) = await self.write_all([deed])
        return outcome

    async def write_all(self, deeds: Sequence[Deed]) -> list[Outcome]:
        """Write deeds, each whole or not at all; the outcomes stand in their order."""
        if not deeds:
            return []
        facts = await self._intake.facts()
        return await self.commit([self.changes_of(deed, facts) for deed in deeds])

    async def commit(self, changes: Sequence[Changes], *, keeping: Sequence[Docket] = ()) -> list[Outcome]:
        """Write changes; what was sent before is not sent again.

        Where there is no room for what has to arrive, the docket that is kept for it stays as it is, with why.
        """
        if not changes:
            return []
        outcomes = await self._store.commit(changes)
        instead = {
            number: msgspec.structs.replace(changes[number], posts=(), rooms=())
            for number, outcome in enumerate(outcomes) if outcome.status == "duplicate"
        }  # fmt: skip
        for number, docket in enumerate(keeping):
            if outcomes[number].status == "full":
                why = f"no room: {outcomes[number].detail}"
                instead[number] = Changes(dockets=(faulty(docket, why, now=self._clock.now()),))
        if instead:
            written = await self._store.commit(list(instead.values()))
            for number, outcome in zip(instead, written, strict=True):
                outcomes[number] = outcome
        self._agenda.note([instead.get(number, change) for number, change in enumerate(changes)])
        return outcomes

    def changes_of(self, deed: Deed, facts: Facts, *, about: UUID | None = None) -> Changes:
        """Give what is written for a deed, with the messages the office sends on their way."""
        sent = send(deed.emitted, facts, route=self._intake.route, waits=not deed.must_arrive)
        if deed.must_arrive and sent.hindrance is not PASS:
            raise Hindered(sent.hindrance)
        told: tuple[Onward, ...] = ()
        if sent.hindrance is not PASS and about is not None:
            step = Step(facts.now, "waiting", "", f"not sent at once: {sent.hindrance.text}"[:1_000])
            told = (Onward(message=about, step=step),)
        return sealed(
            Changes(
                posts=deed.posts + sent.posts,
                rooms=sent.rooms,
                onwards=deed.onwards + told,
                cases=deed.cases,
                dockets=deed.dockets,
                audits=deed.audits,
            ),
            self._clock,
        )

    async def papers(self, docket: Docket, order: Order, *, setting: Setting) -> Papers | None:
        """Lay out what belongs to a docket; None where its message is gone."""
        case = await self._store.gate.cases.case(docket.case)
        if case is None:
            return None
        original = await self._message(case.message)
        message = original if case.edited is None else await self._message(case.edited)
        if original is None or message is None:
            return None
        bag = None
        if order.command == "file":
            bags = await self._store.gate.cases.mailbags(docket.gatekeeper)
            bag = mailbag_named(bags, docket.gatekeeper, name=order.mailbag)
        writer = Writer(self._terms.mailing.name or "localhost", setting.now)
        return Papers(docket, case, unpack_wrapper(case.wrapper), message, original, order, setting, writer, bag)

    async def _message(self, identity: UUID) -> Message | None:
        letter = await self._store.journal.letter(identity)
        return None if letter is None else read_head(letter.head, letter.body, sections=letter.sections)

    async def _changes(self, docket: Docket, order: Order, setting: Setting, facts: Facts) -> Changes:
        """Give what an action wants written; one that cannot be done is told in its docket."""
        try:
            deed = await self._deed(docket, order, setting)
            if deed.posts and deed.onwards:
                # What goes on has to be in the journal; under its id it is written once, however often it is tried.
                await self._store.commit([Changes(posts=deed.posts)])
                deed = msgspec.structs.replace(deed, posts=())
            return self.changes_of(deed, facts, about=docket.message)
        except UnreadableWrapper as fault:
            return await self._unreadable(docket, order, setting, fault)
        except Hindered as hindrance:
            return await self._hindered(docket, order, setting, hindrance.verdict)
        except Exception as fault:  # noqa: BLE001 - one message that cannot be dealt with must not stop the others
            _log.error("desk.stumbled", case=str(docket.case), command=order.command, exc_info=fault)
            return Changes(dockets=(faulty(docket, f"{type(fault).__name__}: {fault}", now=setting.now),))

    async def _hindered(self, docket: Docket, order: Order, setting: Setting, verdict: Verdict) -> Changes:
        """Keep a docket open whose message cannot be returned: it is tried again, or a person has to look."""
        why = f"it cannot be returned: {verdict.text}"
        papers = None if verdict.temporary else await self.papers(docket, order, setting=setting)
        if papers is None:
            return Changes(dockets=(faulty(docket, why, now=setting.now),))
        return self.changes_of(put_in_list(papers, fault=why), await self._intake.facts())

    async def _unreadable(self, docket: Docket, order: Order, setting: Setting, fault: UnreadableWrapper) -> Changes:
        """Have the administrator look at a message of which nobody knows where it goes; it may be deleted by hand."""
        case = await self._store.gate.cases.case(docket.case)
        if case is not None and order.command == "delete" and order.actor == "person" and not case.is_on_hold:
            over = msgspec.structs.replace(
                case, version=case.version + 1, is_open=False, outcome="deleted", closed=setting.now
            )
            done = concluded(docket, order, now=setting.now, status="deleted", action="delete")
            audit = record("case.deleted", case.id, at=setting.now, actor=order.person, decision=order.id)
            return sealed(Changes(cases=(over,), dockets=(done,), audits=(audit,)), self._clock)
        laid = moved(docket, fault.what, setting=setting)
        return sealed(Changes(dockets=(laid.docket,), audits=laid.audits), self._clock)

    async def stand_in(self, case: Case) -> Wrapper:
        """Give what is known of a case whose wrapper cannot be read."""
        message = await self._message(case.message)
        return Wrapper(case=case.id) if message is None else stand_in(case, message)

    async def look_into(self, docket: Docket, fault: UnreadableWrapper) -> Deed:
        """Give what is written where a docket is due for something, and its wrapper cannot be read."""
        laid = moved(docket, fault.what, setting=await self.setting())
        return Deed(dockets=(laid.docket,), audits=laid.audits)

    async def _deed(self, docket: Docket, order: Order, setting: Setting) -> Deed:
        papers = await self.papers(docket, order, setting=setting)
        if papers is None:
            return Deed(dockets=(faulty(docket, "its message is not here any more", now=setting.now),))
        if papers.wrapper.current is None or papers.case.turn != docket.turn:
            # Somebody was faster: what is written here rests on a version of the docket that is over.
            return Deed(dockets=(faulty(docket, "its case has gone on", now=setting.now),))
        standing = judge(_open(docket, order), papers.case, command=order.command, actor=order.actor)
        if standing.answer != "may":
            return Deed(dockets=(faulty(_back(papers), standing.text, now=setting.now),))
        deed = ACTIONS[order.command](papers)
        emitted = (*deed.emitted, *_beside(papers))
        return msgspec.structs.replace(deed, emitted=tuple([one for one in emitted if not await self._is_sent(one)]))

    async def _is_sent(self, emitted: Emitted) -> bool:
        """Say whether it was written before: what is said again is not sent again, and keeps nothing else from it."""
        return await self._store.journal.letter(emitted.message.id) is not None


def _beside(papers: Papers) -> Iterator[Emitted]:
    """Give the copies and notices that a gatekeeper's own rule wants besides what it decides."""
    recipients = {*papers.wrapper.recipients, *papers.wrapper.blind}
    for side in papers.order.sides:
        to = side.to if side.action == "notify" else tuple(name for name in side.to if name not in recipients)
        if to:
            mine = msgspec.structs.replace(side, to=to)
            if side.action == "notify":
                yield noticed(papers.message, mine, writer=papers.writer)
            else:
                yield copied(papers.message, mine, writer=papers.writer, case=papers.case.id)


def faulty(docket: Docket, why: str, *, now: int) -> Docket:
    """Give a docket with why nothing could be done; it is tried again after a while."""
    return msgspec.structs.replace(docket, version=docket.version + 1, fault=why[:1_000], due=now + AGAIN)


def _open(docket: Docket, order: Order) -> Docket:
    """Give a docket as it was before its command was recorded, which is what the command is judged by."""
    return msgspec.structs.replace(docket, status=order.before)


def _back(papers: Papers) -> Docket:
    """Give the docket as it was: what was commanded is not allowed any more."""
    if not papers.docket.pending:
        return papers.docket
    return msgspec.structs.replace(undone(papers.docket, case=papers.case), version=papers.docket.version)
