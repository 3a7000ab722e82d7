"""Names are places: what is put and got by name is the same for a mailbox here and one of another office."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from posthouse.client import LeaseLost, Mailbox, Office, Refused
from posthouse.errors import PosthouseError
from posthouse.message.maildoor import MailTerms
from posthouse.message.message import Body
from posthouse.message.name import MalformedName
from posthouse.office.calls import AskStatus, ListDead
from posthouse.transport.ports import Unreachable
from tests.scenario.office.ways import QUICK, Way, named

HERE, THERE = "bob", "local:west#bob"


@asynccontextmanager
async def two(way: Way, folder: Path) -> AsyncIterator[tuple[Office, Office]]:
    """Open the office `east`, reached by one of the ways, and its neighbour `west`."""
    async with (
        Office.open(folder / "west.db", terms=named("west")) as west,
        way(folder / "east.db", named("east")) as east,
    ):
        yield east, west


@pytest.fixture(params=[HERE, THERE], ids=["here", "there"])
def place(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


async def all_of(mailbox: Mailbox, **wanted: Any) -> list[bytes]:
    found: list[bytes] = []
    while (message := await mailbox.get(**wanted)) is not None:
        assert isinstance(message.body, bytes)
        found.append(message.body)
    return found


async def test_a_mailbox_is_opened_by_its_name_alone(way: Way, tmp_path: Path) -> None:
    """A-023, A-034, A-040"""
    async with way(tmp_path / "east.db", named("east")) as east:
        for name in ("bob", "http://nowhere.example:8025/main#bob", "local:west#bob", "local:%C3%BC#b"):
            assert east.open_mailbox(name).name == name
        assert east.open_mailbox("bob") == east.open_mailbox("local:#bob")
        with pytest.raises(MalformedName):
            east.open_mailbox("not a name")


async def test_a_mailbox_of_a_mail_domain_is_one_of_this_office(way: Way, tmp_path: Path) -> None:
    terms = msgspec.structs.replace(named("east"), mail=MailTerms(domains=("bakery.example",)))
    async with way(tmp_path / "east.db", terms) as east:
        ada = east.open_mailbox("ada@bakery.example")
        assert await ada.is_empty()
        await ada.put(b"two loaves")
        assert await ada.size() == 1
        await ada.close()
        with pytest.raises(Refused, match="closed"):
            await ada.put(b"one more")
        await ada.open()
        assert await all_of(ada) == [b"two loaves"]
        with pytest.raises(PosthouseError, match="expected a mailbox of this office"):
            await east.open_mailbox("ada@mill.example").size()


async def test_the_same_object_puts_and_gets(way: Way, tmp_path: Path, place: str) -> None:
    """A-004, A-019, A-024, A-025, A-027, A-061, A-063"""
    async with two(way, tmp_path) as (east, _):
        mailbox = east.open_mailbox(place)
        sent = await mailbox.put(b"\x00hello", kind="order.new", sender="alice", reply_to="alice", priority=7)
        assert sent.recipients == (str(mailbox._name),)
        got = await mailbox.get(wait=10)
        assert got is not None
        assert (got.id, got.body, got.head, got.priority) == (sent.id, sent.body, sent.head, 7)
        assert await mailbox.get() is None


async def test_six_ways_to_get(way: Way, tmp_path: Path, place: str) -> None:
    """A-028, A-029, A-030, A-032, A-066"""
    async with two(way, tmp_path) as (east, west):
        mailbox, bob = east.open_mailbox(place), (east if place == HERE else west).open_mailbox(HERE)
        await bob.put("plain")
        await bob.put("typed", kind="order")
        await bob.put("named", correlation="7")
        await bob.put("both", kind="order", correlation="8")
        assert await all_of(mailbox, kind="order", correlation="8", wait=0.05) == [b"both"]
        assert await all_of(mailbox, correlation="7") == [b"named"]
        assert await all_of(mailbox, kind="order") == [b"typed"]
        assert await all_of(mailbox, wait=0.05) == [b"plain"]


async def test_waiting_for_ever_and_not_at_all(way: Way, tmp_path: Path, place: str) -> None:
    """A-030, A-031, A-035"""
    async with two(way, tmp_path) as (east, west):
        mailbox = east.open_mailbox(place)
        waiting = [asyncio.create_task(mailbox.get(wait=wait)) for wait in (None, 30)]
        with pytest.raises(PosthouseError, match="wait of 0 or more"):
            await mailbox.get(wait=-2)
        assert await mailbox.get(wait=0) is None
        await (east if place == HERE else west).put(HERE, "1")
        await west.put("local:east#bob" if place == HERE else "local:west#bob", "2")
        assert {got.body for got in await asyncio.gather(*waiting) if got is not None} == {b"1", b"2"}


async def test_what_is_taken_elsewhere_is_settled_there(way: Way, tmp_path: Path, place: str) -> None:
    """A-064"""
    async with two(way, tmp_path) as (east, west):
        mailbox, owner = east.open_mailbox(place), east if place == HERE else west
        await owner.put(HERE, "1")
        await owner.put(HERE, "2")
        taken = await mailbox.take()
        assert taken is not None
        await east.renew(taken, lease=10)
        await east.give_back(taken)
        taken = await mailbox.take()
        assert taken is not None
        await east.fail(taken, "no time", pause=0)
        taken = await mailbox.take(wait=5)
        assert taken is not None
        assert (taken.message.body, taken.attempt) == (b"1", 2)
        await east.acknowledge(taken)
        with pytest.raises(LeaseLost):
            await east.acknowledge(taken)
        assert await all_of(mailbox) == [b"2"]


async def test_what_a_vanished_taker_had_goes_back_to_the_head(way: Way, tmp_path: Path) -> None:
    """A-064"""
    async with Office.open(tmp_path / "west.db", terms=named("west")) as west:
        await west.put(HERE, "1", sender="a")
        await west.put(HERE, "2", sender="a")
        async with way(tmp_path / "east.db", named("east")) as east:
            assert await east.take(THERE, lease=1.0) is not None
            assert await west.get(HERE) is None, "the lane waits for its head"
        got = [await west.get(HERE, wait=10) for _ in range(2)]
        assert [one and one.body for one in got] == [b"1", b"2"]


async def test_a_taker_who_stops_waiting_takes_nothing_with_him(way: Way, tmp_path: Path, place: str) -> None:
    """A-064"""
    async with two(way, tmp_path) as (east, west):
        for _ in range(20):
            waiting = [asyncio.create_task(east.get(place, wait=None)) for _ in range(3)]
            putting = asyncio.create_task((east if place == HERE else west).put(HERE, "x"))
            for task in waiting:
                task.cancel()
            got = [
                one
                for one in await asyncio.gather(*waiting, return_exceptions=True)
                if not isinstance(one, BaseException)
            ]
            await putting
            if not got:
                assert await east.get(place, wait=10) is not None
        assert await east.get(place) is None


async def test_a_wait_ends_on_time_while_the_other_office_is_away(way: Way, tmp_path: Path) -> None:
    """A-062, D-A7"""
    async with way(tmp_path / "east.db", named("east")) as east:
        begun = asyncio.get_running_loop().time()
        assert await east.get(THERE) is None
        assert await east.get(THERE, wait=0.3) is None
        assert 0.3 <= asyncio.get_running_loop().time() - begun < 5
        with pytest.raises(Unreachable, match="not open"):
            await east.get(THERE, strict=True)


async def test_a_taker_gets_what_comes_after_the_other_office_came_back(way: Way, tmp_path: Path) -> None:
    """A-062"""
    async with way(tmp_path / "east.db", named("east")) as east:
        waiting = asyncio.create_task(east.get(THERE, wait=None))
        assert await east.get(THERE, wait=0.1) is None
        async with Office.open(tmp_path / "west.db", terms=named("west")) as west:
            await west.put(HERE, "at last")
            message = await waiting
        assert message is not None
        assert message.body == b"at last"


async def test_mail_waits_for_an_office_that_is_away(way: Way, tmp_path: Path) -> None:
    """A-008, A-048, A-049, A-052"""
    async with way(tmp_path / "east.db", named("east")) as east:
        sent = [await east.open_mailbox(THERE).put(str(number), sender="alice") for number in range(5)]
        async with Office.open(tmp_path / "west.db", terms=named("west")) as west:
            got = [await west.get(HERE, wait=10) for _ in range(5)]
        assert [one and one.id for one in got] == [one.id for one in sent]


async def test_what_no_mailbox_takes_comes_back_with_the_reason(way: Way, tmp_path: Path) -> None:
    """A-020, A-060, D-A6"""
    strict = named("west", QUICK)
    strict = type(strict)(name=strict.name, limits=type(strict.limits)(listed_only=True), patience=strict.patience)
    async with (
        Office.open(tmp_path / "west.db", terms=strict),
        way(tmp_path / "east.db", named("east")) as east,
    ):
        sent = await east.put(THERE, "hello", reply_to="alice", sender="alice")
        notice = await east.get("alice", wait=10)
        assert notice is not None
        assert (notice.kind, notice.correlation) == ("notice.undelivered", str(sent.id))
        quiet = await east.put(THERE, "nobody hears")
        while not (dead := await east.call(ListDead(box="local:west"))) or dead[-1].message != quiet.id:
            await east.call(AskStatus())
        assert "no mailbox bob" in dead[-1].reason


async def test_an_office_that_never_comes_ends_as_a_notice(way: Way, tmp_path: Path) -> None:
    """A-054, A-060"""
    async with way(tmp_path / "east.db", named("east")) as east:
        sent = await east.put("local:nowhere#bob", "hello", reply_to="alice", sender="alice")
        notice = await east.get("alice", wait=20)
        assert notice is not None
        assert notice.correlation == str(sent.id)


async def test_two_protocols_side_by_side(way: Way, tmp_path: Path) -> None:
    """A-006, A-039, A-045"""
    async with two(way, tmp_path) as (east, west):
        await east.put(("bob", "local:west#bob", "local:east#carol"), "hello", sender="alice")
        for office, name in ((east, "bob"), (west, "bob"), (east, "carol")):
            got = await office.get(name, wait=10)
            assert got is not None


async def test_there_is_no_way_to_fetch_from_some_places(way: Way, tmp_path: Path) -> None:
    async with way(tmp_path / "east.db", named("east")) as east:
        with pytest.raises(PosthouseError, match="expected a mailbox of this office"):
            await east.get("smtp:bob@mail.example")


async def test_a_large_body_is_fetched_with_its_message(way: Way, tmp_path: Path, place: str) -> None:
    content = bytes(range(256)) * 4_000
    async with two(way, tmp_path) as (east, west):
        await (east if place == HERE else west).put(HERE, content)
        message = await east.get(place)
        assert message is not None
        assert isinstance(message.body, Body)
        assert b"".join([piece async for piece in east.body(message)]) == content


async def test_a_mailbox_is_a_queue(way: Way, tmp_path: Path) -> None:
    """A-068, A-069, A-070, A-074"""
    async with way(tmp_path / "east.db", named("east")) as east:
        mailbox = east.open_mailbox("local:east#bob")
        assert await mailbox.is_empty()
        assert await mailbox.size() == 0
        for name in ("bo", "boa", "bob", "bob", "bobby", "carol"):
            await east.put(name)
        assert await mailbox.size() == 2
        await mailbox.close()
        with pytest.raises(PosthouseError, match="closed"):
            await mailbox.put()
        assert await mailbox.get() is None
        await mailbox.open()
        assert await mailbox.size() == 2
        assert await mailbox.get() is not None
        assert await mailbox.get() is not None
        assert await mailbox.is_empty()
        with pytest.raises(PosthouseError, match="this office"):
            await east.open_mailbox("local:west#bob").size()


async def test_a_sign_is_given_when_something_comes_elsewhere(way: Way, tmp_path: Path, place: str) -> None:
    async with two(way, tmp_path) as (east, west):
        signs = east.subscribe(place)
        await anext(signs)
        coming = asyncio.ensure_future(anext(signs))
        await (east if place == HERE else west).put(HERE, "x")
        await coming
        assert await east.get(place) is not None
