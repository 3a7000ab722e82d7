"""Health, metrics, the description, and the page of who looks after the office."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

import pytest

from posthouse.message.changes import Changes, Outcome
from posthouse.office.calls import ListDead, ListMailboxes, RevokeCredential
from posthouse.store.memory.store import MemoryStore
from posthouse.web.metrics import METRICS
from posthouse.web.session import COOKIE
from tests.scenario.web.site import place
from tests.unit.office.rig import parcel


class FullStore(MemoryStore):
    """A store whose disk fills up when it is told to."""

    full = False

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        if self.full:
            return [Outcome(status="refused", detail="/srv/office.db: the disk is full")] * len(changes)
        return await super().commit(changes)


async def test_health_tells_strangers_little_and_administrators_all() -> None:
    store = FullStore()
    async with place(durable=store) as here:
        headers = await here.headers("administer")
        store.full = True
        answer = await here.client.get("/health")
        assert (answer.status_code, answer.json()["well"]) == (503, False)
        assert "/srv" not in answer.text
        told = (await here.client.get("/health", headers=headers)).json()
        assert told["faults"] == ["the store cannot be written: /srv/office.db: the disk is full"]


async def test_health_of_a_well_office() -> None:
    async with place() as here:
        answer = await here.client.get("/health")
        assert (answer.status_code, answer.json()["well"], answer.json()["faults"]) == (200, True, [])
        assert await here.house.keyring._store.journal.pulse() is not None


async def test_metrics_have_everything_the_reference_names() -> None:
    async with place() as here:
        await here.bury()
        await here.house.counter.accept([parcel(2)])
        await here.house.counter.accept([parcel(2)])
        await here.client.get("/nowhere")
        text = (await here.client.get("/metrics")).text
        for metric in METRICS:
            assert f"# TYPE {metric.name} {metric.kind}" in text
        assert 'posthouse_messages_total{event="accepted"} 2.0' in text
        assert 'posthouse_messages_total{event="duplicate"} 1.0' in text
        assert 'posthouse_messages_total{event="buried"} 1.0' in text
        assert "posthouse_dead_letters 1.0" in text
        assert 'posthouse_box_messages{box="#bob"} 1.0' in text
        assert 'posthouse_stage_journeys_total{outcome="entered",stage="admit"} 3.0' in text
        assert 'posthouse_http_requests_total{area="other",method="GET",status="404"} 1.0' in text
        assert "process_resident_memory_bytes" in text


async def test_the_description_names_the_routes_and_nothing_of_the_pages() -> None:
    async with place() as here:
        described = (await here.client.get("/openapi.json")).json()
        assert {"/health", "/metrics"} <= set(described["paths"])
        assert not [path for path in described["paths"] if path.startswith("/pages")]
        assert described["components"]["securitySchemes"]["key"]["scheme"] == "bearer"


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:8025"},
        {"x-forwarded-for": "192.0.2.1"},
        {"forwarded": "for=192.0.2.1"},
    ],
)
async def test_the_page_is_not_open_to_what_only_looks_as_if_it_came_from_here(headers: dict[str, str]) -> None:
    async with place() as here:
        assert (await here.client.get("/")).status_code == 200
        answer = await here.client.get("/", headers=headers)
        assert (answer.status_code, answer.headers["location"]) == (303, "/pages/sign-in")
        assert (await here.client.get("/metrics", headers=headers)).status_code == 401


async def test_where_the_page_is_not_open_it_takes_a_key_that_administers() -> None:
    async with place(status_open="no") as here:
        assert (await here.client.get("/")).status_code == 303
        assert (await here.client.get("/metrics")).status_code == 401
        assert (await here.client.get("/pages/live")).status_code == 401
        assert (await here.client.get("/metrics", headers=await here.headers("read *"))).status_code == 403
        assert (await here.client.get("/metrics", headers=await here.headers("administer"))).status_code == 200
        for key in ("nonsense", await here.key("read *")):
            answer = await here.client.post("/pages/sign-in", data={"key": key})
            assert (answer.status_code, COOKIE in answer.headers.get("set-cookie", "")) == (401, False)
            assert key not in answer.text
        await here.sign_in()
        assert (await here.client.get("/")).status_code == 200


async def test_the_cookie_is_safe_and_ends_with_its_key() -> None:
    async with place(status_open="no") as here:
        key = await here.key("administer")
        answer = await here.client.post("/pages/sign-in", data={"key": key})
        cookie = answer.headers["set-cookie"]
        assert all(word in cookie for word in ("HttpOnly", "SameSite=Strict", "Path=/"))
        assert key not in cookie
        assert (await here.client.get("/")).status_code == 200
        value = here.client.cookies[COOKIE]
        for wrong in (value[:-1] + ("0" if value[-1] != "0" else "1"), "x" + value, "", ".", "é"):
            headers = {b"cookie": f"{COOKIE}={wrong}".encode("latin-1")}
            here.client.cookies.clear()
            assert (await here.client.get("/", headers=headers)).status_code == 303
        here.client.cookies.set(COOKIE, value)
        await here.house.answer(RevokeCredential(id=key.split("_")[1]))
        assert (await here.client.get("/")).status_code == 303


async def test_dead_letters_are_put_back_and_dropped() -> None:
    async with place() as here:
        # As a browser sends forms of the page itself.
        here.client.headers.update({"sec-fetch-site": "same-origin", "origin": here.url})
        for number in range(1, 5):
            await here.bury(number, reason="<script>alert(1)</script>")
        first, second, *_ = await here.house.answer(ListDead())
        page = (await here.client.get("/")).text
        assert "<script>alert" not in page
        assert "Put back" not in page
        mark = await here.sign_in()
        assert "Put back" in (await here.client.get("/")).text
        sent = {"mark": mark, "do": "redrive", "number": str(first.number)}
        answer = await here.client.post("/pages/dead", data=sent)
        assert answer.headers["location"] == "/?done=redriven&count=1"
        assert "1 put back into their boxes" in (await here.client.get(answer.headers["location"])).text
        sent = {"mark": mark, "do": "drop", "number": str(second.number)}
        assert (await here.client.post("/pages/dead", data=sent)).headers["location"] == "/?done=dropped&count=1"
        answer = await here.client.post("/pages/dead", data={"mark": mark, "do": "drop"})
        assert answer.headers["location"] == "/"
        answer = await here.client.post("/pages/dead", data={"mark": mark, "do": "drop", "all": "1"})
        assert answer.headers["location"] == "/?done=dropped&count=2"
        (box,) = await here.house.answer(ListMailboxes())
        assert (box.box, box.messages) == ("#bob", 1)


async def test_forms_of_other_sites_and_sessions_do_nothing() -> None:
    async with place() as here:
        await here.bury()
        mark = await here.sign_in()
        sent = {"mark": mark, "do": "drop", "all": "1"}
        for data, headers in (
            ({**sent, "mark": "x"}, {}),
            ({"do": "drop", "all": "1"}, {}),
            (sent, {"sec-fetch-site": "cross-site"}),
            (sent, {"sec-fetch-site": "same-site"}),
            (sent, {"origin": "https://evil.example"}),
            (sent, {"origin": "null"}),
            (sent, {"cookie": ""}),
        ):
            answer = await here.client.post("/pages/dead", data=data, headers=headers)
            assert answer.status_code == 401, (data, headers)
        json = await here.client.post("/pages/dead", json=sent)
        assert json.status_code == 400
        left = await here.house.answer(ListDead())
        assert len(left) == 1
        assert (await here.client.post("/pages/sign-out", data={"mark": mark})).status_code == 303
        assert (await here.client.post("/pages/dead", data=sent)).status_code == 401


async def test_the_page_lives_and_ends_with_the_office() -> None:
    async with place() as here:
        closing = here.site.front.closing
        async with here.client.stream("GET", "/pages/live") as stream:
            lines = stream.aiter_lines()
            first = [await anext(lines) for _ in range(2)]
            assert (first[0], first[1].startswith("data: <header>")) == ("event: page", True)
            closing.set()
            rest = [line async for line in lines]
            assert "event: end" in rest


async def test_pages_bring_nothing_from_elsewhere_and_run_nothing_inside() -> None:
    async with place() as here:
        await here.sign_in()
        await here.bury()
        answer = await here.client.get("/")
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"
        assert not re.search(r'\s(style|on[a-z]+)="', answer.text)
        assert not re.search(r'(src|href)="(https?:)?//', answer.text)
        for path, kind in (("/pages/style.css", "text/css"), ("/pages/live.js", "text/javascript")):
            asset = await here.client.get(path)
            assert (asset.status_code, asset.headers["content-type"].partition(";")[0]) == (200, kind)


async def test_tables_turn_their_pages() -> None:
    async with place() as here:
        await here.house.counter.accept([parcel(number, to=f"box{number:02}") for number in range(1, 31)])
        first, last = [(await here.client.get(f"/?queues={number}")).text for number in (1, 99)]
        assert ("box01" in first, "box30" in first) == (True, False)
        assert ("box01" in last, "box30" in last) == (False, True)
        assert (await here.client.get("/?queues=x&dead=-1&asides=99999999999999")).status_code == 200


async def test_many_who_look_cost_one_look() -> None:
    async with place() as here:
        watchman = here.site.front.watchman
        looks = await asyncio.gather(*[watchman.look() for _ in range(20)])
        assert all(look is looks[0] for look in looks)
