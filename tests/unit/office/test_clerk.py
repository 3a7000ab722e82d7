from __future__ import annotations

from collections.abc import Sequence

import pytest

from posthouse.message.changes import Changes, Outcome
from posthouse.message.journey import Journey
from posthouse.message.passage import Facts, Passage
from posthouse.message.verdict import Verdict
from posthouse.office.agenda import Agenda
from posthouse.office.clerk import Clerk, Matter
from posthouse.office.delivery import Held
from posthouse.office.intake import Intake, Stores
from posthouse.office.sorting import RESUME
from posthouse.office.terms import SECOND, Terms
from posthouse.office.timekeeper import Timekeeper
from posthouse.route import ROUTE, Stage
from posthouse.store.memory.reading import MemoryQueue
from posthouse.store.memory.store import MemoryStore
from posthouse.store.ports import Queued, StoreUnavailable
from posthouse.testing.build import START, entry, identity, post
from posthouse.testing.clock import FakeClock
from tests.unit.office.rig import Rig, at_work, message_of


def break_on_notices(journeys: Sequence[Journey], _facts: Facts) -> Passage:
    if any(each.message.kind.startswith("notice") for each in journeys):
        raise ZeroDivisionError("a bug")
    return Passage(tuple(journeys))


@at_work(route=[*ROUTE, Stage("doubtful", break_on_notices)])
async def test_a_notice_on_which_a_stage_breaks_is_set_aside(rig: Rig) -> None:
    await rig.put(1, expires=START + SECOND, reply_to="alice")
    rig.clock.advance(1)

    async def told() -> bool:
        return bool(await rig.dead())

    await rig.until(told)
    (aside,) = await rig.asides()
    assert aside.reason == "ZeroDivisionError: a bug"


def wait_for_ever(journeys: Sequence[Journey], facts: Facts) -> Passage:
    urgent = tuple(each for each in journeys if each.message.kind != "order")
    others = tuple(
        each.carrying(verdict=Verdict("wait"), resume_at=facts.now + 3600 * SECOND)
        for each in journeys
        if each.message.kind == "order"
    )
    return Passage(urgent, others)


@at_work(route=[Stage("gate", wait_for_ever), *ROUTE])
async def test_a_notice_does_not_say_where_inside_the_office_a_message_waited(rig: Rig) -> None:
    await rig.put(1, kind="order", expires=START + SECOND, reply_to="alice")
    assert await rig.holds(f"{RESUME}gate") == [1]
    rig.clock.advance(1)
    notice = message_of(await rig.take_one("alice", wait=None))
    assert notice.attributes["place"] == "bob"
    assert b"gate" not in bytes(notice.body if isinstance(notice.body, bytes) else b"")


class Failing(MemoryStore):
    """A store that raises on some calls: a bug in the clerk's way, or a disk that is gone."""

    def __init__(self) -> None:
        super().__init__()
        self.poison: int | None = None
        """The entry whose settling hits a bug."""
        self.gone = False
        self.asked = 0

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        self.asked += 1
        if self.gone:
            raise StoreUnavailable("the disk is gone")
        if any(settle.entry == self.poison for change in changes for settle in change.settles):
            raise ZeroDivisionError("a bug")
        return await super().commit(changes)


def office_on(store: MemoryStore, clock: FakeClock) -> tuple[Clerk, Timekeeper]:
    agenda = Agenda(clock)
    intake = Intake(clock, Terms(), stores=Stores(store, MemoryStore()), agenda=agenda)
    clerk = Clerk(clock, Terms(), intake=intake, agenda=agenda)
    return clerk, Timekeeper(clock, clerk, agenda=agenda, stores=(store,))


async def test_one_entry_that_hits_a_bug_does_not_hold_up_the_others() -> None:
    store, clock = Failing(), FakeClock()
    expiring = [post(number, entry("#bob", expires=START + SECOND)) for number in (1, 2, 3)]
    await store.commit([Changes(posts=tuple(expiring))])
    store.poison = (await store.queue.entries("#bob"))[0].entry
    _, timekeeper = office_on(store, clock)
    clock.advance(1)
    assert await timekeeper._catch_up(store) == clock.now() + SECOND, "it looks again after a pause, and does not spin"
    assert await store.dead_letters.dead_count() == 2
    store.poison = None
    assert await timekeeper._catch_up(store) > clock.now() + SECOND
    assert await store.dead_letters.dead_count() == 3


async def test_a_store_that_is_gone_is_asked_again_after_a_pause() -> None:
    store, clock = Failing(), FakeClock()
    await store.commit([Changes(posts=(post(1, entry("#bob", expires=START + SECOND)),))])
    _, timekeeper = office_on(store, clock)
    clock.advance(1)
    store.gone, store.asked = True, 0
    assert await timekeeper._catch_up(store) == clock.now() + SECOND
    assert store.asked == 1
    store.gone = False
    await timekeeper._catch_up(store)
    assert await store.dead_letters.dead_count() == 1


class Stumbling(MemoryQueue):
    """A queue that hits a bug when it is asked what is due."""

    async def due(self, _now: int, _limit: int) -> list[Queued]:
        raise ZeroDivisionError("a bug")


class Forgetful(MemoryQueue):
    """A queue that says that something is due and never says what."""

    async def next_due(self) -> int | None:
        return START


@pytest.mark.parametrize("queue", [Stumbling, Forgetful])
async def test_the_timekeeper_outlives_a_bug_and_does_not_spin(queue: type[MemoryQueue]) -> None:
    clock, store = FakeClock(), MemoryStore()
    store.queue = queue(store._tables)
    _, timekeeper = office_on(store, clock)
    assert await timekeeper._catch_up(store) == clock.now() + SECOND


async def test_what_is_settled_twice_is_stale_the_second_time() -> None:
    store, clock = MemoryStore(), FakeClock()
    await store.commit([Changes(posts=(post(1),))])
    (queued,) = await store.queue.entries("#inbox")
    clerk, _ = office_on(store, clock)
    matter = Matter(Held(queued.entry, queued.token, "#inbox", "waiting", 0, START), identity(1), "expired")
    assert [outcome.status for outcome in await clerk.settle(store, [matter])] == ["done"]
    assert [outcome.status for outcome in await clerk.settle(store, [matter])] == ["stale"]
