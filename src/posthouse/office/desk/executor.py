"""The executor carries out what was decided: it loads the papers, lets the action say what is to be written, commits.

Crash at any point and it is done once: what is written rests on the versions of its rows, all of it or nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from uuid import UUID

import msgspec
import structlog

from posthouse.clock import Clock
from posthouse.gate.emission import Writer
from posthouse.gate.opening import Setting
from posthouse.gate.policy import DEFAULT
from posthouse.gate.review import Order, judge, undone, unpack_order
from posthouse.message.case import Command, Docket, unpack_wrapper
from posthouse.message.changes import Changes, Outcome
from posthouse.message.message import Message, read_head
from posthouse.message.passage import Facts
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
from posthouse.office.sorting import Parcel, sort
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
        return await self.commit(changes)

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

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        """Write changes; what was sent before is not sent again."""
        if not changes:
            return []
        outcomes = await self._store.commit(changes)
        doubled = [number for number, outcome in enumerate(outcomes) if outcome.status in {"duplicate", "full"}]
        if doubled:
            quiet = await self._store.commit([msgspec.structs.replace(changes[number], posts=()) for number in doubled])
            for number, outcome in zip(doubled, quiet, strict=True):
                outcomes[number] = outcome
        self._agenda.note(changes)
        return outcomes

    def changes_of(self, deed: Deed, facts: Facts) -> Changes:
        """Give what is written for a deed, with the messages the office sends on their way."""
        written = [Parcel(one.message, one.envelope, is_automatic=True) for one in deed.emitted]
        # What the office writes and cannot send is left out: it must not hold up what it is about.
        sent = [one.changes for one in sort(written, facts, key_seconds=0, route=self._intake.route) if one.changes]
        return sealed(
            Changes(
                posts=deed.posts + tuple(post for one in sent for post in one.posts),
                onwards=deed.onwards,
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
            return self.changes_of(deed, facts)
        except Exception as fault:  # noqa: BLE001 - one message that cannot be dealt with must not stop the others
            _log.error("desk.stumbled", case=str(docket.case), command=order.command, exc_info=fault)
            return Changes(dockets=(faulty(docket, f"{type(fault).__name__}: {fault}", now=setting.now),))

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
        return ACTIONS[order.command](papers)


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
