from __future__ import annotations

from typing import Any

import msgspec
import pytest

from posthouse.errors import PosthouseError
from posthouse.office.callform import read_reply, write_call
from posthouse.office.calls import AnyCall, AskStatus, Call, SettleTaken, TakeNext, slip_of
from posthouse.office.deskcalls import AnyDeskCall
from posthouse.office.house import House
from posthouse.office.intake import Stores
from posthouse.office.mailbox import BadRequest
from posthouse.office.permission import NotPermitted
from posthouse.server.control import Guest, OfficeSession
from posthouse.store.memory.store import MemoryStore
from posthouse.testing.clock import FakeClock
from tests.unit.office.rig import TERMS, parcel


async def house() -> House:
    opened = House(FakeClock(), TERMS, stores=Stores(await MemoryStore.open(), await MemoryStore.open()))
    await opened.start()
    await opened.counter.accept([parcel(1), parcel(2, to="carol")])
    return opened


async def ask(session: OfficeSession, call: Call[Any]) -> Any:
    return read_reply(call, await session.answer(write_call(call)))


def nothing_but_mail(call: AnyCall | AnyDeskCall) -> None:
    if isinstance(call, AskStatus):
        raise NotPermitted("the key does not permit this")


async def test_a_guest_is_asked_about_each_call_and_named_by_the_office() -> None:
    opened = await house()
    session = OfficeSession(opened, Guest("key a", nothing_but_mail))
    with pytest.raises(NotPermitted):
        await ask(session, AskStatus())
    (taken,) = await ask(session, TakeNext(mailbox="bob", holder="somebody else"))
    (queued,) = await opened._stores.durable.queue.entries("#bob")
    assert queued.holder == "key a"
    await session.end(gone=True)
    assert await ask(session, SettleTaken(slips=[slip_of(taken)], event="acknowledged")) == [False], "it went back"
    await opened.stop()


async def test_a_guest_settles_nothing_elsewhere_that_was_not_lent_to_him() -> None:
    opened = await house()
    session = OfficeSession(opened, Guest("key a", nothing_but_mail))
    (mine,) = await ask(session, TakeNext(mailbox="bob"))
    far = msgspec.structs.replace(slip_of(mine), office="http://west.example:8025/main")
    near = slip_of(mine)
    assert await ask(session, SettleTaken(slips=[far, near], event="acknowledged")) == [False, True]
    await opened.stop()


async def test_who_waits_says_what_for_in_few_words() -> None:
    opened = await house()
    session = OfficeSession(opened, Guest("key a", nothing_but_mail))
    with pytest.raises(BadRequest, match="bytes to say"):
        await ask(session, TakeNext(mailbox="b" * 20_000, wait=None))
    with pytest.raises(PosthouseError, match="cannot be read"):
        read_reply(AskStatus(), await session.answer(b"garbage"))
    await opened.stop()
