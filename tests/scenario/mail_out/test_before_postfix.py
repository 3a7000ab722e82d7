"""The office before a Postfix, by the settings its how-to gives: in from the world, and out."""

from __future__ import annotations

import asyncio
import smtplib
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from posthouse.testing import postfix
from posthouse.testing.certificate import make_certificate
from posthouse.testing.port import free_port
from tests.scenario.mail_out.letters import without_trace
from tests.scenario.mail_out.recorder import Recorder, recorder

HOWTO = Path(__file__).parents[3] / "docs" / "howto" / "mail-before-postfix.md"
# The world has an address of its own, for the Postfix and the servers of the test have the other one.
STRANGER = "127.0.0.2"
# With everything Postfix would add by itself.
MAIL = (
    b"From: cleo@mill.example\r\nTo: ada@corp.example\r\nDate: Mon, 5 Jan 2026 08:00:00 +0100\r\n"
    b"Message-ID: <1@mill.example>\r\nSubject: flour\r\n\r\n\xff .\r\n.\r\n..\r\n"
)


def told_by_howto(changes: dict[str, str]) -> str:
    """Give the settings of the how-to, with the places of a test."""
    text = HOWTO.read_text().split("```toml\n", 1)[1].split("```", 1)[0]
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


@asynccontextmanager
async def office(folder: Path, inside: str, world: Recorder, *, port: int) -> AsyncIterator[None]:
    made = make_certificate(folder, "mx.corp.example")
    settings = told_by_howto({
        "/etc/posthouse/mx.pem": made.certificate, "/etc/posthouse/mx.key": made.key, "0.0.0.0:25": f"127.0.0.1:{port}",
        "relay=10.0.0.5": "relay=127.0.0.1", "10.0.0.5:25": inside,
    })  # fmt: skip
    (folder / "posthouse.toml").write_text(f'{settings}"elsewhere.example" = "smtp://127.0.0.1:{world.port}"\n')
    program = Path(sys.executable).with_name("posthouse")
    process = await asyncio.create_subprocess_exec(
        program, "serve", "--set", "http.listen=off", cwd=folder, stdout=PIPE, stderr=DEVNULL
    )
    try:
        assert process.stdout is not None
        assert await process.stdout.readline()
        yield
    finally:
        process.terminate()
        await process.wait()


def bring(port: int, recipient: str, *, sender: str = "cleo@mill.example", address: str = STRANGER) -> None:
    with smtplib.SMTP("127.0.0.1", port, local_hostname="mill.example", source_address=(address, 0)) as client:
        client.sendmail(sender, [recipient], MAIL)


@pytest.mark.service("postfix")
@pytest.mark.skipif(postfix.find() is not None, reason=postfix.find() or "")
async def test_the_world_reaches_the_postfix_behind_and_nobody_else(tmp_path: Path) -> None:
    port = free_port()
    async with (
        recorder() as mailboxes,
        recorder() as world,
        postfix.running({
            "myhostname": "inside.example", "relay_domains": "corp.example", "relayhost": f"[127.0.0.1]:{port}",
            "transport_maps": f"inline:{{ corp.example=smtp:[127.0.0.1]:{mailboxes.port} }}",
            # The office is not trusted by it: it needs not be.
            "mynetworks": "127.0.0.3/32",
            "smtpd_relay_restrictions": "permit_mynetworks, reject_unauth_destination",
        }) as inside,
        office(tmp_path, f"{inside.host}:{inside.port}", world, port=port),
    ):  # fmt: skip
        await asyncio.to_thread(bring, port, "Ada.Miller@corp.example")
        (mail,) = await mailboxes.got(1)
        assert mail.content.endswith(MAIL)
        assert mail.content.count(b"Received:") == 2, "one of this office, one of Postfix"
        assert b"by mx.corp.example (Posthouse)" in mail.content
        assert mail.recipients[0].split(" ")[0] == "<Ada.Miller@corp.example>"

        for victim in ("victim@elsewhere.example", "victim@sub.corp.example", "victim%elsewhere.example@corp.example"):
            with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
                await asyncio.to_thread(bring, port, victim)
            assert refused.value.recipients[victim][0] == 550

        # What people inside write goes out by way of the office.
        await asyncio.to_thread(
            bring, inside.port, "bob@elsewhere.example", sender="ada@corp.example", address="127.0.0.3"
        )
        (sent,) = await world.got(1)
        assert sent.content.endswith(MAIL)
        assert b"by mx.corp.example (Posthouse)" in sent.content.split(b"\r\nFrom:")[0]


async def test_what_is_passed_on_is_what_came(tmp_path: Path) -> None:
    port = free_port()
    async with (
        recorder() as inside,
        recorder() as world,
        office(tmp_path, f"127.0.0.1:{inside.port}", world, port=port),
    ):
        await asyncio.to_thread(bring, port, '"Ada Miller"@corp.example')
        (mail,) = await inside.got(1)
        assert without_trace(mail.content) == MAIL
        assert mail.recipients[0].startswith('<"Ada Miller"@corp.example>')
        assert not world.mails
