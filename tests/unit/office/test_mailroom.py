"""The mail room: what mail doors bring, and what they are told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

import msgspec

from posthouse.message.arrival import Arrival, attributes_of
from posthouse.message.envelope import Envelope, Report
from posthouse.message.envelope import decode as envelopes
from posthouse.message.journey import Journey
from posthouse.message.maildoor import MailTerms
from posthouse.message.message import Head, Message, compose
from posthouse.message.passage import Facts, Limits, Passage
from posthouse.office.calls import ResendAside
from posthouse.route import ROUTE, Stage
from posthouse.testing.build import START, identity
from tests.unit.office.rig import TERMS, Rig, at_work

MAIL_TERMS = msgspec.structs.replace(
    TERMS, mail=MailTerms(domains=("bakery.example",)), limits=Limits(body_bytes=1_000, listed_only=True)
)
ADA, BEN = "smtp:ada@bakery.example", "smtp:ben@bakery.example"


def mail(number: int, size: int = 10) -> Message:
    return compose(Head(id=identity(number), kind="mail", created=START, content_type="message/rfc822"), b"x" * size)


def envelope(*recipients: str) -> Envelope:
    reports = {recipient: Report(notify="NEVER") for recipient in recipients}
    return Envelope(sender="cleo@mill.example", blind=recipients, principal="mail", reports=reports)


@at_work(terms=MAIL_TERMS)
async def test_many_mails_are_taken_at_once_and_each_is_answered(rig: Rig) -> None:
    await rig.set_up("ada@bakery.example", max_messages=3)
    room = rig.house.mailroom
    verdicts = await asyncio.gather(*(room.accept(mail(number), envelope(ADA)) for number in range(1, 6)))
    assert [verdict.action for verdict in verdicts] == ["pass"] * 3 + ["refuse"] * 2
    assert (verdicts[3].reasons[0].code, verdicts[3].temporary) == ("mailbox.full", True)
    assert await rig.holds("#ada@bakery.example") == [1, 2, 3]


@at_work(terms=MAIL_TERMS)
async def test_a_recipient_is_considered_before_its_mail(rig: Rig) -> None:
    await rig.set_up("ada@bakery.example")
    await rig.set_up("ben@bakery.example", closed=True)
    room = rig.house.mailroom
    said = [await room.consider(name) for name in (ADA, BEN, "smtp:eve@bakery.example", "smtp:x@elsewhere.example")]
    assert [verdict.action for verdict in said] == ["pass", "refuse", "refuse", "refuse"]
    codes = [verdict.reasons[0].code for verdict in said[1:]]
    assert codes == ["mailbox.closed", "mailbox.unknown", "protocol.unknown"]
    assert (await room.consider("smtp:@")).reasons[0].code == "name.malformed"


@at_work(terms=MAIL_TERMS)
async def test_a_taker_learns_nothing_of_the_other_recipients(rig: Rig) -> None:
    for mailbox in ("ada@bakery.example", "ben@bakery.example"):
        await rig.set_up(mailbox)
    assert (await rig.house.mailroom.accept(mail(1), envelope(ADA, BEN))).action == "pass"
    taken = await rig.take_one("ada@bakery.example")
    told = envelopes.decode(taken.leased.letter.envelope)
    assert (told.everybody, dict(told.reports)) == ((), {})


@at_work(terms=MAIL_TERMS)
async def test_who_only_asks_is_not_told_about_mailboxes(rig: Rig) -> None:
    room = rig.house.mailroom
    assert (await room.judge(mail(1), envelope("smtp:anybody@elsewhere.example"))).verdict.action == "pass"
    judgement = await room.judge(mail(2, 2_000), envelope("smtp:anybody@elsewhere.example"))
    assert judgement.verdict.reasons[0].code == "body.too-large"
    assert (await rig.house._stores.durable.journal.count()) == 0


@at_work(terms=MAIL_TERMS)
async def test_a_large_mail_is_taken_by_its_address(rig: Rig) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"x"

    await rig.set_up("ada@bakery.example")
    body = await rig.house.mailroom.save_body(pieces())
    message = compose(Head(id=identity(1), kind="mail", created=START, content_type="message/rfc822"), body)
    assert (await rig.house.mailroom.accept(message, envelope(ADA))).action == "pass"


class Known:
    """As `office.mailroom.Authenticator` asks: it knows already."""

    def __init__(self) -> None:
        self.asked: list[tuple[bytes, str, str | None, bool]] = []

    async def check(self, mail: bytes, arrival: Arrival, *, sender: str | None, whole: bool) -> Mapping[str, str]:
        self.asked.append((mail, arrival.client, sender, whole))
        return {"dmarc": "fail"}


seen: list[dict[str, str]] = []
broken = asyncio.Event()


def looking(journeys: Sequence[Journey], _facts: Facts) -> Passage:
    for journey in journeys:
        assert journey.luggage.features.mail is not None
        seen.append(dict(journey.luggage.features.mail.authentication))
    if broken.is_set():
        raise ZeroDivisionError("a bug")
    return Passage(tuple(journeys))


@at_work(terms=MAIL_TERMS, route=[ROUTE[0], Stage("looking", looking), *ROUTE[1:]])
async def test_what_was_found_about_a_sender_stays_with_the_mail(rig: Rig) -> None:
    await rig.set_up("ada@bakery.example")
    rig.house.mailroom.authenticator = known = Known()
    head = Head(id=identity(1), kind="mail", created=START, content_type="message/rfc822")
    came = compose(head, b"x", attributes=attributes_of(Arrival(client="192.0.2.1", protocol="SMTP")))
    seen.clear()
    broken.set()
    await rig.house.mailroom.accept(came, envelope(ADA))
    broken.clear()
    # Sent on later, when nobody could ask again.
    assert await rig.answer(ResendAside()) == 1
    await rig.house.mailroom.judge(came, envelope(ADA), whole=False)
    assert seen == [{"dmarc": "fail"}] * len(seen)
    assert len(seen) >= 3
    assert known.asked == [(b"x", "192.0.2.1", "cleo@mill.example", whole) for whole in (True, False)]


@at_work(
    terms=msgspec.structs.replace(MAIL_TERMS, mail=MailTerms(domains=("bakery.example",), authenticate_seconds=0.05))
)
async def test_large_mails_that_are_checked_do_not_hold_up_others_for_long(rig: Rig) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"x"

    class Slow(Known):
        release = asyncio.Event()

        async def check(self, mail: bytes, arrival: Arrival, *, sender: str | None, whole: bool) -> Mapping[str, str]:
            results = await super().check(mail, arrival, sender=sender, whole=whole)
            if whole:
                await self.release.wait()
            return results

    await rig.set_up("ada@bakery.example")
    room = rig.house.mailroom
    room.authenticator = slow = Slow()
    body = await room.save_body(pieces())
    heads = [Head(id=identity(n), kind="mail", created=START, content_type="message/rfc822") for n in (1, 2, 3)]
    said = attributes_of(Arrival(client="192.0.2.1", protocol="SMTP"))
    first, second, third = (
        asyncio.create_task(room.accept(compose(head, body, attributes=said), envelope(ADA))) for head in heads
    )
    assert (await third).action == "pass"
    slow.release.set()
    assert [(await task).action for task in (first, second)] == ["pass", "pass"]
    assert [whole for *_, whole in slow.asked] == [True, True, False]
