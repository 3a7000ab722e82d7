from __future__ import annotations

import pytest

from posthouse.message.features import MailFeatures, features_of_mail
from posthouse.message.form.mail.address import read_addresses
from posthouse.message.form.mail.date import read_date
from posthouse.message.form.mail.limit import MAX_FIELD, MAX_FIELDS
from posthouse.message.form.mail.part import read_structure
from posthouse.message.form.mail.word import decode_words


def read(text: str | bytes) -> MailFeatures:
    return features_of_mail(text.encode() if isinstance(text, str) else text)


def names_of(raw: bytes) -> list[str]:
    return [name for name, _ in features_of_mail(raw).headers]


def test_a_header_is_read_field_by_field() -> None:
    found = read("From: A <a@one.example>\r\nX-Twice: 1\r\nSubject: Hello\r\n again \r\nX-Twice: 2\r\n\r\nText\r\n")
    assert found.headers == (
        ("from", "A <a@one.example>"),
        ("x-twice", "1"),
        ("subject", "Hello again"),
        ("x-twice", "2"),
    )
    assert (found.subject, found.text, found.unknown) == ("Hello again", "Text\n", ())


def test_fields_are_found_again_by_their_offsets() -> None:
    raw = b"From: a@one.example\r\nSubject: x\r\n y\r\n\r\nText"
    structure = read_structure(raw)
    assert [raw[field.start : field.end] for field in structure.parts[0].fields] == [
        b"From: a@one.example\r\n",
        b"Subject: x\r\n y\r\n",
    ]
    assert raw[structure.parts[0].body :] == b"Text"


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
def test_every_line_end_is_one(end: str) -> None:
    lines = ["Subject: one", " two", "Content-Type: multipart/mixed; boundary=b", "", "--b", "", "Text", "--b--", ""]
    found = read(end.join(lines))
    assert (found.subject, found.text) == ("one two", "Text")


def test_a_line_of_an_mbox_before_the_mail_is_left_out() -> None:
    assert names_of(b"From someone Thu Aug 22 12:36:23 2002\nSubject: x\n\n") == ["subject"]
    assert names_of(b"Subject: x\n>From someone Thu Aug 22\nTo: a@one.example\n\n") == ["subject", "to"]


def test_what_cannot_be_a_field_ends_the_header() -> None:
    found = read("Subject: x\nno field\nTo: a@one.example\n\nText")
    assert (found.subject, found.to, found.text) == ("x", (), "no field\nTo: a@one.example\n\nText")
    # RFC 5322, section 4.5: a blank before the colon. A field without a name is none, and ends nothing.
    assert names_of(b"Subject : x\n: y\nTo: z\n\n") == ["subject", "to"]


def test_what_is_not_said_is_none_and_known() -> None:
    found = read("\n")
    assert (found.subject, found.date, found.message_id, found.sender) == (None, None, None, ())
    assert (found.text, found.attachments, found.is_signed, found.unknown) == ("", (), False, ())


def test_past_its_limits_a_header_is_unknown() -> None:
    many = read("Subject: x\n" + "X: y\n" * (MAX_FIELDS + 1) + "Date: Thu, 22 Aug 2002 12:36:23 +0100\n\nText")
    assert len(many.headers) == MAX_FIELDS
    assert (many.subject, many.date, many.text) == ("x", None, "Text")
    assert set(many.unknown) == {"headers", "sender", "to", "cc", "reply_to", "date", "zone", "message_id"}
    long = read("From: a@one.example\nSubject: " + "x" * MAX_FIELD + "\n\nText")
    assert (long.subject, long.sender[0].address, long.text) == (None, "a@one.example", "Text")
    assert "subject" in long.unknown


def test_the_beginning_of_a_mail_says_what_it_can() -> None:
    raw = b"Subject: x\n\nText and mo"
    found = features_of_mail(raw, size=1_000)
    assert (found.subject, found.text, found.attachments, found.is_signed) == ("x", "Text and ", None, None)
    assert set(found.unknown) == {"text", "hidden", "attachments", "is_signed", "is_encrypted"}
    assert features_of_mail(memoryview(raw), size=len(raw)).unknown == ()
    assert "subject" in features_of_mail(b"", size=1_000).unknown


def test_a_field_that_stands_twice_counts_twice_where_people_stand() -> None:
    found = read("From: a@one.example\nFrom: b@one.example\nSubject: x\nSubject: y\n\n")
    assert [each.address for each in found.sender] == ["a@one.example", "b@one.example"]
    assert found.subject == "x"


@pytest.mark.parametrize(
    ("raw", "subject"),
    [
        ("größer".encode(), "größer"),
        ("größer".encode("latin-1"), "größer"),
        (b"\x93quoted\x94", "“quoted”"),
        (b"=?utf-8?q?gr=C3=B6=C3=9Fer?=", "größer"),
    ],
)
def test_raw_bytes_in_a_header_are_read(raw: bytes, subject: str) -> None:
    assert read(b"Subject: " + raw + b"\n\n").subject == subject


def test_raw_bytes_in_a_header_are_of_the_charset_of_the_text() -> None:
    raw = "Subject: 광고\nContent-Type: text/plain; charset=euc-kr\n\n".encode("euc-kr")
    assert read(raw).subject == "광고"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("=?utf-8?B?w6k=?=", "é"),
        ("=?UTF-8?b?w6k?=", "é"),
        ("=?utf-8?Q?a_b=20c?=", "a b c"),
        ("=?utf-8?Q?a b?=", "a b"),
        ("=?iso-8859-1*de?Q?=FC?=", "ü"),
        ("=?utf-8?Q?=C3?= =?utf-8?Q?=A9?=", "é"),
        ("=?utf-8?Q?a?= b =?utf-8?Q?c?=", "a b c"),
        ("=?utf-8?Q?a?==?utf-8?Q?b?=", "ab"),
        ("x=?utf-8?Q?=C3=A9?=y", "xéy"),
        ("=?utf-8?Q?what??=", "what?"),
        ("=?unheard-of?Q?=E9?=", "é"),
        ("=?utf-8?X?abc?=", "=?utf-8?X?abc?="),
        ("=?utf-8?Q?open", "=?utf-8?Q?open"),
        ("=?zlib?B?eJwDAAAAAAE=?=", "x\x9c\x03\x00\x00\x00\x00\x01"),
    ],
)
def test_encoded_words_are_decoded(written: str, meant: str) -> None:
    assert decode_words(written) == (meant if "zlib" not in written else "xœ\x03\x00\x00\x00\x00\x01")


@pytest.mark.parametrize(
    ("written", "mailboxes"),
    [
        ("", []),
        ("a@one.example", [("", "a@one.example")]),
        ("<a@one.example>", [("", "a@one.example")]),
        ("A B <a@one.example>", [("A B", "a@one.example")]),
        ('"B, A" <a@one.example>', [("B, A", "a@one.example")]),
        (r'"A \"x\" B" <a@one.example>', [('A "x" B', "a@one.example")]),
        ("a@one.example (A (x) B)", [("A (x) B", "a@one.example")]),
        ("a@one.example, b@two.example", [("", "a@one.example"), ("", "b@two.example")]),
        ("a@one.example; b@two.example", [("", "a@one.example"), ("", "b@two.example")]),
        ("A <a@one.example>, B <b@two.example>", [("A", "a@one.example"), ("B", "b@two.example")]),
        ("team: a@one.example, B <b@two.example>;", [("", "a@one.example"), ("B", "b@two.example")]),
        ("undisclosed-recipients:;", []),
        ("<@relay.example,@two.example:a@one.example>", [("", "a@one.example")]),
        ("a . b @ one . example", [("", "a.b@one.example")]),
        ("A B a@one.example", [("A B", "a@one.example")]),
        ("A <a@one.example", [("A", "a@one.example")]),
        ('"A <a@one.example>', [('"A', "a@one.example")]),
        ("A (open <a@one.example>", [("A (open", "a@one.example")]),
        ('"a b"@one.example', [("", '"a b"@one.example')]),
        ("a@[192.0.2.1]", [("", "a@[192.0.2.1]")]),
        ("MAILER-DAEMON", [("", "MAILER-DAEMON")]),
        ("<>", []),
        ("=?utf-8?q?B=2C_A?= <a@one.example>", [("B, A", "a@one.example")]),
        ('"=?utf-8?q?=C3=A9?=" <a@one.example>', [("é", "a@one.example")]),
        ("=?utf-8?q?<b@two.example>,?= <a@one.example>", [("<b@two.example>,", "a@one.example")]),
        ("no one here <a b@one.example>", [("no one here", "a b@one.example")]),
    ],
)
def test_addresses_are_read(written: str, mailboxes: list[tuple[str, str]]) -> None:
    assert read_addresses(written) == mailboxes


HOUR = 3_600_000_000
NOON = 1_030_017_600_000_000
"""22 August 2002, 12:00 in Greenwich."""


@pytest.mark.parametrize(
    ("written", "instant", "zone"),
    [
        ("Thu, 22 Aug 2002 12:00:00 +0100 (BST)", NOON - HOUR, 60),
        ("22 Aug 2002 12:00 -0130", NOON + HOUR * 3 // 2, -90),
        ("Thu,22 August 2002 12:00:00 GMT", NOON, 0),
        ("Thu, 22 Aug 02 12:00:00 EST", NOON + 5 * HOUR, -300),
        ("Thu, 22 Aug 102 12:00:00 Z", NOON, 0),
        ("Thu, 22 Aug 2002 12:00:00 -0000", NOON, None),
        ("Thu, 22 Aug 2002 12:00:00", NOON, None),
        ("Thu Aug 22 12:00:00 2002", NOON, None),
        ("Thu Aug 22 12:00:00 PDT 2002", NOON + 7 * HOUR, -420),
        ("Thu, 22 Aug 2002 01:00:00 PM +0100", NOON, 60),
        ("2002-08-22T12:00:00.5+02:00", NOON - 2 * HOUR + 500_000, 120),
        ("Thu, 22 Aug 2002 12.00.00 GMT+1", NOON - HOUR, 60),
        ("22-Aug-2002 11:59:60 +0000", NOON, 0),
        ("Thu, 22 Aug 2002 12:00:00 Nowhere", NOON, None),
        ("Thu, 22 Aug 2002 12:00:00 0100", NOON - HOUR, 60),
    ],
)
def test_dates_are_read(written: str, instant: int, zone: int | None) -> None:
    assert read_date(written) == (instant, zone)


@pytest.mark.parametrize("written", ["", "soon", "31 Feb 2002 12:00:00 +0000", "22 Aug 2002 25:00:00 GMT", "22/8/2002"])
def test_what_is_no_date_is_unknown(written: str) -> None:
    assert read_date(written) is None
    found = read(f"Date: {written}\n\n")
    assert (found.date, found.unknown) == (None, ("date", "zone"))
