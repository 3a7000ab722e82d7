from __future__ import annotations

import base64
import quopri

import pytest

from posthouse.message.features import features_of_mail
from posthouse.message.form.mail.splice import TextUnchangeable, Wanted, splice, text_of_mail

HEADER = (
    b"Received: from a.example by b.example; Fri, 2 Jan 2026 10:00:00 +0000\r\n"
    b"From: Ann <ann@bakery.example>\r\nTo: bob@mill.example\r\nSubject: Flour\r\n"
)
PDF = base64.encodebytes(bytes(range(256)) * 3).replace(b"\n", b"\r\n")


def mail(*lines: bytes, head: bytes = HEADER) -> bytes:
    return head + b"\r\n".join(lines) + b"\r\n"


MIXED = mail(
    b"MIME-Version: 1.0", b'Content-Type: multipart/mixed; boundary="--a--b"', b"", b"a preamble", b"----a--b",
    b"Content-Type: text/plain; charset=utf-8", b"Content-Transfer-Encoding: 8bit", b"",
    "The price is ten pounds. Grüße".encode(), b"----a--b", b'Content-Type: application/pdf; name="price.pdf"',
    b"Content-Disposition: attachment", b"Content-Transfer-Encoding: base64", b"", PDF.rstrip(b"\r\n"),
    b"----a--b--", b"an epilogue",
)  # fmt: skip


def changed_only(before: bytes, after: bytes, old: bytes, new: bytes) -> None:
    """Check that nothing but one piece of the bytes has changed."""
    assert before.count(old) == 1
    assert after == before.replace(old, new)


# G-187, G-190
def test_plain_text_is_changed_and_nothing_else() -> None:
    raw = mail(b"", b"The price is ten pounds.")
    found = splice(raw, Wanted("The price is secret."))
    changed_only(raw, found.raw, b"The price is ten pounds.", b"The price is secret.")
    assert not found.broke_signature


# G-187, G-189
def test_a_note_stands_before_the_text() -> None:
    raw = mail(b"", b"one")
    assert splice(raw, Wanted("two", note="[changed]")).raw.endswith(b"\r\n\r\n[changed]\r\n\r\ntwo\r\n")


# G-187
def test_of_several_parts_only_the_text_changes_its_eight_bits_too() -> None:
    old = "The price is ten pounds. Grüße".encode()
    changed_only(MIXED, splice(MIXED, Wanted("Der Preis fällt.\n")).raw, old, "Der Preis fällt.".encode())


# G-187
@pytest.mark.parametrize("encoding", ["quoted-printable", "base64"])
def test_the_transfer_encoding_is_kept(encoding: str) -> None:
    old = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich, und noch viel weiter\n"
    encode = base64.encodebytes if encoding == "base64" else quopri.encodestring
    content = encode(old.encode("iso-8859-1")).replace(b"\n", b"\r\n").rstrip(b"\r\n")
    raw = mail(
        b"Content-Type: text/plain; charset=iso-8859-1",
        b"Content-Transfer-Encoding: " + encoding.encode(),
        b"",
        content,
    )
    after = splice(raw, Wanted("Ein größeres Glück = 7"))
    head, _, _ = raw.partition(b"\r\n\r\n")
    assert after.raw.startswith(head + b"\r\n\r\n")
    assert text_of_mail(after.raw) == "Ein größeres Glück = 7\n"


# G-187
def test_what_a_charset_cannot_say_is_written_in_one_that_can() -> None:
    raw = mail(b"Content-Type: text/plain; charset=us-ascii", b"X-After: kept", b"", b"ten pounds")
    after = splice(raw, Wanted("zehn € — 価格")).raw
    assert b"charset=utf-8" in after
    assert b"X-After: kept\r\n" in after
    assert features_of_mail(after).text == "zehn € — 価格\n"


# G-187
def test_the_same_stands_in_the_html_of_the_letter() -> None:
    raw = mail(
        b'Content-Type: multipart/alternative; boundary="x"', b"", b"--x", b"", b"ten pounds", b"--x",
        b"Content-Type: text/html", b"", b"<p>ten <b>pounds</b></p>", b"--x--",
    )  # fmt: skip
    after = splice(raw, Wanted("a < b")).raw
    assert b"pounds" not in after
    assert b"<pre>a &lt; b</pre>" in after
    assert after.count(b"--x") == 3


# G-190
def test_the_signature_over_the_text_is_taken_out() -> None:
    raw = mail(
        b'Content-Type: multipart/signed; protocol="application/pgp-signature"; boundary="s"', b"", b"--s", b"",
        b"ten pounds", b"--s", b"Content-Type: application/pgp-signature", b"", b"SIGNED", b"--s--",
    )  # fmt: skip
    found = splice(raw, Wanted("nothing"))
    assert found.broke_signature
    assert b"SIGNED" not in found.raw
    assert b'Content-Type: multipart/mixed; protocol="application/pgp-signature"; boundary="s"' in found.raw
    assert features_of_mail(found.raw).is_signed is False
    assert features_of_mail(found.raw).text == "nothing"


# G-190
def test_the_signatures_of_servers_are_taken_out() -> None:
    seals = b"DKIM-Signature: v=1; a=rsa-sha256;\r\n\tb=abc\r\nARC-Seal: i=1;\r\n b=x\r\n"
    raw = mail(b"", b"one", head=seals + HEADER)
    assert splice(raw, Wanted("two")).raw == mail(b"", b"two")


# G-190
@pytest.mark.parametrize(
    "kind",
    [
        b'multipart/encrypted; boundary="e"\r\n\r\n--e\r\n\r\nVersion: 1\r\n--e\r\n\r\nsecret\r\n--e--',
        b"application/pkcs7-mime; smime-type=enveloped-data\r\n\r\nAAAA",
        b"application/pkcs7-mime; smime-type=signed-data\r\n\r\nAAAA",
        b"application/pdf\r\n\r\n%PDF",
    ],
    ids=["pgp", "smime", "signed within", "no text"],
)
def test_what_cannot_be_read_cannot_be_changed(kind: bytes) -> None:
    with pytest.raises(TextUnchangeable):
        splice(mail(b"Content-Type: " + kind), Wanted("new"))


def test_text_encrypted_in_line_cannot_be_changed() -> None:
    with pytest.raises(TextUnchangeable):
        splice(mail(b"", b"-----BEGIN PGP MESSAGE-----", b"x", b"-----END PGP MESSAGE-----"), Wanted("new"))


def test_an_attachment_is_taken_out_with_its_delimiter() -> None:
    after = splice(MIXED, Wanted("text", without=(0,))).raw
    assert b"price.pdf" not in after
    assert after.count(b"----a--b") == 2
    assert after.endswith(b"text\r\n----a--b--\r\nan epilogue\r\n")
    assert features_of_mail(after).attachments == ()
    with pytest.raises(TextUnchangeable):
        splice(MIXED, Wanted("text", without=(1,)))


def test_a_subject_is_changed_in_its_place() -> None:
    raw = mail(b"", b"one")
    after = splice(raw, Wanted("one", subject="Müller\r\nBcc: eve@example.org")).raw
    assert features_of_mail(after).subject == "Müller Bcc: eve@example.org"
    assert b"\r\nBcc:" not in after
    assert splice(b"From: a@b.example\r\n\r\none\r\n", Wanted("one", subject="New")).raw.startswith(b"Subject: New\r\n")


def test_a_mail_with_bare_line_feeds_keeps_them() -> None:
    raw = b"From: a@b.example\nSubject: x\n\nold\n"
    assert splice(raw, Wanted("new\r\nlines")).raw == b"From: a@b.example\nSubject: x\n\nnew\nlines\n"


def test_the_text_that_would_be_changed_is_told() -> None:
    assert text_of_mail(MIXED) == "The price is ten pounds. Grüße"
    assert text_of_mail(mail(b"Content-Type: application/pdf", b"", b"%PDF")) is None
