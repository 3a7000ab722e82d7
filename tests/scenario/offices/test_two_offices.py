"""Two offices in two processes: what one accepts for the other arrives there, also when either is down for a while."""

from __future__ import annotations

import signal
from pathlib import Path

import msgspec

from posthouse.message import envelope as envelopes
from posthouse.message.message import HOP
from posthouse.office.calls import ListDead
from posthouse.office.terms import Patience
from tests.scenario.offices.town import PATIENT, Place, neighbours, numbers, town

HUNDRED = range(1, 101)


async def test_a_message_goes_from_one_office_to_the_other(tmp_path: Path) -> None:
    """A-045, A-047, A-050, A-067"""
    north, south = neighbours(tmp_path)
    async with town(north, south):
        (receipt,) = await north.put(f"{south.name}#bob", 1)
        (taken,) = await south.take("bob", 1)
        letter = taken.leased.letter
        assert (letter.id, letter.body) == (receipt.id, b"1")
        assert [section.data.split()[0].decode() for section in letter.sections if section.name == HOP] == [north.name]
        envelope = envelopes.decode.decode(letter.envelope)
        assert (envelope.principal, envelope.sender) == (north.name, "alice")
        await south.put(f"{north.name}#alice", 2)
        assert numbers(await north.take("alice", 1)) == [2]


async def test_the_order_of_a_sender_holds_from_office_to_office(tmp_path: Path) -> None:
    """A-051, A-052"""
    north, south = neighbours(tmp_path)
    async with town(north, south):
        for start in range(1, 1001, 100):
            await north.put(f"{south.name}#bob", *range(start, start + 100))
        assert numbers(await south.take("bob", 1000)) == list(range(1, 1001))


async def test_mail_waits_for_an_office_that_is_down_and_goes_when_it_comes(tmp_path: Path) -> None:
    """A-048, A-051: the sender stays, the receiver comes back and says so."""
    north, south = neighbours(tmp_path, patience=PATIENT)
    async with town(north):
        await north.put(f"{south.name}#bob", *HUNDRED)
        await north.until(lambda status: status.destinations and status.destinations[0].failures)
        await south.start()
        try:
            assert numbers(await south.take("bob", 100)) == list(HUNDRED)
            status = await north.until(lambda status: not status.queued)
            assert not status.destinations
        finally:
            await south.end()


async def test_mail_waits_in_an_office_that_goes_down_itself(tmp_path: Path) -> None:
    """A-056: the sender goes and comes back, first and then last."""
    north, south = neighbours(tmp_path)
    async with town(north, south, started=False):
        await north.start()
        await north.put(f"{south.name}#bob", *HUNDRED)
        await north.end(signal.SIGKILL)
        await south.start()
        await north.start()
        assert numbers(await south.take("bob", 100)) == list(HUNDRED)
        await north.until(lambda status: not status.queued)
        await south.end()
        await north.put(f"{south.name}#bob", *HUNDRED)
        await north.end()
        await north.start()
        await south.start()
        assert numbers(await south.take("bob", 100)) == list(HUNDRED)
        assert await south.rest("bob") == []


async def test_an_office_that_starts_again_waits_for_no_pause_of_before(tmp_path: Path) -> None:
    """A-048, A-056: nobody who comes back meets the other one, but for the one who comes last."""
    north, south = neighbours(tmp_path, patience=PATIENT)
    async with town(north, south, started=False):
        await north.start()
        await north.put(f"{south.name}#bob", *HUNDRED)
        await north.until(lambda status: status.destinations and status.destinations[0].failures)
        await north.end(signal.SIGKILL)
        await south.start()
        await north.start()
        assert numbers(await south.take("bob", 100)) == list(HUNDRED)


async def test_outages_at_random_keep_the_order(tmp_path: Path) -> None:
    """A-052"""
    north, south = neighbours(tmp_path)
    got: list[int] = []
    async with town(north, south):
        for number in range(4):
            await north.put(f"{south.name}#bob", *range(number * 100 + 1, number * 100 + 101))
            got += numbers(await south.take("bob", 30))
            await (south if number % 2 else north).end(signal.SIGKILL)
            await (south if number % 2 else north).start()
        got += numbers(await south.take("bob", 400 - len(got)))
        assert got == list(range(1, 401))
        assert await south.rest("bob") == []


async def test_a_name_whose_office_never_comes_ends_as_a_notice(tmp_path: Path) -> None:
    """A-054, A-060"""
    north, south = neighbours(tmp_path)
    north.terms = msgspec.structs.replace(
        north.terms, patience=Patience(first_pause=0.05, longest_pause=0.1, give_up_after=0.5)
    )
    async with town(north):
        await north.put(f"{south.name}#bob", 1, reply_to="alice")
        (notice,) = await north.take("alice", 1)
        head = notice.leased.letter
        assert b"not delivered" in (head.body if isinstance(head.body, bytes) else b"")
        (dead,) = await north.answer(ListDead())
        assert dead.box == south.name


async def test_an_office_nobody_has_listed_is_told_as_such(tmp_path: Path) -> None:
    north, _south = neighbours(tmp_path)
    async with town(north):
        await north.put("http://127.0.0.1:1/nowhere#bob", 1)
        status = await north.until(lambda status: status.destinations)
        assert "not among the peers" in status.destinations[0].last_fault


async def test_three_in_a_chain(tmp_path: Path) -> None:
    """Mail for the far end goes by way of the middle, which may be down for a while."""
    west, middle, east = (Place(tmp_path, name) for name in ("west", "middle", "east"))
    west.knows(middle.as_peer(), east.as_peer(keys=(), via="middle"))
    middle.knows(west.as_peer(relay=True), east.as_peer())
    east.knows(middle.as_peer())
    async with town(west, middle, east, started=False):
        await west.start()
        await east.start()
        await west.put(f"{east.name}#bob", *HUNDRED)
        await middle.start()
        taken = await east.take("bob", 100)
        assert numbers(taken) == list(HUNDRED)
        hops = [each.data.split()[0].decode() for each in taken[0].leased.letter.sections if each.name == HOP]
        assert hops == [west.name, middle.name]


async def test_nobody_is_served_as_a_relay_who_may_not(tmp_path: Path) -> None:
    west, middle, east = (Place(tmp_path, name) for name in ("west", "middle", "east"))
    west.knows(middle.as_peer(), east.as_peer(keys=(), via="middle"))
    middle.knows(west.as_peer(), east.as_peer())
    async with town(west, middle):
        await west.put(f"{east.name}#bob", 1, reply_to="alice")
        (notice,) = await west.take("alice", 1)
        assert isinstance(notice.leased.letter.body, bytes)
        assert b"does not send on" in notice.leased.letter.body


async def test_a_circle_of_offices_is_left(tmp_path: Path) -> None:
    """Two offices that each believe the other knows the way: the second visit is refused."""
    west, middle, east = (Place(tmp_path, name) for name in ("west", "middle", "east"))
    west.knows(middle.as_peer(relay=True), east.as_peer(keys=(), via="middle"))
    middle.knows(west.as_peer(relay=True), east.as_peer(keys=(), via="west"))
    async with town(west, middle):
        await west.put(f"{east.name}#bob", 1, reply_to="alice")
        status = await middle.until(lambda status: status.dead)
        assert status.dead == 1
