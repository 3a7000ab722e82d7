"""Mail out, to the sink that comes with Postfix: how many mails a second leave an office that is full of them."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from bench.figure import OURS, Contender, Contest, Missing, Results, Round, Stopwatch, compete
from bench.plan import Plan
from posthouse.client import Draft, Office
from posthouse.message.mailing import Mailing
from posthouse.office.calls import HoldPlace, ListMailboxes
from posthouse.office.terms import Terms

_MISSING: Final = Missing("smtp-sink", "install the package postfix")
_BODY: Final = b"From: ann@mill.example\r\nSubject: flour\r\n\r\n" + (b"x" * 76 + b"\r\n") * 64
_DOMAINS: Final = 8
_BATCH: Final = 64


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


def _answers(port: int) -> bool:
    with socket.socket() as trying:
        return trying.connect_ex(("127.0.0.1", port)) == 0


@asynccontextmanager
async def _sink() -> AsyncIterator[int | None]:
    program = shutil.which("smtp-sink") or shutil.which("smtp-sink", path="/usr/sbin")
    if program is None:
        yield None
        return
    port = _free_port()
    # Started by root it wants to be told whom to be.
    user = ("-u", "root") if os.geteuid() == 0 else ()
    process = await asyncio.create_subprocess_exec(
        program, *user, f"127.0.0.1:{port}", "256", stdout=DEVNULL, stderr=DEVNULL
    )
    try:
        async with asyncio.timeout(10):
            while not _answers(port):  # noqa: ASYNC110 - a process that listens sets no event
                await asyncio.sleep(0.02)
        yield port
    finally:
        process.terminate()
        await process.wait()


async def out(plan: Plan) -> Results:
    """Let an office send what it took in beforehand, to one domain and to several."""
    async with _sink() as port:
        if port is None:
            return [_MISSING]
        count = max(_BATCH, plan.scale.flow * 4)
        contenders = [
            Contender(
                f"smtp_out{'_domains' if domains > 1 else ''}_per_s",
                OURS,
                _sending(plan, port, count=count, domains=domains),
                f"{len(_BODY)} B, {count} mails for {domains} domain{'s' if domains > 1 else ''}, from the store",
            )
            for domains in (1, _DOMAINS)
        ]
        return list(await compete(contenders, plan.scale.rounds))


def _sending(plan: Plan, port: int, *, count: int, domains: int) -> Round:
    async def measure() -> float:
        mailing = Mailing(name="post.example", routes=(("*", f"smtp://127.0.0.1:{port}"),), mta_sts=False)
        with plan.folder() as folder:
            async with Office.open(folder / "office.db", terms=Terms(mailing=mailing)) as office:
                return await _send(office, count=count, domains=[f"d{number}.example" for number in range(domains)])

    return measure


async def _send(office: Office, *, count: int, domains: Sequence[str]) -> float:
    for domain in domains:
        await office.call(HoldPlace(place=f"smtp:{domain}"))
    for start in range(0, count, _BATCH):
        await office.put_many([_mail(domains[number % len(domains)]) for number in range(start, start + _BATCH)])
    watch = Stopwatch()
    for domain in domains:
        await office.call(HoldPlace(place=f"smtp:{domain}", held=False))
    while await office.call(ListMailboxes()):  # noqa: ASYNC110 - the queue sets no event
        # What is left is asked for seldom, so that asking costs nothing.
        await asyncio.sleep(0.02)
    return count / watch.wall()


def _mail(domain: str) -> Draft:
    return Draft(
        to=(f"smtp:ada@{domain}",),
        body=_BODY,
        kind="mail",
        content_type="message/rfc822",
        sender="smtp:ann@mill.example",
        ordered=False,
    )


CONTESTS: Final = (Contest(("smtp_out_per_s", "smtp_out_domains_per_s"), out),)
