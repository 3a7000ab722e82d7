"""Postfix in front of the office: it hands on what it takes, and it asks before it takes anything."""

from __future__ import annotations

import asyncio
import re
import smtplib
from collections.abc import Sequence
from pathlib import Path

import pytest

from posthouse.clock import SystemClock
from posthouse.message.arrival import arrival_of
from posthouse.message.judgement import HeaderEdit
from posthouse.message.maildoor import MailTerms
from posthouse.message.passage import Limits
from posthouse.message.verdict import Reason, Verdict, refuse
from posthouse.server.maildoor import door_of
from posthouse.testing import postfix
from posthouse.testing.mailroom import FakeAccounts, FakeMailroom
from posthouse.transport.smtp.dialogue.relay import Domains
from posthouse.transport.smtp.entry import Office
from posthouse.transport.smtp.server import MailServer
from tests.scenario.mail.street import street

# With everything Postfix would add by itself.
MAIL = (
    b"From: cleo@mill.example\r\nTo: ada@bakery.example\r\nX-Old: one\r\nX-Old:two\r\n  lines\r\n"
    b"Date: Mon, 5 Jan 2026 08:00:00 +0100\r\nMessage-ID: <1@mill.example>\r\nSubject: flour\r\n"
    b"\r\n\xff .\r\n.\r\n..\r\n"
)

pytestmark = [
    pytest.mark.service("postfix"),
    pytest.mark.skipif(postfix.find() is not None, reason=postfix.find() or ""),
]


async def send(port: int, recipients: Sequence[str] = ("ada@bakery.example",), content: bytes = MAIL) -> None:
    def talk() -> None:
        with smtplib.SMTP("127.0.0.1", port, local_hostname="mill.example") as client:
            client.sendmail("cleo@mill.example", list(recipients), content)

    await asyncio.to_thread(talk)


async def test_postfix_hands_on_what_it_takes(tmp_path: Path) -> None:
    async with street(tmp_path, ["mx smtp 127.0.0.1:0 xclient=127.0.0.1"]) as office:
        settings = {
            "content_filter": f"smtp:[127.0.0.1]:{office.port('mx')}",
            "smtp_send_xforward_command": "yes",
        }
        async with postfix.running(settings) as front:
            await send(front.port, ["ada@bakery.example", "ben@bakery.example"])
            message, content = await office.take("ada@bakery.example")
            await office.take("ben@bakery.example")
    # All Postfix did is put its own lines in front.
    assert content.endswith(MAIL)
    assert re.match(rb"Received: from mill.example", content)
    arrival = arrival_of(message.attributes)
    assert arrival is not None
    assert arrival.helo == "front.example"


async def test_postfix_keeps_what_the_office_cannot_take_now(tmp_path: Path) -> None:
    async with street(tmp_path, ["mx smtp 127.0.0.1:0"], limits=Limits(listed_only=True)) as office:
        settings = {"content_filter": f"smtp:[127.0.0.1]:{office.port('mx')}", "bounce_queue_lifetime": "0"}
        async with postfix.running(settings) as front:
            await send(front.port)
            async with asyncio.timeout(20):
                while "550 5.1.1" not in front.log:  # noqa: ASYNC110 - a log sets no event
                    await asyncio.sleep(0.05)
            assert "there is no mailbox ada@bakery.example here" in front.log


class Asked:
    """A milter door, with an office behind it that says what a test tells it to."""

    def __init__(self) -> None:
        self.room = FakeMailroom()
        terms = MailTerms(hostname="mx.bakery.example", doors=(door_of("milter", "milter 127.0.0.1:0"),))
        office = Office(SystemClock(), self.room, FakeAccounts(), Domains(()))
        self.server = MailServer(terms, office)

    async def settings(self) -> dict[str, str]:
        await self.server.open()
        return {
            "smtpd_milters": f"inet:{self.server.addresses['milter'][0]}",
            "milter_default_action": "tempfail",
            "content_filter": "discard:",
            "transport_maps": "",
        }


async def test_postfix_asks_before_it_takes_a_mail() -> None:
    asked = Asked()
    try:
        async with postfix.running(await asked.settings()) as front:
            await send(front.port, ["ada@bakery.example", "ben@bakery.example"])
            asked.room.refusing = refuse("gate.policy", "no flour on sundays, 100% sure")
            with pytest.raises(smtplib.SMTPDataError) as refused:
                await send(front.port)
            asked.room.refusing = refuse("store.unavailable", "not now", temporary=True)
            with pytest.raises(smtplib.SMTPDataError) as later:
                await send(front.port)
            asked.room.refusing = Verdict("drop")
            await send(front.port)
    finally:
        await asked.server.close()
    first = asked.room.brought[0]
    assert first.content == MAIL
    assert first.envelope.sender == "cleo@mill.example"
    assert first.envelope.everybody == ("smtp:ada@bakery.example", "smtp:ben@bakery.example")
    arrival = arrival_of(first.message.attributes)
    assert arrival is not None
    assert (arrival.client, arrival.helo, arrival.protocol) == ("127.0.0.1", "mill.example", "MILTER")
    assert refused.value.smtp_code == 554
    assert b"5.7.1 no flour on sundays" in refused.value.smtp_error
    assert (later.value.smtp_code, later.value.smtp_error) == (451, b"4.3.0 not now")


async def test_postfix_holds_and_changes_what_it_is_told_to() -> None:
    asked = Asked()
    asked.room.refusing = Verdict("wait", (Reason("gate.review", "ada reviews it"),))
    asked.room.edits = (
        HeaderEdit("add", "X-Gate", "held"),
        HeaderEdit("insert", "X-First", "yes", index=0),
        HeaderEdit("change", "X-Old", "2", index=2),
        HeaderEdit("delete", "X-Old", index=1),
    )
    try:
        async with postfix.running(await asked.settings()) as front:
            await send(front.port)
            assert front.queued("hold") == 1
            (path,) = (path for path in (front.folder / "queue" / "hold").rglob("*") if path.is_file())
            process = await asyncio.create_subprocess_exec(
                postfix.program("postcat") or "postcat", "-c", str(front.folder), "-q", path.name,
                stdout=asyncio.subprocess.PIPE,
            )  # fmt: skip
            told, _ = await process.communicate()
    finally:
        await asked.server.close()
    assert b"X-Gate: held" in told
    assert b"X-First: yes" in told
    assert b"X-Old: 2" in told
    assert told.count(b"X-Old") == 1


async def test_the_office_itself_judges_by_its_limits(tmp_path: Path) -> None:
    doors = ["milter milter 127.0.0.1:0"]
    async with street(tmp_path, doors, limits=Limits(body_bytes=1_000)) as office:
        settings = {"smtpd_milters": f"inet:127.0.0.1:{office.port('milter')}", "content_filter": "discard:"}
        async with postfix.running(settings) as front:
            await send(front.port, ["anybody@elsewhere.example"])
            with pytest.raises(smtplib.SMTPDataError) as refused:
                await send(front.port, content=MAIL + b"x" * 2_000)
        assert refused.value.smtp_code == 552
