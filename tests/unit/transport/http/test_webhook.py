"""Webhooks: what is posted and signed, what is taken for an answer, and where nothing is ever posted."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from posthouse.message.envelope import Envelope
from posthouse.message.message import Head, compose
from posthouse.message.webhook import Webhook
from posthouse.testing.build import START, identity
from posthouse.testing.clock import FakeClock
from posthouse.transport.http.webhook import SecretUnfit, WebhookDoor, is_meant, read_secret, signature
from posthouse.transport.ports import Outgoing

SECRET = b"a secret of the bakery, long enough"


def outgoing(number: int = 1, body: bytes = b'{"specversion":"1.0"}') -> Outgoing:
    message = compose(Head(id=identity(number), kind="event", sender=None, recipients=("x",), created=START), body)
    return Outgoing(message, Envelope(recipients=("x",)))


def secret_file(folder: Path, content: bytes = SECRET) -> str:
    path = folder / "secret"
    path.write_bytes(content)
    path.chmod(0o600)
    return str(path)


Answer = Callable[[bytes, dict[str, str]], bytes]


@asynccontextmanager
async def listening(answer: Answer) -> AsyncIterator[int]:
    """Answer requests as told, each on a connection of its own."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = [line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line]
        headers = {name.lower(): value for name, value in lines}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        headers["request"] = head.split("\r\n")[0]
        writer.write(answer(body, headers))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


def status(code: int, *more: str) -> bytes:
    return "\r\n".join((f"HTTP/1.1 {code} X", "content-length: 0", "connection: close", *more, "", "")).encode()


def door(port: int, folder: Path, *, inside: tuple[str, ...] = ("127.0.0.1/32",)) -> tuple[WebhookDoor, str]:
    hook = Webhook(
        name="crm", url=f"http://crm.example:{port}/posthouse?a=b", secret_file=secret_file(folder), inside=inside
    )
    return WebhookDoor([hook], FakeClock(), resolve=always("127.0.0.1")), str(hook.place)


def always(*addresses: str) -> Callable[[str, int], Awaitable[list[str]]]:
    async def resolve(_host: str, _port: int) -> list[str]:
        return list(addresses)

    return resolve


async def test_what_is_posted_is_signed_and_timed(tmp_path: Path) -> None:
    seen: list[tuple[bytes, dict[str, str]]] = []

    def answer(body: bytes, headers: dict[str, str]) -> bytes:
        seen.append((body, headers))
        return status(204)

    async with listening(answer) as port:
        opened, place = door(port, tmp_path)
        results = await opened.deliver(place, [outgoing(1), outgoing(2)])
        await opened.close()
    assert [result.status for result in results] == ["delivered", "delivered"]
    (body, headers), (_, second) = seen
    assert headers["request"] == "POST /posthouse?a=b HTTP/1.1"
    assert headers["host"] == f"crm.example:{port}"
    assert (headers["webhook-id"], second["webhook-id"]) == (str(identity(1)), str(identity(2)))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert SECRET.decode() not in str(seen)


@pytest.mark.parametrize(
    ("code", "expected"),
    [(200, "delivered"), (410, "refused"), (404, "unreachable"), (500, "unreachable"), (302, "unreachable")],
)
async def test_each_answer_says_what_becomes_of_it(code: int, expected: str, tmp_path: Path) -> None:
    async with listening(lambda _body, _headers: status(code, "location: http://127.0.0.1:1/")) as port:
        opened, place = door(port, tmp_path)
        (result,) = await opened.deliver(place, [outgoing()])
        await opened.close()
    assert result.status == expected


async def test_what_follows_waits_with_what_was_not_taken(tmp_path: Path) -> None:
    asked: list[bytes] = []

    def answer(body: bytes, _headers: dict[str, str]) -> bytes:
        asked.append(body)
        return status(503, "retry-after: 7")

    async with listening(answer) as port:
        opened, place = door(port, tmp_path)
        results = await opened.deliver(place, [outgoing(1), outgoing(2), outgoing(3)])
        await opened.close()
    assert [result.status for result in results] == ["unreachable"] * 3
    assert len(asked) == 1
    assert results[0].pause == 7.0


async def test_nothing_is_posted_where_nobody_listed_the_network(tmp_path: Path) -> None:
    async with listening(lambda _body, _headers: pytest.fail("posted")) as port:
        opened, place = door(port, tmp_path, inside=("10.0.0.0/8",))
        (result,) = await opened.deliver(place, [outgoing()])
        await opened.close()
    assert result.status == "unreachable"
    assert "not public" in result.reason


async def test_a_webhook_that_is_listed_no_more_is_given_up(tmp_path: Path) -> None:
    opened, _ = door(1, tmp_path)
    (result,) = await opened.deliver("webhook://crm.example:1/old", [outgoing()])
    assert result.status == "refused"


@pytest.mark.parametrize(
    ("address", "inside", "meant"),
    [
        ("93.184.216.34", (), True), ("127.0.0.1", (), False), ("10.1.2.3", (), False), ("169.254.169.254", (), False),
        ("::1", (), False), ("::ffff:127.0.0.1", (), False), ("fe80::1%eth0", (), False), ("224.0.0.1", (), False),
        ("64:ff9b::7f00:1", (), False), ("0.0.0.0", (), False), ("10.1.2.3", ("10.0.0.0/8",), True),
        ("127.0.0.1", ("::1/128",), False), ("::ffff:10.1.2.3", ("10.0.0.0/8",), True), ("nonsense", (), False),
        ("2606:2800:220:1:248:1893:25c8:1946", (), True),
    ],
)  # fmt: skip
def test_only_what_is_public_or_listed_is_meant(address: str, inside: tuple[str, ...], meant: bool) -> None:
    assert is_meant(address, inside) is meant


def test_a_secret_is_read_from_a_file_of_ones_own(tmp_path: Path) -> None:
    assert read_secret(Path(secret_file(tmp_path))) == SECRET
    coded = base64.b64encode(SECRET)
    assert read_secret(Path(secret_file(tmp_path, b"whsec_" + coded + b"\n"))) == SECRET


@pytest.mark.parametrize("content", [b"", b"short", b"whsec_!!!", b"whsec_c2hvcnQ=", b"x" * 5_000])
def test_a_secret_that_is_unfit_is_refused_and_not_shown(content: bytes, tmp_path: Path) -> None:
    path = Path(secret_file(tmp_path, content))
    with pytest.raises(SecretUnfit) as refused:
        read_secret(path)
    assert not content or content.decode() not in str(refused.value)


def test_a_secret_others_may_read_is_refused(tmp_path: Path) -> None:
    path = Path(secret_file(tmp_path))
    os.chmod(path, 0o644)  # noqa: PTH101 - as a careless hand does
    with pytest.raises(SecretUnfit, match="644"):
        read_secret(path)
    with pytest.raises(SecretUnfit):
        read_secret(tmp_path / "nowhere")


def test_a_signature_holds_for_one_body_at_one_time() -> None:
    one = signature(SECRET, b"x", identity="a", seconds=1)
    others = {
        signature(SECRET, b"x", identity="b", seconds=1),
        signature(SECRET, b"x", identity="a", seconds=2),
        signature(SECRET, b"y", identity="a", seconds=1),
        signature(SECRET[::-1], b"x", identity="a", seconds=1),
    }
    assert len(others | {one}) == 5
    assert one == signature(SECRET, b"x", identity="a", seconds=1)
