"""Streams: messages come as they come, no more of them than was asked for, and what is left goes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
from websockets.asyncio.client import ClientConnection, connect

from tests.scenario.http.site import Town, json_of, town

ORDER = {"to": "orders", "from": "desk", "text": "two loaves"}


async def events(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    kind = ""
    async for line in response.aiter_lines():
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield {"event": kind, **msgspec.json.decode(line.removeprefix("data: "))}


async def put(client: httpx.AsyncClient, count: int) -> None:
    # Each in a lane of its own: of one lane only the first can be taken while it is in somebody's hands.
    batch = [{**ORDER, "lane": f"lane {number}"} for number in range(count)]
    results = json_of(await client.post("/messages", json=batch))["results"]
    assert all(result["status"] == "accepted" for result in results)


async def free(place: Town, count: int) -> None:
    """Return once so many wait in the mailbox that nobody has in hand."""
    client = await place.client()
    while True:
        entries = json_of(await client.get("/queue", params={"box": "#orders"}))["entries"]
        if sum(entry["state"] == "waiting" for entry in entries) == count:
            return
        await asyncio.sleep(0.01)  # the end of a stream sets no event that could be waited for from here


async def test_a_stream_holds_no_more_than_its_credit_and_gives_back_what_is_left(tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        client = await place.client()
        await put(client, 5)
        async with client.stream("GET", "/mailboxes/orders/stream?credit=2") as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            coming = events(response)
            first, second = await anext(coming), await anext(coming)
            assert (first["event"], first["message"]["text"]) == ("delivery", "two loaves")
            following = asyncio.ensure_future(anext(coming))
            await free(place, 3)
            assert not following.done()
            json_of(await client.post("/deliveries/acknowledge", json={"slips": [first["slip"]]}))
            third = await following
            assert len({first["slip"], second["slip"], third["slip"]}) == 3
        await free(place, 4)


async def test_a_stream_of_a_mailbox_elsewhere_or_not_permitted_is_a_problem(tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        client = await place.client("read orders")
        assert json_of(await client.get("/mailboxes/private/stream"), 403)["code"] == "call.forbidden"
        assert json_of(await client.get("/mailboxes/orders/stream?credit=0"), 400)["code"] == "http.bad-request"


async def say(socket: ClientConnection, **said: object) -> None:
    await socket.send(msgspec.json.encode(said).decode())


# `Any`: the members of a JSON object.
async def heard(socket: ClientConnection) -> dict[str, Any]:
    async with asyncio.timeout(10):
        found: dict[str, Any] = msgspec.json.decode(await socket.recv())
        return found


async def test_a_socket_lends_what_it_is_given_credit_for(tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        client = await place.client()
        await put(client, 3)
        address = f"{place.api.replace('http', 'ws', 1)}/mailboxes/orders/socket"
        headers = {"authorization": f"Bearer {await place.key('read orders')}"}
        async with connect(address, additional_headers=headers, proxy=None) as socket:
            await say(socket, credit=1)
            one = (await heard(socket))["delivery"]
            await say(socket, acknowledge=[one["slip"]])
            told = [await heard(socket), await heard(socket)]
            assert {"settled": {"settled": [one["slip"]], "lost": []}} in told
            (two,) = [each["delivery"] for each in told if "delivery" in each]
            await say(socket, fail=[two["slip"]], reason="no flour", pause=3_600)
            told = [await heard(socket), await heard(socket)]
            (three,) = [each["delivery"] for each in told if "delivery" in each]
            await say(socket, renew=[three["slip"]], lease=60)
            assert (await heard(socket))["settled"]["settled"] == [three["slip"]]
            await say(socket, nonsense=1)
            assert (await heard(socket))["problem"]["code"] == "socket.malformed"
            await say(socket)
            assert (await heard(socket))["problem"]["code"] == "socket.malformed"
            await say(socket, acknowledge=["x"])
            assert (await heard(socket))["problem"]["code"] == "slip.malformed"
        await free(place, 2)


async def test_a_socket_without_a_key_is_refused(tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        address = f"{place.api.replace('http', 'ws', 1)}/mailboxes/orders/socket"
        refused = None
        try:
            async with connect(address, proxy=None):
                pass
        except Exception as fault:  # noqa: BLE001 - whatever the library calls it
            refused = fault
        assert refused is not None
        assert "401" in str(refused) or "403" in str(refused)
