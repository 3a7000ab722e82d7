"""The mark on copies."""

from __future__ import annotations

from posthouse.message.form.composition import MAIL_TYPE
from posthouse.message.mark import ATTRIBUTE, mark_of, marked
from posthouse.message.message import Body, Head, Message, compose
from posthouse.testing.build import identity

CASE = identity(7)


def mail(body: bytes | Body) -> Message:
    return compose(Head(id=identity(1), kind="mail", content_type=MAIL_TYPE), body)


# G-213
def test_a_mail_bears_it_in_its_header_whatever_stands_before() -> None:
    for end in (b"\r\n", b"\n"):
        raw = b"Subject: x" + end * 2 + b"text"
        body, attributes = marked(mail(raw), CASE)
        assert isinstance(body, bytes)
        assert body.endswith(raw)
        assert attributes[ATTRIBUTE] == str(CASE)
        assert mark_of(mail(b"Received: from afar" + end + body)) == CASE


# G-213
def test_what_is_quoted_or_broken_is_no_mark() -> None:
    said = b"X-Posthouse-Case: " + str(CASE).encode()
    assert mark_of(mail(b"Subject: x\r\n\r\n" + said + b"\r\n")) is None
    assert mark_of(mail(b"X-Posthouse-Case: -" + said[19:] + b"\r\n\r\n")) is None
    assert mark_of(mail(Body("0" * 64, 5))) is None
    assert marked(mail(Body("0" * 64, 5)), CASE)[0] == Body("0" * 64, 5)


# G-213
def test_other_messages_bear_it_as_an_attribute() -> None:
    plain = compose(Head(id=identity(1), kind="event"), b"look")
    body, attributes = marked(plain, CASE)
    assert body == b"look"
    assert mark_of(compose(Head(id=identity(2), kind="event"), body, attributes=attributes)) == CASE
    assert mark_of(plain) is None
