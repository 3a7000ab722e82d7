"""Refusals at the desk stand in the audit: who, what, why; the same again and again is recorded once in a while."""

from __future__ import annotations

import msgspec
import pytest

from posthouse.office import deskcalls
from posthouse.office.permission import NotPermitted
from tests.unit.office.desk import case_id, permit
from tests.unit.office.rig import Rig, at_work


# G-197
@at_work()
async def test_a_refusal_is_recorded_with_its_reason(rig: Rig) -> None:
    robot = permit("review Legal")
    with pytest.raises(NotPermitted):
        await rig.house.asking.ask(robot, deskcalls.ListAudit())
    with pytest.raises(NotPermitted):
        await rig.house.asking.ask(robot, deskcalls.Claim(case=case_id(1), turn=1, gatekeeper="Sales"))
    lines = await rig.answer(deskcalls.ListAudit())
    assert [(line.act, line.actor, line.subject) for line in lines] == [
        ("call.refused", "robot (key k)", "ListAudit"),
        ("call.refused", "robot (key k)", "Sales"),
    ]
    said = msgspec.msgpack.decode(lines[1].payload)
    assert (said["call"], said["principal"]) == ("Claim", "key k")
    assert "review as Sales" in said["why"]


@at_work()
async def test_who_asks_again_and_again_fills_no_disk(rig: Rig) -> None:
    for _ in range(50):
        with pytest.raises(NotPermitted):
            await rig.house.asking.ask(permit("review Legal"), deskcalls.ListAudit())
    assert len(await rig.answer(deskcalls.ListAudit())) == 1
    rig.clock.advance(61.0)
    with pytest.raises(NotPermitted):
        await rig.house.asking.ask(permit("review Legal"), deskcalls.ListAudit())
    assert len(await rig.answer(deskcalls.ListAudit())) == 2
