"""The disk under a desk is full: what comes in is put off, and what is held stays held until there is room again."""

from __future__ import annotations

from pathlib import Path

from posthouse.clock import SystemClock
from posthouse.message.envelope import Envelope
from posthouse.message.message import Head, compose
from posthouse.office.calls import ListQueue, TakeNext
from posthouse.office.deskcalls import Activate, Decide, Decision, ListDockets, WriteEdition
from posthouse.office.house import House
from posthouse.office.intake import Stores
from posthouse.office.sorting import Parcel
from posthouse.office.terms import Terms
from posthouse.store.memory.store import MemoryStore
from posthouse.store.sqlite.store import SqliteStore
from posthouse.testing.disk import Disk, Layer, Trouble
from tests.scenario.crash.plans import ORGANISATION, RED, RULES, SENDER

BOOKS = {"organisation": ORGANISATION, "rules": RULES, "policy": 'undo = "0 seconds"\n'}


def parcel(clock: SystemClock, text: bytes) -> Parcel:
    head = Head(
        id=clock.new_id(), kind="mail", sender=SENDER, recipients=(RED,), content_type="text/plain; charset=utf-8"
    )
    return Parcel(compose(head, text), Envelope(sender=SENDER, recipients=(RED,)))


# G-218
async def test_a_full_disk_puts_off_what_comes_and_lets_go_of_nothing(tmp_path: Path) -> None:
    clock = SystemClock()
    disk = Disk("full under a desk")
    store = await SqliteStore.open(tmp_path / "office.db", vfs=disk.name, layer=Layer(disk))
    house = House(clock, Terms(), stores=Stores(store, await MemoryStore.open(retain=10)))
    await house.start()
    try:
        for book, text in BOOKS.items():
            assert (await house.answer(WriteEdition(book=book, text=text, by="zoe"))).edition is not None
            await house.answer(Activate(book=book, number=1, by="zoe"))
        (receipt,) = await house.counter.accept([parcel(clock, b"ten sacks")])
        assert receipt.status == "accepted"
        (before,) = await house.answer(ListDockets())
        release = Decide(
            decisions=[Decision(case=before.case, turn=1, command="release", id="once")], gatekeeper="Sales", by="ada"
        )

        with disk.in_trouble(Trouble("full")):
            for said in (b"eleven sacks", b"bread"):
                (receipt,) = await house.counter.accept([parcel(clock, said)])
                assert (receipt.status, receipt.temporary) == ("refused", True)
            (answer,) = await house.answer(release)
            assert answer.status != "done"
            assert await house.answer(ListDockets()) == [before]
            assert await house.answer(ListQueue(box=f"#{RED}")) == []

        (answer,) = await house.answer(release)
        assert answer.status == "done"
        assert await house.answer(TakeNext(mailbox=RED, wait=None, holder="red"))
    finally:
        await house.stop()
        await store.close()
        disk.unregister()
