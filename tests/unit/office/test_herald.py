"""What happens to a case is heard by whoever waits, and queued for webhooks in the commit that records it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from posthouse.message.changes import Changes
from posthouse.message.webhook import Webhook
from posthouse.office.auditing import record
from posthouse.office.deskcalls import HearCases
from posthouse.office.intake import Receipt
from posthouse.office.tiding import cloud_event, event_of
from posthouse.testing.clock import FakeClock
from posthouse.transport.ports import Outgoing, Result
from tests.unit.office.rig import TERMS, Rig, at_work

CASE = "0197f7ae-0000-7000-8000-000000000001"
HOOKS = (
    Webhook(name="crm", url="https://crm.example/posthouse", secret_file="x"),
    Webhook(name="log", url="https://log.example", secret_file="x", events=("case.closed", "case.r*")),
)
HOOKED = msgspec.structs.replace(TERMS, webhooks=HOOKS)
CRM, LOG = "webhook://crm.example:443/crm", "webhook://log.example:443/log"


async def act(rig: Rig, *acts: str, register: int | None = None) -> str:
    entries = tuple(
        record(rig.clock, name, actor="ada", subject=CASE, gatekeeper="Legal", comment="a secret") for name in acts
    )
    house_store = rig.house._stores.durable
    (outcome,) = await house_store.commit([Changes(audits=entries, register=register)])
    return outcome.status


@at_work()
async def test_what_happens_is_heard_in_order(rig: Rig) -> None:
    begin = await rig.answer(HearCases())
    assert (begin.events, begin.after) == ([], 0)
    await act(rig, "case.gated", "rules.activated", "case.released")
    heard = await rig.answer(HearCases(after=0))
    assert [(event.type, event.case, event.by) for event in heard.events] == [
        ("case.gated", CASE, "ada"), ("case.released", CASE, "ada"),
    ]  # fmt: skip
    assert heard.after == 3
    assert (await rig.answer(HearCases(after=3))).events == []
    first = await rig.answer(HearCases(after=0, limit=1))
    assert [event.type for event in first.events] == ["case.gated"]
    rest = await rig.answer(HearCases(after=first.after))
    assert [event.type for event in rest.events] == ["case.released"]
    assert (await rig.answer(HearCases())).after == 3


@at_work()
async def test_who_waits_hears_at_once(rig: Rig) -> None:
    waiting = asyncio.create_task(rig.answer(HearCases(after=0, wait=3_600.0)))
    await act(rig, "rules.activated")
    await act(rig, "case.gated")
    assert [event.type for event in (await waiting).events] == ["case.gated"]


@at_work()
async def test_who_waits_is_sent_away_when_the_office_closes(rig: Rig) -> None:
    waiting = asyncio.create_task(rig.answer(HearCases(after=0, wait=3_600.0)))
    await asyncio.sleep(0)
    await rig.house.send_away()
    assert (await waiting).events == []


@at_work()
async def test_nothing_that_people_wrote_is_told(rig: Rig) -> None:
    await act(rig, "case.noted")
    (event,) = (await rig.answer(HearCases(after=0))).events
    assert event.facts == {"gatekeeper": "Legal"}
    document = msgspec.json.decode(cloud_event(event, "local:east"))
    assert (document["specversion"], document["type"], document["subject"], document["source"]) == (
        "1.0", "case.noted", CASE, "local:east",
    )  # fmt: skip
    assert document["data"] == {"case": CASE, "by": "ada", "gatekeeper": "Legal"}


@at_work(terms=HOOKED)
async def test_each_webhook_is_brought_what_it_wants_in_order(rig: Rig) -> None:
    await rig.stop()
    rig.door.protocol = "webhook"
    await act(rig, "case.gated")
    await act(rig, "case.released", "case.closed", "rules.activated")
    assert [one.kind for one in await rig.queued(CRM)] == ["event"] * 3
    assert len(await rig.queued(LOG)) == 2


@at_work(terms=HOOKED)
async def test_what_was_not_recorded_is_not_told(rig: Rig) -> None:
    await rig.stop()
    assert await act(rig, "case.gated", register=99) == "stale"
    assert await rig.queued(CRM) == []


@at_work(terms=HOOKED, start=False)
async def test_the_same_act_is_the_same_event_however_it_is_heard_of(rig: Rig) -> None:
    carried: list[bytes] = []

    class Door:
        protocol = "webhook"

        async def deliver(self, office: str, batch: Sequence[Outgoing]) -> list[Result]:
            if office == CRM:
                carried.extend(one.message.body for one in batch if isinstance(one.message.body, bytes))
            return [Result("delivered")] * len(batch)

        async def greet(self) -> None:
            return

        async def close(self) -> None:
            return

    await rig.house.start([Door()])
    try:
        await act(rig, "case.gated", "case.released", "case.closed")

        async def is_brought() -> bool:
            return len(carried) == 3

        await rig.until(is_brought)
        heard = await rig.answer(HearCases(after=0))
        assert [cloud_event(event, "local:east") for event in heard.events] == carried
        assert len({event.id for event in heard.events}) == 3
    finally:
        await rig.house.stop()


# What is signed in the name of the office comes from the office.
@at_work(terms=HOOKED, start=False)
async def test_nobody_sends_to_a_webhook(rig: Rig) -> None:
    rig.door.protocol = "webhook"
    await rig.house.start([rig.door])
    try:
        receipt: Receipt = await rig.put(1, to=f"{CRM}#events")
        assert (receipt.status, receipt.code) == ("refused", "protocol.unknown")
    finally:
        await rig.house.stop()


def test_an_event_without_words_is_one_all_the_same() -> None:
    clock = FakeClock()
    one, other = (event_of(record(clock, name, actor="", subject=CASE)) for name in ("case.gated", "case.closed"))
    assert one.id != other.id
    assert one.facts == {}
