"""Mail out, to the sink that comes with Postfix: how many mails a second leave an office that is full of them.

Beside it a Postfix that holds as many mails of the same size, and is let go to the same sink.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from bench.figure import OURS, Contender, Contest, Figure, Missing, Results, Round, Stopwatch, compete, figure_of
from bench.plan import Plan
from posthouse.client import Draft, Office
from posthouse.message.mailing import Mailing
from posthouse.office.calls import HoldPlace, ListMailboxes
from posthouse.office.terms import Terms
from posthouse.testing import postfix
from posthouse.testing.postfix import Postfix

_MISSING: Final = Missing("smtp-sink", "install the package postfix")
_NO_PEER: Final = Missing("Postfix", "install the package postfix, and run this as root")
_QUEUES: Final = ("hold", "deferred", "incoming", "active", "maildrop")
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
    """Let an office send what it took in beforehand, to one domain and to several, and a Postfix in turn with it."""
    async with AsyncExitStack() as opened:
        port = await opened.enter_async_context(_sink())
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
        if postfix.find() is not None:
            return [*await compete(contenders, plan.scale.rounds), _NO_PEER]
        peer = await opened.enter_async_context(postfix.running(_holding(port)))
        note = f"{len(_BODY)} B, {count} mails for 1 domain, from its queue"
        contenders.append(Contender("smtp_out_postfix_per_s", "Postfix", _letting_go(peer, count), note))
        figures = await compete(contenders, plan.scale.rounds)
        return [*figures, _ratio(figures)]


def _ratio(figures: Sequence[Figure]) -> Figure:
    ours, peers = figures[0].value, figures[-1].value
    return figure_of("smtp_out_ratio_postfix", OURS, values=[ours / peers], note="medians of both, 1 domain")


def _holding(port: int) -> dict[str, str]:
    """Give the settings of a Postfix that holds what comes, and then brings all of it to one server."""
    return {"smtpd_client_restrictions": "static:hold", "relayhost": f"[127.0.0.1]:{port}"}


def _letting_go(peer: Postfix, count: int) -> Round:
    async def measure() -> float:
        await _run(
            "smtp-source", "-d", "-s", "20", "-l", str(len(_BODY)), "-m", str(count),
            "-f", "ann@mill.example", "-t", "ada@d0.example", f"127.0.0.1:{peer.port}",
        )  # fmt: skip
        assert peer.queued("hold") == count
        watch = Stopwatch()
        await _run("postsuper", "-c", str(peer.folder), "-H", "ALL")
        await _run("postqueue", "-c", str(peer.folder), "-f")
        while peer.queued(*_QUEUES):  # noqa: ASYNC110 - the queue sets no event
            # What is left is asked for seldom, so that asking costs nothing.
            await asyncio.sleep(0.05)
        return count / watch.wall()

    return measure


async def _run(name: str, *words: str) -> None:
    process = await asyncio.create_subprocess_exec(
        postfix.program(name) or name, *words, stdout=DEVNULL, stderr=DEVNULL
    )
    assert await process.wait() == 0, f"{name} failed"


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


CONTESTS: Final = (Contest(("smtp_out_per_s", "smtp_out_domains_per_s", "smtp_out_ratio_postfix"), out),)
