"""The process is killed again and again while mail goes out: each mail arrives, some perhaps twice."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path

import pytest

from posthouse.client import Draft, Office
from posthouse.message.mailing import Mailing
from posthouse.office.calls import ListQueue
from posthouse.office.terms import Terms
from tests.scenario.mail_out.conftest import NAME
from tests.scenario.mail_out.letters import ANN, BOB, route
from tests.scenario.mail_out.recorder import Recorder, recorder

MAILS = 300


async def serving(store: Path, server: Recorder) -> Process:
    settings = {
        "http.listen": "off", "outgoing.name": NAME, "outgoing.mta_sts": "no", "routes.*": route(server)[1],
        "traffic.batch": "8",
    }  # fmt: skip
    told = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    program = Path(sys.executable).with_name("posthouse")
    process = await asyncio.create_subprocess_exec(
        program, "serve", "--store", store, *told, stdout=PIPE, stderr=DEVNULL
    )
    assert process.stdout is not None
    assert await process.stdout.readline()
    return process


@pytest.mark.timeout(120)
async def test_nothing_is_lost_where_the_process_is_killed(tmp_path: Path) -> None:
    store = tmp_path / "office.db"
    async with recorder() as server:
        # A server that keeps nothing back: the mails wait in the store first.
        terms = Terms(mailing=Mailing(name=NAME, routes=(("*", "smtp://127.0.0.1:1"),), mta_sts=False))
        async with Office.open(store, terms=terms) as office:
            drafts = [
                Draft(
                    to=(BOB,), body=b"X-Number: %d\r\n\r\n" % number, kind="mail", content_type="message/rfc822",
                    sender=ANN, ordered=False,
                )
                for number in range(MAILS)
            ]  # fmt: skip
            await office.put_many(drafts)
        for kills in range(1, 5):
            process = await serving(store, server)
            await server.got(kills * 40)
            process.kill()
            await process.wait()
        process = await serving(store, server)
        wanted = {b"X-Number: %d" % number for number in range(MAILS)}
        while len({mail.content.split(b"\r\n")[-3] for mail in server.mails} & wanted) < MAILS:
            await server.got(len(server.mails) + 1)
        async with Office.open(store) as office:
            while await office.call(ListQueue(box="smtp:two.example")):  # noqa: ASYNC110 - the queue sets no event
                await asyncio.sleep(0.01)
        process.terminate()
        await process.wait()
        again = len(server.mails) - MAILS
        assert again <= 4 * 8 * 4, f"{again} arrived again"
