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
from posthouse.office.notice import Original, delayed, returned
from posthouse.testing.build import START, identity

ANN, BOB, CAROL = "smtp:ann@one.example", "smtp:bob@two.example", "smtp:carol@two.example"
BODY = b"Subject: loaves\r\nX: \xe4\r\n\r\nTwo loaves.\r\n"
REFUSED = Answer(BOB, "refused", "550 5.1.1 <bob@two.example>: nobody\u20ac", "5.1.1", "mx.two.example[192.0.2.1]:25")
DELIVERED = Answer(BOB, "delivered", "250 2.0.0 ok", "2.0.0", "mx.two.example[192.0.2.1]:25")
SIGNED_IN = Arrival(protocol="ESMTPSA", user="ann")


def original(
    *, sender: str | None = ANN, reports: dict[str, Report] | None = None, arrival: Arrival | None = SIGNED_IN,
    is_ours: bool = False, is_whole: bool = True, body: bytes = BODY,
) -> Original:  # fmt: skip
    attributes = attributes_of(arrival) if arrival is not None else None
    head = Head(id=identity(1), kind="mail", created=START, content_type="message/rfc822")
    message: Message = compose(head, body, attributes=attributes)
    envelope = Envelope(sender=sender, recipients=(BOB,), blind=(CAROL,), reports=reports or {})
    return Original(message, envelope, START, is_ours=is_ours, content=body, is_whole=is_whole)


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


WAITS = Answer(BOB, "deferred", "451 4.7.1 come back later", "4.7.1", "mx.two.example[192.0.2.1]:25")
DAY = 86_400_000_000


# `Any`: the terms a test changes.
def delay_notice(given: Original, *answers: Answer, **mailing: Any) -> tuple[Message, Envelope] | None:
    terms = Mailing(name="post.example", **mailing)
    answers = answers or (WAITS,)
    return delayed(given, answers, place="smtp:two.example", mailing=terms, until=START + DAY, now=START + 5)


def test_a_report_of_delay_says_how_long_it_is_tried_and_brings_the_header_only() -> None:
    """RFC 3461, section 5.3; RFC 3464, section 2.3"""
    written = delay_notice(original())
    assert written is not None
    message, envelope = written
    assert (envelope.sender, envelope.recipients, message.kind) == (None, (ANN,), "mail")
    mail = message_from_bytes(cast("bytes", message.body), policy=policy.default)
    people, programs, back = mail.iter_parts()
    assert "tried again until Fri, 02 Jan 2026" in people.get_content()
    one = cast("list[EmailMessage]", programs.get_payload())[1]
    assert (one["Action"], one["Status"]) == ("delayed", "4.7.1")
    assert one["Will-Retry-Until"].startswith("Fri, 02 Jan 2026 00:00:00")
    assert one["Diagnostic-Code"] == "smtp; 451 4.7.1 come back later"
    assert back.get_content_type() == "text/rfc822-headers"
    assert b"Two loaves" not in cast("bytes", message.body)


def test_a_report_of_delay_is_the_same_for_a_mail_and_a_place_whoever_waits_there() -> None:
    one, other = delay_notice(original()), delay_notice(original(), Answer(CAROL, "unreachable", "nobody answers"))
    failed = notice(original())
    assert one is not None
    assert other is not None
    assert failed is not None
    assert one[0].id == other[0].id != failed[0].id


@pytest.mark.parametrize(
    ("notify", "is_told"), [("", True), ("FAILURE,DELAY", True), ("FAILURE", False), ("NEVER", False)]
)
def test_who_is_told_of_delay(notify: str, is_told: bool) -> None:
    assert (delay_notice(original(reports={BOB: Report(notify=notify)})) is not None) == is_told


@pytest.mark.parametrize(
    ("header", "is_told"),
    [
        (b"Precedence: bulk\r\n", False), (b"List-Id: <bakers.one.example>\r\n", False),
        (b"Auto-Submitted: auto-replied\r\n", False), (b"auto-submitted: No\r\n", True),
        (b"Precedence: first-class\r\n", True), (b"X: y\r\n\r\nPrecedence: bulk\r\n", True),
    ],
)  # fmt: skip
def test_programs_are_not_told_of_delay_unless_they_ask(header: bytes, is_told: bool) -> None:
    body = header + BODY
    assert (delay_notice(original(body=body)) is not None) == is_told
    assert delay_notice(original(body=body, reports={BOB: Report(notify="DELAY")})) is not None


def test_of_delay_nobody_is_told_who_is_not_told_of_failure() -> None:
    stranger = Arrival(protocol="ESMTP", client="192.0.2.9")
    assert delay_notice(original(sender=None)) is None
    assert delay_notice(original(arrival=stranger)) is None
    assert delay_notice(original(arrival=stranger), bounces="all") is not None
    assert delay_notice(original(), bounces="none") is None


def test_a_mail_that_arrived_comes_back_by_its_header() -> None:
    back = list(read(original(reports={BOB: Report(notify="SUCCESS")}), DELIVERED).iter_parts())[2]
    assert back.get_content_type() == "text/rfc822-headers"
