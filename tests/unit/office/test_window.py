from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.errors import PosthouseError
from posthouse.office.callform import read_call, read_reply, write_call, write_public
from posthouse.office.calls import AskStatus, AwaitArrival, Call, Put, SettleTaken, TakeNext, slip_of
from posthouse.office.mailbox import BadRequest, NotHere
from posthouse.office.window import MAX_QUESTION, NotReadable, Window
from tests.unit.office.rig import Rig, at_work, numbers


def window(rig: Rig) -> Window:
    return Window(rig.house, "http://west.example:8025/main", leave=lambda mailbox: mailbox == "bob")


async def ask(at: Window, call: Call[Any]) -> Any:
    return read_reply(call, await at.answer(write_call(call)))


@at_work()
async def test_an_office_takes_and_settles_what_it_may_read(rig: Rig) -> None:
    """A-061, A-063, A-065"""
    await rig.put(1)
    at = window(rig)
    taken = await ask(at, TakeNext(mailbox="local:east#bob"))
    assert numbers(taken) == [1]
    (queued,) = await rig.queued()
    assert queued.holder == "office http://west.example:8025/main"
    assert await ask(at, SettleTaken(slips=[slip_of(one) for one in taken], event="acknowledged")) == [True]
    assert await rig.queued() == []


@at_work()
async def test_an_office_gets_nothing_it_has_no_leave_for(rig: Rig) -> None:
    await rig.put(1, to="carol")
    for call in (TakeNext(mailbox="carol"), AwaitArrival(mailbox="carol"), AskStatus(), Put(parcels=[])):
        with pytest.raises(NotReadable) as told:
            await ask(window(rig), call)
        assert "carol" not in str(told.value)
    with pytest.raises(NotHere):
        await ask(window(rig), TakeNext(mailbox="local:north#bob"))
    assert await rig.take("carol")


@at_work()
async def test_an_office_settles_nothing_that_lies_elsewhere_than_it_says(rig: Rig) -> None:
    await rig.put(1, to="carol")
    (taken,) = await rig.take("carol")
    honest = slip_of(taken)
    forged = msgspec.structs.replace(honest, box="#bob")
    far = msgspec.structs.replace(forged, office="local:north")
    call = SettleTaken(slips=[honest, forged, far], event="acknowledged")
    assert await ask(window(rig), call) == [False, False, False]
    assert await rig.settle("acknowledged", taken) == [True]


@at_work()
async def test_what_cannot_be_answered_is_told(rig: Rig) -> None:
    at = window(rig)
    for question in (b"", b"\xff" * 10, bytes(MAX_QUESTION + 1), b"\x91" * 10_000):
        with pytest.raises(BadRequest):
            read_reply(AskStatus(), await at.answer(question))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_call_or_told(question: bytes) -> None:
    try:
        read_call(question)
    except BadRequest:
        return


@given(st.binary(max_size=200))
def test_any_bytes_are_an_answer_or_told(answer: bytes) -> None:
    try:
        read_reply(TakeNext(mailbox="bob"), answer)
    except PosthouseError:
        return


def test_a_stranger_is_told_no_more_than_the_public_text() -> None:
    with pytest.raises(NotReadable, match="does not let") as told:
        read_reply(AskStatus(), write_public(NotReadable("the inside", where="a secret place")))
    assert "secret" not in str(told.value)


@at_work()
async def test_a_take_asked_again_gives_the_same_for_its_answer_was_lost(rig: Rig) -> None:
    """A-064"""
    at = window(rig)
    for number in (1, 2):
        await rig.put(number, envelope={"sender": str(number)})
    first = await ask(at, TakeNext(mailbox="bob", ticket="a"))
    again = await ask(at, TakeNext(mailbox="bob", ticket="a"))
    assert numbers(first) == numbers(again) == [1]
    assert numbers(await ask(at, TakeNext(mailbox="bob", ticket="b"))) == [2]
    assert await ask(at, SettleTaken(slips=[slip_of(first[0])], event="acknowledged")) == [True]
    assert await ask(at, TakeNext(mailbox="bob", ticket="a")) == []


@at_work()
async def test_what_was_lent_to_a_take_that_is_given_up_goes_back(rig: Rig) -> None:
    """A-064"""
    at = window(rig)
    waiting = asyncio.create_task(ask(at, TakeNext(mailbox="bob", wait=None, ticket="a")))
    await rig.takers(1)
    assert await ask(at, SettleTaken(slips=[], event="returned", ticket="a")) == []
    await rig.takers(0)
    await asyncio.gather(waiting, return_exceptions=True)
    await rig.put(1)
    await ask(at, TakeNext(mailbox="bob", ticket="b"))
    assert await rig.take() == []
    assert await ask(at, SettleTaken(slips=[], event="returned", ticket="b")) == []
    assert numbers(await rig.take()) == [1]
