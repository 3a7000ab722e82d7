"""What the desk does with what it cannot deal with: it is told, nothing is lost, nothing is delivered by mistake."""

from __future__ import annotations

import msgspec

from posthouse.message.case import REVIEW, Rhythm, pack_wrapper
from posthouse.message.changes import Changes
from posthouse.office.deskcalls import Annotate, SkipStop, TellCase
from posthouse.testing.build import identity
from tests.unit.office.gatehouse import (
    AT_ONCE,
    MINUTE,
    begin,
    body_at,
    case_of,
    decide,
    delivered,
    docket_of,
    dockets,
    eventually,
    is_closed,
    is_empty,
    mailbag,
    put_in_force,
    wrapper_of,
)
from tests.unit.office.rig import Rig, at_work

SHORT = f'{AT_ONCE}inbox = "1 hour"\n'
HOUR = 60 * MINUTE


async def spoil(rig: Rig, number: int = 1, wrapper: bytes = b"\xc1 nothing that can be read") -> bytes:
    """Write other bytes in the place of a wrapper."""
    case = await case_of(rig, number)
    row = msgspec.structs.replace(case, version=case.version + 1, wrapper=wrapper)
    (outcome,) = await rig.stores.durable.commit([Changes(cases=(row,))])
    assert outcome.status == "done"
    return wrapper


async def is_listed(rig: Rig, number: int = 1) -> None:
    """Return once the newest docket of a message lies in the administrator's review list."""

    async def is_so() -> bool:
        newest = (await dockets(rig, number))[-1]
        return newest.folder == REVIEW and newest.gatekeeper == "office administrator"

    await eventually(is_so)


# --- wrappers ---------------------------------------------------------------------------------------------------------


# G-222
@at_work()
async def test_when_it_expires_a_broken_wrapper_goes_to_the_administrator_and_is_never_delivered(rig: Rig) -> None:
    await begin(rig, "g1", policy=f'{SHORT}no_rule = "release"\n')
    for number in (1, 2, 3):
        await rig.put(number)
    kept = await spoil(rig, 1)
    newer = msgspec.structs.replace(await wrapper_of(rig, 2), version=2)
    await spoil(rig, 2, pack_wrapper(newer))
    rig.clock.advance(HOUR)
    assert (await delivered(rig)).id == identity(3)
    for number in (1, 2):
        await is_listed(rig, number)
    assert (await case_of(rig, 1)).wrapper == kept
    assert "expected a wrapper of version 1 at most, found version 2" in (await docket_of(rig, 2)).fault
    told = await rig.answer(TellCase(case=(await case_of(rig, 1)).id, by="ada"))
    assert (told.wrapper.sender, told.wrapper.recipients) == ("alice", ("bob",))
    assert await rig.holds() == [3]


# G-222
@at_work()
async def test_nothing_but_to_delete_can_be_commanded_for_a_broken_wrapper(rig: Rig) -> None:
    await begin(rig, "g1", policy=SHORT)
    await rig.put(1)
    kept = await spoil(rig)
    refused = await decide(rig, "release")
    assert (refused.status, "it can only be deleted" in refused.text) == ("refused", True)
    docket = await docket_of(rig)
    note = Annotate(case=docket.case, turn=1, gatekeeper="g1", by="ada", comment="what is this?")
    assert (await rig.answer(note)).status == "refused"
    assert (await rig.answer(SkipStop(case=docket.case, gatekeeper="g1", by="ada"))).status == "refused"
    assert (await decide(rig, "delete")).status == "done"
    case = await case_of(rig)
    assert (case.outcome, case.wrapper) == ("deleted", kept)


# G-222
@at_work()
async def test_what_comes_home_with_a_broken_wrapper_is_not_delivered(rig: Rig) -> None:
    await begin(rig, "g1", policy="")
    await rig.put(1)
    await decide(rig, "release")
    kept = await spoil(rig)
    rig.clock.advance(MINUTE)
    await is_listed(rig)
    assert await is_empty(rig)
    assert (await case_of(rig)).wrapper == kept


# G-150
@at_work()
async def test_a_message_that_is_gone_does_not_stop_the_others_and_is_tried_again(rig: Rig) -> None:
    await begin(rig, "g1", policy=AT_ONCE)
    await mailbag(rig, "out", function="return", rhythm=Rhythm(every="hours", count=20))
    await rig.set_up("ann", closed=True)
    await rig.put(1, sender="ann", envelope={"sender": "ann"})
    await rig.put(2)
    for number in (1, 2):
        await decide(rig, "file", number, mailbag="out")
    rig.clock.advance(20 * HOUR)
    assert b"not" in await body_at(rig, "alice")

    async def is_marked() -> bool:
        return "is closed" in (await docket_of(rig)).fault

    await eventually(is_marked)
    await rig.set_up("ann")
    rig.clock.advance(2 * MINUTE)
    await is_closed(rig)
    assert await body_at(rig, "ann")


# --- what cannot go at once -------------------------------------------------------------------------------------------


# G-63, G-150
@at_work()
async def test_a_return_waits_until_its_sender_has_room(rig: Rig) -> None:
    await rig.set_up("alice", max_messages=0)
    await begin(rig, "g1")
    await rig.put(1)
    answer = await decide(rig, "return", saying="not like this")
    assert answer.docket is not None
    assert (answer.status, answer.docket.is_open) == ("refused", True)
    assert "alice is full" in answer.text
    assert answer.text.endswith("it is tried again")
    assert (await case_of(rig)).is_open
    await rig.set_up("alice")
    rig.clock.advance(2 * MINUTE)
    assert b"not like this" in await body_at(rig, "alice")
    await is_closed(rig)
    assert (await dockets(rig))[-1].fault == ""


# G-63
@at_work()
async def test_what_can_never_be_returned_has_to_be_looked_at(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1, sender="ann@afar.example", envelope={"sender": "ann@afar.example"})
    answer = await decide(rig, "return")
    assert answer.status == "refused"
    assert "no door for smtp" in answer.text
    assert ((await docket_of(rig)).folder, (await case_of(rig)).is_open) == (REVIEW, True)


# G-64
@at_work()
async def test_a_copy_to_a_closed_or_full_mailbox_waits_and_the_trace_says_so(rig: Rig) -> None:
    await rig.set_up("dan", closed=True)
    await rig.set_up("eve", max_messages=0)
    await begin(rig, "g1")
    await rig.put(1, body=b"look")
    await decide(rig, "copy", to="dan, archive, eve")
    assert await body_at(rig, "archive") == b"look"
    steps = await rig.stores.durable.journal.trace(identity(1))
    assert "the mailbox dan is closed" in steps[-1].detail
    for mailbox in ("dan", "eve"):
        await rig.set_up(mailbox)
    rig.clock.advance(2 * MINUTE)
    for mailbox in ("dan", "eve"):
        assert await body_at(rig, mailbox) == b"look"


# G-64
@at_work()
async def test_a_rules_copy_to_a_closed_mailbox_holds_up_nothing(rig: Rig) -> None:
    await rig.set_up("dan", closed=True)
    await put_in_force(rig, rules='RULE "c"\nIF message.size >= 0 B\nTHEN copy to "dan"\n')
    await rig.put(1, body=b"look")
    assert await body_at(rig) == b"look"
    (first, *_) = await rig.stores.durable.journal.trace(identity(1))
    assert "not sent at once: the mailbox dan is closed" in first.detail
    await rig.set_up("dan")
    rig.clock.advance(2 * MINUTE)
    assert await body_at(rig, "dan") == b"look"


# G-52, G-64
@at_work()
async def test_a_gatekeepers_rule_copies_besides_what_it_decides(rig: Rig) -> None:
    own = 'RULE "r"\nIF message.size >= 0 B\nTHEN return saying "no" AND copy to "archive"\n'
    await begin(rig, "g1", policy=SHORT, rules_of_g1=own)
    await rig.put(1, body=b"look")
    rig.clock.advance(HOUR)
    assert await body_at(rig, "archive") == b"look"
    assert b"no" in await body_at(rig, "alice")
