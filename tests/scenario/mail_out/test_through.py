"""In by a door, out to a server: what passes through is what came, behind one line that says how it came."""

from __future__ import annotations

import asyncio
import contextlib
import smtplib
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from posthouse.testing.port import free_port
from tests.scenario.mail_out.conftest import NAME
from tests.scenario.mail_out.letters import route, without_trace
from tests.scenario.mail_out.recorder import Recorder, Visit, recorder

_NO_MORE: Mapping[str, str] = {}
BODY = b".From: ann@one.example\r\nSubject: \x80\r\n\r\n.\r\n..two\r\nloaves\r\n"


@asynccontextmanager
async def office(
    store: Path, server: Recorder, *, relay: str = " relay=127.0.0.1", settings: Mapping[str, str] = _NO_MORE
) -> AsyncIterator[int]:
    port = free_port()
    chosen = {
        "http.listen": "off", "outgoing.name": NAME, "outgoing.mta_sts": "no", "routes.*": route(server)[1],
        "routes.two.example": route(server)[1], "mail.relay_domains": "two.example",
        "mail.hostname": "mx.post.example", "doors.in": f"smtp 127.0.0.1:{port}{relay}", **settings,
    }  # fmt: skip
    told = [word for name, value in chosen.items() for word in ("--set", f"{name}={value}")]
    program = Path(sys.executable).with_name("posthouse")
    process = await asyncio.create_subprocess_exec(
        program, "serve", "--store", store, *told, stdout=PIPE, stderr=DEVNULL
    )
    try:
        assert process.stdout is not None
        assert await process.stdout.readline()
        yield port
    finally:
        process.terminate()
        await process.wait()


def bring(port: int, *recipients: str, options: tuple[str, ...] = (), wishes: tuple[str, ...] = ()) -> None:
    with smtplib.SMTP("127.0.0.1", port, local_hostname="client.one.example") as client:
        client.sendmail("ann@one.example", list(recipients), BODY, mail_options=options, rcpt_options=wishes)


async def test_a_mail_passes_through_as_it_is(tmp_path: Path) -> None:
    async with recorder() as server, office(tmp_path / "office.db", server) as port:
        await asyncio.to_thread(bring, port, "bob@two.example", "carol@two.example", options=("BODY=8BITMIME",))
        (mail,) = await server.got(1)
        assert without_trace(mail.content) == BODY
        line = mail.content[: -len(BODY)].decode()
        assert line.startswith("Received: from client.one.example ([127.0.0.1])\r\n\tby mx.post.example (Posthouse) ")
        assert "with ESMTP id " in line
        assert "two.example" not in line, "who else gets it is nobody's business"
        assert mail.sender.endswith(" BODY=8BITMIME")
        assert set(mail.recipients) == {"<bob@two.example>", "<carol@two.example>"}


async def test_wishes_pass_through(tmp_path: Path) -> None:
    async with recorder() as server, office(tmp_path / "office.db", server) as port:
        wishes = ("NOTIFY=NEVER", "ORCPT=rfc822;b+2Bb@two.example")
        await asyncio.to_thread(bring, port, "bob@two.example", options=("RET=HDRS", "ENVID=a+3Db"), wishes=wishes)
        (mail,) = await server.got(1)
        assert "RET=HDRS ENVID=a+3Db" in mail.sender
        assert mail.recipients == ("<bob@two.example> NOTIFY=NEVER ORCPT=rfc822;b+2Bb@two.example",)


async def test_a_stranger_whose_mail_is_refused_gets_no_report(tmp_path: Path) -> None:
    def answering(line: str, _visit: Visit) -> str | None:
        return "550 5.1.1 nobody" if line.startswith("RCPT TO:<bob@") else None

    async with recorder(answering=answering) as server, office(tmp_path / "office.db", server, relay="") as port:
        await asyncio.to_thread(bring, port, "bob@two.example")
        await server.said("RCPT TO:<bob@")
        await asyncio.to_thread(bring, port, "carol@two.example")
        (mail,) = await server.got(1)
        assert mail.recipients == ("<carol@two.example>",)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await server.said("MAIL FROM:<>")
        assert not any(line.startswith("MAIL FROM:<>") for visit in server.visits for line in visit.lines)


async def test_who_is_trusted_by_a_door_gets_a_report(tmp_path: Path) -> None:
    def answering(line: str, _visit: Visit) -> str | None:
        return "550 5.1.1 nobody" if line.startswith("RCPT TO:<bob@") else None

    async with recorder(answering=answering) as server, office(tmp_path / "office.db", server) as port:
        await asyncio.to_thread(bring, port, "bob@two.example")
        (report,) = await server.got(1)
        assert report.sender.split(" ")[0] == "<>"
        assert report.recipients[0].startswith("<ann@one.example>")
        assert b"550 5.1.1 nobody" in report.content
