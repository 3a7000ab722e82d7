"""Mails that tests send, and what is looked up about them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import UUID

from posthouse.client import Draft, Office
from posthouse.office.calls import ListDead, Tell
from posthouse.store.ports import Dead
from tests.scenario.mail_out.recorder import Recorder

ANN = "smtp:ann@one.example"
BOB = "smtp:bob@two.example"
CAROL = "smtp:carol@two.example"
PLAIN = b"From: ann@one.example\r\nSubject: loaves\r\n\r\nTwo loaves.\r\n"


def route(server: Recorder, *, pattern: str = "*", scheme: str = "smtp", host: str = "127.0.0.1") -> tuple[str, str]:
    return pattern, f"{scheme}://{host}:{server.port}"


async def post(office: Office, body: bytes = PLAIN, *, to: Sequence[str] = (BOB,), sender: str | None = ANN) -> UUID:
    draft = Draft(to=tuple(to), body=body, kind="mail", content_type="message/rfc822", sender=sender)
    (receipt,) = await office.put_many([draft])
    assert receipt.status == "accepted", receipt
    return receipt.id


async def life(office: Office, identity: UUID) -> list[str]:
    story = await office.call(Tell(message=identity))
    assert story is not None
    return [step.happened for step in story.steps]


async def dead(office: Office) -> list[Dead]:
    return await office.call(ListDead())


async def lived(office: Office, identity: UUID, *steps: str) -> None:
    """Return once the life of a message reads so."""
    while await life(office, identity) != ["accepted", *steps]:  # noqa: ASYNC110 - the trace sets no event
        await asyncio.sleep(0.01)


async def put_off(office: Office, identity: UUID) -> None:
    """Return once a message was brought in vain."""
    while "retry" not in await life(office, identity):  # noqa: ASYNC110 - the trace sets no event
        await asyncio.sleep(0.01)


async def buried(office: Office, count: int) -> None:
    """Return once there are so many dead letters."""
    while len(await dead(office)) < count:  # noqa: ASYNC110 - the shelf of dead letters sets no event
        await asyncio.sleep(0.01)


def without_trace(content: bytes) -> bytes:
    """Take off the one line an office puts before what it sends on."""
    assert content.startswith(b"Received: ")
    lines = content.split(b"\r\n")
    end = next(number for number, line in enumerate(lines[1:], start=1) if not line.startswith((b"\t", b" ")))
    return b"\r\n".join(lines[end:])
