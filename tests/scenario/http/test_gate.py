"""The desk over HTTP: what a reviewer, a sender, an auditor and an author of rules may do, and what they hear of."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec

from posthouse.client import Desk, connect, hear_cases
from posthouse.message.webhook import Webhook
from posthouse.office.deskcalls import Activate, ListAudit, WriteEdition
from posthouse.office.terms import Terms
from tests.scenario.http.site import Town, json_of, town

RULES = """\
rule "large orders"
IF message.text contains "sacks"
THEN gate to "Sales" within 2 days because "an order above the limit"
"""
ORGANISATION = """\
domains = ["bakery.example"]
office_administrator = "Director"
postmaster = "Director"

[role."Director"]
holders = ["zoe@bakery.example"]

[role."Sales"]
holders = ["ada@bakery.example"]

[user."zoe@bakery.example"]

[user."ada@bakery.example"]
"""


@asynccontextmanager
async def gating(folder: Path, *, terms: Terms | None = None) -> AsyncIterator[Town]:
    """Open an office that holds what speaks of sacks, and carries decisions out at once."""
    async with town(folder, terms=terms) as here:
        books = {"organisation": ORGANISATION, "policy": 'undo = "0 seconds"\n', "rules": RULES}
        for book, text in books.items():
            written = await here.house.answer(WriteEdition(book=book, text=text, by="zoe"))
            assert written.faults == []
            await here.house.answer(Activate(book=book, number=1, by="zoe"))
        yield here


async def order(client: httpx.AsyncClient, text: str = "100 sacks, please") -> str:
    answer = json_of(await client.post("/messages", json={"to": "ada", "text": text}), 201)
    identity: str = answer["id"]
    return identity


# `Any`: the members of a JSON object.
async def the_docket(client: httpx.AsyncClient) -> dict[str, Any]:
    (docket,) = json_of(await client.get("/gate/dockets"))["dockets"]
    found: dict[str, Any] = docket
    return found


# G-121, G-123, G-125, G-138, G-182, G-230
async def test_a_reviewer_decides(tmp_path: Path) -> None:
    async with gating(tmp_path) as here:
        sender, reviewer = await here.client("send as ben"), await here.client("review Sales")
        message = await order(sender)
        docket = await the_docket(reviewer)
        assert (docket["gatekeeper"], docket["status"], docket["reason"], docket["message"]) == (
            "Sales", "gated", "an order above the limit", message,
        )  # fmt: skip
        place = {"case": docket["case"], "turn": docket["turn"], "gatekeeper": "Sales"}
        assert json_of(await reviewer.post("/gate/openings", json=place))["status"] == "reviewed"
        counts = json_of(await reviewer.get("/gate/counts"))["counts"]
        assert counts == [{"gatekeeper": "Sales", "folder": "inbox", "count": 1}]
        life = json_of(await reviewer.get(f"/gate/cases/{docket['case']}", params={"text_bytes": 100}))
        assert (life["text"], life["rules"][0]["rule"], life["case"]["open"]) == (
            "100 sacks, please", "large orders", True,
        )  # fmt: skip

        command = {"case": docket["case"], "turn": 1, "command": "release", "comment": "a good customer"}
        decided = json_of(
            await reviewer.post("/gate/decisions", json={"gatekeeper": "Sales", "decisions": [command, command]})
        )
        assert [one["status"] for one in decided["answers"]] == ["done", "already"]
        reader = await here.client("read ada")
        got = json_of(await reader.post("/mailboxes/ada/get", json={"wait": 30}))
        assert [one["text"] for one in got["messages"]] == ["100 sacks, please"]
        life = json_of(await reviewer.get(f"/gate/cases/{docket['case']}"))
        assert (life["case"]["outcome"], life["reviews"][0]["comment"]) == ("released", "a good customer")
        assert life["reviews"][0]["person"].startswith("made-up (key ")


# G-197, G-223
async def test_each_permit_reaches_its_own(tmp_path: Path) -> None:
    async with gating(tmp_path) as here:
        sender, other = await here.client("send as ben"), await here.client("send as carl")
        administrator, auditor = await here.client("administer"), await here.client("audit")
        message = await order(sender)
        case = (await the_docket(auditor))["case"]

        assert (await administrator.get("/gate/dockets")).status_code == 403
        assert (await other.get(f"/gate/cases/{case}")).status_code == 404
        assert (await administrator.get(f"/gate/cases/{case}")).status_code == 404
        assert json_of(await other.get("/gate/cases", params={"prefix": case}))["cases"] == []
        seen = json_of(await sender.get(f"/gate/cases/{case}", params={"text_bytes": 10}))
        assert (seen["case"]["open"], seen["dockets"], seen["rules"], seen["text"]) == (True, [], [], None)
        held = json_of(await administrator.get(f"/messages/{message}"))
        assert held["message"]["text"] == "", "who looks after the office does not read what is held"

        assert (await other.post("/gate/recalls", json={"message": message})).status_code == 403
        recalled = json_of(await sender.post("/gate/recalls", json={"message": message, "reason": "oops"}))
        assert [one["status"] for one in recalled["answers"]] == ["done"]
        assert (await sender.get("/gate/audit")).status_code == 403

        acts = [(line.act, line.actor.partition(" ")[0]) for line in await here.house.answer(ListAudit())]
        assert acts.count(("call.refused", "made-up")) >= 4
        records = json_of(await auditor.get("/gate/audit", params={"subject": case}))["records"]
        assert "case.gated" in [record["act"] for record in records]


# G-138
async def test_mailbags_books_and_accounts(tmp_path: Path) -> None:
    async with gating(tmp_path) as here:
        reviewer, author = await here.client("review Sales"), await here.client("write rules")
        administrator = await here.client("administer")
        made = json_of(await reviewer.post("/gate/mailbags", json={"gatekeeper": "Sales", "name": "later"}))
        assert (made["function"], made["rhythm"]["every"]) == ("none", "none")
        changed = {"gatekeeper": "Sales", "name": "later", "id": made["id"], "version": made["version"] + 1}
        rhythm = {"every": "months", "count": 1, "day": 31}
        written = json_of(
            await reviewer.post("/gate/mailbags", json=changed | {"function": "delete", "rhythm": rhythm})
        )
        assert written["next_run"] is not None
        ran = await reviewer.post(f"/gate/mailbags/{made['id']}/run", json={"gatekeeper": "Sales"})
        assert json_of(ran) == {"count": 0}
        gone = await reviewer.delete(f"/gate/mailbags/{made['id']}", params={"gatekeeper": "Sales"})
        assert gone.status_code == 204
        assert json_of(await reviewer.get("/gate/mailbags"))["mailbags"] == []

        assert json_of(await author.get("/gate/books"))["books"]["rules"] == 1
        assert json_of(await author.get("/gate/books/rules"))["text"] == RULES
        assert (await reviewer.get("/gate/books/rules")).status_code == 403
        bad = json_of(await author.post("/gate/books/rules/editions", json={"text": "rule nonsense"}))
        assert (bad["edition"], bool(bad["faults"])) == (None, True)
        good = json_of(await author.post("/gate/books/rules/editions", json={"text": RULES + "# more\n", "note": "x"}))
        assert good["edition"]["edition"] == 2
        active = json_of(await author.post("/gate/books/rules/activations", json={"edition": 2}))
        assert active["by"].startswith("made-up (key ")
        assert len(json_of(await author.get("/gate/books/rules/activations"))["activations"]) == 2
        own = await reviewer.post("/gate/books/rules%20of%20Sales/editions", json={"text": RULES, "is_trial": True})
        assert own.status_code == 200

        account = {"address": "ada@bakery.example", "password": "correct horse battery", "scopes": ["audit"]}
        opened = json_of(await administrator.put("/gate/accounts/ada", json=account))
        assert opened == {
            "name": "ada", "address": "ada@bakery.example", "scopes": ["audit"], "created": opened["created"],
            "closed": False,
        }  # fmt: skip
        weak = await administrator.put("/gate/accounts/ada", json={"password": "ada"})
        assert (weak.status_code, weak.json()["code"]) == (400, "account.password-unfit")
        permit = await here.house.accounts.recognise("ada", "correct horse battery")
        assert permit.roles == ("Sales",)


async def heard(client: httpx.AsyncClient, count: int, *, last: str | None = None) -> list[dict[str, Any]]:
    """Hear so many events of a stream."""
    headers = {} if last is None else {"last-event-id": last}
    found: list[dict[str, Any]] = []
    async with client.stream("GET", "/gate/events", headers=headers) as stream:
        async for line in stream.aiter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line.removeprefix("data: ")))
            if len(found) == count:
                break
    return found


async def test_changes_of_cases_are_heard(tmp_path: Path) -> None:
    async with gating(tmp_path) as here:
        sender, reviewer = await here.client("send as ben"), await here.client("review Sales")
        stranger = await here.client("review Legal")
        first = await order(sender)
        (gated,) = await heard(reviewer, 1, last="0")
        assert (gated["specversion"], gated["type"], gated["data"]["message"]) == ("1.0", "case.gated", first)
        (told,) = await heard(sender, 1, last="0")
        assert (told["type"], told["data"]["by"], told["id"]) == ("case.gated", "", gated["id"])

        waiting = asyncio.create_task(heard(stranger, 1, last="0"))
        listening = asyncio.create_task(heard(reviewer, 2, last="0"))
        docket = await the_docket(reviewer)
        place = {"case": docket["case"], "turn": docket["turn"], "gatekeeper": "Sales"}
        await reviewer.post("/gate/openings", json=place)
        assert [event["type"] for event in await listening] == ["case.gated", "case.opened"]
        assert not waiting.done(), "whose role it is not hears nothing"
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def test_a_program_far_away_reviews(tmp_path: Path) -> None:
    async with gating(tmp_path) as here:
        sender = await here.client("send as ben")
        await order(sender)
        key = await here.key("review Sales")
        async with connect(here.address, key=key) as office:
            desk = Desk(office, "Sales")
            (docket,) = [one async for one in desk.dockets()]
            async for event in hear_cases(office, after=0):
                assert (event.type, event.case) == ("case.gated", str(docket.case))
                break
            assert await desk.counts() == {"inbox": 1}
            opened = await desk.open(docket)
            assert opened.status == "reviewed"
            (late,) = await desk.release(docket)
            assert late.status == "stale", "it was seen before it was opened"
            (decided,) = await desk.release(opened, comment="fine")
            assert decided.status == "done"
            story = await desk.story(docket.case)
            assert story is not None
            assert story.wrapper.reviews[0].person.startswith("made-up (key ")


async def test_a_webhook_is_told_what_happened(tmp_path: Path) -> None:
    """From the rule to the address: signed, in order, once."""
    secret = tmp_path / "secret"
    secret.write_bytes(b"a secret of the bakery, long enough")
    secret.chmod(0o600)
    told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next(int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("content-length"))
        told.put_nowait(msgspec.json.decode(await reader.readexactly(length)))
        assert "webhook-signature: v1," in head
        writer.write(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    hook = Webhook(
        name="crm", url=f"http://127.0.0.1:{port}/in", secret_file=str(secret), inside=("127.0.0.1/32",),
        events=("case.gated", "case.opened"),
    )  # fmt: skip
    async with server, gating(tmp_path, terms=Terms(webhooks=(hook,))) as here:
        sender, reviewer = await here.client("send as ben"), await here.client("review Sales")
        await order(sender)
        docket = await the_docket(reviewer)
        place = {"case": docket["case"], "turn": docket["turn"], "gatekeeper": "Sales"}
        await reviewer.post("/gate/openings", json=place)
        events = [await told.get(), await told.get()]
    assert [event["type"] for event in events] == ["case.gated", "case.opened"]
    assert {event["subject"] for event in events} == {docket["case"]}
    assert told.empty()
