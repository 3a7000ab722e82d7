"""A message that gatekeepers have let go, and that reaches nobody."""

from __future__ import annotations

import msgspec

from posthouse.message.case import Case
from posthouse.message.passage import Limits
from tests.unit.office.gatehouse import begin, body_at, case_of, decide, eventually, is_empty
from tests.unit.office.rig import TERMS, Rig, at_work

LISTED = msgspec.structs.replace(TERMS, limits=Limits(listed_only=True))
UNDELIVERABLE = "released, undeliverable"


async def ended(rig: Rig) -> Case:
    """Return once the case of the first message is closed and what becomes of it is known."""

    async def is_over() -> bool:
        return (await case_of(rig)).outcome == UNDELIVERABLE

    await eventually(is_over)
    return await case_of(rig)


# G-214
@at_work(terms=LISTED)
async def test_a_recipient_who_is_gone_when_it_is_released_makes_a_notice(rig: Rig) -> None:
    for mailbox in ("alice", "bob"):
        await rig.set_up(mailbox)
    await begin(rig, "g1")
    await rig.put(1, reply_to="alice")
    await rig.set_up("bob", removed=True)
    assert (await decide(rig, "release")).status == "done"
    case = await ended(rig)
    assert (case.is_open, case.closed) == (False, rig.clock.now())
    assert b"bob" in await body_at(rig, "alice")
    assert await is_empty(rig)
    lines = await rig.stores.durable.gate.audit.of_subject(str(case.id))
    assert lines[-1].act == "case.undeliverable"
    assert len(await rig.dead()) == 1


# G-214
@at_work()
async def test_a_recipient_elsewhere_who_is_refused_makes_a_notice_too(rig: Rig) -> None:
    rig.door.office("local:west").refusing = "no such mailbox"
    await begin(rig, "g1")
    await rig.put(1, to="local:west#bob", reply_to="alice")
    await decide(rig, "release")
    case = await ended(rig)
    assert not case.is_open
    assert await body_at(rig, "alice")
