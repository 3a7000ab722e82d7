from __future__ import annotations

from typing import Any

import msgspec
import pytest

from posthouse.gate.admit import admit
from posthouse.message.journey import Journey
from posthouse.message.message import HOP, Body, Message, Section
from posthouse.message.name import LOCAL, parse_office
from posthouse.message.passage import Facts, Limits
from posthouse.message.verdict import Verdict
from posthouse.testing.build import SECOND, START
from posthouse.testing.journey import facts, journey, message

FACTS = facts(limits=Limits(body_bytes=10, recipients=3, hops=2))


def passed(*hops: str) -> Message:
    """Give a message that passed these offices."""
    travelling = message()
    for hop in hops:
        travelling = travelling.with_section(Section(HOP, f"{hop} {START}".encode()))
    return travelling


def verdict_on(given: Journey, known: Facts = FACTS) -> Verdict:
    passage = admit([given], known)
    assert passage.waiting == ()
    if passage.going:
        assert passage.going == (given,)
    (after,) = passage.going + passage.stopped
    return after.luggage.verdict


def code_of(given: Journey, known: Facts = FACTS) -> str:
    verdict = verdict_on(given, known)
    return verdict.reasons[0].code if verdict.reasons else verdict.action


# `Any`: the fields of an envelope.
@pytest.mark.parametrize(
    ("envelope", "code"),
    [
        ({}, "pass"),
        ({"recipients": ()}, "recipients.none"),
        ({"recipients": (), "blind": ("carol",)}, "pass"),
        ({"recipients": ("a", "b", "c")}, "pass"),
        ({"recipients": ("a", "b"), "blind": ("c", "d")}, "recipients.too-many"),
        ({"not_before": START + SECOND}, "pass"),
        ({"not_before": 0}, "pass"),
        ({"not_before": -1}, "envelope.malformed"),
        ({"not_before": 2**63}, "envelope.malformed"),
        ({"sender": ""}, "envelope.malformed"),
        ({"sender": "a\nb"}, "envelope.malformed"),
        ({"sender": None}, "pass"),
        ({"idempotency": "order 7"}, "pass"),
        ({"idempotency": ""}, "envelope.malformed"),
        ({"idempotency": "x" * 1001}, "envelope.malformed"),
    ],
)
def test_an_envelope_is_refused_with_its_reason(envelope: dict[str, Any], code: str) -> None:
    assert code_of(journey(**envelope)) == code


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"x" * 10, "pass"), (b"x" * 11, "body.too-large"), (Body("0" * 64, 11), "body.too-large")],
)
def test_a_body_over_the_limit_is_refused(body: bytes | Body, code: str) -> None:
    assert code_of(journey(message(body=body))) == code


@pytest.mark.parametrize(
    ("expires", "not_before", "code"),
    [
        (START, None, "message.expired"),
        (START + 1, None, "pass"),
        (START + SECOND, START + SECOND, "message.expired"),
        (START + SECOND, START + SECOND - 1, "pass"),
    ],
)
def test_what_came_too_late_is_refused(expires: int, not_before: int | None, code: str) -> None:
    assert code_of(journey(message(expires=expires), not_before=not_before)) == code


def test_a_message_that_passed_too_many_offices_is_refused() -> None:
    assert code_of(journey(passed("local:west"))) == "pass"
    assert code_of(journey(passed("local:west", "local:south"))) == "message.loops"


def test_a_message_that_was_here_before_goes_in_a_circle() -> None:
    east = msgspec.structs.replace(FACTS, here=frozenset({LOCAL, parse_office("local:east")}))
    assert code_of(journey(passed("local:west")), east) == "pass"
    assert code_of(journey(passed("local:eastern")), east) == "pass"
    assert code_of(journey(passed("local:east")), east) == "message.loops"


def test_an_office_without_a_name_of_its_own_is_in_no_circle() -> None:
    assert code_of(journey(passed("local:"))) == "pass"


def test_other_sections_are_no_hops() -> None:
    travelling = message().with_section(Section("case", b"1")).with_section(Section("case", b"2"))
    assert code_of(journey(travelling)) == "pass"


def test_every_refusal_is_for_good_and_says_what_was_expected() -> None:
    verdict = verdict_on(journey(recipients=()))
    assert (verdict.action, verdict.temporary) == ("refuse", False)
    assert verdict.text == "expected at least one recipient, found none"


def test_a_batch_is_divided() -> None:
    good, bad = journey(message(1)), journey(message(2), recipients=())
    passage = admit([bad, good, bad], FACTS)
    assert passage.going == (good,)
    assert [each.message.id for each in passage.stopped] == [bad.message.id] * 2
