"""Mail that waits: its sender is told once, and what has waited for all the time given is given up."""

from __future__ import annotations

from posthouse.office.terms import Patience
from tests.scenario.mail_out.conftest import Opened
from tests.scenario.mail_out.letters import ANN, BOB, CAROL, buried, dead, life, post, put_off, route
from tests.scenario.mail_out.recorder import Recorder, Visit, recorder

HURRIED = Patience(first_pause=0.05, growth=1.0, longest_pause=0.05, deferral=0.05, give_up_after=0.5)


async def nowhere() -> Recorder:
    server = Recorder()
    await server.open()
    await server.close()
    return server


async def test_the_sender_of_a_mail_that_is_put_off_is_told_once(opened: Opened) -> None:
    tries = 0

    def answering(line: str, _visit: Visit) -> str | None:
        nonlocal tries
        if line.startswith("RCPT TO:<bob@") and tries < 6:
            tries += 1
            return "451 4.7.1 come back later"
        return None

    async with (
        recorder(answering=answering) as server,
        recorder() as home,
        opened(route(server), route(home, pattern="one.example"), delay_seconds=0.001) as office,
    ):
        await post(office, to=[BOB, CAROL])
        await server.got(2)
        await post(office, to=[ANN], sender=None)
        reports = [mail for mail in await home.got(2) if b"delivery-status" in mail.content]
        assert len(reports) == 1
        assert reports[0].sender.startswith("<>")
        assert b"Action: delayed\r\nStatus: 4.7.1\r\n" in reports[0].content
        assert b"carol@" not in reports[0].content


async def test_the_senders_of_all_that_waits_are_told_though_one_at_a_time_is_tried(opened: Opened) -> None:
    gone = await nowhere()
    async with (
        recorder() as home,
        opened(route(gone), route(home, pattern="one.example"), delay_seconds=0.2) as office,
    ):
        waiting = [await post(office) for _ in range(250)]
        reports = await home.got(len(waiting))
        told = [mail.content for mail in reports]
        assert all(b"Action: delayed\r\nStatus: 4.4.1\r\n" in content for content in told)
        assert all(f"    127.0.0.1:{gone.port}: Connection refused\r\n".encode() in content for content in told)
        await put_off(office, waiting[0])
        await post(office, to=[ANN], sender=None)
        assert len(await home.got(len(waiting) + 1)) == len(waiting) + 1
        assert await dead(office) == []


async def test_nobody_is_told_where_that_is_not_wanted(opened: Opened) -> None:
    gone = await nowhere()
    async with (
        recorder() as home,
        opened(route(gone), route(home, pattern="one.example"), delay_seconds=0) as office,
    ):
        identity = await post(office)
        while (await life(office, identity)).count("retry") < 4:
            await office.take("nobody", wait=0.05)
        await post(office, to=[ANN], sender=None)
        (mail,) = await home.got(1)
        assert b"delivery-status" not in mail.content


async def test_what_waits_behind_the_one_that_is_tried_is_given_up_in_time(opened: Opened) -> None:
    gone = await nowhere()
    async with (
        recorder() as home,
        opened(route(gone), route(home, pattern="one.example"), patience=HURRIED, delay_seconds=0) as office,
    ):
        for _ in range(150):
            await post(office)
        await buried(office, 100)
        while len(await home.got(1)) < 150:
            await office.take("nobody", wait=0.05)
        assert all(b"Action: failed" in mail.content for mail in home.mails)
