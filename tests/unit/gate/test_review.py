from __future__ import annotations

from typing import Any, get_args

import pytest

from posthouse.gate.policy import Policy
from posthouse.gate.review import (
    FINAL,
    STATES,
    WHO,
    Actor,
    Order,
    concluded,
    due_of,
    is_undoable,
    judge,
    needs_second,
    recorded,
    undone,
    unpack_order,
    word_of,
)
from posthouse.message.case import REVIEW, Command, Status
from posthouse.testing import gated
from posthouse.testing.build import START

CASE = gated.case()


def order(command: Command = "release", **given: Any) -> Order:
    known = {"id": "d1", "actor": "person", "person": "ada", "at": START, "before": "gated"}
    return Order(command=command, **{**known, **given})


# G-181
def test_the_tables_speak_of_every_state_and_every_command() -> None:
    assert set(STATES) == set(get_args(Status))
    assert set(WHO) == set(get_args(Command))
    assert all(not STATES[status] for status in FINAL)


# G-179, G-181
@pytest.mark.parametrize("status", ["gated", "reviewed", "filed", "awaiting response"])
@pytest.mark.parametrize("command", ["release", "return", "delete", "forward", "file", "copy"])
def test_whatever_is_undecided_takes_any_command_of_a_person(status: Any, command: Command) -> None:
    docket = gated.docket(status=status)
    assert judge(docket, CASE, command=command, actor="person").answer == "may"


# G-182
def test_the_second_one_is_told_who_was_first_and_when() -> None:
    done = concluded(gated.docket(), order(), now=START + 5, status="released", action="release")
    found = judge(done, CASE, command="delete", actor="person")
    assert found.answer == "already"
    assert "released by ada" in found.text
    assert "at 2026-01-01T00:00:00Z" in found.text
    under_way = recorded(gated.docket(), order(), due=START + 9, case=CASE)
    assert "commanded by ada" in judge(under_way, CASE, command="delete", actor="person").text


def test_who_may_give_which_command_stands_in_a_table() -> None:
    docket = gated.docket()
    assert judge(docket, CASE, command="gate", actor="person").answer == "refused"
    assert judge(docket, CASE, command="copy", actor="mailbag").answer == "refused"
    assert judge(docket, CASE, command="recall", actor="sender").answer == "may"


# G-157
def test_a_legal_hold_keeps_everything() -> None:
    held = gated.case(is_on_hold=True)
    ways: list[tuple[Command, Actor]] = [("delete", "person"), ("delete", "mailbag"), ("purge", "retain date")]
    for command, actor in ways:
        assert judge(gated.docket(), held, command=command, actor=actor).answer == "refused"
    assert judge(gated.docket(), held, command="release", actor="person").answer == "may"
    assert due_of(gated.docket(retain=START, expires=None), held) is None


# G-173, G-183
def test_a_command_is_recorded_and_can_be_taken_back() -> None:
    before = gated.docket(expires=START + 90, due=START + 90, status="reviewed")
    under_way = recorded(before, order(before="reviewed"), due=START + 30, case=CASE)
    assert (under_way.status, under_way.due, under_way.is_open) == ("in progress", START + 30, True)
    assert unpack_order(under_way.pending).command == "release"
    back = undone(under_way, case=CASE)
    assert (back.status, back.due, back.pending) == ("reviewed", START + 90, b"")
    assert back.version == before.version + 2


# G-231
def test_a_decided_docket_stays_as_a_record() -> None:
    done = concluded(gated.docket(due=3), order("delete"), now=START + 5, status="deleted", action="delete")
    assert (done.is_open, done.due, done.decided_by, done.decided_at) == (False, None, "ada", START + 5)
    assert not done.is_automatic


# G-166, G-181
def test_forwarded_counts_as_released_and_is_shown_as_what_it_is() -> None:
    done = concluded(gated.docket(), order("forward"), now=START, status="released", action="forwarded to Legal")
    assert word_of(done) == "released (forwarded to Legal)"
    assert word_of(gated.docket(last_action="back from forward")) == "gated (back from forward)"


def test_two_people_agree_where_the_policy_wants_it() -> None:
    policy = Policy(four_eyes=("release",))
    assert needs_second("release", policy)
    assert not needs_second("return", policy)
    waiting = recorded(gated.docket(expires=START + 9), order(awaits_second=True), due=START, case=CASE)
    assert (waiting.status, waiting.due) == ("gated", START + 9)


def test_what_leaves_the_office_waits_for_the_undo() -> None:
    assert is_undoable("release")
    assert not is_undoable("file")


# G-156
def test_nothing_in_the_review_list_expires() -> None:
    assert due_of(gated.docket(folder=REVIEW, expires=START), CASE) is None
