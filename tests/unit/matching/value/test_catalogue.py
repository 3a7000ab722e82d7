"""Every name of the catalogue reads what it says, and says what it does not know."""

from __future__ import annotations

from datetime import timedelta, timezone

import msgspec
import pytest
from hypothesis import given

from posthouse.matching.value.catalogue import ALIASES, CATALOGUE, ENTRIES, read_part
from posthouse.matching.value.part import Asked
from posthouse.matching.value.record import Context, History, Recipient, Record, make_record, text_of
from posthouse.matching.value.type import type_of
from posthouse.message.envelope import Envelope
from posthouse.message.features import Address, Attachment, MailFeatures, extract
from posthouse.message.message import Body, Head, Message, compose
from posthouse.testing.build import SECOND, START, identity
from posthouse.testing.record import ATTRIBUTES, COMPANY, RECORDS

MAIL = MailFeatures(
    headers=(("x-spam", "yes"), ("received", "one"), ("received", "two")),
    sender=(Address("Ann", "ann@alpha.example"),),
    to=(Address("", "bob@beta.example"), Address("Zoë", "zoë@alpha.example")),
    subject="Late report",
    date=START,
    text="All is well",
    attachments=(Attachment("a.pdf", "application/pdf", 10), Attachment("b.exe", "application/x-dosexec", 32)),
    is_signed=False,
    authentication={"spf": "pass"},
    hidden="for filters",
)
LETTER = Record(
    kind="mail",
    id="7",
    size=1_000_001,
    created=START,
    arrived=START + 90 * SECOND,
    content_type="Message/RFC822; x=1",
    sender="ann@alpha.example",
    recipients=(Recipient("Bob@alpha.example"), Recipient("orders"), Recipient("eve@far.example", is_blind=True)),
    attributes={"floor.room": "1.7", "tags": ("a", 5)},
    mail=MAIL,
    context=Context(
        now=START + 3600 * SECOND,
        zone=timezone(timedelta(hours=-1)),
        organisation=COMPANY,
        office_statistics={"queue_length": 501},
        history=History(fired=("big-mail",), since=START, gatekeepers=("Manager",)),
    ),
)


@pytest.mark.parametrize(
    ("name", "argument", "values"),
    [
        ("message.kind", None, ("mail",)),
        ("message.size", None, (1_000_001,)),
        ("object.type", None, ("message/rfc822",)),
        ("message.text", None, ("All is well",)),
        ("message.hidden", None, ("for filters",)),
        ("message.whole", None, ("Late report\nAll is well",)),
        ("attribute", "floor.room", ("1.7",)),
        ("attribute", "tags", ("a", 5)),
        ("created", None, (START,)),
        ("created.date", None, (20453,)),
        ("created.time", None, (23 * 3600,)),
        ("created.weekday", None, (3,)),
        ("now.time", None, (0,)),
        ("sender.local", None, ("ann",)),
        ("sender.domain", None, ("alpha.example",)),
        ("sender.role", None, ("CEO",)),
        ("sender.location", None, ("Straße 1",)),
        ("recipient.domain", None, ("alpha.example", "", "far.example")),
        ("recipient.role", None, ("VP", "Design", "Design")),
        ("recipient.under", None, ("VP", "CEO", "Design", "Design", "CEO")),
        ("recipient.external", None, (False, False, True)),
        ("recipient.blind", None, (False, False, True)),
        ("recipient.count", None, (3,)),
        ("from.name", None, ("Ann",)),
        ("to.domain", None, ("beta.example", "alpha.example")),
        ("cc.address", None, ()),
        ("subject", None, ("Late report",)),
        ("header", "Received", ("one", "two")),
        ("authentication", "SPF", ("pass",)),
        ("is_signed", None, (False,)),
        ("attachment.count", None, (2,)),
        ("attachment.name", None, ("a.pdf", "b.exe")),
        ("attachment.size.total", None, (42,)),
        ("attachment.size.largest", None, (32,)),
        ("office.stat", "queue_length", (501,)),
        ("history.fired", "big-mail", (True,)),
        ("history.fired", "other", (False,)),
        ("history.age", None, (3600 * SECOND,)),
    ],
)
def test_reads_the_part(name: str, argument: str | None, values: tuple[object, ...]) -> None:
    reading = read_part(LETTER, name, argument=argument)
    assert (reading.values, reading.state) == (values, "whole")


@pytest.mark.parametrize(
    ("name", "argument", "state"),
    [
        ("header", "x-other", "missing"),
        ("attribute", "other", "missing"),
        ("expires", None, "missing"),
        ("is_encrypted", None, "missing"),
        ("mail.id", None, "missing"),
        ("office.stat", "other", "unreadable"),
        ("sender.stat", "other", "unreadable"),
        ("attachment.sha256", None, "unreadable"),
        ("history.last_action", None, "missing"),
        ("nonsense", None, "unreadable"),
    ],
)
def test_says_what_is_not_there_and_why(name: str, argument: str | None, state: str) -> None:
    reading = read_part(LETTER, name, argument=argument)
    assert (reading.values, reading.state) == ((), state)
    assert reading.why


def test_a_part_of_a_recipient_is_that_of_the_one_bound() -> None:
    assert read_part(LETTER, "recipient.role", place=1).values == ("Design",)
    assert read_part(LETTER, "recipient.role", place=2).values == ()
    assert read_part(LETTER, "levels_between", place=0).values == ()
    clerk = msgspec.structs.replace(LETTER, sender="zoë@alpha.example", recipients=(Recipient("ann@alpha.example"),))
    assert read_part(clerk, "levels_between", place=0).values == (3,)


def test_what_is_no_mail_has_no_attachments_and_no_subject() -> None:
    event = Record(kind="event", content_type="text/plain", text="hello")
    assert read_part(event, "attachment.count").values == (0,)
    assert read_part(event, "subject").state == "missing"
    assert read_part(event, "message.text").values == ("hello",)


def test_what_a_mail_was_cut_at_is_cut() -> None:
    mail = msgspec.structs.replace(MAIL, unknown=("text", "attachments", "headers", "sender", "cc", "date"), date=None)
    cut = msgspec.structs.replace(LETTER, mail=mail)
    assert read_part(cut, "message.text").state == "cut"
    assert read_part(cut, "header", argument="received").state == "partial"
    assert read_part(cut, "header", argument="x-other").state == "unreadable"
    assert read_part(cut, "attachment.count").state == "unreadable"
    assert read_part(cut, "from.address").state == "partial"
    assert read_part(cut, "cc.address").state == "unreadable"
    assert read_part(cut, "to.address").state == "whole"
    assert read_part(cut, "mail.date").state == read_part(cut, "mail.date.weekday").state == "unreadable"


def test_a_real_mail_is_read() -> None:
    raw = b"From: Ann <ann@alpha.example>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nDate: nonsense\r\n\r\nHello\r\n"
    message = compose(Head(id=identity(1), kind="mail", content_type="message/rfc822"), raw)
    envelope = Envelope(sender="ann@alpha.example", recipients=("bob@beta.example",))
    record = make_record(message, envelope, features=extract(message, envelope, accepted=START), context=Context())
    assert read_part(record, "subject").values == ("Grüße",)
    assert read_part(record, "from.domain").values == ("alpha.example",)
    assert "Hello" in str(read_part(record, "message.text").values)
    assert read_part(record, "mail.date").state == "unreadable"
    assert read_part(record, "attachment.count").values == (0,)
    assert read_part(record, "message.size").values == (len(raw),)


def test_long_text_is_cut() -> None:
    reading = read_part(Record(content_type="text/plain", text="x" * (1 << 21)), "message.text")
    assert (len(str(reading.values[0])), reading.state) == (1 << 20, "cut")


def text_message(body: bytes | Body, content_type: str) -> Message:
    return compose(Head(id=identity(1), kind="object", content_type=content_type), body)


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (b"gr\xc3\xbcn", "text/plain", "grün"),
        (b"gr\xfcn", "text/plain; charset=ISO-8859-1", "grün"),
        (b"gr\xfcn", "text/plain", None),
        (b"{}", "application/json", None),
        (b"x", "text/plain; charset=nonsense", None),
        (b"x", "text/plain; charset=zlib", None),
        (b"x", "text/plain; charset=punycode", None),
        (Body("0" * 64, 5), "text/plain", None),
    ],
)
def test_text_of_a_body(body: bytes | Body, content_type: str, text: str | None) -> None:
    assert text_of(text_message(body, content_type)) == text


def test_a_record_says_what_the_message_and_its_envelope_say() -> None:
    message = compose(
        Head(id=identity(1), kind="event", priority=9, content_type="text/plain"), b"hi", attributes={"a": 1}
    )
    envelope = Envelope(sender="ann", recipients=("bob", "eve", "bob"), blind=("zoe", "eve"))
    record = make_record(
        message, envelope, features=extract(message, envelope, accepted=START), context=Context(now=START)
    )
    assert [(one.address, one.is_blind) for one in record.recipients] == [("bob", False), ("eve", False), ("zoe", True)]
    assert (record.text, record.priority, record.attributes["a"], record.arrived) == ("hi", 9, 1, START)


@given(RECORDS)
def test_every_name_reads_values_of_its_type(record: Record) -> None:
    for entry in ENTRIES:
        for argument in ATTRIBUTES if entry.argument else (None,):
            reading = entry.read(record, Asked(argument))
            assert (reading.state == "whole") == (not reading.why)
            assert entry.is_many or len(reading.values) <= 1
            for value in reading.values:
                kind = {"role": "text", "address": "text", "size": "int64", "duration": "int64"}.get(
                    entry.type, entry.type
                )
                assert kind in ("any", type_of(value))


def test_aliases_lead_into_the_catalogue() -> None:
    assert set(ALIASES.values()) <= set(CATALOGUE)
    assert not set(ALIASES) & set(CATALOGUE)
