"""What the office has sent to people, and what comes back of it by itself."""

from __future__ import annotations

from posthouse.message.envelope import Envelope
from posthouse.message.form.composition import MAIL_TYPE
from posthouse.message.message import Head, compose
from posthouse.office.sorting import Parcel
from posthouse.testing.build import identity
from tests.unit.office.gatehouse import begin, decide, delivered, dockets, put_in_force
from tests.unit.office.rig import Rig, at_work

MAIL = b"Subject: plans\r\n\r\nthe plans\r\n"


async def send_back(rig: Rig, mailbox: str, *, keeps_attributes: bool = False) -> tuple[str, str]:
    """Hand in again what arrived in a mailbox, as a program does that forwards; give what the office says."""
    copy = await delivered(rig, mailbox)
    head = Head(id=identity(9), kind="mail", sender=mailbox, recipients=("bob",), content_type=copy.content_type)
    again = compose(head, copy.body, attributes=dict(copy.attributes) if keeps_attributes else {})
    (receipt,) = await rig.house.counter.accept([Parcel(again, Envelope(sender=mailbox, recipients=("bob",)))])
    return receipt.status, receipt.code


# G-213
@at_work()
async def test_a_copy_that_comes_back_by_itself_is_stopped(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1, body=MAIL, content_type=MAIL_TYPE)
    await decide(rig, "copy", to="archive")
    assert await send_back(rig, "archive") == ("refused", "message.loops")
    assert len(await dockets(rig)) == 1


# G-213
@at_work()
async def test_what_a_person_was_asked_about_is_stopped_too(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1, kind="event", body=b"the plans")
    await decide(rig, "forward", to="local:#expert")
    copy = await send_back(rig, "expert", keeps_attributes=True)
    if copy[0] == "accepted":
        # The question came first; the copy comes with it.
        copy = await send_back(rig, "expert", keeps_attributes=True)
    assert copy == ("refused", "message.loops")


# G-213
@at_work()
async def test_a_rules_copy_bears_a_mark_as_well_and_that_of_another_office_is_none(rig: Rig) -> None:
    await put_in_force(rig, rules='RULE "c"\nIF sender.address is "alice"\nTHEN copy to "archive"\n')
    await rig.put(1, body=MAIL, content_type=MAIL_TYPE)
    assert await send_back(rig, "archive") == ("refused", "message.loops")
    other = b"X-Posthouse-Case: " + str(identity(77)).encode() + b"\r\n" + MAIL
    assert (await rig.put(3, body=other, content_type=MAIL_TYPE)).status == "accepted"
