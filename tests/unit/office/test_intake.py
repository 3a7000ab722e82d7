from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from posthouse.message import features
from posthouse.message.changes import Changes, Outcome, Setup
from posthouse.message.journey import Journey
from posthouse.message.message import Body
from posthouse.message.passage import Facts, Limits, Passage
from posthouse.office.agenda import Agenda
from posthouse.office.intake import Intake, Receipt, Stores
from posthouse.office.sorting import Parcel
from posthouse.office.terms import DAY, SECOND, Terms
from posthouse.route import ROUTE, Stage
from posthouse.store.memory.bodies import MemoryBodies
from posthouse.store.memory.store import MemoryStore
from posthouse.testing.build import START, identity
from posthouse.testing.clock import FakeClock
from tests.unit.office.rig import TERMS, Rig, at_work, numbers, parcel


def told(receipt: Receipt) -> tuple[str, str, bool]:
    return receipt.status, receipt.code, receipt.temporary


@at_work()
async def test_what_is_accepted_waits_in_its_mailbox(rig: Rig) -> None:
    """A-049, A-057"""
    receipt = await rig.put(1)
    assert receipt == Receipt(status="accepted", id=identity(1))
    assert await rig.holds() == [1]
    assert await rig.life(1) == ["accepted"]


@at_work()
async def test_a_batch_is_answered_one_by_one_and_in_order(rig: Rig) -> None:
    batch = [parcel(1), parcel(2, to="not a name"), parcel(1), parcel(3, keep="memory"), parcel(4)]
    receipts = await rig.house.counter.accept(batch)
    assert [receipt.status for receipt in receipts] == ["accepted", "refused", "duplicate", "accepted", "accepted"]
    assert await rig.holds() == [1, 4]
    assert await rig.house.counter.accept([]) == []


@at_work()
async def test_the_same_id_is_accepted_once(rig: Rig) -> None:
    """A-055"""
    await rig.put(1)
    again = await rig.put(1, to="carol")
    assert (again.status, again.id) == ("duplicate", identity(1))
    assert await rig.holds("#carol") == []


@at_work()
async def test_a_key_is_accepted_once_for_each_principal(rig: Rig) -> None:
    async def put(number: int, principal: str) -> Receipt:
        return await rig.put(number, envelope={"idempotency": "order 7", "principal": principal})

    assert (await put(1, "user 1")).status == "accepted"
    again = await put(2, "user 1")
    assert (again.status, again.id) == ("duplicate", identity(1))
    assert (await put(3, "user 2")).status == "accepted"
    rig.clock.advance(TERMS.key_days * DAY / SECOND)
    assert (await put(4, "user 1")).status == "accepted"


@at_work()
async def test_a_full_mailbox_refuses_for_now_and_says_so(rig: Rig) -> None:
    await rig.set_up("bob", max_messages=1)
    await rig.put(1)
    full = await rig.put(2)
    assert told(full) == ("refused", "mailbox.full", True)
    assert "1 messages" in full.reason
    await rig.settle("acknowledged", await rig.take_one())
    assert (await rig.put(2)).status == "accepted"


@at_work()
async def test_bytes_may_be_limited_too(rig: Rig) -> None:
    await rig.set_up("bob", max_bytes=5)
    assert (await rig.put(1, body=b"123")).status == "accepted"
    assert told(await rig.put(2, body=b"123")) == ("refused", "mailbox.full", True)
    assert (await rig.put(3, body=b"12")).status == "accepted"


@at_work()
async def test_all_places_of_a_message_or_none(rig: Rig) -> None:
    await rig.set_up("carol", max_messages=0)
    receipt = await rig.put(1, envelope={"recipients": ("bob", "carol")})
    assert told(receipt) == ("refused", "mailbox.full", True)
    assert await rig.holds() == []


@at_work(terms=msgspec.structs.replace(TERMS, limits=Limits(listed_only=True)))
async def test_an_unlisted_mailbox_refuses_where_only_listed_ones_exist(rig: Rig) -> None:
    assert told(await rig.put(1)) == ("refused", "mailbox.unknown", False)
    await rig.set_up("bob")
    assert (await rig.put(1)).status == "accepted"


@at_work()
async def test_a_memory_message_takes_the_same_route_and_leaves_the_durable_store_alone(rig: Rig) -> None:
    """A-071"""
    assert (await rig.put(1, keep="memory")).status == "accepted"
    assert await rig.holds() == []
    assert await rig.stores.durable.journal.count() == 0
    assert numbers(await rig.take()) == [1]


@at_work()
async def test_memory_messages_are_accepted_whatever_was_set_up(rig: Rig) -> None:
    await rig.set_up("carol", max_messages=9)
    await rig.set_up("bob", max_messages=1)
    assert (await rig.put(1, keep="memory")).status == "accepted"
    assert told(await rig.put(2, keep="memory")) == ("refused", "mailbox.full", True)


@at_work()
async def test_a_large_body_must_be_there_before_its_message(rig: Rig) -> None:
    missing = await rig.put(1, body=Body("0" * 64, 70_000))
    assert told(missing) == ("refused", "body.missing", False)

    async def pieces() -> Any:
        yield b"x" * 70_000

    body = await rig.house.counter.save_body(pieces())
    assert (await rig.put(1, body=body)).status == "accepted"


def break_down(_journeys: Sequence[Journey], _facts: Facts) -> Passage:
    raise ZeroDivisionError("a bug")


@at_work(route=[*ROUTE, Stage("doubtful", break_down)])
async def test_what_hits_a_bug_is_accepted_and_set_aside(rig: Rig) -> None:
    receipts = await rig.house.counter.accept([parcel(1), parcel(2, keep="memory")])
    assert [receipt.status for receipt in receipts] == ["accepted", "accepted"]
    assert [aside.message for aside in await rig.asides()] == [identity(1), identity(2)]
    assert {aside.reason for aside in await rig.asides()} == {"ZeroDivisionError: a bug"}


class Changing(MemoryStore):
    """A store whose register changes while messages are decided on: so many times, then no more."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times
        self.commits = 0

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        self.commits += 1
        if self.times:
            self.times -= 1
            await super().commit([Changes(setups=(Setup(mailbox="carol"),))])
        return await super().commit(changes)


def intake_of(store: MemoryStore) -> Intake:
    clock = FakeClock()
    return Intake(clock, Terms(), stores=Stores(store, MemoryStore()), agenda=Agenda(clock))


async def test_what_was_decided_on_old_facts_is_decided_again() -> None:
    store = Changing(3)
    (receipt,) = await intake_of(store).accept([parcel(1)])
    assert receipt.status == "accepted"
    assert store.commits == 4


async def test_an_office_that_changes_too_fast_asks_to_come_back() -> None:
    (receipt,) = await intake_of(Changing(10**6)).accept([parcel(1)])
    assert told(receipt) == ("refused", "office.busy", True)


class Full(MemoryStore):
    """A store that cannot write."""

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        return [Outcome(status="refused", detail="the disk is full")] * len(changes)


async def test_a_store_that_cannot_write_refuses_for_now() -> None:
    (receipt,) = await intake_of(Full()).accept([parcel(1)])
    assert told(receipt) == ("refused", "store.unavailable", True)
    assert receipt.reason == "the disk is full"


@at_work()
async def test_a_message_held_back_waits_in_its_mailbox_unseen(rig: Rig) -> None:
    await rig.put(1, envelope={"not_before": START + SECOND})
    assert await rig.holds() == [1]
    assert await rig.take() == []


LARGE = msgspec.structs.replace(TERMS, limits=Limits(body_bytes=100 << 20))
MAIL_HEAD = b"From: a@one.example\r\nSubject: Large\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"


def large_mail(size: int, *, text: str = "find me") -> Iterator[bytes]:
    yield MAIL_HEAD + b"--b\r\n\r\n" + text.encode() + b"\r\n--b\r\nContent-Type: x/y\r\n\r\n"
    for _ in range(size >> 20):
        yield b"0123456789abcde\n" * 65_536
    yield b"\r\n--b--"


async def saved(rig: Rig, pieces: Iterable[bytes]) -> Body:
    async def chunks() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    return await rig.house.counter.save_body(chunks())


async def features_at(rig: Rig, number: int = 1) -> features.MailFeatures | None:
    letter = await rig.stores.durable.journal.letter(identity(number))
    assert letter is not None
    return features.decode(letter.features).mail


def large_parcel(number: int, body: Body, **fields: Any) -> Parcel:
    return parcel(number, body=body, **{"kind": "mail", "content_type": features.MAIL} | fields)


@at_work(terms=LARGE)
async def test_of_a_mail_with_a_large_body_the_beginning_is_read(rig: Rig) -> None:
    body = await saved(rig, large_mail(3 << 20))
    (receipt,) = await rig.house.counter.accept([large_parcel(1, body)])
    assert receipt.status == "accepted"
    found = await features_at(rig)
    assert found is not None
    assert (found.subject, found.text, found.attachments) == ("Large", "find me", None)
    assert set(found.unknown) == {"text", "hidden", "attachments", "is_signed", "is_encrypted"}


@at_work(terms=LARGE)
async def test_a_mail_that_is_shorter_than_that_is_known_whole(rig: Rig) -> None:
    body = await saved(rig, large_mail(1 << 20))
    await rig.house.counter.accept([large_parcel(1, body)])
    found = await features_at(rig)
    assert found is not None
    assert (found.text, found.unknown) == ("find me", ())
    assert [each.size for each in found.attachments or ()] == [1 << 20]


@at_work(terms=LARGE)
async def test_of_other_messages_no_large_body_is_read(rig: Rig) -> None:
    body = await saved(rig, large_mail(1 << 20))
    await rig.house.counter.accept([large_parcel(1, body, kind="event"), large_parcel(2, body, content_type="x/y")])
    assert (await features_at(rig, 1), await features_at(rig, 2)) == (None, None)


@at_work(terms=LARGE)
async def test_large_mails_are_answered_in_their_order_among_others(rig: Rig) -> None:
    body = await saved(rig, large_mail(1 << 20))
    missing = Body("0" * 64, 70_000)
    batch = [large_parcel(n, body) if n % 2 else parcel(n) for n in range(1, 31)]
    batch[9:9] = [large_parcel(40, missing), large_parcel(41, body, to="not a name"), batch[0]]
    receipts = await rig.house.counter.accept(batch)
    assert [told(receipt)[:2] for receipt in receipts[9:12]] == [
        ("refused", "body.missing"), ("refused", "name.malformed"), ("duplicate", "duplicate"),
    ]  # fmt: skip
    assert [receipt.status for receipt in receipts[:9] + receipts[12:]] == ["accepted"] * 30
    assert await rig.holds() == list(range(1, 31))
    for number in (1, 29):
        found = await features_at(rig, number)
        assert found is not None
        assert found.text == "find me"


class Waiting(MemoryBodies):
    """Bodies that are read as soon as the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()
        self.go = asyncio.Event()
        self.now = self.most = 0

    async def read(self, body: Body, *, start: int = 0) -> AsyncIterator[bytes]:
        self.now += 1
        self.most = max(self.most, self.now)
        self.asked.set()
        await self.go.wait()
        async for piece in super().read(body, start=start):
            yield piece
        self.now -= 1


async def test_nobody_waits_for_the_large_mails_of_others() -> None:
    store = MemoryStore()
    store.bodies = bodies = Waiting()

    async def chunks() -> AsyncIterator[bytes]:
        for piece in large_mail(0):
            yield piece

    body = await bodies.save(chunks(), limit=10**6)
    intake = intake_of(store)
    batches = [[large_parcel(first + more, body) for more in range(50)] for first in range(50, 450, 50)]
    slow = [asyncio.create_task(intake.accept(batch)) for batch in batches]
    await bodies.asked.wait()
    (receipt,) = await intake.accept([parcel(1)])
    assert receipt.status == "accepted"
    bodies.go.set()
    for answers in await asyncio.gather(*slow):
        assert {receipt.status for receipt in answers} == {"accepted"}
    assert bodies.most <= 16, "what is read at once is bounded, however many come"


@at_work(terms=LARGE)
async def test_a_mail_of_50_mb_takes_no_more_memory_than_one_of_3(rig: Rig) -> None:
    bodies = [await saved(rig, large_mail(size << 20, text=f"{size} MB")) for size in (3, 50)]
    tracemalloc.start()
    try:
        for number, body in enumerate(bodies):
            await rig.house.counter.accept([large_parcel(number, body)])
            if number == 0:
                tracemalloc.reset_peak()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16 << 20
    found = await features_at(rig, 1)
    assert found is not None
    assert found.text == "50 MB"
