from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from posthouse.errors import PosthouseError
from posthouse.message.changes import Filter
from posthouse.message.envelope import Envelope
from posthouse.message.message import Body, Head, compose
from posthouse.office.calls import AskStatus, AwaitArrival, ReadBody, SettleTaken, TakeNext, slip_of
from posthouse.office.house import House
from posthouse.office.sorting import Parcel
from posthouse.office.window import NotReadable
from posthouse.testing.build import START, identity, number_of
from posthouse.transport.ports import Unreachable
from tests.contract.errand.neighbours import Neighbours, Opening, over_http


async def put(house: House, number: int, *, to: str = "bob", body: bytes | Body = b"", kind: str = "mail") -> None:
    head = Head(id=identity(number), kind=kind, sender=f"alice the {kind}", recipients=(to,), created=START)
    envelope = Envelope(sender=f"alice the {kind}", recipients=(to,))
    (receipt,) = await house.counter.accept([Parcel(compose(head, body), envelope)])
    assert receipt.status == "accepted"


async def waiting_there(at: Neighbours, count: int) -> None:
    while (await at.west.answer(AskStatus())).waiting < count:  # noqa: ASYNC110 - going to wait sets no event
        await asyncio.sleep(0)


async def test_a_message_is_taken_and_settled_where_it_lies(opening: Opening) -> None:
    """A-061, A-063, A-065"""
    async with opening() as at:
        for number in (1, 2):
            await put(at.west, number)
        (first,) = await at.east.answer(TakeNext(mailbox=at.place))
        assert number_of(first.leased.letter.id) == 1
        assert await at.west.answer(TakeNext(mailbox="bob")) == []
        assert await at.east.answer(SettleTaken(slips=[slip_of(first)], event="renewed", lease=60.0)) == [True]
        assert await at.east.answer(SettleTaken(slips=[slip_of(first)], event="returned")) == [True]
        taken = await at.east.answer(TakeNext(mailbox=at.place, limit=10))
        assert [number_of(one.leased.letter.id) for one in taken] == [1, 2]
        call = SettleTaken(slips=[slip_of(one) for one in taken], event="acknowledged")
        assert await at.east.answer(call) == [True, True]
        assert await at.east.answer(call) == [False, False]


async def test_six_ways_to_ask(opening: Opening) -> None:
    """A-065, A-066"""
    async with opening() as at:
        await put(at.west, 1)
        await put(at.west, 2, kind="order")
        for wait in (0.0, 0.01):
            assert await at.east.answer(TakeNext(mailbox=at.place, filter=Filter("none"), wait=wait)) == []
            assert await at.east.answer(TakeNext(mailbox=at.place, filter=Filter(None, "7"), wait=wait)) == []
        for chosen, number in ((Filter("order"), 2), (Filter(), 1)):
            (taken,) = await at.east.answer(TakeNext(mailbox=at.place, filter=chosen, wait=5.0))
            assert number_of(taken.leased.letter.id) == number


async def test_who_waits_is_woken_by_what_arrives(opening: Opening) -> None:
    """A-035, A-061"""
    async with opening() as at:
        waiting = asyncio.create_task(at.east.answer(TakeNext(mailbox=at.place, wait=None)))
        sign = asyncio.create_task(at.east.answer(AwaitArrival(mailbox=at.place)))
        since = await sign
        sign = asyncio.create_task(at.east.answer(AwaitArrival(mailbox=at.place, since=since)))
        await waiting_there(at, 2)
        await put(at.west, 1)
        assert len(await waiting) == 1
        assert await sign != since


async def test_who_stops_waiting_leaves_everything_there(opening: Opening) -> None:
    """A-064"""
    async with opening() as at:
        for number in range(1, 11):
            waiting = asyncio.create_task(at.east.answer(TakeNext(mailbox=at.place, wait=None)))
            await waiting_there(at, 1)
            putting = asyncio.create_task(put(at.west, number, kind=f"kind{number}"))
            for _ in range(number):
                await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            await putting
            if waiting.cancelled():
                assert await at.west.answer(TakeNext(mailbox="bob", wait=5.0)), "what it would have got went back"


async def test_an_office_that_answers_nobody(opening: Opening) -> None:
    """A-062, D-A7"""
    async with opening() as at:
        at.lock()
        assert await at.east.answer(TakeNext(mailbox=at.place)) == []
        assert await at.east.answer(TakeNext(mailbox=at.place, wait=0.2)) == []
        with pytest.raises(Unreachable):
            await at.east.answer(TakeNext(mailbox=at.place, strict=True))


async def test_a_large_body_comes_from_where_its_message_came_from(opening: Opening) -> None:
    async with opening() as at:
        content = bytes(range(256)) * 10_000

        async def pieces() -> AsyncIterator[bytes]:
            yield content

        body = await at.west.counter.save_body(pieces())
        await put(at.west, 1, body=body)
        (taken,) = await at.east.answer(TakeNext(mailbox=at.place))
        assert taken.leased.letter.body == body
        read = b""
        while piece := await at.east.answer(ReadBody(body=body, start=len(read))):
            read += piece
        assert read == content


async def test_many_wait_at_once(opening: Opening) -> None:
    async with opening() as at:
        waiting = [asyncio.create_task(at.east.answer(TakeNext(mailbox=at.place, wait=None))) for _ in range(30)]
        await waiting_there(at, 30)
        for number in range(30):
            await put(at.west, number + 1, kind=f"kind{number}")
        taken = [one for found in await asyncio.gather(*waiting) for one in found]
        assert sorted(number_of(one.leased.letter.id) for one in taken) == list(range(1, 31))


async def test_a_peer_reads_what_it_was_given_leave_to_read_and_nothing_else() -> None:
    async with over_http() as at:
        office = at.west.terms.name
        for number, mailbox in enumerate(("bob", "bobby", "dave"), start=1):
            await put(at.west, number, to=mailbox)
            assert await at.east.answer(TakeNext(mailbox=f"{office}#{mailbox}"))
        for mailbox in ("carol", "dav", "dave2", "b"):
            with pytest.raises(NotReadable):
                await at.east.answer(TakeNext(mailbox=f"{office}#{mailbox}", wait=None))


async def test_an_office_that_is_not_listed_is_not_asked() -> None:
    async with over_http() as at:
        with pytest.raises(PosthouseError, match="listed"):
            await at.east.answer(TakeNext(mailbox="http://stranger.example:8025/main#bob", wait=None))
