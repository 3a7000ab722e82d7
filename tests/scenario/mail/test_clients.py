"""Real clients at real doors: what they send lies in the mailbox, byte for byte."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import random
import shutil
import smtplib
import ssl
from asyncio.subprocess import DEVNULL, PIPE
from email.message import EmailMessage
from pathlib import Path

import aiosmtplib
import pytest

from posthouse.message.arrival import arrival_of
from posthouse.message.changes import Setup
from posthouse.message.passage import Limits
from posthouse.office.calls import SetUp
from posthouse.testing import postfix
from posthouse.transport.smtp.dialogue.scram import make_keys
from tests.scenario.mail.street import street

Contexts = tuple[ssl.SSLContext, ssl.SSLContext]


def accounts(folder: Path) -> str:
    path = folder / "accounts"
    path.write_text(f"# who may sign in\nada:{make_keys('rye bread', b'0123456789abcdef')}\n")
    return str(path)


def a_mail(size: int = 0) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "cleo@mill.example", "ada@bakery.example", "flour"
    mail.set_content("Two sacks.\n.\n..\n" + "x" * 70 * (size > 0) + "\n")
    if size:
        mail.add_attachment(random.Random(1).randbytes(size), maintype="application", subtype="octet-stream")
    return mail


async def test_smtplib_sends_a_mail(tmp_path: Path) -> None:
    def send(port: int) -> None:
        with smtplib.SMTP("127.0.0.1", port, local_hostname="mill.example") as client:
            assert client.send_message(a_mail(), mail_options=["BODY=8BITMIME"]) == {}

    async with street(tmp_path, ["mx smtp 127.0.0.1:0"]) as office:
        await asyncio.to_thread(send, office.port("mx"))
        message, content = await office.take("ada@bakery.example")
    assert content == a_mail().as_bytes().replace(b"\n", b"\r\n")
    assert (message.kind, message.content_type, message.sender) == ("mail", "message/rfc822", "cleo@mill.example")
    arrival = arrival_of(message.attributes)
    assert arrival is not None
    assert (arrival.client, arrival.helo, arrival.protocol) == ("127.0.0.1", "mill.example", "ESMTP")
    assert (arrival.body, arrival.by) == ("8BITMIME", "mx.bakery.example")


async def test_aiosmtplib_sends_mails_over_one_connection(tmp_path: Path, contexts: Contexts) -> None:
    shown, believed = contexts
    doors = ["in smtp 127.0.0.1:0 tls=required auth=required"]
    async with street(tmp_path, doors, context=shown, accounts=accounts(tmp_path)) as office:
        client = aiosmtplib.SMTP(
            hostname="localhost", port=office.port("in"), local_hostname="mill.example", start_tls=True,
            tls_context=believed, username="ada", password="rye bread",
        )  # fmt: skip
        async with client:
            for number in range(3):
                mail = a_mail()
                mail["X-Number"] = str(number)
                refused, said = await client.send_message(mail)
                assert (refused, said.startswith("2.0.0")) == ({}, True)
            await client.mail("cleo@mill.example")
            with pytest.raises(aiosmtplib.SMTPRecipientRefused):
                await client.rcpt("ada%mill.example@bakery.example")
        for number in range(3):
            message, content = await office.take("ada@bakery.example")
            assert f"X-Number: {number}\r\n".encode() in content
            arrival = arrival_of(message.attributes)
            assert arrival is not None
            assert (arrival.user, arrival.protocol) == ("ada", "ESMTPSA")


async def test_a_large_mail_is_stored_while_it_comes(tmp_path: Path) -> None:
    mail = a_mail(6_000_000)
    whole = mail.as_bytes().replace(b"\n", b"\r\n")

    def send(port: int) -> None:
        with smtplib.SMTP("127.0.0.1", port) as client:
            client.send_message(mail)

    async with street(tmp_path, ["mx smtp 127.0.0.1:0"]) as office:
        await asyncio.to_thread(send, office.port("mx"))
        _, content = await office.take("ada@bakery.example")
    assert content == whole


async def test_smtplib_signs_in_over_tls_and_sends_elsewhere_only_then(tmp_path: Path, contexts: Contexts) -> None:
    def send(port: int) -> None:
        with smtplib.SMTP("localhost", port) as client:
            client.starttls(context=contexts[1])
            with pytest.raises(smtplib.SMTPSenderRefused):
                client.sendmail("ada@bakery.example", "cleo@mill.example", b"x")
            with pytest.raises(smtplib.SMTPAuthenticationError):
                client.login("ada", "white bread")
            client.login("ada", "rye bread")
            with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
                client.sendmail("ada@bakery.example", "cleo@mill.example", b"x")
            # No door leads there in this office: that is another refusal than to a stranger.
            assert refused.value.recipients["cleo@mill.example"][0] == 550
            assert b"5.4.4" in refused.value.recipients["cleo@mill.example"][1]
            client.sendmail("ada@bakery.example", "ben@bakery.example", b"x\r\n")

    doors = ["submission smtp 127.0.0.1:0 tls=starttls auth=required"]
    async with street(tmp_path, doors, context=contexts[0], accounts=accounts(tmp_path)) as office:
        await asyncio.to_thread(send, office.port("submission"))
        message, _ = await office.take("ben@bakery.example")
    arrival = arrival_of(message.attributes)
    assert arrival is not None
    assert (arrival.user, arrival.protocol) == ("ada", "ESMTPSA")
    assert arrival.tls.startswith("TLSv1.")


async def test_scram_proves_both_sides(tmp_path: Path, contexts: Contexts) -> None:
    doors = ["submission smtp 127.0.0.1:0 tls=implicit auth=required"]
    async with street(tmp_path, doors, context=contexts[0], accounts=accounts(tmp_path)) as office:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", office.port("submission"), ssl=contexts[1], server_hostname="localhost"
        )

        async def ask(line: bytes) -> bytes:
            writer.write(line + b"\r\n")
            while True:
                heard = await reader.readline()
                if heard[3:4] != b"-":
                    return heard.strip()

        await reader.readline()
        await ask(b"EHLO mill.example")
        bare = "n=ada,r=rOprNGfwEbeRWgbNEkqO"
        first = base64.b64decode((await ask(b"AUTH SCRAM-SHA-256 " + base64.b64encode(f"n,,{bare}".encode())))[4:])
        fields = dict(part.split("=", 1) for part in first.decode().split(","))
        salted = hashlib.pbkdf2_hmac("sha256", b"rye bread", base64.b64decode(fields["s"]), int(fields["i"]))
        client = hmac.digest(salted, b"Client Key", "sha256")
        final = f"c=biws,r={fields['r']}"
        whole = f"{bare},{first.decode()},{final}".encode()
        signature = hmac.digest(hashlib.sha256(client).digest(), whole, "sha256")
        proof = base64.b64encode(bytes(one ^ other for one, other in zip(client, signature, strict=True))).decode()
        last = await ask(base64.b64encode(f"{final},p={proof}".encode()))
        server = hmac.digest(hmac.digest(salted, b"Server Key", "sha256"), whole, "sha256")
        assert base64.b64decode(last[4:]) == b"v=" + base64.b64encode(server)
        assert await ask(b"") == b"235 2.7.0 Signed in"
        writer.close()


async def test_what_the_office_does_not_take_is_refused_with_its_reason(tmp_path: Path) -> None:
    def send(port: int) -> None:
        with smtplib.SMTP("127.0.0.1", port) as client:
            with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
                client.sendmail("cleo@mill.example", "nobody@bakery.example", b"x")
            assert refused.value.recipients["nobody@bakery.example"][0] == 550
            with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
                client.sendmail("cleo@mill.example", "eve@bakery.example", b"x")
            assert refused.value.recipients["eve@bakery.example"][0] == 450
            with pytest.raises(smtplib.SMTPDataError) as wrong:
                client.sendmail("cleo@mill.example", "ada@bakery.example", b"x" * 5_000)
            assert wrong.value.smtp_code == 552
            client.sendmail("cleo@mill.example", "ada@bakery.example", b"x" * 500)
            with pytest.raises(smtplib.SMTPDataError) as wrong:
                client.sendmail("cleo@mill.example", "ada@bakery.example", b"x" * 500)
            assert wrong.value.smtp_code == 452

    limits = Limits(body_bytes=4_000, listed_only=True)
    async with street(tmp_path, ["mx smtp 127.0.0.1:0"], limits=limits) as office:
        for setup in (
            Setup(mailbox="ada@bakery.example", max_messages=1),
            Setup(mailbox="eve@bakery.example", closed=True),
        ):
            await office.house.answer(SetUp(setup=setup))
        await asyncio.to_thread(send, office.port("mx"))
        assert await office.count("ada@bakery.example") == 1


async def test_one_recipient_of_many_does_not_learn_of_the_others(tmp_path: Path) -> None:
    def send(port: int) -> None:
        with smtplib.SMTP("127.0.0.1", port) as client:
            everybody = ["ada@bakery.example", "ben@bakery.example"]
            client.sendmail("", everybody, b"x\r\n", rcpt_options=["NOTIFY=NEVER"])

    async with street(tmp_path, ["mx smtp 127.0.0.1:0"]) as office:
        await asyncio.to_thread(send, office.port("mx"))
        for mailbox in ("ada@bakery.example", "ben@bakery.example"):
            message, _ = await office.take(mailbox)
            other = "ben" if mailbox.startswith("ada") else "ada"
            assert message.sender is None
            assert other not in str(message)


async def test_a_socket_of_this_machine_serves_lmtp(tmp_path: Path) -> None:
    def send() -> None:
        with smtplib.LMTP(str(tmp_path / "lmtp.sock")) as client:
            client.sendmail("cleo@mill.example", ["ben@bakery.example"], b"x\r\n")

    async with street(tmp_path, [f"inner lmtp unix:{tmp_path}/lmtp.sock"]) as office:
        await asyncio.to_thread(send)
        message, content = await office.take("ben@bakery.example")
    arrival = arrival_of(message.attributes)
    assert arrival is not None
    assert (arrival.client, arrival.protocol, content) == ("unix", "LMTP", b"x\r\n")
    assert not (tmp_path / "lmtp.sock").exists()


@pytest.mark.service("swaks")
async def test_swaks_sends_by_starttls_and_by_pipelining(tmp_path: Path, contexts: Contexts) -> None:
    swaks = shutil.which("swaks")
    if swaks is None:
        pytest.skip("swaks is not installed")
    async with street(tmp_path, ["mx smtp 127.0.0.1:0 tls=starttls"], context=contexts[0]) as office:
        for options in (["--tls"], ["--pipeline"], ["--body", "plain"]):
            process = await asyncio.create_subprocess_exec(
                swaks, "--server", f"127.0.0.1:{office.port('mx')}", "--from", "cleo@mill.example",
                "--to", "ada@bakery.example,ben@bakery.example", "--helo", "mill.example", *options,
                stdout=PIPE, stderr=PIPE, stdin=DEVNULL,
            )  # fmt: skip
            told, _ = await process.communicate()
            assert process.returncode == 0, told.decode()
        assert await office.count("ada@bakery.example") == 3
        assert await office.count("ben@bakery.example") == 3


@pytest.mark.service("postfix")
@pytest.mark.parametrize("options", [["-d"], [], ["-L"]], ids=["one connection", "new connections", "lmtp"])
async def test_smtp_source_sends_a_crowd(tmp_path: Path, options: list[str]) -> None:
    source = postfix.program("smtp-source")
    if source is None:
        pytest.skip("smtp-source is not installed")
    speech = "lmtp" if "-L" in options else "smtp"
    async with street(tmp_path, [f"mx {speech} 127.0.0.1:0"]) as office:
        process = await asyncio.create_subprocess_exec(
            source, "-s", "10", "-m", "200", "-l", "5120", *options, "-f", "cleo@mill.example",
            "-t", "ada@bakery.example", f"127.0.0.1:{office.port('mx')}", stdout=DEVNULL, stderr=PIPE,
        )  # fmt: skip
        _, told = await process.communicate()
        assert (process.returncode, told) == (0, b"")
        assert await office.count("ada@bakery.example") == 200


async def test_an_office_that_closes_answers_what_it_stores_first(tmp_path: Path) -> None:
    async with street(tmp_path, ["mx smtp 127.0.0.1:0"]) as office:
        reader, writer = await asyncio.open_connection("127.0.0.1", office.port("mx"))
        await reader.readline()
    assert await reader.readline() == b"421 4.3.2 The office is closing; come again\r\n"
    assert await reader.read() == b""
    writer.close()


async def test_more_connections_than_allowed_are_turned_away(tmp_path: Path) -> None:
    async with street(tmp_path, ["mx smtp 127.0.0.1:0"], client_connections=2) as office:
        opened = [await asyncio.open_connection("127.0.0.1", office.port("mx")) for _ in range(3)]
        greetings = [await reader.readline() for reader, _ in opened]
        assert [greeting[:3] for greeting in greetings] == [b"220", b"220", b"421"]
        opened[0][1].close()
        await opened[0][1].wait_closed()
        opened[2][1].close()
        async with asyncio.timeout(10):
            while True:
                reader, writer = await asyncio.open_connection("127.0.0.1", office.port("mx"))
                greeting = await reader.readline()
                writer.close()
                if greeting.startswith(b"220"):
                    break
        opened[1][1].close()


async def test_who_sends_everything_and_hangs_up_is_answered(tmp_path: Path) -> None:
    async with street(tmp_path, ["mx smtp 127.0.0.1:0"]) as office:
        reader, writer = await asyncio.open_connection("127.0.0.1", office.port("mx"))
        commands = "HELO mill.example", "MAIL FROM:<>", "RCPT TO:<ada@bakery.example>", "BDAT 2 LAST"
        writer.write("\r\n".join((*commands, "x")).encode() + b"y")
        writer.write_eof()
        async with asyncio.timeout(10):
            told = await reader.read()
        writer.close()
        assert [line[:3] for line in told.splitlines()] == [b"220", b"250", b"250", b"250", b"250"]
        assert await office.count("ada@bakery.example") == 1


async def test_a_connection_that_ends_after_its_mail_leaves_nothing_behind(tmp_path: Path) -> None:
    async with street(tmp_path, ["mx smtp 127.0.0.1:0"], client_connections=1) as office:
        for _ in range(20):
            reader, writer = await asyncio.open_connection("127.0.0.1", office.port("mx"))
            assert (await reader.readline()).startswith(b"220")
            writer.write(b"HELO mill.example\r\nMAIL FROM:<>\r\nRCPT TO:<ada@bakery.example>\r\nBDAT 1 LAST\r\nx")
            for _ in range(4):
                assert (await reader.readline()).startswith(b"250")
            writer.close()
            await writer.wait_closed()
            # The next one is let in only once this one is gone: it is turned away until then, but not for long.
            async with asyncio.timeout(10):
                while not await _is_let_in(office.port("mx")):
                    pass


async def _is_let_in(port: int) -> bool:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    greeting = await reader.readline()
    writer.close()
    await writer.wait_closed()
    return greeting.startswith(b"220")


async def test_a_large_mail_that_breaks_off_leaves_nothing_behind(tmp_path: Path) -> None:
    async with street(tmp_path, ["mx smtp 127.0.0.1:0"]) as office:
        reader, writer = await asyncio.open_connection("127.0.0.1", office.port("mx"))
        await reader.readline()
        for line in (b"HELO mill.example", b"MAIL FROM:<>", b"RCPT TO:<ada@bakery.example>", b"DATA"):
            writer.write(line + b"\r\n")
            await reader.readline()
        writer.write((b"x" * 70 + b"\r\n") * 50_000)
        await writer.drain()
        writer.transport.abort()
        # Whoever comes next is served as if nothing had been.
        assert await _is_let_in(office.port("mx"))
    assert not await asyncio.to_thread(lambda: list(tmp_path.rglob("incoming/*")))


async def test_no_handshake_after_starttls_ends_that_connection_only(tmp_path: Path, contexts: Contexts) -> None:
    async with street(tmp_path, ["mx smtp 127.0.0.1:0 tls=starttls"], context=contexts[0]) as office:
        reader, writer = await asyncio.open_connection("127.0.0.1", office.port("mx"))
        await reader.readline()
        for line in (b"HELO mill.example", b"STARTTLS"):
            writer.write(line + b"\r\n")
            await reader.readline()
        writer.write(b"MAIL FROM:<evil@elsewhere.example>\r\n")
        async with asyncio.timeout(10):
            with contextlib.suppress(ConnectionError):
                assert b"250" not in await reader.read()
        writer.close()
        assert await _is_let_in(office.port("mx"))


async def test_a_client_that_reads_no_answers_is_made_to_wait(tmp_path: Path) -> None:
    async with street(tmp_path, ["mx smtp 127.0.0.1:0"], commands=1_000_000) as office:
        _, writer = await asyncio.open_connection("127.0.0.1", office.port("mx"), limit=1_024)
        with contextlib.suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(1):
                while True:
                    writer.write(b"NOOP\r\n" * 10_000)
                    await writer.drain()
        assert await _is_let_in(office.port("mx"))
        writer.transport.abort()


async def _greeted(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    assert (await reader.readline()).startswith(b"220")
    writer.write(b"HELO mill.example\r\n")
    assert (await reader.readline()).startswith(b"250")
    return reader, writer


async def _dripped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, drop: bytes) -> bytes:
    """Say a little again and again until the server says what it was not asked for."""
    async with asyncio.timeout(20):
        while True:
            writer.write(drop)
            with contextlib.suppress(TimeoutError):
                line = await asyncio.wait_for(reader.readline(), 0.03)
                if not line.startswith(b"250"):
                    return line


async def test_a_mail_that_drips_in_is_given_up(tmp_path: Path) -> None:
    async with street(tmp_path, ["mx smtp 127.0.0.1:0"], mail_seconds=0.4) as office:
        reader, writer = await _greeted(office.port("mx"))
        writer.write(b"MAIL FROM:<>\r\nRCPT TO:<ada@bakery.example>\r\nDATA\r\n")
        for code in (b"250", b"250", b"354"):
            assert (await reader.readline()).startswith(code)
        assert await _dripped(reader, writer, b"x\r\n") == b"421 4.4.2 Time is over\r\n"
        writer.close()


async def test_a_connection_that_never_ends_is_ended(tmp_path: Path) -> None:
    async with street(tmp_path, ["mx smtp 127.0.0.1:0"], connection_seconds=0.4, commands=100_000) as office:
        reader, writer = await _greeted(office.port("mx"))
        assert await _dripped(reader, writer, b"NOOP\r\n") == b"421 4.4.2 Time is over\r\n"
        writer.close()


async def test_a_mail_given_up_does_not_count_against_the_next(tmp_path: Path) -> None:
    async with street(tmp_path, ["mx smtp 127.0.0.1:0"], mail_seconds=0.3, idle_seconds=1.5) as office:
        reader, writer = await _greeted(office.port("mx"))
        writer.write(b"MAIL FROM:<>\r\nRCPT TO:<ada@bakery.example>\r\nRSET\r\n")
        for _ in range(3):
            assert (await reader.readline()).startswith(b"250")
        begun = asyncio.get_running_loop().time()
        assert await reader.readline() == b"421 4.4.2 Time is over\r\n"
        assert asyncio.get_running_loop().time() - begun > 1.0
        writer.close()


async def test_all_connections_together_have_a_limit(tmp_path: Path) -> None:
    async with street(tmp_path, ["mx smtp 127.0.0.1:0"], connections=1) as office:
        _, writer = await _greeted(office.port("mx"))
        reader, other = await asyncio.open_connection("127.0.0.1", office.port("mx"))
        assert await reader.readline() == b"421 4.3.2 Too many connections; come again later\r\n"
        other.close()
        writer.close()
