"""The small grammars of the dialogue: replies, xtext, paths, parameters, introductions, refusals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.message.verdict import refuse
from posthouse.transport.smtp.dialogue import xtext
from posthouse.transport.smtp.dialogue.chunk import read_chunk
from posthouse.transport.smtp.dialogue.parameter import (
    BadParameter,
    MailParameters,
    RecipientParameters,
    read_mail_parameters,
    read_recipient_parameters,
)
from posthouse.transport.smtp.dialogue.path import MalformedPath, local_part, read_address, read_path
from posthouse.transport.smtp.dialogue.refusal import refusal_of
from posthouse.transport.smtp.dialogue.reply import Reply


def test_a_reply_of_several_lines_says_so() -> None:
    assert Reply(250, "2.1.0", "one\ntwo").encode() == b"250-2.1.0 one\r\n250 2.1.0 two\r\n"
    assert Reply(250, "", "one").encode() == b"250 one\r\n"


@given(st.text(max_size=600))
def test_nobodys_words_break_out_of_a_reply(text: str) -> None:
    for line in Reply(550, "5.7.1", text).encode().split(b"\r\n")[:-1]:
        assert line[:4] in (b"550-", b"550 ")
        assert line.isascii()
        assert len(line) <= 510
        assert not set(line) & set(b"\r\n\0")


@given(st.text(max_size=40))
def test_xtext_is_read_as_it_is_written(text: str) -> None:
    written = xtext.encode(text)
    assert written.isascii()
    assert xtext.decode(written) == text


@pytest.mark.parametrize("text", ["a b", "a=b", "a+", "a+4", "a+zz", "a+ff", "ä", "\n"])
def test_what_is_no_xtext_is_none(text: str) -> None:
    assert xtext.decode(text) is None


@given(st.text(max_size=60))
def test_a_path_is_read_or_refused_in_words(text: str) -> None:
    try:
        path = read_path(f"TO:<{text}>", "TO")
        name = read_address(path.text)
    except MalformedPath as fault:
        assert str(fault)  # noqa: PT017 - either is right, and nothing else is
    else:
        assert str(name).startswith("smtp:")
        assert "<" not in path.text or path.text.startswith('"')


def test_a_local_part_is_read_without_its_quotation_marks() -> None:
    assert local_part(read_address('"a \\"b\\" c"@bakery.example')) == 'a "b" c'
    assert local_part(read_address("Ada.B@bakery.example")) == "Ada.B"


def test_parameters_are_read_into_values() -> None:
    found = read_mail_parameters("SIZE=5 BODY=8BITMIME SMTPUTF8 RET=FULL ENVID=a+2Bb AUTH=<>")
    assert found == MailParameters(5, "8BITMIME", utf8=True, ret="FULL", envid="a+b")
    told = read_recipient_parameters("NOTIFY=failure,SUCCESS ORCPT=rfc822;a+2Bb@bakery.example")
    assert told == RecipientParameters("FAILURE,SUCCESS", "rfc822;a+b@bakery.example")
    assert read_recipient_parameters("ORCPT=utf-8;\\x{E4}@bakery.example").original == "utf-8;\\x{E4}@bakery.example"


@given(st.text(max_size=60))
def test_parameters_are_refused_with_a_reply(text: str) -> None:
    for read in (read_mail_parameters, read_recipient_parameters):
        try:
            read(text)
        except BadParameter as fault:
            assert fault.reply.code in (501, 555)  # noqa: PT017 - either is right, and nothing else is


def test_a_chunk_says_how_many_bytes_follow() -> None:
    chunk = read_chunk(b"10 LAST", None)
    assert chunk is not None
    assert (chunk.size, chunk.is_last) == (10, True)
    for text in (b"", b"x", b"-1", b"1 FIRST", b"1.5", b"9" * 19, b"1 LAST LAST"):
        assert read_chunk(text, None) is None


@pytest.mark.parametrize(
    ("code", "temporary", "expected"),
    [
        ("mailbox.unknown", False, (550, "5.1.1")),
        ("mailbox.full", True, (452, "4.2.2")),
        ("store.unavailable", True, (451, "4.3.0")),
        ("body.too-large", False, (552, "5.3.4")),
        ("something.else", False, (554, "5.7.1")),
        ("mailbox.unknown", True, (451, "4.1.1")),
    ],
)
def test_each_refusal_has_its_code(code: str, temporary: bool, expected: tuple[int, str]) -> None:
    assert refusal_of(refuse(code, "no", temporary=temporary))[:2] == expected
