"""What whoever uses a door may rely on."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from typing import Any

from posthouse.message.envelope import Envelope
from posthouse.message.message import HOP, Body, Section
from posthouse.testing.build import number_of
from posthouse.testing.journey import message
from posthouse.transport.ports import Outgoing, Result
from tests.contract.door.neighbour import Arrived, Neighbour, Opening

LARGE = bytes(range(256)) * 1000


async def large(start: int = 0, /) -> AsyncIterator[bytes]:
    for at in range(start, len(LARGE), 10_000):
        yield LARGE[at : at + 10_000]


# `Any`: the fields of a head.
def outgoing(there: Neighbour, number: int, *, to: str = "bob", sender: str = "alice", **fields: Any) -> Outgoing:
    name = f"{there.name}#{to}"
    written = message(number, sender=sender, recipients=(name,), **fields).with_section(Section(HOP, b"local:east 1"))
    return Outgoing(written, Envelope(sender=sender, recipients=(name,)))


async def deliver(there: Neighbour, *batch: Outgoing) -> list[Result]:
    results = await there.door.deliver(there.name, batch)
    assert len(results) == len(batch)
    return list(results)


def statuses(results: list[Result]) -> list[str]:
    return [result.status for result in results]


def numbers(arrived: list[Arrived]) -> list[int]:
    return [number_of(each.message.id) for each in arrived]


async def test_a_message_arrives_as_it_left(opening: Opening) -> None:
    """A-021, A-050"""
    async with opening() as there:
        sent = outgoing(there, 1, body=b"\x00\xff", kind="order", correlation="7", attributes={})
        assert statuses(await deliver(there, sent)) == ["delivered"]
        (arrived,) = await there.arrived("bob")
        assert arrived.message.head == sent.message.head
        assert arrived.message.body == b"\x00\xff"
        assert arrived.message.sections == sent.message.sections
        assert (arrived.envelope.sender, arrived.envelope.recipients) == ("alice", (f"{there.name}#bob",))


async def test_a_batch_arrives_in_its_order(opening: Opening) -> None:
    """A-051"""
    async with opening() as there:
        batch = [outgoing(there, number) for number in range(1, 101)]
        assert statuses(await deliver(there, *batch)) == ["delivered"] * 100
        assert numbers(await there.arrived("bob")) == list(range(1, 101))


async def test_nothing_is_a_batch_too(opening: Opening) -> None:
    async with opening() as there:
        assert await deliver(there) == []


async def test_a_message_brought_twice_is_kept_once(opening: Opening) -> None:
    """A-055"""
    async with opening() as there:
        for _ in range(3):
            assert statuses(await deliver(there, outgoing(there, 1), outgoing(there, 2))) == ["delivered"] * 2
        assert numbers(await there.arrived("bob")) == [1, 2]


async def test_several_recipients_get_one_message_each(opening: Opening) -> None:
    async with opening() as there:
        names = (f"{there.name}#bob", f"{there.name}#carol")
        sent = Outgoing(message(recipients=names), Envelope(sender="alice", recipients=names[:1], blind=names[1:]))
        assert statuses(await deliver(there, sent)) == ["delivered"]
        assert len(await there.arrived("bob") or await there.arrived("carol")) == 1


async def test_where_one_has_to_be_brought_again_so_has_the_rest_of_its_lane(opening: Opening) -> None:
    """A-052"""
    async with opening() as there:
        await there.fill("bob")
        batch = [
            outgoing(there, 1, to="carol"),
            outgoing(there, 2),
            outgoing(there, 3, to="carol"),
            outgoing(there, 4, to="carol", sender="dave"),
        ]
        results = await deliver(there, *batch)
        assert statuses(results) == ["delivered", "unreachable", "unreachable", "delivered"]
        assert results[1].reason
        assert numbers(await there.arrived("carol")) == [1, 4]
        await there.empty("bob")
        assert statuses(await deliver(there, *batch[1:3])) == ["delivered", "delivered"]


async def test_an_office_where_nobody_answers_is_unreachable(opening: Opening) -> None:
    """A-048"""
    async with opening() as there:
        await there.lock_up()
        try:
            results = await deliver(there, outgoing(there, 1), outgoing(there, 2))
        except Exception:  # noqa: BLE001 - whatever is raised counts as unreachable, says the port
            return
        assert statuses(results) == ["unreachable", "unreachable"]
        assert results[0].reason


async def test_a_large_body_arrives_whole(opening: Opening) -> None:
    async with opening() as there:
        body = Body(hashlib.sha256(LARGE).hexdigest(), len(LARGE))
        sent = outgoing(there, 1, body=body)._replace(pieces=large)
        assert statuses(await deliver(there, sent)) == ["delivered"]
        (arrived,) = await there.arrived("bob")
        assert arrived.message.body == body
        assert await there.body(body) == LARGE


async def test_a_greeting_brings_nothing(opening: Opening) -> None:
    async with opening() as there:
        await there.door.greet()
        assert await there.arrived("bob") == []
        await there.lock_up()
        await there.door.greet()


async def test_a_door_says_which_names_it_serves_and_closes(opening: Opening) -> None:
    async with opening() as there:
        assert there.name.startswith(f"{there.door.protocol}:")
        await there.door.close()
