from __future__ import annotations

from typing import Any

import msgspec
import pytest

from posthouse.gate.autoreview import Coming, due_for, extended, extension, on_expiry, on_retain, put_off, warned
from posthouse.gate.policy import Policy, read_policy
from posthouse.gate.review import Order, due_of, recorded
from posthouse.gate.ruling import Ruling
from posthouse.gate.wrapper import release
from posthouse.message.case import REVIEW, Docket, Stop, Wrapper, unpack_wrapper
from posthouse.testing import gated
from posthouse.testing.build import START
from tests.unit.gate.slips import fired, gating, opened, review, setting

CASE = gated.case()
DAY = 86_400_000_000
MINUTE = 60_000_000


def inbox(**given: Any) -> Docket:
    return gated.docket(**{"expires": START, "due": START, **given})


def wrapper_of(*gatekeepers: str) -> Wrapper:
    return unpack_wrapper(opened(gating(*gatekeepers)).case.wrapper)


def order_on(ruling: Ruling | None, *, policy: Policy | None = None, wrapper: Wrapper | None = None) -> Order:
    by = setting(policy=policy or Policy())
    return on_expiry(inbox(), wrapper or wrapper_of("Reviewer"), ruling=ruling, setting=by)


# G-147, G-159, G-162
def test_what_is_due_expires_and_what_is_not_waits() -> None:
    assert due_for(inbox(), setting=setting()).event == "expired"
    assert due_for(inbox(), setting=setting(START - 1)).event == "nothing"
    assert due_for(inbox(is_open=False), setting=setting()).event == "nothing"


# G-160
def test_what_was_only_opened_expires_unless_the_gatekeeper_wants_it_otherwise() -> None:
    opened_only = inbox(status="reviewed")
    assert due_for(opened_only, setting=setting()).event == "expired"
    policy = read_policy("opened_counts_as_handled = true")
    assert due_for(opened_only, setting=setting(policy=policy)).event == "extend"
    assert due_for(inbox(), setting=setting(policy=policy)).event == "expired"


# G-173
def test_a_command_that_stands_there_is_carried_out_first() -> None:
    order = Order(id="d", command="release", actor="person", person="ada", at=START, before="gated")
    docket = recorded(inbox(), order, due=START, case=CASE)
    assert due_for(docket, setting=setting()).event == "carry out"


# G-174
def test_somebody_who_writes_is_waited_for_once() -> None:
    writing = inbox(claimed_by="ada", claimed_until=START + 10 * MINUTE)
    coming = due_for(writing, setting=setting())
    assert coming == Coming("put off", START + 10 * MINUTE)
    assert coming.at is not None
    later = put_off(writing, coming.at)
    still = msgspec.structs.replace(later, claimed_until=START + 20 * MINUTE)
    assert due_for(still, setting=setting(START + 10 * MINUTE)).event == "expired"
    long = inbox(claimed_until=START + 9 * DAY)
    assert due_for(long, setting=setting()).at == START + DAY


# G-55, G-162, G-169
@pytest.mark.parametrize(
    ("course", "command"),
    [("release", "release"), ("return", "return"), ("delete", "delete"), ("review", "review"), ("file", "file")],
)
def test_what_a_gatekeepers_rule_says_becomes_an_order(course: Any, command: str) -> None:
    ruling = Ruling(course=course, fired=(fired("own", book="rules of Reviewer"),), to="month end")
    order = order_on(ruling)
    assert (order.command, order.actor, order.rule) == (command, "rules", "own")
    assert order.mailbag == ("month end" if command == "file" else "")


# G-171
@pytest.mark.parametrize("usual", ["review", "release", "return"])
def test_where_no_rule_fires_the_usual_is_done(usual: str) -> None:
    policy = read_policy(f'no_rule = "{usual}"')
    assert order_on(None, policy=policy).command == usual
    assert order_on(Ruling(), policy=policy).command == usual


# G-171
def test_one_interval_more_is_given_so_often_and_then_a_person_looks() -> None:
    by = setting(policy=read_policy('no_rule = "extend"\nextensions = 2\ninbox = "3 days"'))
    docket = inbox()
    for _ in range(2):
        until = extension(docket, ruling=None, setting=by)
        assert until == START + 3 * DAY
        docket = extended(docket, until)
    assert extension(docket, ruling=None, setting=by) is None
    assert on_expiry(docket, wrapper_of("Reviewer"), ruling=None, setting=by).command == "review"
    assert extension(docket, ruling=Ruling(course="release"), setting=by) is None


# G-212
def test_a_rule_does_not_forward_back_to_who_had_it() -> None:
    had = release(wrapper_of("g1", "Reviewer"), review("g1"))
    order = order_on(Ruling(course="forward", to="g1", fired=(fired(),)), wrapper=had)
    assert order.command == "review"
    assert order_on(Ruling(course="forward", to="g9", fired=(fired(),)), wrapper=had).command == "forward"


# G-170
def test_a_gate_for_those_who_had_it_is_a_release() -> None:
    had = release(wrapper_of("g1", "Reviewer"), review("g1"))
    again = Ruling(course="gate", stops=(Stop(gatekeeper="g1"),), fired=(fired(),))
    assert order_on(again, wrapper=had).command == "release"
    more = Ruling(course="gate", stops=(Stop(gatekeeper="g1"), Stop(gatekeeper="g2")), fired=(fired(),))
    assert order_on(more, wrapper=had).command == "gate"


# G-154, G-155, G-157
def test_a_retain_date_deletes_from_the_inbox_unless_the_case_is_held() -> None:
    over = inbox(expires=None, retain=START)
    assert due_for(over, setting=setting()).event == "retain"
    assert on_retain(over, now=START).command == "purge"
    assert due_of(over, gated.case(is_on_hold=True)) is None


# G-156
def test_who_lets_mail_lie_is_told_and_later_the_administrator() -> None:
    lying = inbox(folder=REVIEW, expires=None)
    assert due_for(lying, setting=setting()).event == "warn"
    first = warned(lying, setting=setting())
    assert (first.warned, first.due) == (1, START + 20 * DAY)
    second = warned(first, setting=setting(START + 20 * DAY))
    assert (second.warned, second.due) == (2, START + 50 * DAY)


# G-173
def test_what_is_done_by_itself_has_the_same_id_when_it_is_asked_again() -> None:
    assert order_on(None).id == order_on(None).id
    assert on_retain(inbox(), now=START).id != order_on(None).id
