"""Who asks by a key or an account is told what is theirs and acts under that name; a refusal leaves a trace."""

from __future__ import annotations

import pytest

from posthouse.message.case import Mailbag
from posthouse.message.message import Body
from posthouse.message.tiding import CaseEvent
from posthouse.office import calls, deskcalls
from posthouse.office.permission import NotPermitted
from posthouse.store.gateports import DocketFilter
from tests.unit.office.desk import Desk, asking, case_id, docket, message_id, permit

LEGAL, SALES = docket(1, "Legal"), docket(2, "Sales")


# G-138, G-197
async def test_who_acts_is_who_has_signed_in() -> None:
    desk = Desk([LEGAL])
    asked, _ = asking(desk)
    await asked.ask(permit("review Legal"), deskcalls.Decide(decisions=[], gatekeeper="Legal", by="the queen"))
    assert desk.asked == [deskcalls.Decide(decisions=[], gatekeeper="Legal", by="robot (key k)")]

    person = permit(principal="account ada", address="ada@mill.example", roles=("Legal",))
    await asked.ask(person, deskcalls.Claim(case=case_id(1), turn=1, gatekeeper="Legal", by="the queen"))
    assert desk.asked[-1] == deskcalls.Claim(case=case_id(1), turn=1, gatekeeper="Legal", by="ada")


# G-197
async def test_a_refusal_at_the_desk_is_noted() -> None:
    asked, noted = asking(Desk([LEGAL]))
    with pytest.raises(NotPermitted):
        await asked.ask(permit("administer"), deskcalls.ListAudit())
    with pytest.raises(NotPermitted):
        await asked.ask(permit("review Sales"), calls.AskStatus())
    assert noted.refused == [("key k", "ListAudit")]


# G-119, G-120
async def test_lists_without_a_role_show_the_roles_one_acts_in() -> None:
    bags = [Mailbag(id=role, gatekeeper=role, name="later") for role in ("Legal", "Sales")]
    asked, _ = asking(Desk([SALES, LEGAL], mailbags=bags))
    for one in (permit("review Legal"), permit("review Leg*"), permit(principal="account ada", roles=("Legal",))):
        assert await asked.ask(one, deskcalls.ListDockets()) == [LEGAL]
        assert [count.gatekeeper for count in await asked.ask(one, deskcalls.CountDockets())] == ["Legal"]
        assert [bag.gatekeeper for bag in await asked.ask(one, deskcalls.ListMailbags())] == ["Legal"]
    for one in (permit("audit"), permit("review *")):
        assert await asked.ask(one, deskcalls.ListDockets()) == [SALES, LEGAL]
        counts = await asked.ask(one, deskcalls.CountDockets())
        assert len(counts) == 2


async def test_pages_of_several_roles_are_one_list_in_order() -> None:
    dockets = [docket(number, role, due=number) for number, role in ((4, "A"), (2, "A"), (3, "B"), (1, "C"))]
    asked, _ = asking(Desk([*dockets, docket(5, "A")]))
    found = await asked.ask(permit("review A", "review B"), deskcalls.ListDockets())
    assert [one.due for one in found] == [2, 3, 4, None]


# G-220
async def test_nobody_decides_about_a_message_of_his_own() -> None:
    desk = Desk([LEGAL, docket(3, "Legal", sender="ADA@bakery.example")])
    asked, noted = asking(desk)
    ada = permit("audit", principal="account ada", address="Ada@Bakery.example", roles=("Legal",))
    decide = deskcalls.Decide(
        decisions=[deskcalls.Decision(case=case_id(1), turn=1, command="release")], gatekeeper="Legal"
    )
    with pytest.raises(NotPermitted, match="own"):
        await asked.ask(ada, decide)
    assert noted.refused == [("account ada", "Decide")]
    assert await asked.ask(ada, deskcalls.TellCase(case=case_id(1))) is not None, "as an auditor she sees it"

    plain = permit(principal="account ada", address="Ada@Bakery.example", roles=("Legal",))
    assert await asked.ask(plain, deskcalls.TellCase(case=case_id(1))) is None
    listed = await asked.ask(plain, deskcalls.ListDockets(chosen=DocketFilter(gatekeeper="Legal")))
    assert listed == [LEGAL], "what she sent is not offered"


# G-223
async def test_a_sender_sees_and_recalls_his_own_and_nothing_else() -> None:
    desk = Desk([LEGAL])
    asked, noted = asking(desk)
    sender, other = permit("send as ben", principal="key sender"), permit("send as carl", principal="key other")

    story = await asked.ask(sender, deskcalls.TellCase(case=case_id(1), body_limit=100))
    assert story is not None
    assert (story.case.is_open, story.case.wrapper, story.dockets, story.head, story.body) == (True, b"", [], b"", b"")
    assert story.wrapper.current is None
    desk.tell_sender = "with reason"
    story = await asked.ask(sender, deskcalls.TellCase(case=case_id(1)))
    assert story is not None
    assert story.wrapper.current is not None
    assert (story.wrapper.current.gatekeeper, story.wrapper.current.reasons) == ("", ("too large",))
    assert [case.wrapper for case in await asked.ask(sender, deskcalls.FindCases(prefix="0"))] == [b""]

    assert await asked.ask(other, deskcalls.TellCase(case=case_id(1))) is None
    assert await asked.ask(other, deskcalls.FindCases(prefix="0")) == []
    with pytest.raises(NotPermitted):
        await asked.ask(other, deskcalls.Recall(message=message_id(1)))
    with pytest.raises(NotPermitted):
        await asked.ask(permit("administer", "audit"), deskcalls.Recall(message=message_id(1)))
    await asked.ask(sender, deskcalls.Recall(message=message_id(1), by="x"))
    assert desk.asked[-1] == deskcalls.Recall(message=message_id(1), by="robot (key sender)")
    assert [name for _, name in noted.refused] == ["TellCase", "Recall", "Recall"]


async def test_the_body_is_read_for_those_only_who_may_see_it() -> None:
    desk = Desk([LEGAL])
    asked, _ = asking(desk)
    story = await asked.ask(permit("review Legal"), deskcalls.TellCase(case=case_id(1), body_limit=2))
    assert story is not None
    assert story.body == b"he"
    desk.asked.clear()
    assert await asked.ask(permit("review Sales"), deskcalls.TellCase(case=case_id(1), body_limit=2)) is None
    assert [call.body_limit for call in desk.asked if isinstance(call, deskcalls.TellCase)] == [0]


# G-230
async def test_a_recipient_sees_nothing_of_a_message_that_is_held() -> None:
    desk = Desk([LEGAL])
    asked, _ = asking(desk)
    tell = calls.Tell(message=message_id(1))
    reader, administrator = permit("read ada@bakery.example"), permit("administer")
    assert await asked.answer(reader, tell) is None
    told = await asked.answer(administrator, tell)
    assert told is not None
    assert told.body == b"", "who looks after the office is no reviewer"
    desk.body = Body("0" * 64, 10**9)
    assert await asked.answer(administrator, tell) is None, "its hash would be enough to read it"
    desk.body = b"held"
    desk.outcome = "returned"
    assert await asked.answer(reader, tell) is None
    desk.outcome = "released"
    told = await asked.answer(reader, tell)
    assert told is not None
    assert told.body == b"held"
    assert await asked.answer(permit(principal="key sender"), tell) is not None


async def test_a_sender_hears_that_it_is_held_and_how_it_ended() -> None:
    desk = Desk([LEGAL])
    asked, _ = asking(desk)
    desk.events = [
        CaseEvent(id=str(number), type=kind, case=str(case_id(1)), at=at, by="ada", facts={"gatekeeper": "Legal"})
        for number, (kind, at) in enumerate(
            [("case.gated", 1), ("case.opened", 2), ("case.released", 3), ("case.released", 9)]
        )
    ]
    desk.outcome, desk.closed = "released", 9
    heard = await asked.ask(permit(principal="key sender"), deskcalls.HearCases(after=0))
    assert [(event.type, event.at, event.by) for event in heard.events] == [
        ("case.gated", 1, ""),
        ("case.released", 9, ""),
    ]
    assert [dict(event.facts) for event in heard.events] == [{"message": str(message_id(1))}] * 2
    assert (await asked.ask(permit("review Sales"), deskcalls.HearCases(after=0))).events == []
    assert len((await asked.ask(permit("review Legal"), deskcalls.HearCases(after=0))).events) == 4
