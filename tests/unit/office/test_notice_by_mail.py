from __future__ import annotations

from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, cast

import pytest

from posthouse.message.answer import Answer
from posthouse.message.arrival import Arrival, attributes_of
from posthouse.message.envelope import Envelope, Report
from posthouse.message.mailing import Mailing
from posthouse.message.message import Head, Message, compose
from posthouse.office.notice import Original, returned
from posthouse.testing.build import START, identity

ANN, BOB, CAROL = "smtp:ann@one.example", "smtp:bob@two.example", "smtp:carol@two.example"
BODY = b"Subject: loaves\r\nX: \xe4\r\n\r\nTwo loaves.\r\n"
REFUSED = Answer(BOB, "refused", "550 5.1.1 <bob@two.example>: nobody\u20ac", "5.1.1", "mx.two.example[192.0.2.1]:25")
DELIVERED = Answer(BOB, "delivered", "250 2.0.0 ok", "2.0.0", "mx.two.example[192.0.2.1]:25")
SIGNED_IN = Arrival(protocol="ESMTPSA", user="ann")


def original(
    *, sender: str | None = ANN, reports: dict[str, Report] | None = None, arrival: Arrival | None = SIGNED_IN,
    is_ours: bool = False, is_whole: bool = True,
) -> Original:  # fmt: skip
    attributes = attributes_of(arrival) if arrival is not None else None
    head = Head(id=identity(1), kind="mail", created=START, content_type="message/rfc822")
    message: Message = compose(head, BODY, attributes=attributes)
    envelope = Envelope(sender=sender, recipients=(BOB,), blind=(CAROL,), reports=reports or {})
    return Original(message, envelope, START, is_ours=is_ours, content=BODY, is_whole=is_whole)


# `Any`: the terms a test changes.
def notice(given: Original, *answers: Answer, **mailing: Any) -> tuple[Message, Envelope] | None:
    terms = Mailing(name="post.example", **mailing)
    return returned(given, answers or (REFUSED,), place="smtp:two.example", mailing=terms, now=START + 5)


def read(given: Original, *answers: Answer) -> EmailMessage:
    written = notice(given, *answers)
    assert written is not None
    assert isinstance(written[0].body, bytes)
    return message_from_bytes(written[0].body, policy=policy.default)


def test_a_report_has_its_three_parts() -> None:
    """RFC 3462, RFC 3464"""
    mail = read(original())
    assert mail.get_content_type() == "multipart/report"
    assert mail.get_param("report-type") == "delivery-status"
    assert mail["To"] == "ann@one.example"
    people, programs, back = mail.iter_parts()
    assert "bob@two.example" in people.get_content()
    whole, one = cast("list[EmailMessage]", programs.get_payload())
    assert whole["Reporting-MTA"] == "dns; post.example"
    assert (one["Final-Recipient"], one["Action"], one["Status"]) == ("rfc822; bob@two.example", "failed", "5.1.1")
    assert one["Remote-MTA"] == "dns; mx.two.example"
    assert one["Diagnostic-Code"] == "smtp; 550 5.1.1 <bob@two.example>: nobody?"
    assert back.get_content_type() == "message/rfc822"


def test_a_report_goes_to_the_return_path_and_has_none_itself() -> None:
    written = notice(original())
    assert written is not None
    message, envelope = written
    assert (envelope.sender, envelope.recipients, message.kind) == (None, (ANN,), "mail")
    assert isinstance(message.body, bytes)
    assert BODY in message.body


def test_nobody_learns_of_the_other_recipients() -> None:
    written = notice(original())
    assert written is not None
    assert b"carol" not in cast("bytes", written[0].body)


def test_only_the_header_comes_back_where_that_was_asked_for_or_the_mail_is_large() -> None:
    for given in (original(arrival=Arrival(protocol="ESMTPSA", user="ann", ret="HDRS")), original(is_whole=False)):
        back = list(read(given).iter_parts())[2]
        assert back.get_content_type() == "text/rfc822-headers"
        assert b"Two loaves" not in back.as_bytes()


def test_what_the_sender_called_things_comes_back() -> None:
    arrival = Arrival(protocol="ESMTPSA", user="ann", envid="order 7")
    report = {BOB: Report(notify="FAILURE", original="rfc822;b@two.example")}
    programs = list(read(original(arrival=arrival, reports=report)).iter_parts())[1]
    whole, one = cast("list[EmailMessage]", programs.get_payload())
    assert whole["Original-Envelope-Id"] == "order 7"
    assert one["Original-Recipient"] == "rfc822;b@two.example"


@pytest.mark.parametrize("notify", ["NEVER", "SUCCESS", "DELAY"])
def test_who_does_not_want_to_hear_of_failure_does_not(notify: str) -> None:
    assert notice(original(reports={BOB: Report(notify=notify)})) is None


def test_who_wants_to_hear_of_success_does_unless_the_next_server_tells() -> None:
    reports = {BOB: Report(notify="SUCCESS")}
    programs = list(read(original(reports=reports), DELIVERED).iter_parts())[1]
    assert cast("list[EmailMessage]", programs.get_payload())[1]["Action"] == "relayed"
    assert notice(original(reports=reports), Answer(BOB, "delivered", "", "2.0.0", "mx", vouches=True)) is None
    assert notice(original(), DELIVERED) is None


def test_nothing_goes_to_a_null_return_path() -> None:
    assert notice(original(sender=None)) is None


def test_a_stranger_is_not_written_to() -> None:
    stranger = Arrival(protocol="ESMTP", client="192.0.2.9")
    assert notice(original(arrival=stranger)) is None
    assert notice(original(arrival=stranger), bounces="all") is not None
    assert notice(original(arrival=stranger, is_ours=True)) is not None
    assert notice(original(arrival=Arrival(protocol="ESMTP", client="192.0.2.9", trusted=True))) is not None
    assert notice(original(arrival=None)) is not None, "it came from a program here"
    assert notice(original(), bounces="none") is None


def test_each_part_of_a_mail_has_a_notice_of_its_own_and_always_the_same() -> None:
    one, again = notice(original()), notice(original())
    other = notice(original(), Answer(CAROL, "refused", "no"))
    assert one is not None
    assert again is not None
    assert other is not None
    assert one[0].id == again[0].id != other[0].id


def test_strangers_words_break_out_of_no_field() -> None:
    answer = Answer(BOB, "refused", "550 no\r\nX-Evil: 1\n\nbody", "5.1.1", "mx\r\nX-Evil: 2")
    written = notice(original(), answer)
    assert written is not None
    assert b"\nX-Evil" not in cast("bytes", written[0].body)
