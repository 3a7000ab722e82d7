"""Any store against a model of the gate said as plainly as possible: whatever both are told, they hold the same."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
import uvloop
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from posthouse.message.audit import START as CHAIN_START
from posthouse.message.audit import linked, record_of
from posthouse.message.case import Activation, AuditEntry, Case, Docket, Edition, Mailbag
from posthouse.message.changes import Changes
from posthouse.store.gateports import (
    DocketCount,
    DocketFilter,
    DocketOrder,
    DocketPlace,
    is_chosen,
    key_of,
    place_of,
)
from posthouse.store.ports import Store
from posthouse.testing.build import START, identity
from posthouse.testing.gated import audited, case, case_id, docket, edition, mailbag
from tests.contract.store.adapters import ADAPTERS, Opening

ROLES = st.sampled_from(["Chief", "Clerk", "Reviewer"])
FOLDERS = st.sampled_from(["inbox", "inbox", "bag"])
DUES = st.none() | st.integers(0, 9)
SENDERS = st.sampled_from(["ada", "bob", "élan", ""])
ORDERS: tuple[DocketOrder, ...] = ("due", "arrival", "sender")
OFF = st.sampled_from([0, 0, 0, 0, 0, 1, -1])
"""How far a version is from the one that would be right."""

DOCKETS = st.fixed_dictionaries(
    {
        "number": st.integers(1, 6), "turn": st.integers(1, 3), "off": OFF, "gatekeeper": ROLES, "folder": FOLDERS,
        "due": DUES, "arrived": st.integers(0, 5), "sender": SENDERS, "is_open": st.sampled_from([True, True, False]),
        "status": st.sampled_from(["gated", "filed"]),
    }
)  # fmt: skip
CASES = st.fixed_dictionaries({"number": st.integers(1, 6), "off": OFF, "opened": st.integers(0, 3)})
BAGS = st.fixed_dictionaries(
    {"name": st.sampled_from("ab"), "gatekeeper": ROLES, "off": OFF, "next_run": DUES, "is_removed": st.booleans()}
)
EDITIONS = st.fixed_dictionaries({"book": st.sampled_from(["rules", "policy"]), "off": OFF})
ACTIVATIONS = st.fixed_dictionaries({"book": st.sampled_from(["rules", "policy"]), "number": st.integers(-1, 4)})
SUBJECTS = st.sampled_from(["case 1", "case 2", "ada"])
PARTS = st.fixed_dictionaries(
    {
        "dockets": st.lists(DOCKETS, max_size=3), "cases": st.lists(CASES, max_size=2),
        "mailbags": st.lists(BAGS, max_size=1), "editions": st.lists(EDITIONS, max_size=2),
        "activations": st.lists(ACTIVATIONS, max_size=1), "audits": st.lists(SUBJECTS, max_size=3),
        "erasures": st.lists(SUBJECTS, max_size=1),
    }
)  # fmt: skip
FILTERS = st.builds(
    DocketFilter,
    gatekeeper=st.none() | ROLES,
    folder=st.none() | FOLDERS,
    case=st.none() | st.integers(1, 6).map(case_id),
    message=st.none() | st.integers(1, 6).map(identity),
    is_open=st.sampled_from([True, True, False, None]),
    sender=st.none() | SENDERS,
    status=st.none() | st.sampled_from(["gated", "filed"]),
)
Key = tuple[Any, ...]


class GateModel:
    """All rows in lists and dictionaries, walked through from the front each time."""

    def __init__(self) -> None:
        self.rows: dict[Key, Case | Docket | Mailbag] = {}
        self.editions: list[Edition] = []
        self.activations: list[Activation] = []
        self.audit: list[AuditEntry] = []
        self.erased: set[int] = set()

    def commit(self, changes: Changes) -> bool:
        """Carry out what is not stale; say whether it was not."""
        rows: list[Case | Docket | Mailbag] = [*changes.cases, *changes.dockets, *changes.mailbags]
        keyed = [(key_of_row(row), row) for row in rows]
        if len({key for key, _ in keyed}) < len(keyed):
            return False
        if any(row.version != self.version(key) + 1 for key, row in keyed):
            return False
        editions = [*self.editions]
        for one in changes.editions:
            if one.number != 1 + sum(each.book == one.book for each in editions):
                return False
            editions.append(one)
        for activation in changes.activations:
            if not 0 <= activation.number <= sum(each.book == activation.book for each in editions):
                return False
        self.rows |= dict(keyed)
        self.editions = editions
        self.activations += changes.activations
        self.erased |= {number for number, one in enumerate(self.audit, 1) if one.subject in changes.erasures}
        self.audit += changes.audits
        return True

    def version(self, key: Key) -> int:
        row = self.rows.get(key)
        return 0 if row is None else row.version

    def dockets(self) -> list[Docket]:
        return [row for row in self.rows.values() if isinstance(row, Docket)]

    def mailbags(self) -> list[Mailbag]:
        return [row for row in self.rows.values() if isinstance(row, Mailbag) and not row.is_removed]

    def due(self, now: int, limit: int) -> list[Docket]:
        waiting: dict[str, list[Docket]] = {}
        for one in sorted(self.dockets(), key=lambda one: (one.due or 0, one.case, one.turn)):
            if one.due is not None and one.due <= now:
                waiting.setdefault(one.gatekeeper, []).append(one)
        found: list[Docket] = []
        while waiting:
            turn = sorted(
                (lane.pop(0) for lane in waiting.values()), key=lambda one: (one.due or 0, one.case, one.turn)
            )
            found += turn
            waiting = {role: lane for role, lane in waiting.items() if lane}
        return sorted(found[:limit], key=lambda one: (one.due or 0, one.case, one.turn))


def key_of_row(row: Case | Docket | Mailbag) -> Key:
    if isinstance(row, Docket):
        return ("docket", row.case, row.turn)
    return ("case", row.id) if isinstance(row, Case) else ("mailbag", row.gatekeeper, row.id)


class StoreAndGate(RuleBasedStateMachine):
    """One store and one model, told the same."""

    opening: Opening

    def __init__(self) -> None:
        super().__init__()
        self.model = GateModel()
        self.folder: TemporaryDirectory[str] = TemporaryDirectory()
        self.runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
        self.store: Store
        self.context: AbstractAsyncContextManager[Store]

    @initialize()
    def open(self) -> None:
        self.context = self.opening(Path(self.folder.name))
        self.store = self.runner.run(self.context.__aenter__())

    def teardown(self) -> None:
        try:
            if hasattr(self, "store"):
                self.runner.run(self.context.__aexit__(None, None, None))
        finally:
            self.runner.close()
            self.folder.cleanup()

    @rule(group=st.lists(PARTS, min_size=1, max_size=4))
    def commit(self, group: list[dict[str, list[Any]]]) -> None:
        # Versions are drawn from how the model stands before the group, so that some of it meets in one transaction.
        changes = [self.changes_of(parts) for parts in group]
        outcomes = self.runner.run(self.store.commit(changes))
        answers = [self.model.commit(one) for one in changes]
        assert [outcome.status == "done" for outcome in outcomes] == answers
        assert all(outcome.status in {"done", "stale"} for outcome in outcomes)

    @rule(number=st.integers(1, 6), turn=st.integers(1, 3), folder=FOLDERS, due=DUES)
    def move(self, number: int, turn: int, folder: str, due: int | None) -> None:
        """Write what stands in its next version, somewhere else."""
        row = self.model.rows.get(("docket", case_id(number), turn), docket(number, turn, version=0))
        assert isinstance(row, Docket)
        instant = None if due is None else START + due
        following = msgspec.structs.replace(row, version=row.version + 1, folder=folder, due=instant)
        assert self.runner.run(self.store.commit([Changes(dockets=(following,))]))[0].status == "done"
        assert self.model.commit(Changes(dockets=(following,)))

    @rule(chosen=FILTERS, order=st.sampled_from(ORDERS), limit=st.integers(1, 4))
    def page(self, chosen: DocketFilter, order: DocketOrder, limit: int) -> None:
        wanted = sorted(
            (one for one in self.model.dockets() if is_chosen(one, chosen)),
            key=lambda one: (key_of(one, order), one.case, one.turn),
        )
        assert self.runner.run(self.pages(chosen, order, limit)) == wanted

    @rule(now=st.integers(0, 9), limit=st.integers(1, 6))
    def ask_what_is_due(self, now: int, limit: int) -> None:
        assert self.runner.run(self.store.gate.cases.due(START + now, limit)) == self.model.due(START + now, limit)

    @invariant()
    def hold_the_same(self) -> None:
        if hasattr(self, "store"):
            self.runner.run(self.compare())

    def changes_of(self, parts: dict[str, list[Any]]) -> Changes:
        last = {book: sum(one.book == book for one in self.model.editions) for book in ("rules", "policy")}
        return Changes(
            dockets=tuple(map(self.docket_of, parts["dockets"])),
            cases=tuple(
                case(
                    one["number"],
                    message=identity(one["number"] % 3),
                    opened=START + one["opened"],
                    version=self.model.version(("case", case_id(one["number"]))) + 1 + one["off"],
                )
                for one in parts["cases"]
            ),
            mailbags=tuple(map(self.mailbag_of, parts["mailbags"])),
            editions=tuple(
                edition(last[one["book"]] + number + one["off"], book=one["book"])
                for number, one in enumerate(parts["editions"], 1)
            ),
            activations=tuple(Activation(**one, at=START) for one in parts["activations"]),
            audits=tuple(map(audited, parts["audits"])),
            erasures=tuple(parts["erasures"]),
        )

    def docket_of(self, part: dict[str, Any]) -> Docket:
        number, turn = part["number"], part["turn"]
        given = {name: part[name] for name in ("gatekeeper", "folder", "sender", "is_open", "status")}
        version = self.model.version(("docket", case_id(number), turn)) + 1 + part["off"]
        due = None if part["due"] is None else START + part["due"]
        return docket(number, turn, **given, version=version, due=due, arrived=START + part["arrived"])

    def mailbag_of(self, part: dict[str, Any]) -> Mailbag:
        bag = mailbag(part["name"], gatekeeper=part["gatekeeper"], is_removed=part["is_removed"])
        next_run = None if part["next_run"] is None else START + part["next_run"]
        version = self.model.version(("mailbag", bag.gatekeeper, bag.id)) + 1 + part["off"]
        return msgspec.structs.replace(bag, version=version, next_run=next_run)

    async def pages(self, chosen: DocketFilter, order: DocketOrder, limit: int) -> list[Docket]:
        found: list[Docket] = []
        after: DocketPlace | None = None
        while page := await self.store.gate.cases.dockets(chosen, order=order, after=after, limit=limit):
            found += page
            after = place_of(page[-1], order)
        return found

    async def compare(self) -> None:
        model, cases = self.model, self.store.gate.cases
        for key, row in model.rows.items():
            if isinstance(row, Case):
                assert await cases.case(row.id) == row
                kin = [one for one in model.rows.values() if isinstance(one, Case) and one.message == row.message]
                assert await cases.of_message(row.message) == sorted(kin, key=lambda one: (one.opened, one.id)), key
        places = [(one.gatekeeper, one.folder) for one in model.dockets() if one.is_open]
        assert await cases.counts() == [DocketCount(*place, places.count(place)) for place in sorted(set(places))]
        bags = sorted(model.mailbags(), key=lambda bag: (bag.gatekeeper, bag.name))
        assert await cases.mailbags() == bags
        instants = [one.due for one in model.dockets()] + [bag.next_run for bag in bags]
        assert await cases.next_due() == min((at for at in instants if at is not None), default=None)
        await self.compare_books()
        await self.compare_audit()

    async def compare_books(self) -> None:
        model, register = self.model, await self.store.register()
        in_force = {activation.book: activation.number for activation in model.activations}
        assert register.books == {book: number for book, number in in_force.items() if number}
        for book in ("rules", "policy"):
            assert await self.store.gate.books.editions(book) == [one for one in model.editions if one.book == book]
            known = [one for one in model.activations if one.book == book]
            assert await self.store.gate.books.activations(book) == known

    async def compare_audit(self) -> None:
        lines = await self.store.gate.audit.lines()
        assert len(lines) == len(self.model.audit)
        chain = CHAIN_START
        for number, (line, entry) in enumerate(zip(lines, self.model.audit, strict=True), 1):
            chain = linked(chain, record_of(number, line.epoch, entry=entry))
            said = (None, None) if number in self.model.erased else (entry.salt, entry.payload)
            assert (line.number, line.subject, line.chain, line.salt, line.payload) == (
                number, entry.subject, chain, *said
            )  # fmt: skip


EXAMPLES = {"memory": 200, "sqlite": 60}


# The time is for making a failing example small; a run without one takes a fraction of it.
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", list(ADAPTERS))
def test_a_store_keeps_the_gate_as_the_model_does(name: str) -> None:
    machine: type[StoreAndGate] = type("Machine", (StoreAndGate,), {"opening": staticmethod(ADAPTERS[name])})
    chosen = settings(
        max_examples=EXAMPLES.get(name, 30),
        stateful_step_count=20,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=[phase for phase in Phase if phase is not Phase.explain],
    )
    run_state_machine_as_test(machine, settings=chosen)
