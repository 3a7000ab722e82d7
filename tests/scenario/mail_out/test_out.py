from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest

from posthouse.office.calls import Tell
from posthouse.office.terms import Patience
from tests.scenario.mail_out.conftest import Opened
from tests.scenario.mail_out.letters import (
    ANN,
    BOB,
    CAROL,
    PLAIN,
    buried,
    dead,
    lived,
    post,
    put_off,
    route,
    without_trace,
)
from tests.scenario.mail_out.recorder import Recorder, Visit, recorder


async def test_a_mail_leaves_as_it_came_behind_one_line(opened: Opened) -> None:
    body = b".From: x\r\nX:\t\x80\xff\r\n\r\n.\r\n..\r\n.end\r\n" + b"y" * 2_000 + b"\r\n"
    async with recorder() as server, opened(route(server)) as office:
        identity = await post(office, body)
        (mail,) = await server.got(1)
        assert without_trace(mail.content) == body
        assert mail.content.count(b"Received:") == 1
        assert f"by post.example (Posthouse) with local id {identity}".encode() in mail.content
        assert mail.sender == f"<ann@one.example> SIZE={len(mail.content)} BODY=8BITMIME"
        await lived(office, identity, "forwarded")


async def test_many_go_over_few_connections(opened: Opened) -> None:
    async with recorder() as server, opened(route(server), talks=2) as office:
        for _ in range(40):
            await post(office)
        assert len(await server.got(40)) == 40
        assert len(server.visits) <= 4
        assert max(visit.mails for visit in server.visits) > 5


async def test_a_server_that_is_down_is_waited_for(opened: Opened) -> None:
    server = Recorder()
    await server.open()
    await server.close()
    async with opened(route(server)) as office:
        identity = await post(office)
        await put_off(office, identity)
        await server.open(server.port)
        await server.got(1)
        await server.close()


@pytest.mark.parametrize("at", ["MAIL", "RCPT", "DATA", "."])
async def test_greylisting_puts_off_the_mail_and_nothing_else(opened: Opened, at: str) -> None:
    times = 0

    def answering(line: str, _visit: Visit) -> str | None:
        nonlocal times
        if line.startswith(at) and times < 2:
            times += 1
            return "451 4.7.1 come back later"
        return None

    async with recorder(answering=answering) as server, opened(route(server)) as office:
        identity = await post(office)
        await server.got(1)
        await lived(office, identity, "retry", "retry", "forwarded")


async def test_one_that_is_put_off_holds_up_no_other(opened: Opened) -> None:
    def answering(line: str, _visit: Visit) -> str | None:
        return "450 4.2.1 over quota" if line.startswith("RCPT TO:<bob@") else None

    async with recorder(answering=answering) as server, opened(route(server)) as office:
        await post(office, to=[BOB])
        await post(office, to=[CAROL])
        await post(office, to=[CAROL])
        assert [mail.recipients for mail in await server.got(2)] == [("<carol@two.example>",)] * 2


async def test_recipients_fare_differently_and_each_gets_the_mail_once(opened: Opened) -> None:
    later: list[str] = []

    def answering(line: str, _visit: Visit) -> str | None:
        if line.startswith("RCPT TO:<nobody@"):
            return "550 5.1.1 no such mailbox"
        if line.startswith("RCPT TO:<carol@") and len(later) < 2:
            later.append(line)
            return "452 4.2.2 later"
        return None

    async with recorder(answering=answering) as server, opened(route(server)) as office:
        identity = await post(office, to=[BOB, "smtp:nobody@two.example", CAROL], sender="ann")
        mails = await server.got(2)
        assert [mail.recipients for mail in mails] == [("<bob@two.example>",), ("<carol@two.example>",)]
        notice = await office.take("ann", wait=20)
        assert notice is not None
        body = notice.message.body
        assert isinstance(body, bytes)
        assert b"Final-Recipient: rfc822; nobody@two.example\r\nAction: failed\r\nStatus: 5.1.1\r\n" in body
        assert b"bob@" not in body
        (buried,) = await dead(office)
        assert (buried.box, buried.message) == ("smtp:two.example", identity)
        assert "550 5.1.1 no such mailbox" in buried.reason


async def test_what_is_refused_comes_back_by_mail(opened: Opened) -> None:
    def answering(line: str, _visit: Visit) -> str | None:
        return "554 5.7.1 not this" if line == "." else None

    async with (
        recorder(answering=answering) as server,
        recorder() as home,
        opened(route(server), route(home, pattern="one.example")) as office,
    ):
        await post(office)
        (mail,) = await home.got(1)
        assert mail.sender.startswith("<>")
        assert mail.recipients == ("<ann@one.example>",)
        assert b"Content-Type: multipart/report; report-type=delivery-status" in mail.content
        assert b"Diagnostic-Code: smtp; 554 5.7.1 not this\r\n" in mail.content
        assert PLAIN in mail.content


async def test_a_notice_that_cannot_be_delivered_begets_none(opened: Opened) -> None:
    def answering(line: str, _visit: Visit) -> str | None:
        return "550 5.7.1 nothing" if line.startswith("RCPT") else None

    async with recorder(answering=answering) as server, opened(route(server)) as office:
        await post(office)
        await buried(office, 2)
        await post(office, sender=None)
        await buried(office, 3)
        assert {visit.lines.count("QUIT") for visit in server.visits} <= {0, 1}


async def test_what_is_not_taken_in_time_is_given_up(opened: Opened) -> None:
    def answering(line: str, _visit: Visit) -> str | None:
        return "451 4.3.0 full" if line.startswith("MAIL FROM:<ann@") else None

    patience = Patience(first_pause=0.02, growth=1.0, longest_pause=0.02, deferral=0.02, give_up_after=0.2)
    async with recorder(answering=answering) as server, opened(route(server), patience=patience) as office:
        await post(office, sender=ANN)
        (mail,) = await server.got(1)
        assert b"Status: 5.3.0" in mail.content
        assert b"not delivered in the time given: 451 4.3.0 full" in mail.content


@pytest.mark.parametrize("at", ["EHLO", "MAIL", "RCPT", "DATA", "."])
async def test_a_line_that_breaks_loses_nothing(opened: Opened, at: str) -> None:
    def answering(line: str, visit: Visit) -> str | None:
        return "hang up" if visit.number == 0 and line.startswith(at) else None

    async with recorder(answering=answering) as server, opened(route(server)) as office:
        identity = await post(office)
        mails = await server.got(1)
        await lived(office, identity, "retry", "forwarded")
        # Broken between the end and its reply, the mail may be there twice: that is what SMTP can promise.
        assert 1 <= len(mails) <= 2


@pytest.mark.parametrize("at", ["", "EHLO", "DATA", "."])
async def test_a_server_that_falls_silent_is_left(opened: Opened, at: str) -> None:
    def answering(line: str, visit: Visit) -> str | None:
        return "" if visit.number == 0 and (line.startswith(at) if at else not line) else None

    async with (
        recorder(answering=answering) as server,
        opened(route(server), reply_seconds=0.3, end_seconds=0.3) as office,
    ):
        identity = await post(office)
        await server.got(1)
        await lived(office, identity, "retry", "forwarded")


async def test_421_sends_the_rest_over_another_line(opened: Opened) -> None:
    def answering(line: str, visit: Visit) -> str | None:
        return "421 4.3.2 too many" if line.startswith("MAIL") and visit.mails >= 2 else None

    async with recorder(answering=answering) as server, opened(route(server), talks=1) as office:
        for _ in range(7):
            await post(office)
        assert len(await server.got(7)) == 7
        assert len(server.visits) >= 4


@pytest.mark.parametrize("bare", [b"a\nb\r\n", b"a\rb\r\n", b"a\r\n.\n", b"a\n.\r\n", b"a\r.\r\n", b"a\r\n.\r"])
async def test_nothing_with_a_bare_line_end_leaves(opened: Opened, bare: bytes) -> None:
    async with recorder() as server, opened(route(server)) as office:
        identity = await post(office, b"Subject: x\r\n\r\n" + bare, sender="ann")
        await lived(office, identity, "dead")
        await post(office)
        await server.got(1)
        assert without_trace(server.mails[0].content) == PLAIN


async def test_a_mail_that_goes_in_circles_is_stopped(opened: Opened) -> None:
    async with recorder() as server, opened(route(server), hops=5) as office:
        identity = await post(office, b"Received: by x\r\n" * 6 + PLAIN, sender="ann")
        await lived(office, identity, "dead")
        assert server.mails == []


async def test_a_large_mail_is_sent_in_pieces(opened: Opened) -> None:
    body = b"Subject: large\r\n\r\n" + b".\r\n..x\r\n" * 400_000
    async with recorder() as server, opened(route(server)) as office:
        await post(office, body)
        (mail,) = await server.got(1)
        assert without_trace(mail.content) == body


async def test_what_a_program_sends_becomes_a_mail(opened: Opened) -> None:
    async with recorder() as server, opened(route(server)) as office:
        await office.put(BOB, b"\x00\x01\r.\n" * 40_000, kind="object", sender="orders")
        (mail,) = await server.got(1)
        assert mail.sender.startswith("<orders@post.example>")
        assert mail.content.isascii()
        assert mail.content.startswith(b"From: orders@post.example\r\nTo: bob@two.example\r\nSubject: object\r\n")
        assert all(len(line) <= 998 for line in mail.content.split(b"\r\n"))


async def test_lmtp_answers_for_each_recipient(opened: Opened) -> None:
    def answering(line: str, _visit: Visit) -> str | None:
        return "552 5.2.2 over quota" if line.startswith(". <carol@") else None

    async with recorder(lmtp=True, answering=answering) as server, opened(route(server, scheme="lmtp")) as office:
        await post(office, to=[BOB, CAROL], sender="ann")
        assert [mail.recipients for mail in await server.got(1)] == [("<bob@two.example>", "<carol@two.example>")]
        notice = await office.take("ann", wait=20)
        assert notice is not None
        assert isinstance(notice.message.body, bytes)
        assert b"Status: 5.2.2" in notice.message.body
        assert server.visits[0].lines[0] == "LHLO post.example"


async def test_a_maildir_gets_whole_mails(opened: Opened, tmp_path: Path) -> None:
    async with opened(("two.example", f"maildir:{tmp_path}/{{domain}}/{{local}}")) as office:
        identity = await post(office, b"Subject: x\r\n\r\n.dots\r\n")
        await lived(office, identity, "forwarded")
        (file,) = (tmp_path / "two.example" / "bob" / "new").iterdir()
        lines = file.read_bytes()
        assert lines.startswith(b"Return-Path: <ann@one.example>\r\nReceived: by post.example")
        assert lines.endswith(b"Subject: x\r\n\r\n.dots\r\n")
        assert list((tmp_path / "two.example" / "bob" / "tmp").iterdir()) == []


async def test_a_maildir_cannot_be_left_by_an_address(opened: Opened, tmp_path: Path) -> None:
    async with opened(("two.example", f"maildir:{tmp_path}/mail/{{local}}")) as office:
        for address in ('smtp:"../../x"@two.example', "smtp:..@two.example", 'smtp:"a/b"@two.example'):
            identity = await post(office, to=[address], sender="ann")
            await lived(office, identity, "dead")
        assert not (tmp_path / "mail").exists()


async def test_a_server_that_encrypts_is_talked_to_so(opened: Opened, tls: ssl.SSLContext) -> None:
    async with recorder(tls=tls) as server, opened(route(server)) as office:
        await post(office)
        assert (await server.got(1))[0].encrypted


async def test_where_encrypting_fails_the_mail_goes_in_the_open(opened: Opened, tls: ssl.SSLContext) -> None:
    def answering(line: str, visit: Visit) -> str | None:
        return "hang up" if visit.number == 0 and line == "STARTTLS" else None

    async with recorder(tls=tls, answering=answering) as server, opened(route(server)) as office:
        await post(office)
        assert (await server.got(1))[0].encrypted is False


async def test_a_server_that_must_show_who_it_is_does(opened: Opened, tls: ssl.SSLContext, certificate: Path) -> None:
    async with (
        recorder(tls=tls) as server,
        opened(route(server, scheme="smtp+tls", host="localhost"), ca=str(certificate)) as office,
    ):
        await post(office)
        assert (await server.got(1))[0].encrypted


@pytest.mark.parametrize("offers", [True, False])
async def test_a_server_that_cannot_show_who_it_is_gets_nothing(
    opened: Opened, tls: ssl.SSLContext, offers: bool
) -> None:
    async with (
        recorder(tls=tls if offers else None) as server,
        opened(route(server, scheme="smtp+tls", host="localhost")) as office,
    ):
        identity = await post(office)
        await put_off(office, identity)
        assert not any(line.startswith("MAIL") for visit in server.visits for line in visit.lines)


async def test_a_server_that_ends_every_talk_at_its_beginning_is_not_called_again_and_again(opened: Opened) -> None:
    def answering(line: str, _visit: Visit) -> str | None:
        return "250 sink.example\r\n250 and nobody asked" if line.startswith("EHLO") else None

    slow = Patience(first_pause=60.0, deferral=60.0)
    async with recorder(answering=answering) as server, opened(route(server), patience=slow) as office:
        identity = await post(office)
        await put_off(office, identity)
        assert len(server.visits) == 1
        story = await office.call(Tell(message=identity))
        assert story is not None
        assert "unexpected at this point" in story.steps[-1].detail


async def test_a_server_that_hangs_up_after_its_greetings_is_not_called_again_and_again(opened: Opened) -> None:
    visits = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visits.append(reader)
        writer.write(b"220 sink.example ESMTP\r\n")
        await reader.readline()
        writer.write(b"250 sink.example\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    slow = Patience(first_pause=60.0, deferral=60.0)
    async with server, opened(("*", f"smtp://127.0.0.1:{port}"), patience=slow) as office:
        await put_off(office, await post(office))
        assert len(visits) <= 4
