"""The API as a program of any language meets it: over a real socket, with keys, in all its forms."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import msgspec
import pytest

from posthouse.clock import SystemClock
from posthouse.message.envelope import Envelope
from posthouse.message.form import json as form
from posthouse.message.form import msgpack
from posthouse.message.message import Head, compose
from posthouse.message.passage import Limits
from posthouse.office.terms import Terms
from tests.scenario.http.site import SETTINGS, json_of, town

ORDER = {"to": "orders", "from": "desk", "kind": "request", "text": "two loaves", "attributes": {"n": {"int32": 2}}}


async def taken(client: httpx.AsyncClient, mailbox: str = "orders", **asked: object) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json_of(await client.post(f"/mailboxes/{mailbox}/take", json=asked))["deliveries"]
    return found


async def test_a_message_is_put_taken_and_acknowledged(tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        client = await place.client("send as desk", "read orders")
        put = await client.post("/messages", json=ORDER)
        answer = json_of(put, 201)
        assert answer["status"] == "accepted"
        assert put.headers["location"] == f"/api/v1/messages/{answer['id']}"
        (delivery,) = await taken(client)
        message = delivery["message"]
        assert isinstance(message, dict)
        assert (message["id"], message["text"], message["from"]) == (answer["id"], "two loaves", "desk")
        assert message["attributes"] == {"n": {"int32": 2}}
        assert delivery["attempt"] == 1
        settled = json_of(await client.post("/deliveries/acknowledge", json={"slips": [delivery["slip"]]}))
        assert settled == {"settled": [delivery["slip"]], "lost": []}
        again = json_of(await client.post("/deliveries/acknowledge", json={"slips": [delivery["slip"]]}))
        assert again == {"settled": [], "lost": [delivery["slip"]]}
        story = json_of(await client.get(f"/messages/{answer['id']}"))
        assert [line["happened"] for line in story["trace"]] == ["accepted", "taken", "acknowledged"] or [
            line["happened"] for line in story["trace"]
        ] == ["accepted", "acknowledged"]


async def test_each_message_of_a_batch_is_answered(tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        client = await place.client("send as desk", "read orders")
        batch = [
            ORDER,
            {**ORDER, "priority": 11},
            {**ORDER, "from": "somebody"},
            {**ORDER, "to": "orders", "text": "3"},
        ]
        results = json_of(await client.post("/messages", json=batch))["results"]
        assert [result["status"] for result in results] == ["accepted", "refused", "refused", "accepted"]
        assert results[1]["code"] == "head.malformed"
        assert "priority" in results[1]["reason"]
        assert results[2]["code"] == "call.forbidden"
        assert len(await taken(client, limit=10)) == 2


async def test_what_is_sent_twice_under_one_key_is_accepted_once(tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        client = await place.client("send as desk", "read orders")
        first = json_of(await client.post("/messages", json=ORDER, headers={"idempotency-key": "order-7"}), 201)
        second = json_of(await client.post("/messages", json=ORDER, headers={"idempotency-key": "order-7"}), 200)
        assert (second["status"], second["id"]) == ("duplicate", first["id"])
        stranger = await place.client("send as desk")
        other = await stranger.post("/messages", json=ORDER, headers={"idempotency-key": "order-7"})
        assert json_of(other, 201)["status"] == "accepted"


async def test_a_refusal_of_a_single_message_is_a_problem(tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        client = await place.client()
        await client.put("/mailboxes/orders", json={"max_messages": 0})
        full = await client.post("/messages", json=ORDER)
        assert (full.status_code, full.headers["content-type"]) == (503, "application/problem+json")
        assert json_of(full, 503)["code"] == "mailbox.full"
        assert "retry-after" in full.headers
        nobody = json_of(await client.post("/messages", json={"text": "x"}), 422)
        assert nobody["code"].startswith("recipients") or nobody["code"]
        assert json_of(await client.post("/messages", json={**ORDER, "kid": 1}), 400)["code"] == "form.malformed"


async def test_a_take_waits_for_a_message(tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        client = await place.client()
        waiting = asyncio.create_task(taken(client, wait=30))
        await place.takers(1)
        await client.post("/messages", json=ORDER)
        (delivery,) = await waiting
        assert delivery["attempt"] == 1


async def test_a_body_of_any_type_goes_to_the_mailbox_of_the_path(tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        client = await place.client("send as desk", "read *")
        await client.post("/mailboxes/orders/messages", content=b"\x00\xff", headers={"content-type": "image/png"})
        (delivery,) = await taken(client)
        message = delivery["message"]
        assert isinstance(message, dict)
        assert (message["base64"], message["content_type"], message["from"]) == ("AP8=", "image/png", "desk")


async def test_a_slash_in_the_name_of_a_mailbox_is_escaped(tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        client = await place.client()
        put = await client.post("/messages", json={**ORDER, "to": "local:#a%2Fb"})
        json_of(put, 201)
        boxes = json_of(await client.get("/mailboxes"))["boxes"]
        assert len(boxes) == 1
        found = await client.post(f"{place.api}/mailboxes/local:%23a%252Fb/take", json={})
        assert len(json_of(found)["deliveries"]) == 1


async def test_whole_messages_come_in_both_forms(tmp_path: Path) -> None:
    clock = SystemClock()
    async with town(tmp_path) as place:
        client = await place.client()
        data, headers = b"", {"content-type": ""}
        for written in (form.write, msgpack.write):
            message = compose(Head(id=clock.new_id(), kind="event", sender="desk", recipients=("orders",)), b"7")
            data = written(message, Envelope(sender="desk", recipients=("orders",), blind=("audit",)))
            kind = "json" if written is form.write else "msgpack"
            headers = {"content-type": f"application/vnd.posthouse.message+{kind}"}
            assert json_of(await client.post("/messages", content=data, headers=headers), 201)["id"] == str(message.id)
        packed = msgspec.msgpack.encode([msgspec.Raw(data), msgspec.Raw(data)])
        results = json_of(await client.post("/messages", content=packed, headers=headers))["results"]
        assert [result["status"] for result in results] == ["duplicate", "duplicate"]
        assert len(await taken(client, "audit", limit=5)) == 2


EVENT = {"specversion": "1.0", "id": "7", "source": "/shop", "type": "order.placed", "data": {"loaves": 2}}


async def test_cloud_events_come_structured_batched_and_binary(tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        client = await place.client("send as shop", "read orders")
        structured = {"content-type": "application/cloudevents+json"}
        put = await client.post("/mailboxes/orders/messages", content=json.dumps(EVENT), headers=structured)
        first = json_of(put, 201)
        again = await client.post("/mailboxes/orders/messages", content=json.dumps(EVENT), headers=structured)
        assert json_of(again, 200) == first | {"status": "duplicate", "code": "duplicate"} | {
            "reason": json_of(again, 200)["reason"]
        }
        batched = {"content-type": "application/cloudevents-batch+json"}
        batch = json.dumps([EVENT | {"id": "8"}, {"id": "9"}])
        results = json_of(await client.post("/mailboxes/orders/messages", content=batch, headers=batched))["results"]
        assert [result["status"] for result in results] == ["accepted", "refused"]
        binary = {"ce-specversion": "1.0", "ce-id": "10", "ce-source": "/shop", "ce-type": "order.placed"}
        put = await client.post(
            "/mailboxes/orders/messages", content=b"abc", headers=binary | {"content-type": "text/x"}
        )
        json_of(put, 201)

        got = await client.post("/mailboxes/orders/get", json={}, headers={"accept": "application/cloudevents+json"})
        assert got.headers["content-type"].startswith("application/cloudevents+json")
        event = json_of(got)
        assert (event["id"], event["source"], event["type"], event["data"]) == (
            "7",
            "/shop",
            "order.placed",
            {"loaves": 2},
        )
        accept = {"accept": "application/cloudevents-batch+json"}
        events = json_of(await client.post("/mailboxes/orders/get", json={"limit": 1}, headers=accept))
        assert [event["id"] for event in events] == ["8"]
        raw = await client.post("/mailboxes/orders/get?mode=binary", json={})
        assert (raw.headers["ce-id"], raw.headers["content-type"], raw.content) == ("10", "text/x", b"abc")
        assert (await client.post("/mailboxes/orders/get?mode=binary", json={})).status_code == 204


async def test_large_bodies_are_handed_in_beforehand(tmp_path: Path) -> None:
    body = bytes(range(256)) * 1_000
    async with town(tmp_path) as place:
        client = await place.client("send as desk", "read orders")
        kept = json_of(await client.post("/bodies", content=body), 201)
        assert kept["size"] == len(body)
        answer = json_of(await client.post("/messages", json={"to": "orders", "from": "desk", "ref": kept}), 201)
        (delivery,) = await taken(client)
        message = delivery["message"]
        assert isinstance(message, dict)
        assert message["ref"] == kept
        assert (await client.get(f"/messages/{answer['id']}/body")).content == body
        stranger = await place.client("read others")
        assert json_of(await stranger.get(f"/messages/{answer['id']}/body"), 404)["code"] == "message.not-found"


async def test_a_large_body_may_be_larger_than_a_request_but_has_its_limit(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(SETTINGS, body_bytes=10_000)
    async with town(tmp_path, terms=Terms(limits=Limits(body_bytes=300_000)), settings=settings) as place:
        client = await place.client()
        assert json_of(await client.post("/bodies", content=bytes(200_000)), 201)["size"] == 200_000

        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(4):
                yield bytes(100_000)

        assert json_of(await client.post("/bodies", content=bytes(300_001)), 413)["code"] == "request.too-large"
        assert json_of(await client.post("/bodies", content=pieces()), 413)["code"].endswith("too-large")
        assert json_of(await client.post("/messages", content=bytes(10_001)), 413)["code"] == "request.too-large"


async def test_dead_letters_are_listed_redriven_and_dropped(tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        client = await place.client()
        for _ in range(2):
            await client.post("/messages", json={**ORDER, "expires": 1_000})
        queue = json_of(await client.get("/queue", params={"box": "#orders"}))
        assert queue == {"entries": []}
        assert json_of(await client.get("/dead")) == {"dead": []}
        assert json_of(await client.post("/dead/redrive", json={})) == {"count": 0}
        assert json_of(await client.post("/dead/drop", json={"numbers": [7]})) == {"count": 0}
        assert json_of(await client.get("/aside")) == {"aside": []}
        assert json_of(await client.post("/aside/resend", json={})) == {"count": 0}
        status = json_of(await client.get("/status"))
        assert (status["queued"], status["store"]) == (0, "ok")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/mailboxes/private/take", {}),
        ("POST", "/mailboxes/private/get", {}),
        ("GET", "/mailboxes/private/stream", None),
        ("GET", "/mailboxes", None),
        ("PUT", "/mailboxes/orders", {"closed": True}),
        ("DELETE", "/mailboxes/orders", None),
        ("GET", "/status", None),
        ("GET", "/dead", None),
        ("POST", "/dead/redrive", {}),
        ("GET", "/aside", None),
        ("POST", "/aside/resend", {}),
        ("GET", "/queue?box=%23private", None),
        ("GET", "/messages?prefix=01", None),
        ("POST", "/messages", {**ORDER, "from": "somebody"}),
    ],
)
async def test_a_key_reaches_as_far_as_its_scopes(
    tmp_path: Path, method: str, path: str, body: dict[str, object] | None
) -> None:
    async with town(tmp_path) as place:
        client = await place.client("send as desk", "read orders")
        problem = json_of(await client.request(method, path, json=body), 403)
        assert problem["code"] == "call.forbidden"
        assert "scope" in problem["hint"]
        client.headers.pop("authorization")
        assert json_of(await client.request(method, path, json=body), 401)["code"] == "credential.refused"


async def test_a_made_up_slip_reaches_no_other_mailbox(tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        owner = await place.client()
        await owner.post("/messages", json={**ORDER, "to": "private"})
        (delivery,) = await taken(owner, "private")
        slip = str(delivery["slip"])
        data = msgspec.msgpack.decode(base64.urlsafe_b64decode(slip + "=" * (-len(slip) % 4)))
        data["box"] = "#orders"
        forged = base64.urlsafe_b64encode(msgspec.msgpack.encode(data)).decode().rstrip("=")
        thief = await place.client("read orders")
        for path in ("acknowledge", "return", "fail", "renew"):
            answer = json_of(await thief.post(f"/deliveries/{path}", json={"slips": [forged]}))
            assert answer == {"settled": [], "lost": [forged]}
        assert json_of(await owner.post("/deliveries/acknowledge", json={"slips": [slip]}))["settled"] == [slip]
        assert json_of(await thief.post("/deliveries/renew", json={"slips": ["x"]}), 400)["code"] == "slip.malformed"
