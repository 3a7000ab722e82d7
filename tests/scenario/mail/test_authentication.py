"""A mail comes through a real door, is checked on answers the test gives, and a rule reads what was found."""

from __future__ import annotations

import asyncio
import smtplib
from pathlib import Path

import pytest

from posthouse.matching.engine.single.evaluate import evaluate
from posthouse.matching.language.rule.parse import parse_condition
from posthouse.matching.match import Truth
from posthouse.matching.value.record import Context, make_record
from posthouse.message import features
from posthouse.message.envelope import Envelope
from posthouse.office.calls import SettleTaken, TakeNext, slip_of
from posthouse.testing.lookup import FakeLookup
from tests.scenario.mail.street import Street, street

MAIL = (
    b"Authentication-Results: mx.bakery.example; dmarc=pass; spf=pass\r\n"
    b"From: Cleo <cleo@mill.example>\r\nSubject: flour\r\n\r\nTwo sacks.\r\n"
)
ZONE = {
    ("mill.example", "TXT"): [b"v=spf1 ip4:192.0.2.1 -all"],
    ("_dmarc.mill.example", "TXT"): [b"v=DMARC1; p=reject"],
}
DOORS = ["mx smtp 127.0.0.1:0 xclient=127.0.0.1"]


def send(port: int, client: str, mail: bytes = MAIL) -> None:
    """Bring a mail as a front end does that says who its client is."""
    with smtplib.SMTP("127.0.0.1", port) as talk:
        talk.ehlo("front.bakery.example")
        assert talk.docmd("XCLIENT", f"ADDR={client}")[0] == 220
        talk.ehlo("out.mill.example")
        talk.sendmail("cleo@mill.example", ["ada@bakery.example"], mail)


async def brought(office: Street, condition: str) -> tuple[Truth, bytes]:
    """Give what a rule says of the mail that lies there, and the mail."""
    (taken,) = await office.house.answer(TakeNext(mailbox="ada@bakery.example", wait=20, limit=1, holder="reader"))
    await office.house.answer(SettleTaken(slips=[slip_of(taken)], event="acknowledged"))
    letter = taken.leased.letter
    found = features.decode(letter.features)
    message, content = await office.read(taken.leased)
    record = make_record(message, Envelope(principal="mail"), features=found, context=Context())
    return evaluate(parse_condition(condition), record).truth, content


@pytest.mark.parametrize(
    ("client", "condition"),
    [
        ("192.0.2.9", 'authentication("dmarc") is "fail" and authentication("spf") is "fail"'),
        ("192.0.2.9", 'authentication("dmarc.policy") is "reject" and authentication("dkim") is "none"'),
        ("192.0.2.1", 'authentication("dmarc") is "pass" and authentication("spf") is "pass"'),
    ],
)
async def test_a_rule_asks_who_sent_a_mail(tmp_path: Path, client: str, condition: str) -> None:
    async with street(tmp_path, DOORS, lookup=FakeLookup(ZONE), authenticate=True) as office:
        await asyncio.to_thread(send, office.port("mx"), client)
        truth, content = await brought(office, condition)
    assert truth is Truth.TRUE
    assert content == MAIL


async def test_a_large_mail_is_checked_too(tmp_path: Path) -> None:
    mail = MAIL + b"x" * 900 + b"\r\n" + (b"y" * 76 + b"\r\n") * 4_000
    async with street(tmp_path, DOORS, lookup=FakeLookup(ZONE), authenticate=True) as office:
        await asyncio.to_thread(send, office.port("mx"), "192.0.2.9", mail)
        truth, content = await brought(office, 'authentication("dmarc") is "fail"')
    assert truth is Truth.TRUE
    assert content == mail


async def test_without_an_answer_of_the_dns_a_mail_is_taken(tmp_path: Path) -> None:
    dns = FakeLookup({("mill.example", "TXT"): "broken", ("_dmarc.mill.example", "TXT"): "broken"})
    async with street(tmp_path, DOORS, lookup=dns, authenticate=True) as office:
        await asyncio.to_thread(send, office.port("mx"), "192.0.2.9")
        condition = 'authentication("dmarc") is "temperror" and authentication("spf") is "temperror"'
        truth, _ = await brought(office, condition)
    assert truth is Truth.TRUE


async def test_who_does_not_want_it_is_not_asked(tmp_path: Path) -> None:
    dns = FakeLookup(ZONE)
    async with street(tmp_path, DOORS, lookup=dns) as office:
        await asyncio.to_thread(send, office.port("mx"), "192.0.2.9")
        truth, _ = await brought(office, 'authentication("dmarc") is "pass"')
    assert truth is not Truth.TRUE
    assert dns.asked == []
