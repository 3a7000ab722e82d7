"""Any store against the model: whatever is done to both, they answer alike and hold the same."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import msgspec
import pytest
import uvloop
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from posthouse.message.changes import (
    Changes,
    Entry,
    Filter,
    Key,
    Outcome,
    Post,
    Redrive,
    Register,
    Resend,
    Room,
    Settle,
    Setup,
    Take,
)
from posthouse.message.trace import Step
from posthouse.store.ports import Aside, Dead, Depth, Queued, Store
from posthouse.testing.build import SECOND, START, entry, post
from tests.contract.store.adapters import ADAPTERS, Opening
from tests.contract.store.model import Model, Place
from tests.contract.store.parts import (
    FLEETING,
    GROUPS,
    LYING,
    PLAIN,
    SETTLING,
    TAKING,
    Lying,
    Part,
    Posting,
    Redriving,
    Resending,
    Settling,
    Taking,
    Versioned,
)

EVERYTHING = 10_000


class StoreAndModel(RuleBasedStateMachine):
    """One store and one model, told the same."""

    opening: Opening

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.now = START
        self.posted = 0
        self.numbers: dict[int, int] = {}
        """The store's number of each entry, dead letter and message set aside, by the model's."""
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

    @rule(seconds=st.integers(1, 10))
    def wait(self, seconds: int) -> None:
        self.now += seconds * SECOND

    @rule(group=GROUPS)
    def commit(self, group: list[list[Part]]) -> None:
        self.carry_out([self.changes_of(parts) for parts in group])

    @rule(entries=st.lists(LYING | PLAIN | FLEETING, min_size=1, max_size=8))
    def post_one_after_the_other(self, entries: list[Lying]) -> None:
        self.carry_out([Changes(posts=(self.post_of(Posting((one,), aside=False, again=None)),)) for one in entries])

    @rule(taking=TAKING)
    def take(self, taking: Taking) -> None:
        self.carry_out([Changes(take=self.take_of(taking))])

    @rule(settlings=st.lists(SETTLING, min_size=1, max_size=4))
    def settle_each_by_itself(self, settlings: list[Settling]) -> None:
        self.carry_out([Changes(settles=(self.settle_of(settling),)) for settling in settlings])

    @rule(taking=TAKING, settlings=st.lists(SETTLING, min_size=1, max_size=5))
    def work(self, taking: Taking, settlings: list[Settling]) -> None:
        """Take, and settle what was taken."""
        for place, part in zip(self.taken_by(taking), settlings, strict=False):
            settle = Settle(act=part.act, entry=place.number, token=place.token, at=self.now + part.after * SECOND)
            self.carry_out([Changes(settles=(settle,))])

    @rule(taking=TAKING)
    def work_through(self, taking: Taking) -> None:
        """Take and finish until there is nothing more to take."""
        while taken := self.taken_by(taking):
            settles = [Settle(act="done", entry=one.number, token=one.token, at=self.now) for one in taken]
            self.carry_out([Changes(settles=(settle,)) for settle in settles])

    @rule()
    def keep_time(self) -> None:
        """Do what the timekeeper does with what is due."""
        settles = []
        for place in self.model.places:
            if place.next_at is not None and place.next_at <= self.now:
                expired = place.entry.expires is not None and place.entry.expires <= self.now
                act: Literal["retry", "bury", "wake"]
                act = "retry" if place.state == "leased" else "bury" if expired else "wake"
                settles.append(Settle(act=act, entry=place.number, token=place.token, at=self.now))
        self.carry_out([Changes(settles=(settle,)) for settle in settles])

    @rule()
    def read_everything(self) -> None:
        self.runner.run(self.compare_pages())

    @invariant()
    def hold_the_same(self) -> None:
        self.runner.run(self.compare())

    # From parts to changes, in the model's numbers.

    def changes_of(self, parts: list[Part]) -> Changes:
        of = {kind: [part for part in parts if isinstance(part, kind)] for kind in Part.__args__}
        keyed = next((one.key for one in of[Posting] if one.key is not None), None)
        return Changes(
            posts=tuple(map(self.post_of, of[Posting])),
            settles=tuple(map(self.settle_of, of[Settling])),
            take=next(map(self.take_of, of[Taking]), None),
            redrives=tuple(Redrive(_pick(self.model.dead, one.pick), self.now, one.drop) for one in of[Redriving]),
            resends=tuple(map(self.resend_of, of[Resending])),
            setups=tuple(of[Setup]),
            key=Key("alice", keyed.key, self.now + keyed.lasts * SECOND) if keyed is not None else None,
            rooms=tuple(of[Room]),
            register=next((self.model.version + one.off for one in of[Versioned]), None),
        )

    def post_of(self, part: Posting) -> Post:
        self.posted += 1
        number = part.again if part.again is not None else self.posted + 1_000
        if part.aside and not part.entries:
            return post(number, at=self.now, aside="a bug")
        entries = tuple(map(self.entry_of, part.entries)) or (entry("#a"),)
        return post(number, *entries, at=self.now)

    def entry_of(self, part: Lying) -> Entry:
        return entry(
            part.box,
            lane=part.lane,
            kind=part.kind,
            correlation=part.correlation,
            priority=9 if part.urgent else 5,
            size=part.size,
            not_before=self.after(part.not_before),
            expires=self.after(part.expires),
            work=part.work,
        )

    def take_of(self, part: Taking) -> Take:
        now = self.now - part.ago * SECOND
        until = now + part.lease * SECOND
        chosen = Filter(part.kind, part.correlation)
        return Take(box=part.box, now=now, until=until, holder="worker", filter=chosen, limit=part.limit)

    def settle_of(self, part: Settling) -> Settle:
        wanted = {"wake": "held", "bury": "waiting"}.get(part.act, "leased")
        likely = [place.number for place in self.model.places if place.state == wanted]
        number = _pick(likely or [place.number for place in self.model.places], part.pick)
        place = self.model.place(number)
        token = (place.token if place else 0) - part.late
        step = Step(self.now, "taken", "here") if part.traced else None
        at = self.now + part.after * SECOND
        return Settle(act=part.act, entry=number, token=token, at=at, step=step, reason="why")

    def resend_of(self, part: Resending) -> Resend:
        entries = tuple(map(self.entry_of, part.entries))
        return Resend(_pick(self.model.asides, part.pick), entries, Step(self.now, "resent"))

    def after(self, seconds: int | None) -> int | None:
        return None if seconds is None else self.now + seconds * SECOND

    # Doing it to both, and comparing.

    def taken_by(self, taking: Taking) -> list[Place]:
        before = {place.number for place in self.model.places if place.state == "leased"}
        self.carry_out([Changes(take=self.take_of(taking))])
        return [place for place in self.model.places if place.state == "leased" and place.number not in before]

    def carry_out(self, group: list[Changes]) -> None:
        firsts = [self.model.first_under_key(changes) for changes in group]
        outcomes = self.runner.run(self.store.commit([self.in_the_stores_numbers(changes) for changes in group]))
        answers = self.model.commit(group)
        for changes, first, outcome, answer in zip(group, firsts, outcomes, answers, strict=True):
            places = [one for one in answer if isinstance(one, Place)]
            if len(places) == len(answer):
                assert outcome.status == "done"
                self.compare_taken(outcome, changes.take, places)
            else:
                assert outcome.status in answer
                assert outcome.taken == ()
                if first is not None:
                    assert outcome.known == first

    def in_the_stores_numbers(self, changes: Changes) -> Changes:
        def known(number: int) -> int:
            return self.numbers.get(number, 1_000_000_000)

        new = msgspec.structs.replace
        return new(
            changes,
            settles=tuple(new(one, entry=known(one.entry)) for one in changes.settles),
            redrives=tuple(new(one, dead=known(one.dead)) for one in changes.redrives),
            resends=tuple(new(one, aside=known(one.aside)) for one in changes.resends),
        )

    def compare_taken(self, outcome: Outcome, take: Take | None, places: list[Place]) -> None:
        # Which entry it is that was taken shows when all entries are compared.
        given = [(one.letter, one.box, one.work, one.priority, one.luggage, one.arrived) for one in outcome.taken]
        assert given == [
            (one.letter, one.entry.box, one.entry.work, one.entry.priority, one.entry.luggage, one.arrived)
            for one in places
        ]
        tokens = [(one.token, one.attempt, one.failures) for one in outcome.taken]
        assert tokens == [(one.token, one.attempt, one.failures) for one in places]
        assert all(take is not None and one.until == take.until for one in outcome.taken)

    async def compare(self) -> None:
        model, queue = self.model, self.store.queue
        boxes = {
            place.entry.box: [one for one in model.places if one.entry.box == place.entry.box] for place in model.places
        }
        assert await queue.depths() == [
            Depth(box=box, messages=len(boxes[box]), bytes=sum(place.entry.size for place in boxes[box]))
            for box in sorted(boxes)
        ]
        for box, places in boxes.items():
            found = await queue.entries(box, limit=EVERYTHING)
            assert [_seen(queued) for queued in found] == [_expected(place) for place in places]
            self.learn([place.number for place in places], [queued.entry for queued in found])
        errands = {place.entry.box for place in model.places if place.entry.work != "take"}
        assert sorted(await queue.destinations()) == sorted(errands)
        await self.compare_due()
        await self.compare_dead()
        assert await self.store.register() == Register(version=model.version, setups=model.setups)
        assert await self.store.journal.count() == len(model.letters)

    async def compare_due(self) -> None:
        coming = sorted(place.next_at for place in self.model.places if place.next_at is not None)
        assert await self.store.queue.next_due() == (coming[0] if coming else None)
        due = await self.store.queue.due(self.now, EVERYTHING)
        assert [queued.next_at for queued in due] == [instant for instant in coming if instant <= self.now]
        numbers = {
            self.numbers[place.number] for place in self.model.places if (place.next_at or self.now + 1) <= self.now
        }
        assert {queued.entry for queued in due} == numbers

    async def compare_dead(self) -> None:
        letters = self.store.dead_letters
        found = await letters.dead(None, Filter(), limit=EVERYTHING)
        self.learn(list(self.model.dead), [dead.number for dead in found])
        assert found == [
            Dead(
                number=self.numbers[number],
                box=place.entry.box,
                kind=place.entry.kind,
                message=place.letter.id,
                at=at,
                attempts=place.attempt,
                reason=reason,
            )
            for number, (place, at, reason) in self.model.dead.items()
        ]
        asides = await letters.asides(limit=EVERYTHING)
        self.learn(list(self.model.asides), [aside.number for aside in asides])
        assert asides == [
            Aside(number=self.numbers[number], message=letter.id, at=letter.accepted, reason=reason)
            for number, (letter, reason) in self.model.asides.items()
        ]
        assert await letters.dead_count() == len(found)
        assert await letters.aside_count() == len(asides)

    async def compare_pages(self) -> None:
        for message, letter in self.model.letters.items():
            assert await self.store.journal.letter(message) == letter
            assert await self.store.journal.trace(message) == self.model.traces[message]
        for box in {place.entry.box for place in self.model.places}:
            whole = await self.store.queue.entries(box, limit=EVERYTHING)
            pages: list[Queued] = []
            while page := await self.store.queue.entries(box, after=pages[-1].entry if pages else 0, limit=3):
                pages += page
            assert pages == whole

    def learn(self, models: list[int], stores: list[int]) -> None:
        assert len(models) == len(stores)
        assert stores == sorted(set(stores))
        for number, found in zip(models, stores, strict=True):
            assert self.numbers.setdefault(number, found) == found


def _pick(known: Any, pick: int) -> int:
    numbers = list(known)
    return numbers[pick % len(numbers)] if numbers else 1_000_000_000


def _seen(queued: Queued) -> Queued:
    return msgspec.structs.replace(queued, entry=0)


def _expected(place: Place) -> Queued:
    lying = place.entry
    return Queued(
        entry=0,
        token=place.token,
        box=lying.box,
        work=lying.work,
        state=place.state,
        priority=lying.priority,
        kind=lying.kind,
        correlation=lying.correlation,
        size=lying.size,
        arrived=place.arrived,
        attempt=place.attempt,
        failures=place.failures,
        next_at=place.next_at,
        expires=lying.expires,
        holder=place.holder,
        message=place.letter.id,
    )


def play(name: str, *, examples: int, steps: int) -> None:
    machine: type[StoreAndModel] = type("Machine", (StoreAndModel,), {"opening": staticmethod(ADAPTERS[name])})
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=[phase for phase in Phase if phase is not Phase.explain],
    )
    run_state_machine_as_test(machine, settings=chosen)


EXAMPLES = {"memory": 300, "sqlite": 60}
"""About twenty seconds each; one with a disk does less."""


# The time is for making a failing example small; a run without one takes a fraction of it.
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", list(ADAPTERS))
def test_a_store_does_what_the_model_does(name: str) -> None:
    play(name, examples=EXAMPLES.get(name, 50), steps=40)


@pytest.mark.soak
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("name", list(ADAPTERS))
def test_a_store_does_what_the_model_does_for_long(name: str) -> None:
    play(name, examples=50 * EXAMPLES.get(name, 50), steps=80)
