"""Gatekeepers change texts: what they did not touch stays as it came."""

from __future__ import annotations

from typing import Any

from posthouse.message.case import unpack_wrapper
from posthouse.office.deskcalls import Claim, Decided, Edit
from posthouse.testing.build import identity
from tests.unit.office.gatehouse import (
    AT_ONCE,
    begin,
    body_at,
    case_of,
    decide,
    delivered,
    docket_of,
    eventually,
    put_in_force,
    wrapper_of,
)
from tests.unit.office.rig import Rig, at_work

MAIL = (
    b"From: alice@a.example\r\nTo: bob@b.example\r\nSubject: Flour\r\nX-Odd:  two  blanks\r\n"
    b"\r\nten pounds of flour\r\n"
)
SIGNED = (
    b'From: alice@a.example\r\nContent-Type: multipart/signed; boundary="s"\r\n\r\n--s\r\n\r\nten pounds\r\n--s\r\n'
    b"Content-Type: application/pgp-signature\r\n\r\nSIGNED\r\n--s--\r\n"
)
ENCRYPTED = b'From: a@a.example\r\nContent-Type: multipart/encrypted; boundary="e"\r\n\r\n--e\r\n\r\nx\r\n--e--\r\n'
RULE = 'RULE "flour"\nIF message.text contains "flour"\nTHEN gate to "g1", "g2"\n'
SILENT = f'{AT_ONCE}edit_note = ""\n'


async def put_mail(rig: Rig, raw: bytes = MAIL, number: int = 1) -> None:
    await rig.put(number, content_type="message/rfc822", body=raw)


# `Any`: the fields of an edit.
async def edit(rig: Rig, text: str, **fields: Any) -> Decided:
    docket = await docket_of(rig)
    known = {"gatekeeper": docket.gatekeeper, "by": "ada@house.example", **fields}
    answer: Decided = await rig.answer(Edit(case=docket.case, turn=docket.turn, text=text, **known))
    return answer


# G-187, G-188, G-189
@at_work()
async def test_a_changed_text_is_delivered_with_a_note_and_the_original_is_kept(rig: Rig) -> None:
    await begin(rig, "g1")
    await put_mail(rig)
    before = (await wrapper_of(rig)).content
    answer = await edit(rig, "some flour")
    assert answer.status == "done"
    assert answer.docket is not None
    assert answer.docket.status == "reviewed"
    wrapper = await wrapper_of(rig)
    assert wrapper.is_edited
    (review,) = wrapper.reviews
    assert (review.person, review.content_before, review.content_after) == (
        "ada@house.example",
        before,
        wrapper.content,
    )
    await decide(rig, "release")
    message = await delivered(rig)
    note = b"[This message was changed by a reviewer.]\r\n\r\n"
    assert message.body == MAIL.replace(b"ten pounds of flour", note + b"some flour")
    assert message.id == (await case_of(rig)).edited
    kept = await rig.stores.durable.journal.letter(identity(1))
    assert kept is not None
    assert kept.body == MAIL


# G-189
@at_work()
async def test_a_policy_may_want_no_note(rig: Rig) -> None:
    await begin(rig, "g1", policy=SILENT)
    await put_mail(rig)
    await edit(rig, "some flour")
    await decide(rig, "release")
    assert await body_at(rig) == MAIL.replace(b"ten pounds of flour", b"some flour")


# G-192, G-232
@at_work()
async def test_the_rules_see_the_changed_text(rig: Rig) -> None:
    await begin(rig, "g9", policy=SILENT)
    await put_in_force(rig, rules=RULE)
    await put_mail(rig)
    await edit(rig, "something else")
    await decide(rig, "release")
    assert (await docket_of(rig)).gatekeeper == "g2"
    await decide(rig, "release")
    assert b"something else" in await body_at(rig)


# G-193
@at_work()
async def test_the_original_goes_back_to_the_sender(rig: Rig) -> None:
    await begin(rig, "g1")
    await put_mail(rig)
    await edit(rig, "some flour")
    await decide(rig, "return", saying="no prices please")
    back = await body_at(rig, "alice")
    assert b"ten pounds of flour" in back
    assert b"some flour" not in back


# G-190
@at_work()
async def test_what_is_signed_is_changed_only_when_that_is_meant(rig: Rig) -> None:
    await begin(rig, "g1", policy=SILENT)
    await put_mail(rig, SIGNED)
    assert (await edit(rig, "nothing")).status == "confirm"
    assert not (await wrapper_of(rig)).is_edited
    assert (await edit(rig, "nothing", is_confirmed=True)).status == "done"
    await decide(rig, "release")
    assert b"SIGNED" not in await body_at(rig)


# G-190
@at_work()
async def test_what_is_encrypted_cannot_be_changed(rig: Rig) -> None:
    await begin(rig, "g1")
    await put_mail(rig, ENCRYPTED)
    answer = await edit(rig, "nothing", is_confirmed=True)
    assert answer.status == "refused"
    assert "encrypted" in answer.text


# G-191
@at_work()
async def test_while_somebody_writes_others_may_read(rig: Rig) -> None:
    await begin(rig, "g1")
    await put_mail(rig)
    docket = await docket_of(rig)
    await rig.answer(Claim(case=docket.case, turn=1, gatekeeper="g1", by="ada@house.example"))
    answer = await edit(rig, "mine", by="ben@house.example")
    assert answer.status == "refused"
    assert "ada@house.example" in answer.text
    assert (await edit(rig, "mine")).status == "done"


# G-112
@at_work()
async def test_an_edit_may_make_those_before_look_again(rig: Rig) -> None:
    await begin(rig, "g1", "g3", policy=f"{SILENT}edit_voids_innoculation = true\n")
    await put_mail(rig)
    await decide(rig, "release")
    await edit(rig, "other")
    await decide(rig, "release")

    async def at_g1() -> bool:
        case = await case_of(rig)
        current = unpack_wrapper(case.wrapper).current
        return current is not None and current.gatekeeper == "g1" and case.turn == 3

    await eventually(at_g1)


# G-13, G-187
@at_work()
async def test_the_text_of_an_object_is_changed_too(rig: Rig) -> None:
    await begin(rig, "g1")
    await rig.put(1, kind="object", content_type="application/json", body=b'{"price": 10}')
    assert (await edit(rig, '{"price": 0}')).status == "done"
    await decide(rig, "release")
    message = await delivered(rig)
    assert (message.kind, message.body) == ("object", b'{"price": 0}')


# G-188
@at_work()
async def test_a_text_is_changed_twice_and_bears_one_note(rig: Rig) -> None:
    await begin(rig, "g1")
    await put_mail(rig)
    await edit(rig, "first")
    assert (await edit(rig, "second")).status == "done"
    assert len((await wrapper_of(rig)).reviews) == 2
    await decide(rig, "release")
    assert (await body_at(rig)).endswith(b"\r\n\r\nsecond\r\n")


# G-189
@at_work()
async def test_the_sender_hears_of_an_edit_where_the_policy_says_so(rig: Rig) -> None:
    await begin(rig, "g1", policy=f"{SILENT}tell_sender_of_edit = true\n")
    await put_mail(rig)
    await edit(rig, "some flour")
    await decide(rig, "release")
    assert b"changed the text of your message" in await body_at(rig, "alice")


# G-85
@at_work()
async def test_a_released_mail_may_bear_one_header(rig: Rig) -> None:
    await begin(rig, "g1", "g3", policy=f"{SILENT}reviewed_header = true\n")
    await put_mail(rig)
    await decide(rig, "release")
    await decide(rig, "release")
    assert await body_at(rig) == b"X-Reviewed: yes\r\n" + MAIL
