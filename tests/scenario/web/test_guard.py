"""What stands before everything that answers: keys, rates, sizes, times, and words for what went wrong."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from posthouse.server.web import Mount
from posthouse.store.ports import StoreDamaged
from posthouse.web.admission import permit_of
from posthouse.web.asgi import Receive, Scope, Send
from tests.scenario.web.site import place

WRONG = "ph_" + "a" * 10 + "_" + "b" * 52


def problem(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert told["status"] == answer.status_code
    assert told["title"]
    return answer.status_code, told["code"]


class Echo:
    """Answers with the length of what it was sent, and who sent it."""

    def __init__(self) -> None:
        self.hold = asyncio.Event()
        self.hold.set()
        self.began = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        size, more = 0, True
        while more:
            message = await receive()
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
        self.began.set()
        await self.hold.wait()
        if scope["path"] == "/echo/broken":
            raise StoreDamaged("page 17 is damaged", where="/srv/office.db")
        if scope["path"] == "/echo/bug":
            raise LookupError("/srv/secret")
        who = permit_of(scope).name if scope["path"] == "/echo/me" else "somebody"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": f"{who} {size}".encode()})


async def test_a_mount_gets_what_is_below_its_prefix() -> None:
    async with place(mounts={"/echo/": Mount(Echo())}) as here:
        assert (await here.client.post("/echo", content=b"abc")).text == "somebody 3"
        assert (await here.client.post("/echo/x/y", content=b"")).text == "somebody 0"
        assert problem(await here.client.post("/echoes")) == (404, "http.not-found")
        assert problem(await here.client.get("/echo/me")) == (401, "credential.refused")
        answer = await here.client.get("/echo/me", headers=await here.headers("read x"))
        assert answer.text == "till 0"


async def test_what_looks_after_itself_is_only_counted() -> None:
    async with place(body_bytes=10, stranger_requests=1, mounts={"/echo": Mount(Echo(), limited=False)}) as here:
        for _ in range(9):
            answer = await here.client.post("/echo", content=b"x" * 99, headers={"authorization": f"Bearer {WRONG}"})
            assert answer.text == "somebody 99"
        assert problem(await here.client.get("/echo/bug")) == (500, "http.internal-server-error")
        assert here.site.front.watch.tally.requests["echo", "POST", 200] == 9


async def test_a_wrong_key_is_refused_everywhere() -> None:
    async with place() as here:
        answer = await here.client.get("/health", headers={"authorization": f"Bearer {WRONG}"})
        assert problem(answer) == (401, "credential.refused")
        assert answer.headers["www-authenticate"] == 'Bearer realm="posthouse"'
        assert WRONG not in answer.text
        assert problem(await here.client.get("/health", headers={"authorization": "Basic eDp5"}))[0] == 401


async def test_a_key_in_an_address_is_refused() -> None:
    async with place() as here:
        key = await here.key("administer")
        for path in (f"/health?key={key}", f"/{key}"):
            answer = await here.client.get(path)
            assert problem(answer) == (400, "request.malformed")
            assert key not in answer.text


async def test_a_body_that_is_too_large_is_refused_before_it_is_read() -> None:
    async with place(body_bytes=1_000, mounts={"/echo": Mount(Echo())}) as here:
        assert problem(await here.client.post("/echo", content=b"x" * 1_001)) == (413, "request.too-large")
        assert (await here.client.post("/echo", content=b"x" * 1_000)).text == "somebody 1000"

        async def pieces() -> Any:
            for _ in range(50):
                yield b"x" * 100

        assert problem(await here.client.post("/echo", content=pieces())) == (413, "request.too-large")
        head = b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 9999999999999999\r\n\r\n"
        assert (await here.raw(head)).startswith(b"HTTP/1.1 413 ")


async def test_strangers_are_held_back_and_keys_have_a_rate_of_their_own() -> None:
    async with place(stranger_requests=1, burst_seconds=2.0) as here:
        headers = await here.headers("read x")
        # Time passes while they ask, and gives them more: they are held back sooner or later, but never at once.
        answers = [await here.client.get("/nowhere") for _ in range(2)]
        assert [answer.status_code for answer in answers] == [404, 404]
        while answers[-1].status_code == 404 and len(answers) < 50:
            answers.append(await here.client.get("/nowhere"))
        assert problem(answers[-1]) == (429, "request.too-many")
        assert int(answers[-1].headers["retry-after"]) >= 1
        assert (await here.client.get("/openapi.json", headers=headers)).status_code == 200


async def test_a_body_that_does_not_arrive_is_given_up() -> None:
    async with place(request_seconds=0.1, mounts={"/echo": Mount(Echo())}) as here:
        told = await here.raw(b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc")
        assert told.startswith(b"HTTP/1.1 408 ")
        assert b"request.slow" in told


@pytest.mark.parametrize("head", [b"", b"\r\n\r\n", b"GET / HTTP/1.1\r\nhost: x\r\n", b"GET /healt"])
async def test_a_head_that_does_not_arrive_is_given_up(head: bytes) -> None:
    async with place(request_seconds=0.1) as here:
        assert (await here.raw(head)).startswith(b"HTTP/1.1 408 ")


async def test_a_head_that_does_not_end_is_refused() -> None:
    async with place() as here:
        told = await here.raw(b"GET / HTTP/1.1\r\n", *[b"x-long: " + b"a" * 20_000] * 5)
        assert told.startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize(
    "sent", [b"GARBAGE\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET / HTTP/9.9\r\n\r\n"]
)
async def test_what_is_no_http_is_refused(sent: bytes) -> None:
    async with place() as here:
        told = await here.raw(sent)
        assert told.startswith(b"HTTP/1.1 400 ")
        assert b"application/problem+json" in told


async def test_connections_are_limited() -> None:
    async with place(connections=1) as here:
        reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
        writer.write(b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        assert (await here.raw()).startswith(b"HTTP/1.1 503 ")
        writer.close()


async def test_an_answer_that_does_not_come_is_given_up() -> None:
    echo = Echo()
    echo.hold.clear()
    async with place(answer_seconds=0.1, mounts={"/echo": Mount(echo)}) as here:
        assert problem(await here.client.get("/echo")) == (503, "request.unfinished")


async def test_the_inside_stays_inside() -> None:
    async with place(mounts={"/echo": Mount(Echo())}) as here:
        for path, code in (("/echo/broken", "store.damaged"), ("/echo/bug", "http.internal-server-error")):
            answer = await here.client.get(path)
            assert problem(answer) == (500, code)
            assert "/srv" not in answer.text
            assert answer.json()["incident"]


async def test_requests_under_way_end_before_the_office_does() -> None:
    echo = Echo()
    echo.hold.clear()
    async with httpx.AsyncClient(trust_env=False) as client:
        async with place(mounts={"/echo": Mount(echo)}, drain_seconds=30.0) as here:
            asking = asyncio.create_task(client.get(f"{here.url}/echo"))
            await echo.began.wait()
            asyncio.get_running_loop().call_later(0.05, echo.hold.set)
        assert (await asking).text == "somebody 0"


async def test_requests_that_do_not_end_are_told_so() -> None:
    echo = Echo()
    echo.hold.clear()
    async with httpx.AsyncClient(trust_env=False) as client:
        async with place(mounts={"/echo": Mount(echo)}, drain_seconds=0.05) as here:
            asking = asyncio.create_task(client.get(f"{here.url}/echo"))
            await echo.began.wait()
        assert problem(await asking) == (503, "office.unavailable")
