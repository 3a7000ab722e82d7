"""The life of a case in one office, from the gate to the recipients."""

from __future__ import annotations

import asyncio

from posthouse.message.case import INBOX, REVIEW
from posthouse.message.message import Body
from posthouse.office.deskcalls import OpenDocket, SkipStop, TellCase
from posthouse.testing.build import START, identity
from tests.unit.office.gatehouse import (
    AT_ONCE,
    begin,
    case_of,
    decide,
    delivered,
    docket_of,
    dockets,
    eventually,
    gate_to,
    is_closed,
    is_empty,
    put_in_force,
    wrapper_of,
)
from tests.unit.office.rig import Rig, at_work

TEN_DAYS = 10 * 86_400_000_000


# G-02, G-07, G-69, G-89, G-141, G-230
@at_work()
async def test_l1_and_l2_what_is_gated_waits_and_nobody_has_it(rig: Rig) -> None:
    await begin(rig, "g1", "g3")
    assert (await rig.put(1)).status == "accepted"
    docket = await docket_of(rig)
    assert (docket.gatekeeper, docket.folder, docket.status) == ("g1", INBOX, "gated")
    assert docket.expires == START + TEN_DAYS
    assert await is_empty(rig)


# G-61, G-89, G-92, G-93, G-101, G-104, G-167, G-180
@at_work()
async def test_l3_l4_and_l5a_released_by_all_it_is_delivered(rig: Rig) -> None:
    await begin(rig, "g1", "g3")
    await rig.put(1, body=b"as it was")
    assert (await decide(rig, "release")).status == "done"
    second = await docket_of(rig)
    assert (second.gatekeeper, second.turn, second.place, second.places) == ("g3", 2, 2, 2)
    assert await is_empty(rig)
    assert (await decide(rig, "release")).status == "done"
    message = await delivered(rig)
    assert message.id == identity(1)
    assert message.body == b"as it was"
    await is_closed(rig)
    assert (await case_of(rig)).outcome == "released"
    assert [one.status for one in await dockets(rig)] == ["released", "released"]
    assert [one.gatekeeper for one in (await wrapper_of(rig)).reviews] == ["g1", "g3"]


# G-85
@at_work()
async def test_recipients_see_nothing_of_the_review(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1, body=b"x")
    before = await rig.stores.durable.journal.letter(identity(1))
    await decide(rig, "release", comment="looks harmless")
    message = await delivered(rig)
    assert before is not None
    assert (message.head, message.sections) == (before.head, ())


# G-89, G-102, G-103, G-106, G-208
@at_work()
async def test_l5b_a_rule_that_came_meanwhile_names_one_more(rig: Rig) -> None:
    await begin(rig, "g1", "g3")
    await rig.put(1)
    await decide(rig, "release")
    await put_in_force(rig, rules=gate_to("g1", "g2"))
    await decide(rig, "release")

    async def at_g2() -> bool:
        return [one.gatekeeper for one in await dockets(rig, is_open=True)] == ["g2"]

    await eventually(at_g2)
    assert await is_empty(rig)
    await decide(rig, "release")
    assert (await delivered(rig)).id == identity(1)
    assert (await wrapper_of(rig)).passes == 2


# G-71, G-89, G-91, G-132, G-166
@at_work()
async def test_l6_forwarded_it_comes_back_before_it_goes_home(rig: Rig) -> None:
    await begin(rig, "g1", "g3")
    await rig.put(1)
    answer = await decide(rig, "forward", to="g4", saying="is this fine?", comment="not my field")
    assert answer.status == "done"
    first = (await dockets(rig))[0]
    assert (first.status, first.last_action) == ("released", "forwarded to g4")
    for gatekeeper in ("g4", "g3", "g1"):
        docket = await docket_of(rig)
        assert docket.gatekeeper == gatekeeper
        if gatekeeper == "g4":
            current = (await wrapper_of(rig)).current
            assert current is not None
            assert current.instructions == "is this fine?"
            assert docket.reason == "not my field"
        if gatekeeper == "g1":
            assert docket.last_action == "back from forward"
        await decide(rig, "release")
    assert (await delivered(rig)).id == identity(1)


# G-63, G-89, G-96, G-164, G-203
@at_work()
async def test_l7_returned_it_goes_to_its_sender_and_nobody_else(rig: Rig) -> None:
    await begin(rig, "g1", "g3")
    await rig.put(1, body=b"the original")
    assert (await decide(rig, "return", saying="please leave out the prices")).status == "done"
    back = await delivered(rig, "alice")
    assert not isinstance(back.body, Body)
    assert b"please leave out the prices" in back.body
    assert back.correlation == str(identity(1))
    assert await is_empty(rig)
    assert (await case_of(rig)).outcome == "returned"
    assert [one.gatekeeper for one in await dockets(rig)] == ["g1"]


# G-62, G-89, G-96, G-165
@at_work()
async def test_l8_deleted_it_reaches_nobody(rig: Rig) -> None:
    await begin(rig, "g1", "g3")
    await rig.put(1)
    assert (await decide(rig, "delete")).status == "done"
    case = await case_of(rig)
    assert (case.is_open, case.outcome) == (False, "deleted")
    assert await is_empty(rig)
    assert await is_empty(rig, "alice")


# G-125, G-181
@at_work()
async def test_whoever_opens_a_message_has_decided_nothing(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1)
    docket = await docket_of(rig)
    call = OpenDocket(case=docket.case, turn=1, gatekeeper="g1", by="ada@house.example")
    assert (await rig.answer(call)).status == "reviewed"
    assert (await rig.answer(call)).status == "reviewed"
    assert await is_empty(rig)


# G-182
@at_work()
async def test_of_two_who_decide_at_once_the_first_one_wins(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1)
    docket = await docket_of(rig)
    answers = await asyncio.gather(
        decide(rig, "release", docket=docket, by="ada@house.example"),
        decide(rig, "delete", docket=docket, by="ben@house.example"),
    )
    assert sorted(answer.status for answer in answers) == ["already", "done"]
    (late,) = [answer for answer in answers if answer.status == "already"]
    (first,) = [answer for answer in answers if answer.status == "done"]
    assert first.docket is not None
    assert first.docket.decided_by in late.text
    await is_closed(rig)


# G-75
@at_work()
async def test_one_decision_is_done_once_however_often_it_is_sent(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1)
    docket = await docket_of(rig)
    for _ in range(3):
        assert (await decide(rig, "release", docket=docket, id="decision 7")).status == "done"
    await delivered(rig)
    assert await rig.holds() == [1]


# G-109
@at_work()
async def test_the_next_message_of_the_same_sender_is_gated_again(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1)
    await decide(rig, "release")
    await delivered(rig)
    await rig.put(2)
    assert (await docket_of(rig, 2)).gatekeeper == "g1"


# G-200, G-227
@at_work()
async def test_an_administrator_leaves_out_a_stop(rig: Rig) -> None:
    await begin(rig, "g1", "g3")
    await rig.put(1)
    case = await case_of(rig)
    later = await rig.answer(SkipStop(case=case.id, gatekeeper="g3", by="admin", reason="away"))
    assert later.status == "done"
    assert (await rig.answer(SkipStop(case=case.id, gatekeeper="g9", by="admin"))).status == "refused"
    await decide(rig, "release")

    # Nobody but g1 has had it, so the rules name g3 again.
    async def at_g3() -> bool:
        return [one.gatekeeper for one in await dockets(rig, is_open=True)] == ["g3"]

    await eventually(at_g3)


# G-79
@at_work()
async def test_the_whole_story_of_a_case_is_told_and_who_reads_the_message_is_recorded(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1, body=b"confidential")
    case = await case_of(rig)
    bare = await rig.answer(TellCase(case=case.id))
    assert bare is not None
    assert bare.body == b""
    assert [one.rule for one in bare.wrapper.fired] == ["all"]
    read = await rig.answer(TellCase(case=case.id, by="ada@house.example", gatekeeper="g1", body_limit=4))
    assert (read.body, read.is_cut) == (b"conf", True)
    acts = [line.act for line in await rig.stores.durable.gate.audit.of_subject(str(case.id))]
    assert acts == ["case.gated", "case.read"]


# G-111
@at_work()
async def test_rules_that_gate_again_and_again_end_at_the_postmaster(rig: Rig) -> None:
    await begin(rig, "g1", policy=f"{AT_ONCE}max_passes = 1\n")
    await rig.put(1)
    await put_in_force(rig, rules=gate_to("g2"))
    await decide(rig, "release")

    async def at_the_postmaster() -> bool:
        return [(one.gatekeeper, one.folder) for one in await dockets(rig, is_open=True)] == [("postmaster", REVIEW)]

    await eventually(at_the_postmaster)
