from __future__ import annotations

from posthouse.client import Office
from posthouse.office.calls import FlushPlace, HoldPlace, ListHeld, ListQueue, ListSetups
from posthouse.office.terms import Patience
from tests.scenario.mail_out.conftest import Opened
from tests.scenario.mail_out.letters import BOB, post, put_off, route
from tests.scenario.mail_out.recorder import Visit, recorder

PLACE = "smtp:two.example"


async def waiting(office: Office) -> int:
    entries = await office.call(ListQueue(box=PLACE))
    return len(entries)


async def test_nothing_goes_to_a_place_that_is_held_even_by_another_process(opened: Opened) -> None:
    async with recorder() as server:
        async with opened(route(server)) as office:
            await office.call(HoldPlace(place=PLACE))
            await post(office)
        async with opened(route(server)) as office:
            await post(office)
            await post(office, to=["smtp:dave@three.example"])
            assert [mail.recipients for mail in await server.got(1)] == [("<dave@three.example>",)]
            assert await office.call(ListHeld()) == [PLACE]
            assert await office.call(ListSetups()) == [], "a place is no mailbox"
            assert await waiting(office) == 2
            await office.call(HoldPlace(place=PLACE, held=False))
            assert len(await server.got(3)) == 3
            assert await office.call(ListHeld()) == []


async def test_what_waits_for_a_later_try_goes_at_once(opened: Opened) -> None:
    later = True

    def answering(line: str, _visit: Visit) -> str | None:
        return "451 4.7.1 later" if later and line.startswith("RCPT") else None

    patience = Patience(first_pause=3_600.0, longest_pause=3_600.0, deferral=3_600.0)
    async with recorder(answering=answering) as server, opened(route(server), patience=patience) as office:
        identities = [await post(office) for _ in range(3)]
        for identity in identities:
            await put_off(office, identity)
        later = False
        assert await office.call(FlushPlace(place=PLACE)) == 3
        assert len(await server.got(3)) == 3


async def test_a_server_that_was_down_is_tried_at_once(opened: Opened) -> None:
    down = True

    def answering(_line: str, _visit: Visit) -> str | None:
        return "hang up" if down else None

    patience = Patience(first_pause=3_600.0, longest_pause=3_600.0)
    async with recorder(answering=answering) as server, opened(route(server), patience=patience) as office:
        identity = await post(office)
        await put_off(office, identity)
        down = False
        assert await office.call(FlushPlace(place=PLACE)) == 1
        assert len(await server.got(1)) == 1


async def test_what_its_sender_wants_sent_later_is_not_hurried(opened: Opened) -> None:
    async with recorder() as server, opened(route(server)) as office:
        await office.put(BOB, b"x", kind="event", sender="ann", delay=3_600.0)
        assert await office.call(FlushPlace(place=PLACE)) == 0
        assert await waiting(office) == 1
        assert server.mails == []
