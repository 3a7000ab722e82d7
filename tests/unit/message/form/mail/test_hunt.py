"""Mail that nobody would write: made by chance, or made to take long."""

from __future__ import annotations

import base64
import time
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from posthouse.message import features
from posthouse.message.features import features_of_mail
from posthouse.message.form.mail.part import read_structure

NO_BLANK = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs"))
WORDS = st.text(NO_BLANK, min_size=1, max_size=30)
NAMES = st.text("abcdefghijklmnopqrstuvwxyz ABC.,äöü中", max_size=20).map(str.strip)
ATOMS = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=10).map(lambda atom: f"x{atom}")
ADDRESSES = st.tuples(NAMES, ATOMS, ATOMS)
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=200)
FILES = st.tuples(
    st.text("abcdefgäöü中 .-", min_size=1, max_size=20).map(lambda name: f"f{name}x"), st.binary(max_size=300)
)


@st.composite
def mails(draw: st.DrawFn) -> EmailMessage:
    mail = EmailMessage(policy=draw(st.sampled_from((SMTP, SMTPUTF8))))
    name, local, domain = draw(ADDRESSES)
    quoted = name.replace("\\", "").replace('"', "")
    mail["From"] = f'"{quoted}" <{local}@{domain}.example>' if quoted else f"{local}@{domain}.example"
    mail["Subject"] = " ".join(draw(st.lists(WORDS, min_size=1, max_size=6)))
    mail.set_content(draw(TEXTS))
    if draw(st.booleans()):
        mail.add_alternative(f"<p>{draw(ATOMS)}</p>", subtype="html")
    for filename, content in draw(st.lists(FILES, max_size=3)):
        mail.add_attachment(content, maintype="application", subtype="octet-stream", filename=filename)
    return mail


@given(mails())
def test_what_a_mail_was_made_of_is_found_in_it(mail: EmailMessage) -> None:
    found = features_of_mail(mail.as_bytes())
    assert found.unknown == ()
    # Python's writer loses the blank between two encoded words.
    assert "".join((found.subject or "").split()) == "".join(str(mail["Subject"]).split())
    (sender,) = mail["From"].addresses
    assert [(" ".join(each.name.split()), each.address) for each in found.sender] == [
        (" ".join(sender.display_name.split()), sender.addr_spec)
    ]
    attached = [(part.get_filename(), len(part.get_content())) for part in mail.iter_attachments()]
    assert [(each.name, each.size) for each in found.attachments or ()] == attached
    body = mail.get_body(("plain",))
    assert body is not None
    assert (found.text or "").split()[: len(body.get_content().split())] == body.get_content().split()


SCRAP_WORDS = (
    b"From: a@one.example", b"Subject:", b"=?utf-8?Q?=C3", b"?=", b"Content-Type: multipart/mixed; boundary=b",
    b"Content-Type: message/rfc822", b"Content-Transfer-Encoding: base64", b"Content-Type: text/html; charset=utf-7",
    b"Content-Transfer-Encoding: quoted-printable", b"Content-Disposition: attachment; filename*0*=utf-8''%",
    b"--b", b"--b--", b"\n", b"\r\n", b"\r", b"\n\n", b" ", b'"', b"(", b")", b"<", b">", b"\\", b"=", b"\x00", b"\xff",
    b"+2AA-", b"begin 644 x\n", b"end\n", b"<p>", b"<!--", b"<script>", b"Date: Thu, 22 Aug 2002 12:00:00", b"PGP",
    b"To: x:;,",
)  # fmt: skip
SCRAPS = st.lists(st.sampled_from(SCRAP_WORDS) | st.binary(max_size=6), max_size=60).map(b"".join)


def is_read(raw: bytes) -> None:
    found = features_of_mail(raw)
    assert features.decode(features.encode(features.Features(2, None, 0, 0, 0, found))).mail == found
    for part in read_structure(raw).parts:
        assert 0 <= part.start <= part.body <= part.end <= len(raw)
    beginning = features_of_mail(raw, size=len(raw) + 1)
    assert "text" in beginning.unknown
    assert beginning.attachments is None


@given(SCRAPS)
@example(b"")
@example(b"From ")
@example(b":")
@example(b"Content-Type: text/plain; charset=utf-7\n\n+2AA-")
@example(b"Subject: =?utf-7?Q?+2AA-?=\n\n")
@example(b"Content-Type: text/html\n\n&#xD800;<p>")
def test_no_scrap_is_refused(raw: bytes) -> None:
    is_read(raw)


@pytest.mark.fuzz
@given(SCRAPS)
def test_no_scrap_of_very_many_is_refused(raw: bytes) -> None:
    is_read(raw)


def multipart(boundary: bytes, body: bytes) -> bytes:
    return b'Content-Type: multipart/mixed; boundary="' + boundary + b'"\n\n' + body


def html(source: bytes) -> bytes:
    return b"Content-Type: text/html\n\n" + source


def nested(count: int) -> bytes:
    return b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (number, number) for number in range(count)
    )


def wrapped(count: int) -> bytes:
    raw = b"\nx"
    for _ in range(count):
        raw = b"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n" + base64.encodebytes(raw)
    return raw


LONG = {
    "10 MB of brackets": b"(" * 10_000_000,
    "brackets in From": b"From: " + b"(" * 130_000 + b"\n\n",
    "100,000 nested parts": nested(100_000),
    "100,000 nested mails": b"Content-Type: message/rfc822\n\n" * 100_000,
    "one boundary within itself": multipart(b"b", b"--b\nContent-Type: multipart/mixed; boundary=b\n\n" * 100_000),
    "a boundary of 1 MB": multipart(b"x" * 1_000_000, b"--" + b"x" * 1_000_000 + b"\n"),
    "a boundary of 100 KB": multipart(b"x" * 100_000, (b"--" + b"x" * 100_000 + b"\n\ny\n") * 50),
    "a million parts": multipart(b"b", b"--b\n\nx\n" * 1_000_000),
    "3 million lines of hyphens": multipart(b"b", b"--\n" * 3_000_000),
    "nearly a delimiter, 64 deep": multipart(b"b", nested(62) + b"--b x\n" * 300_000),
    "quotes that do not close": b"To: " + b'"a' * 60_000 + b"\n\n",
    "escaped quotes": b'From: "' + b'\\"' * 60_000 + b"\n\n",
    "addresses without end": b"To: " + b"a@" * 60_000 + b"\n\n",
    "brackets that do not close": b"To: " + b"<" * 130_000 + b"\n\n",
    "words that do not end": b"Subject: " + b"=?a?q?x" * 18_000 + b"\n\n",
    "the beginnings of words": b"Subject: " + b"=?utf-8?q?" * 12_000 + b"?=\n\n",
    "blanks": b"Subject:" + b" " * 130_000 + b"x\n\n",
    "folds": b"Subject: " + b"\n " * 60_000 + b"x\n\n",
    "empty fields": b":\n" * 3_000_000,
    "parameters": b"Content-Type: text/plain; " + b"a=b;" * 32_000 + b"\n\n",
    "bare returns": b"\r" * 5_000_000,
    "zeros": b"\0" * 5_000_000,
    "padding": b"Content-Type: a/b\nContent-Transfer-Encoding: base64\n\n" + b"=A" * 2_000_000,
    "beginnings of files": b"\n" + b"begin 644 a\n" * 300_000,
    "mails encoded in mails": wrapped(20),
    "200,000 nested marks": html(b"<div>" * 200_000),
    "formats that are all repeated": html(b"".join(b"<b id=%d>" % n for n in range(4_900)) + b"<p>" * 4_900),
    "a few formats": html(b"".join(b"<b id=%d>" % n for n in range(490)) + b"<p>" * 490),
    "marks as many as make a tree": html(b"<div>" * 9_900),
    "attributes": html(b"<p " + b"".join(b"a%d " % n for n in range(300_000)) + b">x"),
    "attributes with ends of marks in them": html(b"<p " + b"".join(b'a%d=">" ' % n for n in range(100_000)) + b">x"),
    "attributes of a short text": html(b"<p " + b"".join(b"a%x " % n for n in range(5_000)) + b">x"),
    "comments": html(b"<!--" * 900_000),
    "marks without end": html(b"<p>" * 10_001 + b"<a ='\"" * 500_000),
    "styles without end": html(b"<p>" * 10_001 + b"<style>" * 100_000),
    "one word of 20 MB": b"\n" + b"x" * 20_000_000,
    "10 MB of HTML in each of ten parts": multipart(
        b"b", (b"--b\nContent-Type: text/html\n\n" + b"<i>x" * 250_000) * 10
    ),
    "dates": b"Date: " + b"1 " * 65_000 + b"\n\n",
}


@pytest.mark.parametrize("raw", LONG.values(), ids=LONG)
def test_nothing_takes_long(raw: bytes) -> None:
    started = time.process_time()
    features_of_mail(raw)
    # What is quadratic takes minutes here; a second is a slow machine.
    assert time.process_time() - started < 5
