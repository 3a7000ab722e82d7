"""What gatekeepers may command, and what is in the way of it."""

from __future__ import annotations

import asyncio

import msgspec

from posthouse.message.case import unpack_wrapper
from posthouse.message.message import Body
from posthouse.office.deskcalls import Claim, Decide, Decision, FindCases, ListDockets, Recall
from posthouse.store.gateports import DocketFilter
from posthouse.testing.build import identity
from tests.unit.office.gatehouse import (
    AT_ONCE,
    begin,
    body_at,
    case_of,
    decide,
    delivered,
    docket_of,
    dockets,
    is_closed,
    is_empty,
    put_in_force,
    wrapper_of,
)
from tests.unit.office.rig import Rig, at_work

HOUSE = """
[user."lea@house.example"]
[user."sue@house.example"]
[role."Legal"]
holders = ["lea@house.example"]
[role."Second"]
holders = ["sue@house.example"]
[role."postmaster"]
holders = ["sue@house.example"]
"""


# G-184, G-205, G-206
@at_work()
async def test_some_recipients_get_it_and_the_case_goes_on_for_the_others(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1, recipients=("bob", "carol"), envelope={"recipients": ("bob", "carol"), "blind": ("dan",)})
    assert (await decide(rig, "release", recipients=("eve",))).status == "refused"
    answer = await decide(rig, "release", recipients=("carol", "dan"))
    assert answer.status == "done"
    for mailbox in ("carol", "dan"):
        assert (await delivered(rig, mailbox)).id == identity(1)
    assert await is_empty(rig)
    left = await docket_of(rig)
    assert (left.status, left.recipients) == ("gated", 1)
    assert (await decide(rig, "release")).status == "done"
    await delivered(rig)
    cases = await rig.stores.durable.gate.cases.of_message(identity(1))
    assert sorted(unpack_wrapper(case.wrapper).recipients for case in cases) == [("bob",), ("carol",)]
    await is_closed(rig)


# G-223
@at_work()
async def test_a_sender_takes_back_what_is_held(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1)
    (answer,) = await rig.answer(Recall(message=identity(1), by="alice", reason="sent too early"))
    assert answer.status == "done"
    assert b"recalled: sent too early" in await body_at(rig, "alice")
    assert (await case_of(rig)).outcome == "recalled"
    assert await is_empty(rig)
    assert await rig.answer(Recall(message=identity(1), by="alice")) == []


# G-223
@at_work()
async def test_what_is_decided_cannot_be_recalled(rig: Rig) -> None:
    await begin(rig, "g1", policy="")
    await rig.put(1)
    await decide(rig, "release")
    (answer,) = await rig.answer(Recall(message=identity(1), by="alice"))
    assert answer.status == "already"


# G-130, G-132, G-185
@at_work()
async def test_a_person_is_asked_and_the_case_waits_for_the_answer(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1, body=b"the matter")
    before = await docket_of(rig)
    answer = await decide(rig, "forward", to="local:#expert", saying="is this true?")
    assert answer.docket is not None
    assert (answer.docket.status, answer.docket.last_action) == ("awaiting response", "forwarded to local:#expert")
    assert answer.docket.expires == before.expires
    bodies = [await body_at(rig, "expert") for _ in range(2)]
    assert b"the matter" in bodies
    assert any(b"is this true?" in body for body in bodies)
    await decide(rig, "release")
    assert await body_at(rig) == b"the matter"


# G-186
@at_work()
async def test_a_forward_through_the_back_door_has_to_be_meant(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1, to="local:#bob")
    assert (await decide(rig, "forward", to="local:#bob")).status == "confirm"
    assert (await decide(rig, "forward", to="local:#bob", is_confirmed=True)).status == "done"


# G-186
@at_work()
async def test_whoever_the_organisation_does_not_know_gets_nothing_through_the_back_door(rig: Rig) -> None:
    await begin(rig, "g1", organisation=HOUSE)
    await rig.put(1)
    for name in ("local:#bob", "local:#alice"):
        assert (await decide(rig, "forward", to=name)).status == "confirm"
    assert (await decide(rig, "forward", to="local:#expert")).status == "done"


# G-212
@at_work()
async def test_forwarding_back_has_to_be_meant_and_ends_after_five(rig: Rig) -> None:
    await begin(rig, "g1", policy=f"{AT_ONCE}max_forwards = 2\n")
    await rig.put(1)
    await decide(rig, "forward", to="g4")
    assert (await decide(rig, "forward", to="g1")).status == "confirm"
    assert (await decide(rig, "forward", to="g1", is_confirmed=True)).status == "done"
    assert "at most 2 forwards" in (await decide(rig, "forward", to="g5")).text


# G-64, G-65, G-179
@at_work()
async def test_copies_decide_nothing(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1, body=b"look")
    assert (await decide(rig, "copy", to=" , ")).status == "refused"
    answer = await decide(rig, "copy", to="archive, auditor")
    assert answer.status == "done"
    for mailbox in ("archive", "auditor"):
        assert await body_at(rig, mailbox) == b"look"
    assert (await docket_of(rig)).status == "gated"
    assert await is_empty(rig)


# G-124, G-182
@at_work()
async def test_many_are_decided_in_one_go_each_for_itself(rig: Rig) -> None:
    await begin(rig, "g1")
    for number in range(1, 6):
        await rig.put(number)
    rows = [await docket_of(rig, number) for number in range(1, 6)]
    wanted = [Decision(case=row.case, turn=row.turn, command="delete") for row in (*rows, rows[0])]
    wanted.append(msgspec.structs.replace(wanted[0], turn=9))
    answers = await rig.answer(Decide(decisions=wanted, gatekeeper="g1", by="ada@house.example"))
    assert [answer.status for answer in answers] == ["done"] * 5 + ["already", "unknown"]


# G-120, G-182
@at_work()
async def test_only_the_gatekeeper_who_has_it_decides(rig: Rig) -> None:
    await begin(rig, "g1", "g3")
    await rig.put(1)
    docket = await docket_of(rig)
    decision = Decision(case=docket.case, turn=1, command="release")
    (answer,) = await rig.answer(Decide(decisions=[decision], gatekeeper="g3", by="x"))
    assert answer.status == "unknown"
    stale = await decide(rig, "release", version=docket.version + 4)
    assert stale.status == "stale"


# G-197, G-220
@at_work()
async def test_nobody_decides_on_mail_of_their_own(rig: Rig) -> None:
    await begin(rig, "Legal", organisation=HOUSE)
    await rig.put(1, sender="lea@house.example")
    docket = await docket_of(rig)
    assert (docket.gatekeeper, docket.fault) == ("postmaster", "stands in for Legal")
    answer = await decide(rig, "release", by="lea@house.example")
    assert (answer.status, answer.text) == ("refused", "nobody decides on a message of their own")
    assert (await decide(rig, "forward", to="nobody such")).status == "refused"
    assert (await decide(rig, "forward", to="second", by="sue@house.example")).status == "done"
    assert (await docket_of(rig)).gatekeeper == "Second"


@at_work()
async def test_two_people_agree_where_the_policy_wants_it(rig: Rig) -> None:
    await begin(rig, "g1", policy=f'{AT_ONCE}four_eyes = ["release"]\n')
    await rig.put(1)
    first = await decide(rig, "release", by="ada@house.example")
    assert (first.status, first.text) == ("done", "release: waits for a second person")
    assert await is_empty(rig)
    again = await decide(rig, "release", by="ada@house.example")
    assert again.status == "refused"
    assert (await decide(rig, "release", by="ben@house.example")).status == "done"
    await delivered(rig)
    assert (await dockets(rig))[0].decided_by == "ada@house.example"


@at_work()
async def test_whoever_has_claimed_it_is_asked_first(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1)
    docket = await docket_of(rig)
    await rig.answer(Claim(case=docket.case, turn=1, gatekeeper="g1", by="ada@house.example"))
    assert (await decide(rig, "release", by="ben@house.example")).status == "confirm"
    taken = await rig.answer(Claim(case=docket.case, turn=1, gatekeeper="g1", by="ben@house.example", takes_over=True))
    assert taken.status == "done"
    let_go = await rig.answer(Claim(case=docket.case, turn=1, gatekeeper="g1", by="ben@house.example", lets_go=True))
    assert (let_go.status, let_go.docket.claimed_by) == ("done", "")


# G-207
@at_work()
async def test_rules_are_asked_once_for_all_recipients(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1, recipients=("bob", "carol"))
    await decide(rig, "release")
    for mailbox in ("bob", "carol"):
        await delivered(rig, mailbox)
    assert len(await rig.stores.durable.gate.cases.of_message(identity(1))) == 1


# G-228
@at_work()
async def test_what_no_rule_selects_is_delivered_without_delay(rig: Rig) -> None:
    rule = 'RULE "big"\nIF message.size > 3 B\nTHEN gate to "g1"\n'
    await begin(rig, "g1")
    await put_in_force(rig, rules=rule)
    await asyncio.gather(*(rig.put(number, body=b"long" if number <= 3 else b"") for number in range(1, 11)))
    assert sorted(await rig.holds()) == [4, 5, 6, 7, 8, 9, 10]
    found = await rig.answer(ListDockets(chosen=DocketFilter(gatekeeper="g1")))
    assert len(found) == 3


# G-226
@at_work()
async def test_a_copy_that_was_promised_is_dropped_with_the_message(rig: Rig) -> None:
    rule = 'RULE "all"\nIF message.size >= 0 B\nTHEN gate to "g1" AND copy to "archive"\n'
    await begin(rig, "g1")
    await put_in_force(rig, rules=rule)
    await rig.put(1)
    await rig.put(2)
    await decide(rig, "delete", 1)
    await decide(rig, "release", 2)
    await delivered(rig)
    copy = await delivered(rig, "archive")
    assert copy.correlation == str(identity(2))
    assert await rig.queued("#archive") != []
    assert len(await rig.queued("#archive")) == 1


# G-13
@at_work()
async def test_an_object_goes_the_same_way(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1, kind="object", content_type="application/json", body=b'{"form": 7}')
    await decide(rig, "return", saying="page 2 is missing")
    back = await delivered(rig, "alice")
    assert back.kind == "notice.returned"
    assert not isinstance(back.body, Body)
    assert b"page 2 is missing" in back.body


@at_work()
async def test_cases_are_found_by_their_first_digits(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1)
    case = await case_of(rig)
    assert [one.id for one in await rig.answer(FindCases(prefix=str(case.id)[:30]))] == [case.id]
    assert [one.id for one in await rig.answer(FindCases(prefix=str(identity(1))))] == [case.id]


# G-18, G-82
@at_work()
async def test_every_act_is_recorded(rig: Rig) -> None:
    await begin(rig, "g1", "g3")
    await rig.put(1)
    await decide(rig, "release", comment="fine", id="d1")
    await decide(rig, "delete", id="d2")
    case = await case_of(rig)
    lines = await rig.stores.durable.gate.audit.of_subject(str(case.id))
    acts = ["case.gated", "case.commanded", "case.released", "case.commanded", "case.deleted"]
    assert [line.act for line in lines] == acts
    assert all(line.salt for line in lines)
    told = msgspec.msgpack.decode(lines[2].payload or b"")
    assert (told["decision"], told["gatekeeper"], told["comment"]) == ("d1", "g1", "fine")
    assert (await wrapper_of(rig)).reviews[0].comment == "fine"


# G-235
@at_work()
async def test_a_sender_hears_that_the_message_waits_where_the_policy_says_so(rig: Rig) -> None:
    await begin(rig, "g1", policy=f'{AT_ONCE}tell_sender = "with reason"\n')
    await rig.put(1)
    told = await body_at(rig, "alice")
    assert b"waits to be looked at before it is delivered: we look at everything." in told
