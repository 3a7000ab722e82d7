"""What the desk tells unasked, and when it looks."""

from __future__ import annotations

from typing import Any

import msgspec

from posthouse.gate.decide import Broken
from posthouse.message.case import REVIEW
from posthouse.message.changes import Changes
from posthouse.office.breakage import TOLD_AFTER
from tests.unit.gate.books import book
from tests.unit.office.gatehouse import AT_ONCE, MINUTE, begin, body_at, docket_of, eventually, is_closed, is_empty
from tests.unit.office.rig import Rig, at_work, message_of
from tests.unit.office.test_desk_time import pass_hours

HOUR = 60 * MINUTE
PEOPLE = '[user."ada"]\n[role."g1"]\nholders = ["ada"]\n'
CHIEF = '[user."zed"]\n[role."office administrator"]\nholders = ["zed"]\n'
DAILY = f'{AT_ONCE}inbox = "20 hours"\ndigest = "daily"\ndigest_hour = 7\n'
OWN = 'RULE "known"\nIF sender.address is "alice"\nTHEN release\n'


# G-177
@at_work()
async def test_a_gatekeeper_hears_each_morning_what_is_coming_and_what_went(rig: Rig) -> None:
    await begin(rig, "g1", policy=DAILY, organisation=PEOPLE, rules_of_g1=OWN)
    await rig.put(1)
    await pass_hours(rig, 6)
    assert await is_empty(rig, "ada")
    await pass_hours(rig, 1)
    (first,) = await rig.take("ada", wait=None)
    said = bytes(message_of(first).body)  # type: ignore[arg-type]  # a notice is small
    assert b"1 message before g1 will be reviewed by rule within 24 hours" in said
    await rig.settle("acknowledged", first)
    await pass_hours(rig, 13)
    await is_closed(rig)
    await pass_hours(rig, 11)
    told = await body_at(rig, "ada")
    assert b"1 message handled by itself" in told
    assert b"1 released by rule known" in told
    assert len(await rig.queued("#ada")) == 1


# G-177
@at_work()
async def test_without_the_setting_nobody_is_told(rig: Rig) -> None:
    await begin(rig, "g1", policy=AT_ONCE, organisation=PEOPLE)
    await rig.put(1)
    await pass_hours(rig, 31)
    assert await is_empty(rig, "ada")


# G-59
@at_work()
async def test_the_owner_of_a_rule_that_keeps_breaking_hears_of_it(rig: Rig) -> None:
    await begin(rig, "g1", organisation=PEOPLE + CHIEF)
    library = rig.house.counter._intake.library
    for owner in ("g1", "nobody such"):
        (rule,) = book(f'rule "{owner}" owner "{owner}" IF always THEN delete').rules
        library.breakage.hear("rules", [Broken(rule, "a bug")] * TOLD_AFTER)
    rig.clock.advance(2 * MINUTE)
    assert b"The rule g1 of the book rules has broken" in await body_at(rig, "ada")
    assert b"The rule nobody such of the book rules" in await body_at(rig, "zed")


# G-172
@at_work()
async def test_what_was_written_past_the_desk_is_found_when_it_wakes(rig: Rig) -> None:
    await begin(rig, "g1", policy=f'{AT_ONCE}wake = "10 seconds"\n', organisation=PEOPLE)
    await rig.put(1)
    await pass_seconds(rig, 60)
    row = await docket_of(rig)
    due: dict[str, Any] = {"version": row.version + 1, "due": rig.clock.now(), "expires": rig.clock.now()}
    await rig.stores.durable.commit([Changes(dockets=(msgspec.structs.replace(row, **due),))])
    await pass_seconds(rig, 10)

    async def is_listed() -> bool:
        return (await docket_of(rig)).folder == REVIEW

    await eventually(is_listed)


async def pass_seconds(rig: Rig, seconds: int) -> None:
    await rig.clock.somebody_waits()
    rig.clock.advance(seconds)

    async def has_looked() -> bool:
        return rig.house.desk.daemon.looked == rig.clock.now()

    await eventually(has_looked)
