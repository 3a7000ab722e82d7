"""The audit of an office is sealed each minute and when it closes, listed by pages, and erased by subject."""

from __future__ import annotations

import asyncio
import hashlib

import msgspec
import pytest

from posthouse.message.audit import Signer, sealed_bytes
from posthouse.message.changes import Changes
from posthouse.office.audit import AuditRoom
from posthouse.office.deskcalls import EraseAudit, ListAudit, ListSeals
from posthouse.office.mailbox import BadRequest
from posthouse.office.terms import Terms
from posthouse.store.memory.store import MemoryStore
from posthouse.testing.build import START
from posthouse.testing.clock import FakeClock
from posthouse.testing.gated import audited
from posthouse.transport.http.keyfile import KeyUnusable

KEY = b"k" * 32


def sign(data: bytes) -> bytes:
    return hashlib.sha256(KEY + data).digest()


class Room:
    """An audit room over a store in memory."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = MemoryStore()
        self.asked = 0
        self.is_keyless = False
        self.audit = AuditRoom(self.clock, Terms(), store=self.store, signer=self.signer)

    def signer(self) -> Signer:
        self.asked += 1
        if self.is_keyless:
            raise KeyUnusable("the disk is gone")
        return Signer(KEY, sign)

    async def record(self, *subjects: str) -> None:
        await self.store.commit([Changes(audits=tuple(map(audited, subjects)))])

    async def sealed(self) -> list[int]:
        return [seal.number for seal in await self.audit.seals(ListSeals())]


async def test_nothing_is_sealed_and_no_key_asked_for_where_nothing_is_recorded() -> None:
    room = Room()
    await room.audit.close()
    assert await room.sealed() == []
    assert room.asked == 0


async def test_a_seal_is_signed_and_made_once_for_each_newest_record() -> None:
    room = Room()
    await room.record("a", "b")
    await room.audit.seal()
    await room.audit.seal()
    (seal,) = await room.audit.seals(ListSeals())
    last = await room.store.gate.audit.last()
    assert last is not None
    assert (seal.number, seal.chain, seal.at, seal.key) == (2, last.chain, START, KEY)
    assert seal.signature == sign(sealed_bytes(msgspec.structs.replace(seal, signature=b"")))
    await room.record("c")
    assert [one.number for one in await room.audit.seals(ListSeals(is_fresh=True))] == [2, 3]
    assert room.asked == 1


async def test_it_is_sealed_each_minute() -> None:
    room = Room()
    await room.record("a")
    running = asyncio.create_task(room.audit.run())
    for minute in (1, 2, 3):
        await room.clock.somebody_waits(START + minute * 60_000_000)
        await room.record("b")
        room.clock.advance(60)
    await room.clock.somebody_waits(START + 4 * 60_000_000)
    running.cancel()
    assert await room.sealed() == [2, 3, 4]


async def test_a_key_that_cannot_be_used_stops_nothing() -> None:
    room = Room()
    room.is_keyless = True
    await room.record("a")
    await room.audit.close()
    room.is_keyless = False
    await room.audit.close()
    assert await room.sealed() == [1]


async def test_records_are_listed_by_pages_and_by_subject() -> None:
    room = Room()
    await room.record("a", "b", "a", "b")
    for call, numbers in (
        (ListAudit(), [1, 2, 3, 4]),
        (ListAudit(after=1, limit=2), [2, 3]),
        (ListAudit(subject="b"), [2, 4]),
        (ListAudit(subject="b", after=2), [4]),
    ):
        assert [line.number for line in await room.audit.listed(call)] == numbers


async def test_what_is_erased_is_recorded_with_its_reason() -> None:
    room = Room()
    await room.record("a", "b", "a")
    assert await room.audit.erase(EraseAudit(subject="a", by="dan", reason="the law")) == 2
    lines = await room.audit.listed(ListAudit())
    assert [line.payload is None for line in lines] == [True, False, True, False]
    last = lines[-1]
    assert (last.actor, last.act, last.subject) == ("dan", "audit.erased", "a")
    assert last.payload is not None
    assert msgspec.msgpack.decode(last.payload) == {"records": 2, "reason": "the law"}
    with pytest.raises(BadRequest):
        await room.audit.erase(EraseAudit(subject=""))
