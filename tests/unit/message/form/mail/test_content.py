from __future__ import annotations

import base64
import hashlib
from binascii import b2a_uu

import pytest

from posthouse.message.features import Attachment, MailFeatures, features_of_mail
from posthouse.message.form.mail.charset import decode, decode_lines
from posthouse.message.form.mail.html import read_html
from posthouse.message.form.mail.limit import MAX_DEPTH, MAX_HIDDEN, MAX_PARTS, MAX_TAGS, MAX_TEXT
from posthouse.message.form.mail.parameter import read_valued
from posthouse.message.form.mail.part import read_structure

MIXED = b"Content-Type: multipart/mixed; boundary=b\n\n"


def mixed(*parts: bytes) -> MailFeatures:
    return features_of_mail(MIXED + b"".join(b"--b\n" + part + b"\n" for part in parts) + b"--b--\nafter\n")


def one(part: bytes) -> Attachment:
    (found,) = mixed(part).attachments or ()
    return found


def text_of(raw: bytes) -> str | None:
    return features_of_mail(raw).text


def test_parts_are_ranges_of_the_mail() -> None:
    raw = MIXED + b"before\n--b\nX: 1\n\none\n--b\n\ntwo\n\n--b--\nafter"
    whole, first, second = read_structure(raw).parts
    assert (raw[whole.body : whole.end], whole.depth) == (raw[len(MIXED) :], 0)
    assert (raw[first.start : first.body], raw[first.body : first.end]) == (b"X: 1\n\n", b"one")
    assert (raw[second.start : second.body], raw[second.body : second.end]) == (b"\n", b"two\n")


def test_the_parts_of_a_multipart_give_text_and_attachments() -> None:
    found = mixed(
        b"Content-Type: text/plain\n\nplain",
        b"Content-Type: text/html\n\n<p>HT<b>ML</b></p>",
        b'Content-Type: application/pdf; name="a.pdf"\nContent-Transfer-Encoding: base64\n\n'
        + base64.encodebytes(b"%PDF"),
        b"Content-Type: text/plain\nContent-Disposition: attachment; filename=notes.txt\n\nnot shown",
    )
    assert found.text == "plain\nHTML"
    assert found.attachments == (
        Attachment("a.pdf", "application/pdf", 4, hashlib.sha256(b"%PDF").digest()),
        Attachment("notes.txt", "text/plain", 9, hashlib.sha256(b"not shown").digest()),
    )


def test_a_text_with_a_name_is_both_text_and_attachment() -> None:
    found = mixed(b"Content-Type: text/plain; name=a.txt\n\nshown")
    assert (found.text, [each.name for each in found.attachments or ()]) == ("shown", ["a.txt"])


def test_a_delimiter_of_the_outer_one_ends_the_inner_one() -> None:
    found = mixed(b"Content-Type: multipart/alternative; boundary=c\n\n--c\n\ninner", b"\nouter")
    assert (found.text, found.attachments) == ("inner\nouter", ())


@pytest.mark.parametrize("line", [b"--b", b"--b  \t", b"--b what follows is not looked at"])
def test_a_delimiter_is_one_whatever_follows_it(line: bytes) -> None:
    assert text_of(MIXED + line + b"\n\none\n--b-- done\nafter") == "one"


def test_a_delimiter_ends_even_a_header() -> None:
    assert text_of(MIXED + b"--b\nX: y\n--b\n\ntwo\n--b--") == "\ntwo"


def test_without_its_end_a_multipart_ends_with_the_mail() -> None:
    found = features_of_mail(MIXED + b"--b\n\none\n--b\n\ntwo")
    assert (found.text, found.unknown) == ("one\ntwo", ())


@pytest.mark.parametrize("kind", [b"multipart/mixed", b"multipart/mixed; boundary=other"])
def test_a_multipart_without_parts_is_text_and_its_attachments_unknown(kind: bytes) -> None:
    found = features_of_mail(b"Content-Type: " + kind + b"\n\n--b\n\nText\n--b--")
    assert (found.text, found.attachments, found.unknown[0]) == ("--b\n\nText\n--b--", None, "attachments")


def test_a_mail_in_a_mail_is_an_attachment_and_is_read() -> None:
    inner = (
        b"Subject: inner\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\ntext\n--c\nContent-Type: a/b\n\nx\n--c--"
    )
    found = mixed(b"Content-Type: message/rfc822\n\n" + inner)
    assert (found.subject, found.text) == (None, "text")
    assert [(each.content_type, each.size) for each in found.attachments or ()] == [
        ("message/rfc822", len(inner)),
        ("a/b", 1),
    ]
    encoded = b"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n" + base64.encodebytes(inner)
    assert mixed(encoded) == found


def test_the_parts_of_a_digest_are_mails() -> None:
    raw = b"Content-Type: multipart/digest; boundary=b\n\n--b\n\nSubject: x\n\none\n--b--"
    assert [each.content_type for each in features_of_mail(raw).attachments or ()] == ["message/rfc822"]


@pytest.mark.parametrize(
    ("encoding", "written", "size"),
    [
        (b"base64", b"YWJj", 3),
        (b"BASE64", b"YW\nJj\n\nZGU=\nfooter", 5),
        (b"base64", b"YWJ", 2),
        (b"base64", b"YWJjZ", 3),
        (b"base64", b"Y*W-J.j", 3),
        (b"base64", b"", 0),
        (b"quoted-printable", b"a=3D=\nb=ZZ", 6),
        (b"x-uuencode", b"begin 644 a\n#86)C\n`\nend", 3),
        (b"8bit", b"\xff\x00", 2),
        (b"x-unheard-of", b"abc", None),
    ],
)
def test_encodings_are_undone_as_far_as_they_can_be(encoding: bytes, written: bytes, size: int | None) -> None:
    found = one(b"Content-Type: a/b\nContent-Transfer-Encoding: " + encoding + b"\n\n" + written)
    assert (found.size, found.sha256 is None) == (size, size is None)


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ('name="a b.pdf"', "a b.pdf"),
        ("name=a b.pdf", "a b.pdf"),
        (r'name="C:\\a\"b.pdf"', r"C:\a\"b.pdf".replace('\\"', '"')),
        (r'name="C:\temp\a.pdf"', r"C:\temp\a.pdf"),
        ("name*=utf-8''gr%C3%B6%C3%9Fe.pdf", "größe.pdf"),
        ('name*0="a"; name*1="b"', "ab"),
        ("name*1*=%20b; name*0*=iso-8859-1'en'%FC", "ü b"),
        ('name="=?utf-8?q?=C3=A9.pdf?="', "é.pdf"),
        ("name=\"plain.pdf\"; name*=utf-8''%C3%A9.pdf", "é.pdf"),
        ('(note) name="a.pdf" (and "more")', "a.pdf"),
        ("name=", ""),
        ('name="open', "open"),
        ("name", ""),
    ],
)
def test_names_are_read(parameters: str, name: str) -> None:
    assert read_valued(f"a/b; {parameters}").parameters.get("name", "") == name


@pytest.mark.parametrize(
    ("data", "label", "text"),
    [
        (b"a", "unheard-of", "a"),
        ("é".encode(), "", "é"),
        ("é".encode("latin-1"), "us-ascii", "é"),
        (b"\x93\x81", "ISO-8859-1", "“\x81"),
        ("й".encode("koi8-r"), "KOI8-R", "й"),
        ("中".encode("gbk"), "gb2312", "中"),
        ("あ".encode("cp932"), "x-sjis", "あ"),
        ("あ".encode("iso2022_jp"), "ISO-2022-JP", "あ"),
        ("ü".encode("utf-16"), "utf-16", "ü"),
        (b"\xef\xbb\xbfa", "utf-8", "a"),
        (b"\xc3", "utf-8", "\ufffd"),
        (b"+2AA-", "utf-7", "\ufffd"),
        (b"\xe9", "rot13", "é"),
        (b"\xe9", "../../x", "é"),
    ],
)
def test_charsets_are_read(data: bytes, label: str, text: str) -> None:
    assert decode(data, label) == text


@pytest.mark.parametrize(
    ("data", "label", "text"),
    [
        (b"a\r\nb\nc", "utf-8", "a\nb\nc"),
        (b"a\rb\r\n\r\r\nc\r", "", "a\nb\n\n\nc\n"),
        ("a\r\nü\r\n".encode("utf-16-le"), "utf-16le", "a\nü\n"),
        ("a\r\nü".encode("utf-16"), "", "a\nü"),
        (b"a\r\nb\rc", "koi8-r", "a\nb\nc"),
        (b"a\r\n\xe9", "nonsense", "a\né"),
    ],
)
def test_lines_end_alike(data: bytes, label: str, text: str) -> None:
    assert decode_lines(data, label) == text
    assert features_of_mail(b"Content-Type: text/plain; charset=" + label.encode() + b"\n\n" + data).text == text


def test_a_file_in_a_text_is_taken_out_of_it() -> None:
    content = bytes(range(90))
    coded = b"".join(b2a_uu(content[at : at + 45]) for at in (0, 45))
    found = features_of_mail(b"\nbefore\nbegin 644 a b.bin\n" + coded + b"`\nend\nafter")
    assert found.text == "before\n\nafter"
    assert found.attachments == (
        Attachment("a b.bin", "application/octet-stream", 90, hashlib.sha256(content).digest()),
    )
    assert text_of(b"\nbegin 644 horses\nand ride") == "begin 644 horses\nand ride"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>one<p>two <i>thr</i>ee", "one\ntwo three"),
        ("a&nbsp;b &amp; c&#233;", "a b & cé"),
        ("<head><title>t</title><style>s</style></head><body>b<script>x</script><!-- c -->", "b"),
        ("a<br>b<div>c</div>d", "a\nb\nc\nd"),
        ("shown<div style='color:red;display:none'>hidden</div><p hidden>too", "shown"),
        ("<table><tr><td>1<td>2<tr><td>3", "1\n2\n3"),
        ("<table>\n<tr>\n<td>1</td>\n<TD>2</TD><td>3</td></tr></table>4", "1\n2\n3\n4"),
        ("<table><tr><td>1</td>2</td><b>3</b></td><td>4</table>", "2\n3\n1\n4"),
        ("<td>1</td>2</td><tt>3</tt>", "1\n2\n3"),
        ("a\fb&#12;c", "a b\nc"),
        ("no marks < at > all", "no marks < at > all"),
        ("<a href='x>y'>z</a>", "z"),
        ("", ""),
    ],
)
def test_html_gives_the_text_its_reader_sees(source: str, text: str) -> None:
    assert read_html(source).text == text


@pytest.mark.parametrize(
    ("source", "text", "hidden"),
    [
        ('seen<div STYLE="DISPLAY:NONE">not</div>', "seen", "not"),
        ("<p style='display :\tnone !important'>not</p><p style='color:red;display:block'>seen", "seen", "not"),
        ("<p style='display:/* block */none'>not", "", "not"),
        ("<p style='d\\69splay:none'>not", "", "not"),
        ("<p style='display:none!important;display:block'>not", "", "not"),
        ("<p style='display:none;display:block'>seen", "seen", ""),
        ("<p hidden style='display:none'>not<b hidden>nor</b></p>seen", "seen", "not\nnor"),
        ("<p hidden style='display:block'>seen", "seen", ""),
        ("<p style='visibility:hidden'>not</p><p style='opacity:0.0'>nor</p>seen", "seen", "not\nnor"),
        ("se<i style='font-size:0'>xyz</i>cret", "secret", "xyz"),
        ("<p style='font-size:1px'>not</p><p style='font-size:1.5em'>seen</p>", "seen", "not"),
        ("<div style='font-size:0'><p style='font-size:14px'>seen</p></div>", "seen", ""),
        ("<p style='COLOR:transparent'>not<b style='color:red'>", "not", ""),
        ("<p style='color: transparent'>not</p>seen", "seen", "not"),
        ("<p style='d&#105;splay:n&#111;ne'>not</p>seen", "seen", "not"),
        ("<p style='max-height:0px;overflow:hidden'>not</p><p style='max-height:0'>seen", "seen", "not"),
        ("<body style='display:none'>not<p style='x'>at <b style='y'>all", "", "not\nat all"),
        ("<div style='display:none'>a<div hidden>b<div style='display:none'>c</div></div></div>d", "d", "a\nb\nc"),
    ],
)
def test_what_html_hides_is_kept_apart(source: str, text: str, hidden: str) -> None:
    found = read_html(source)
    assert (found.text, "\n".join(sorted(found.hidden.split("\n")))) == (text, "\n".join(sorted(hidden.split("\n"))))


def test_what_is_hidden_is_read_up_to_a_limit() -> None:
    raw = b"Content-Type: text/html\n\nseen<p hidden>" + b"not " * (MAX_HIDDEN // 2)
    found = features_of_mail(raw)
    assert found.text == "seen"
    assert found.hidden is not None
    assert len(found.hidden) == MAX_HIDDEN
    assert found.unknown == ("hidden",)
    assert features_of_mail(b"\nplain").hidden == ""


def test_many_marks_that_take_back_what_hides_are_looked_at_once() -> None:
    deep = "<div style='font-size:0;visibility:hidden'>" * 4_000 + "<p style='font-size:9pt;visibility:visible'>seen"
    assert read_html(deep) == ("seen", "")


def test_html_of_many_marks_is_read_without_a_tree() -> None:
    rows = "<p>wo<b>rd</b> &amp; more</p><!-- x --><style>y</style>" * (MAX_TAGS // 8 + 1)
    assert set(read_html(rows).text.split("\n")) == {"word & more"}


def test_html_says_its_charset_itself() -> None:
    raw = "Content-Type: text/html\n\n<meta charset=koi8-r><p>й".encode("koi8-r")
    assert text_of(raw) == "й"


@pytest.mark.parametrize(
    ("raw", "is_signed", "is_encrypted"),
    [
        (b"\nplain", False, False),
        (b"Content-Type: multipart/signed; boundary=b\n\n--b\n\nx\n--b--", True, False),
        (b"Content-Type: multipart/encrypted; boundary=b\n\n--b\n\nx\n--b--", False, True),
        (b"Content-Type: application/pkcs7-mime; smime-type=signed-data\n\nx", True, False),
        (b"Content-Type: application/x-pkcs7-mime; smime-type=enveloped-data\n\nx", False, True),
        (b"Content-Type: application/pkcs7-mime\n\n0\x80\x06\x09*\x86H\x86\xf7\r\x01\x07\x02", True, False),
        (b"Content-Type: application/pkcs7-mime; smime-type=certs-only\n\nx", False, False),
        (b"\n-----BEGIN PGP SIGNED MESSAGE-----\nx", True, False),
        (b"\n-----BEGIN PGP MESSAGE-----\nx", False, True),
        (b"Content-Type: message/rfc822\n\n\n-----BEGIN PGP MESSAGE-----\nx", False, False),
    ],
)
def test_signed_and_encrypted_mails_are_known(raw: bytes, is_signed: bool, is_encrypted: bool) -> None:
    found = features_of_mail(raw)
    assert (found.is_signed, found.is_encrypted) == (is_signed, is_encrypted)


@pytest.mark.parametrize(
    "raw",
    [
        MIXED + b"--b\nContent-Type: x/y\n\nx\n" * (MAX_PARTS + 1),
        b"Content-Type: message/rfc822\n\n" * (MAX_DEPTH + 2),
        MIXED + b"--b\nX: y\n" + b"X: y\n" * 2_000 + b"\n",
    ],
    ids=["parts", "depth", "header of a part"],
)
def test_past_the_limits_of_parts_the_content_is_unknown(raw: bytes) -> None:
    found = features_of_mail(raw)
    assert (found.text, found.attachments, found.is_signed, found.is_encrypted) == (None, None, None, None)
    assert set(found.unknown) == {"text", "hidden", "attachments", "is_signed", "is_encrypted"}


def test_of_too_much_text_the_beginning_is_known() -> None:
    found = features_of_mail(b"Subject: x\n\n" + b"y" * (MAX_TEXT + 1))
    assert (found.subject, found.text, found.attachments, found.unknown) == (
        "x",
        "y" * MAX_TEXT,
        (),
        ("text", "hidden"),
    )
    assert features_of_mail(b"\n" + b"y" * MAX_TEXT).unknown == ()


def test_the_beginning_of_too_much_text_ends_between_two_letters() -> None:
    for shift in range(4):
        found = features_of_mail(b"\n" + b"x" * shift + " größer".encode() * MAX_TEXT)
        assert found.text == ("x" * shift + " größer" * MAX_TEXT)[:MAX_TEXT]
    coded = base64.encodebytes(" größer".encode() * 1_000)
    cut = features_of_mail(b"Content-Transfer-Encoding: base64\n\n" + coded[:777], size=99_999)
    assert cut.text is not None
    assert (" größer" * 1_000).startswith(cut.text)
    assert len(cut.text) > 400


def test_what_stands_behind_a_cut_is_no_text() -> None:
    parts = (
        MIXED + b"--b\n\none\n--b\n\n" + b"y " * (2 * MAX_TEXT + 1) + b"\n--b\n\nthree\n--b\nContent-Type: x/y\n\n--b--"
    )
    found = features_of_mail(parts)
    assert (found.text or "")[:8] == "one\ny y "
    assert "three" not in (found.text or "")
    assert [each.content_type for each in found.attachments or ()] == ["x/y"]
    assert found.unknown == ("text", "hidden")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (MIXED + b"This is a message in many parts.\n\n", None),
        (MIXED + b"--b\n\none\n--b\nContent-Type: text/html\n\n<p>two <b>words</b> <a hre", "one\ntwo words"),
        (MIXED + b"--b\n\none\n--b\nContent-Type: image/png\n\nxxx", "one"),
        (MIXED + b"--b\nContent-Type: image/png\n\nxxx", None),
    ],
)
def test_of_a_mail_that_is_cut_the_text_before_the_cut_is_known(raw: bytes, text: str | None) -> None:
    found = features_of_mail(raw, size=len(raw) + 1)
    assert (found.text, found.attachments, found.is_signed) == (text, None, None)
    assert "text" in found.unknown
