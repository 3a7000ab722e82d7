"""What happens at the desk by itself: decisions are carried out, messages expire, mailbags run."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from posthouse.message.case import INBOX, REVIEW, Rhythm
from posthouse.message.changes import Changes
from posthouse.office.desk.bags import ConfirmationNeeded, MailbagRefused
from posthouse.office.deskcalls import (
    Annotate,
    Claim,
    ConfirmClock,
    Decided,
    HoldCase,
    OpenDocket,
    RemoveMailbag,
    RunMailbag,
    WriteMailbag,
)
from posthouse.office.house import House
from posthouse.testing.build import SECOND, START, number_of
from tests.unit.office.gatehouse import (
    AT_ONCE,
    DAY,
    MINUTE,
    MONTHLY,
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
    undo,
    wrapper_of,
)
from tests.unit.office.rig import TERMS, Rig, at_work

SHORT = f'{AT_ONCE}inbox = "1 hour"\n'
HOUR = 60 * MINUTE
OWN_RULES = """
RULE "known people"
IF sender.address is "alice"
THEN release because "alice is known"

RULE "others"
IF message.size >= 0 B
THEN delete
"""


async def until(rig: Rig, number: int = 1, **wanted: Any) -> None:
    """Return once the newest docket of a message is as wanted."""

    async def is_so() -> bool:
        newest = (await dockets(rig, number))[-1]
        return all(getattr(newest, name) == value for name, value in wanted.items())

    await eventually(is_so)


async def pass_hours(rig: Rig, hours: int) -> None:
    """Let time pass in steps that no clock jumps by."""
    while hours > 0:
        rig.clock.advance(min(hours, 24) * HOUR)
        hours -= 24

        async def has_looked() -> bool:
            return rig.house.desk.daemon.looked == rig.clock.now()

        await eventually(has_looked)


# --- taking back ------------------------------------------------------------------------------------------------------


# G-183
@at_work()
async def test_nothing_leaves_before_a_decision_can_no_longer_be_taken_back(rig: Rig) -> None:
    await begin(rig, "g1", policy="")
    await rig.put(1)
    answer = await decide(rig, "release")
    assert answer.undo_until == START + 30 * SECOND
    assert answer.docket is not None
    assert answer.docket.status == "in progress"
    rig.clock.advance(29.0)
    assert await is_empty(rig)
    rig.clock.advance(1.0)
    await delivered(rig)


# G-183
@at_work()
async def test_what_was_taken_back_never_happened(rig: Rig) -> None:
    await begin(rig, "g1", policy="")
    await rig.put(1)
    await decide(rig, "delete")
    assert (await undo(rig)).status == "done"
    docket = await docket_of(rig)
    assert (docket.status, docket.pending) == ("gated", b"")
    assert (await undo(rig)).status == "already"
    rig.clock.advance(60.0)
    assert (await decide(rig, "return")).status == "done"
    rig.clock.advance(60.0)
    await delivered(rig, "alice")
    assert (await undo(rig)).status == "already"


# G-182
@at_work()
async def test_what_is_under_way_is_told_to_the_next_one(rig: Rig) -> None:
    await begin(rig, "g1", policy="")
    await rig.put(1)
    docket = await docket_of(rig)
    await decide(rig, "release", docket=docket, by="ada@house.example")
    late = await decide(rig, "delete", docket=docket, by="ben@house.example")
    assert late.status == "already"
    assert late.text == "release was commanded by ada@house.example at 2026-01-01T00:00:00Z"


# --- expiry -----------------------------------------------------------------------------------------------------------


# G-55, G-107, G-159, G-161, G-162, G-163, G-167, G-229
@at_work()
async def test_on_expiry_the_rules_of_the_gatekeeper_decide(rig: Rig) -> None:
    await begin(rig, "g1", policy=SHORT, rules_of_g1=OWN_RULES)
    await rig.put(1)
    rig.clock.advance(HOUR)
    await delivered(rig)
    await is_closed(rig)
    wrapper = await wrapper_of(rig)
    (review,) = wrapper.reviews
    assert (review.action, review.is_automatic, review.rule) == ("release", True, "known people")
    assert [one.book for one in wrapper.fired] == ["rules", "rules of g1", "rules"]
    assert (await dockets(rig))[0].is_automatic


# G-12, G-94
@at_work()
async def test_only_the_rules_of_the_gatekeeper_who_has_it_are_asked(rig: Rig) -> None:
    await begin(rig, "g2", policy=SHORT, rules_of_g1=OWN_RULES)
    await rig.put(1)
    rig.clock.advance(HOUR)
    await until(rig, folder=REVIEW)


# G-175, G-209
@at_work()
async def test_the_rules_are_those_in_force_when_it_expires(rig: Rig) -> None:
    await begin(rig, "g1", policy=SHORT, rules_of_g1=OWN_RULES)
    await rig.put(1)
    await put_in_force(rig, rules_of_g1='RULE "now"\nIF message.size >= 0 B\nTHEN delete\n')
    rig.clock.advance(HOUR)
    await is_closed(rig)
    assert (await case_of(rig)).outcome == "deleted"


# G-168, G-171, G-176
@at_work()
async def test_where_no_rule_fires_a_person_has_to_look(rig: Rig) -> None:
    await begin(rig, "g1", policy=SHORT)
    await rig.put(1)
    rig.clock.advance(HOUR)
    await until(rig, folder=REVIEW, status="gated", is_expired=True)
    docket = await docket_of(rig)
    assert docket.expires is None
    assert docket.due == START + round((HOUR + 10 * DAY) * SECOND)
    await decide(rig, "release")
    await delivered(rig)


# G-171
@at_work()
async def test_the_policy_may_release_what_no_rule_speaks_of(rig: Rig) -> None:
    await begin(rig, "g1", policy=f'{SHORT}no_rule = "release"\n')
    await rig.put(1)
    rig.clock.advance(HOUR)
    await delivered(rig)


# G-160
@at_work()
async def test_a_message_that_was_only_opened_expires(rig: Rig) -> None:
    await begin(rig, "g1", policy=f'{SHORT}no_rule = "release"\n')
    await rig.put(1)
    docket = await docket_of(rig)
    await rig.answer(OpenDocket(case=docket.case, turn=1, gatekeeper="g1"))
    rig.clock.advance(HOUR)
    await delivered(rig)


# G-174
@at_work()
async def test_expiry_waits_for_somebody_who_writes(rig: Rig) -> None:
    await begin(rig, "g1", policy=f'{SHORT}no_rule = "release"\n')
    await rig.put(1)
    docket = await docket_of(rig)
    rig.clock.advance(50 * MINUTE)
    claimed = await rig.answer(Claim(case=docket.case, turn=1, gatekeeper="g1", by="ada"))
    assert claimed.status == "done"
    other = await rig.answer(Claim(case=docket.case, turn=1, gatekeeper="g1", by="ben"))
    assert (other.status, other.text) == ("refused", "ada is working on it")
    rig.clock.advance(10 * MINUTE)
    await until(rig, is_postponed=True)
    assert (await docket_of(rig)).due == START + round(65 * MINUTE * SECOND)
    rig.clock.advance(5 * MINUTE)
    await delivered(rig)


# G-164, G-212
@at_work()
async def test_a_message_without_a_sender_is_not_returned_but_looked_at(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1, envelope={"sender": None})
    answer = await decide(rig, "return")
    assert "no sender" in answer.text
    assert (await docket_of(rig)).folder == REVIEW


# G-170
@at_work()
async def test_a_gatekeepers_rule_may_gate_further(rig: Rig) -> None:
    own = 'RULE "more"\nIF message.size >= 0 B\nTHEN gate to "g5"\n'
    await begin(rig, "g1", "g3", policy=SHORT, rules_of_g1=own)
    await rig.put(1)
    rig.clock.advance(HOUR)
    await until(rig, gatekeeper="g3", status="gated")
    await decide(rig, "release")
    assert (await docket_of(rig)).gatekeeper == "g5"
    await decide(rig, "release")
    await delivered(rig)


# G-178
@at_work()
async def test_an_object_expires_like_a_mail(rig: Rig) -> None:
    await begin(rig, "g1", policy=SHORT, rules_of_g1=OWN_RULES)
    await rig.put(1, kind="object", content_type="application/json", body=b"{}")
    rig.clock.advance(HOUR)
    assert await body_at(rig) == b"{}"


# G-224
@at_work()
async def test_many_that_expire_together_are_all_dealt_with(rig: Rig) -> None:
    await begin(rig, "g1", policy=f'{SHORT}no_rule = "release"\n')
    for number in range(1, 31):
        await rig.put(number)
    rig.clock.advance(HOUR)

    async def all_there() -> bool:
        return len(await rig.queued()) == 30

    await eventually(all_there)


# --- mailbags ---------------------------------------------------------------------------------------------------------


# G-10, G-73, G-123, G-143, G-149, G-179
@at_work()
async def test_a_mailbag_acts_on_its_date_on_all_that_lies_in_it(rig: Rig) -> None:
    await begin(rig, "g1", policy=AT_ONCE)
    bag = await mailbag(rig, "purge", function="delete", rhythm=Rhythm(every="hours", count=20))
    for number in (1, 2):
        await rig.put(number)
        answer = await decide(rig, "file", number, mailbag="Purge")
        assert answer.docket is not None
        assert (answer.docket.folder, answer.docket.status, answer.docket.expires) == (bag.id, "filed", bag.next_run)
    rig.clock.advance(19 * HOUR)
    assert (await docket_of(rig, 1)).status == "filed"
    rig.clock.advance(1 * HOUR)
    for number in (1, 2):
        await is_closed(rig, number)
        assert (await case_of(rig, number)).outcome == "deleted"
        assert (await dockets(rig, number))[0].decided_by == "mailbag purge"


# G-139, G-145
@at_work()
async def test_t1_to_t5_at_the_end_of_a_month(rig: Rig) -> None:
    await begin(rig, "g1", policy=AT_ONCE)
    bag = await mailbag(rig, "delete", function="delete", rhythm=MONTHLY)
    await rig.put(1)
    await decide(rig, "file", mailbag="delete")
    # The office was built at midnight of 1 January: the fifth comes first, and then the next one.
    assert bag.next_run == START + round(4 * DAY * SECOND)
    await pass_hours(rig, 95)
    assert (await docket_of(rig)).status == "filed"
    rig.clock.advance(HOUR)
    await is_closed(rig)

    async def is_over() -> bool:
        (after,) = await rig.stores.durable.gate.cases.mailbags("g1")
        return (after.last_run, after.next_run) == (bag.next_run, START + round(35 * DAY * SECOND))

    await eventually(is_over)


# G-150, G-157
@at_work()
async def test_a_legal_hold_outlasts_a_mailbag_and_stops_no_other(rig: Rig) -> None:
    await begin(rig, "g1", policy=AT_ONCE)
    await mailbag(rig, "purge", function="delete", rhythm=Rhythm(every="hours", count=20))
    for number in (1, 2):
        await rig.put(number)
        await decide(rig, "file", number, mailbag="purge")
    case = await case_of(rig)
    held: Decided = await rig.answer(HoldCase(case=case.id, by="counsel", reason="a lawsuit"))
    assert held.status == "done"
    assert (await decide(rig, "delete")).status == "refused"
    rig.clock.advance(20 * HOUR)
    await until(rig, fault="a legal hold keeps the message from being deleted")
    await is_closed(rig, 2)
    assert (await case_of(rig)).is_open
    await rig.answer(HoldCase(case=case.id, is_held=False))
    rig.clock.advance(2 * MINUTE)
    await is_closed(rig)


# G-217
@at_work()
async def test_after_the_clock_jumped_mailbags_stand_still_until_somebody_says_it_is_right(rig: Rig) -> None:
    await begin(rig, "g1", policy=f'{SHORT}no_rule = "release"\n')
    await mailbag(rig, "purge", function="delete", rhythm=Rhythm(every="hours", count=30))
    await rig.put(1)
    await decide(rig, "file", mailbag="purge")
    await rig.put(2)
    assert await rig.answer(ConfirmClock()) is False
    await rig.clock.somebody_waits()
    rig.clock.advance(40 * HOUR)
    # What is no mailbag goes on.
    await is_closed(rig, 2)
    assert (await docket_of(rig, 1)).status == "filed"
    assert await rig.answer(ConfirmClock(by="admin")) is True
    await is_closed(rig, 1)


# G-153, G-156
@at_work()
async def test_from_a_mailbag_back_into_the_inbox(rig: Rig) -> None:
    await begin(rig, "g1", policy=SHORT)
    bag = await mailbag(rig, "later")
    await rig.put(1)
    await decide(rig, "file", mailbag="later")
    lying = await docket_of(rig)
    assert (lying.expires, lying.due) == (bag.next_run, START + round(10 * DAY * SECOND))
    rig.clock.advance(MINUTE)
    await decide(rig, "file", mailbag="inbox")
    back = await docket_of(rig)
    assert (back.folder, back.expires) == (INBOX, START + round((MINUTE + HOUR) * SECOND))


# G-74
@at_work()
async def test_a_rule_that_names_no_mailbag_makes_somebody_look(rig: Rig) -> None:
    own = 'RULE "file it"\nIF message.size >= 0 B\nTHEN file in "nowhere"\n'
    bag = await mailbag(rig, "nowhere")
    await begin(rig, "g1", policy=SHORT, rules_of_g1=own)
    with pytest.raises(MailbagRefused):
        await rig.answer(RemoveMailbag(gatekeeper="g1", id=bag.id))
    await rig.put(1)
    gone = msgspec.structs.replace(bag, version=2, is_removed=True)
    await rig.stores.durable.commit([Changes(mailbags=(gone,))])
    rig.clock.advance(HOUR)
    await until(rig, folder=REVIEW, fault="there is no mailbag 'nowhere'")
    assert (await decide(rig, "file", mailbag="nowhere")).status == "refused"


# G-136, G-137, G-146, G-151, G-152, G-158, G-209
@at_work()
async def test_mailbags_are_set_up(rig: Rig) -> None:
    await begin(rig, "g1", policy=AT_ONCE)
    bag = await mailbag(rig, "Purge", function="delete", rhythm=Rhythm(every="hours", count=20))
    assert bag.next_run == START + round(20 * HOUR * SECOND)
    await mailbag(rig, "purge", gatekeeper="g2")
    with pytest.raises(MailbagRefused, match=r"this name already.*to whom it forwards.*when it is to forward"):
        await mailbag(rig, "PURGE", function="forward")
    await rig.put(1)
    await decide(rig, "file", mailbag="purge")
    rig.clock.advance(3 * HOUR)
    sooner: dict[str, Any] = {"id": bag.id, "gatekeeper": "g1", "name": "Gone", "function": "delete"}
    wanted = type(bag)(**sooner, rhythm=Rhythm(every="hours", count=2))
    with pytest.raises(ConfirmationNeeded):
        await rig.answer(WriteMailbag(mailbag=wanted))
    later = type(bag)(**sooner, rhythm=Rhythm(every="hours", count=5))
    changed = await rig.answer(WriteMailbag(mailbag=later))
    assert changed.formerly == ("Purge",)
    assert (await docket_of(rig)).expires == changed.next_run == START + round(5 * HOUR * SECOND)
    with pytest.raises(MailbagRefused):
        await rig.answer(RemoveMailbag(gatekeeper="g1", id=bag.id))
    assert await rig.answer(RunMailbag(gatekeeper="g1", id="Gone")) == 1
    assert (await docket_of(rig)).status == "filed"
    assert await rig.answer(RunMailbag(gatekeeper="g1", id="Gone", is_confirmed=True, by="ada")) == 1
    # What somebody runs by hand acts on what was filed by hand as soon as that cannot be taken back.
    await is_closed(rig)
    await rig.answer(RemoveMailbag(gatekeeper="g1", id=bag.id))
    with pytest.raises(MailbagRefused):
        await rig.answer(RemoveMailbag(gatekeeper="g1", id="inbox"))


# --- dates ------------------------------------------------------------------------------------------------------------


# G-126, G-154, G-155
@at_work()
async def test_dates_are_changed_by_hand_and_a_retain_date_deletes(rig: Rig) -> None:
    await begin(rig, "g1", policy=SHORT)
    await rig.put(1)
    docket = await docket_of(rig)
    known: dict[str, Any] = {"case": docket.case, "turn": 1, "gatekeeper": "g1", "by": "ada"}
    hour = round(HOUR * SECOND)
    early: Decided = await rig.answer(Annotate(**known, retain=START + 1))
    assert (early.status, "must not be before" in early.text) == ("refused", True)
    assert (await rig.answer(Annotate(**known, expires=START - 1))).status == "refused"
    dated: Decided = await rig.answer(Annotate(**known, expires=START + 5 * hour, retain=START + 5 * hour))
    assert dated.status == "done"
    noted: Decided = await rig.answer(Annotate(**known, comment="ask the author"))
    assert noted.status == "done"
    assert (await wrapper_of(rig)).reviews[-1].comment == "ask the author"
    await rig.answer(OpenDocket(case=docket.case, turn=1, gatekeeper="g1"))
    rig.clock.advance(4 * HOUR)
    assert (await docket_of(rig)).is_open
    rig.clock.advance(1 * HOUR)
    await until(rig, folder=REVIEW)


# G-155
@at_work()
async def test_a_message_leaves_the_inbox_on_its_retain_date(rig: Rig) -> None:
    own = 'RULE "never"\nIF message.size > 1 GB\nTHEN release\n'
    await begin(rig, "g1", policy=f'{SHORT}no_rule = "extend"\nextensions = 1000\n', rules_of_g1=own)
    await rig.put(1)
    docket = await docket_of(rig)
    retain = START + round(90 * MINUTE * SECOND)
    await rig.answer(Annotate(case=docket.case, turn=1, gatekeeper="g1", retain=retain))
    rig.clock.advance(HOUR)
    await until(rig, extensions=1)
    rig.clock.advance(30 * MINUTE)
    await is_closed(rig)
    docket = (await dockets(rig))[-1]
    assert (docket.status, docket.last_action) == ("deleted", "deleted on its retain date")


# G-83
@at_work()
async def test_what_does_not_leave_the_desk_leaves_the_wrapper_as_it_is(rig: Rig) -> None:
    await begin(rig, "g1")
    await mailbag(rig, "later")
    await rig.put(1)
    before = (await case_of(rig)).wrapper
    await decide(rig, "file", mailbag="later")
    await decide(rig, "file", mailbag="review")
    assert (await case_of(rig)).wrapper == before


# G-172
@at_work()
async def test_two_daemons_do_nothing_twice(rig: Rig) -> None:
    await begin(rig, "g1", policy=f'{SHORT}no_rule = "release"\n')
    for number in range(1, 11):
        await rig.put(number)
    other = House(rig.clock, TERMS, stores=rig.stores)
    await rig.stop()
    rig.clock.advance(HOUR)
    await asyncio.gather(rig.house.desk.daemon.catch_up(), other.desk.daemon.catch_up())
    waiting = await rig.queued("resume:gate")
    assert sorted(number_of(one.message) for one in waiting) == list(range(1, 11))


# G-222
@at_work()
async def test_a_broken_wrapper_is_told_and_stops_no_other(rig: Rig) -> None:
    await begin(rig, "g1", policy=f'{SHORT}no_rule = "release"\n')
    for number in (1, 2):
        await rig.put(number)
    case = await case_of(rig)
    broken = msgspec.structs.replace(case, version=case.version + 1, wrapper=b"\xc1")
    await rig.stores.durable.commit([Changes(cases=(broken,))])
    answer = await decide(rig, "release")
    assert answer.status == "refused"
    assert "can only be deleted" in answer.text
    rig.clock.advance(HOUR)
    assert number_of((await delivered(rig)).id) == 2

    async def is_told() -> bool:
        return bool((await docket_of(rig)).fault)

    await eventually(is_told)
