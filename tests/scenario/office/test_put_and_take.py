"""Handing in and fetching, over both ways to the office."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from posthouse.client import Draft, Filter, Int32, LeaseLost, Message, Office, Refused
from posthouse.errors import PosthouseError
from posthouse.message.message import Body
from posthouse.office.calls import AskStatus, SettleTaken, Tell
from posthouse.testing.build import identity
from tests.scenario.office.ways import Way


async def bodies(
    office: Office, mailbox: str = "bob", *, kind: str | None = None, correlation: str | None = None
) -> list[bytes]:
    """Get everything there is."""
    found: list[bytes] = []
    while (message := await office.get(mailbox, kind=kind, correlation=correlation)) is not None:
        assert isinstance(message.body, bytes)
        found.append(message.body)
    return found


async def test_what_is_put_can_be_got(way: Way, tmp_path: Path) -> None:
    """A-011, A-013, A-021, A-025"""
    async with way(tmp_path / "office.db") as office:
        sent = await office.put(
            "bob",
            b"\x00\xff",
            kind="order.new",
            sender="alice",
            correlation="7",
            priority=8,
            reply_to="alice",
            content_type="application/octet-stream",
            attributes={"amount": Int32(3), "note": "ü"},
        )
        got = await office.get("bob")
        assert got == sent
        assert isinstance(got, Message)
        assert got.attributes["note"] == "ü"
        assert await office.get("bob") is None


async def test_the_id_that_is_given_is_the_one_that_is_got(way: Way, tmp_path: Path) -> None:
    """A-015, A-025, A-046, A-049"""
    async with way(tmp_path / "office.db") as office:
        sent = [await office.put("bob") for _ in range(50)]
        got = [await office.get("bob") for _ in range(50)]
        assert [each.id for each in sent] == [each.id for each in got if each is not None]
        assert len({each.id for each in sent}) == 50


async def test_any_word_is_a_type_without_being_declared(way: Way, tmp_path: Path) -> None:
    """A-014"""
    kind = f"x{uuid4()}"
    async with way(tmp_path / "office.db") as office:
        await office.put("bob", kind=kind)
        got = await office.get("bob", kind=kind)
        assert got is not None
        assert got.kind == kind


@pytest.mark.parametrize("priority", [0, 11, -1])
async def test_a_priority_is_from_one_to_ten(way: Way, tmp_path: Path, priority: int) -> None:
    """A-017"""
    async with way(tmp_path / "office.db") as office:
        with pytest.raises(PosthouseError, match="priority"):
            await office.put("bob", priority=priority)
        for allowed in (1, 10):
            await office.put("bob", priority=allowed)


async def test_a_response_names_what_it_answers(way: Way, tmp_path: Path) -> None:
    """A-016"""
    async with way(tmp_path / "office.db") as office:
        with pytest.raises(PosthouseError, match="correlation"):
            await office.put("bob", kind="response")
        request = await office.put("bob", kind="request", reply_to="alice")
        await office.put("alice", kind="response", correlation=str(request.id))
        answer = await office.get("alice", correlation=str(request.id))
        assert answer is not None


async def test_the_most_urgent_comes_first(way: Way, tmp_path: Path) -> None:
    """A-018, D-A5"""
    async with way(tmp_path / "office.db") as office:
        for number, priority in enumerate((5, 1, 10, 5, 10)):
            await office.put("bob", str(number), priority=priority, sender=f"s{number}")
        assert await bodies(office) == [b"2", b"4", b"0", b"3", b"1"]


async def test_six_ways_to_get(way: Way, tmp_path: Path) -> None:
    """A-028, A-032"""
    async with way(tmp_path / "office.db") as office:
        await office.put("bob", "plain")
        await office.put("bob", "typed", kind="order")
        await office.put("bob", "named", correlation="7")
        await office.put("bob", "both", kind="order", correlation="8")
        assert await bodies(office, kind="order", correlation="8") == [b"both"]
        assert await bodies(office, correlation="7") == [b"named"]
        assert await bodies(office, kind="order") == [b"typed"]
        assert await bodies(office) == [b"plain"]
        assert await office.get("bob", kind="order", wait=0.01) is None
        assert await office.get("bob", correlation="7", wait=0.01) is None


async def test_mailboxes_do_not_mix(way: Way, tmp_path: Path) -> None:
    """A-024, A-058"""
    async with way(tmp_path / "office.db") as office:
        for mailbox in ("a", "b", "größe", "local:#with%20blank"):
            await office.put(mailbox, mailbox)
        assert await bodies(office, "b") == [b"b"]
        assert await bodies(office, "größe") == ["größe".encode()]
        assert await bodies(office, "with%20blank") == [b"local:#with%20blank"]
        assert await bodies(office, "a") == [b"a"]


async def test_two_takers_and_one_lane(way: Way, tmp_path: Path) -> None:
    async with way(tmp_path / "office.db") as office:
        for number in range(4):
            await office.put("bob", str(number), sender="alice")
        head = await office.take("bob")
        assert head is not None
        assert await office.take("bob") is None, "the lane waits for its head"
        await office.put("bob", "other", sender="carol")
        other = await office.take("bob")
        assert other is not None
        assert other.message.body == b"other"
        await office.acknowledge(head)
        run = await office.take_many("bob", limit=10)
        assert [delivery.message.body for delivery in run] == [b"1", b"2", b"3"]
        await office.acknowledge(*run, other)


async def test_messages_that_need_no_order_wait_for_nobody(way: Way, tmp_path: Path) -> None:
    async with way(tmp_path / "office.db") as office:
        for _ in range(3):
            await office.put("bob", sender="alice", ordered=False)
        taken = [await office.take("bob") for _ in range(3)]
        assert all(taken)


async def test_a_filter_may_name_type_and_correlation(way: Way, tmp_path: Path) -> None:
    async with way(tmp_path / "office.db") as office:
        await office.put_many([Draft(to="bob", kind="a", correlation=str(number)) for number in range(3)])
        taken = await office.take_many("bob", limit=5, chosen=Filter(kind="a", correlation="1"))
        assert [delivery.message.correlation for delivery in taken] == ["1"]


async def test_a_batch_is_answered_one_by_one(way: Way, tmp_path: Path) -> None:
    async with way(tmp_path / "office.db") as office:
        drafts = [Draft(to="bob"), Draft(to="not a name"), Draft(to=("bob", "carol")), Draft(to=())]
        receipts = await office.put_many(drafts)
        assert [receipt.code for receipt in receipts] == ["", "name.malformed", "", "recipients.none"]
        assert await office.put_many([]) == []
        with pytest.raises(Refused) as refusal:
            await office.put("not a name")
        assert refusal.value.receipt.code == "name.malformed"


async def test_thousands_in_one_batch(way: Way, tmp_path: Path) -> None:
    async with way(tmp_path / "office.db") as office:
        receipts = await office.put_many([Draft(to="bob", body=b"x" * 2000) for _ in range(6000)])
        assert {receipt.status for receipt in receipts} == {"accepted"}
        assert (await office.call(AskStatus())).queued == 6000


async def test_the_same_message_sent_again_is_known(way: Way, tmp_path: Path) -> None:
    """A-055"""
    async with way(tmp_path / "office.db") as office:
        first = await office.put_many([Draft(to="bob", id=identity(1))])
        again = await office.put_many([Draft(to="bob", id=identity(1))])
        assert [first[0].status, again[0].status] == ["accepted", "duplicate"]
        assert len(await bodies(office)) == 1


async def test_what_is_sent_twice_under_one_key_is_accepted_once(way: Way, tmp_path: Path) -> None:
    async with way(tmp_path / "office.db") as office:
        first = await office.put("bob", "first", key="order 7")
        again = await office.put("bob", "again", key="order 7")
        assert again.id == first.id
        assert await bodies(office) == [b"first"]


async def test_nobody_can_use_the_keys_of_another(tmp_path: Path) -> None:
    async with Office.open(tmp_path / "office.db") as here, Office.open(tmp_path / "office.db") as there:
        await here.put("bob", key="k")
        there._way.principal = "user 12345"
        receipts = await there.put_many([Draft(to="bob", key="k")])
        assert receipts[0].status == "duplicate", "the socket says who is at the other end, not the envelope"


async def test_several_recipients_get_it_and_the_hidden_ones_stay_hidden(way: Way, tmp_path: Path) -> None:
    async with way(tmp_path / "office.db") as office:
        sent = await office.put(("bob", "carol"), "hello", sender="alice", blind=("dave",))
        for mailbox in ("bob", "carol", "dave"):
            delivery = await office.take(mailbox)
            assert delivery is not None
            assert delivery.message.recipients == ("bob", "carol")
            assert delivery.envelope.blind == ()
            assert b"dave" not in delivery.message.head
            await office.acknowledge(delivery)
        story = await office.call(Tell(message=sent.id))
        assert story is not None
        assert story.envelope.blind == ("dave",)


async def test_memory_messages_come_and_leave_no_trace_on_disk(way: Way, tmp_path: Path) -> None:
    """A-071"""
    async with way(tmp_path / "office.db") as office:
        sent = await office.put("bob", "passing", keep="memory")
        assert await office.call(Tell(message=sent.id)) is None
        delivery = await office.take("bob")
        assert delivery is not None
        await office.renew(delivery, lease=5)
        await office.give_back(delivery)
        assert await bodies(office) == [b"passing"]


async def test_durable_messages_outlive_the_office_and_memory_messages_do_not(way: Way, tmp_path: Path) -> None:
    """A-072"""
    path = tmp_path / "office.db"
    async with way(path) as office:
        for number in range(5):
            await office.put("bob", str(number), sender="alice", keep="memory" if number == 2 else "durable")
    async with way(path) as office:
        assert await bodies(office) == [b"0", b"1", b"3", b"4"]


def in_pieces(size: int) -> AsyncIterator[bytes]:
    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, size, 100_000):
            yield bytes(min(100_000, size - start))

    return pieces()


async def test_a_large_body_comes_and_goes_in_pieces(way: Way, tmp_path: Path) -> None:
    async with way(tmp_path / "office.db") as office:
        (tmp_path / "large").write_bytes(b"y" * 500_000)
        await office.put("bob", in_pieces(1_500_000), sender="a")
        await office.put("bob", tmp_path / "large", sender="b")
        await office.put("bob", b"z" * 70_000, sender="c")
        for expected in (bytes(1_500_000), b"y" * 500_000, b"z" * 70_000):
            message = await office.get("bob")
            assert message is not None
            assert isinstance(message.body, Body)
            assert b"".join([piece async for piece in office.body(message)]) == expected


async def test_a_body_that_is_too_large_is_refused_and_nothing_is_left_of_it(way: Way, tmp_path: Path) -> None:
    async with way(tmp_path / "office.db") as office:
        for _ in range(20):
            with pytest.raises(PosthouseError, match="at most 3000000 bytes"):
                await office.put("bob", in_pieces(3_100_000))
        assert list((tmp_path / "office.db.bodies" / "incoming").iterdir()) == []
        await office.put("bob", in_pieces(200_000))


async def test_a_sender_who_breaks_off_leaves_nothing_behind(way: Way, tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield bytes(200_000)
        raise ConnectionResetError("the line is dead")

    async with way(tmp_path / "office.db") as office:
        for _ in range(20):
            with pytest.raises(ConnectionResetError):
                await office.put("bob", broken())
        await office.put("bob", in_pieces(200_000))
        message = await office.get("bob")
        assert message is not None


async def test_what_is_held_back_comes_when_it_is_due(way: Way, tmp_path: Path) -> None:
    async with way(tmp_path / "office.db") as office:
        await office.put("bob", "delayed", delay=0.1)
        await office.put("bob", "dated", not_before=datetime.now(UTC) + timedelta(seconds=0.05))
        assert await office.get("bob") is None
        assert [(await office.get("bob", wait=None)) is not None for _ in range(2)] == [True, True]


async def test_settling_what_was_never_taken_is_told(way: Way, tmp_path: Path) -> None:
    async with way(tmp_path / "office.db") as office:
        await office.put("bob")
        delivery = await office.take("bob")
        assert delivery is not None
        await office.acknowledge(delivery)
        with pytest.raises(LeaseLost):
            await office.acknowledge(delivery)
        assert await office.call(SettleTaken(slips=[delivery.slip], event="returned")) == [False]


async def test_everybody_gets_everything_once(way: Way, tmp_path: Path) -> None:
    """A-033, A-074"""
    async with way(tmp_path / "office.db") as office:
        got: list[bytes] = []

        async def take() -> None:
            while (message := await office.get("bob", wait=0.5)) is not None:
                assert isinstance(message.body, bytes)
                got.append(message.body)

        async with asyncio.TaskGroup() as group:
            for _ in range(10):
                group.create_task(take())
            for sender in range(10):
                drafts = [Draft(to="bob", body=f"{sender} {number}", sender=str(sender)) for number in range(30)]
                group.create_task(office.put_many(drafts))
        assert len(got) == len(set(got)) == 300
        for sender in range(10):
            mine = [body for body in got if body.startswith(b"%d " % sender)]
            assert mine == [b"%d %d" % (sender, number) for number in range(30)]
