from __future__ import annotations

from typing import Any

import msgspec

from posthouse.gate.policy import Policy
from posthouse.gate.reprocess import Reprocessed, reprocess
from posthouse.gate.ruling import Ruling
from posthouse.gate.wrapper import end, list_of, release
from posthouse.message.case import REVIEW, Case, Review, Side, pack_wrapper, unpack_wrapper
from posthouse.message.journey import unpack
from posthouse.testing.build import START
from posthouse.testing.journey import journey
from tests.unit.gate.slips import fired, gating, opened, review, setting

COPY = Side(action="copy", to=("archive",), rule="keep all")


def returned_home(first: Ruling, *reviews: Review) -> Case:
    """Give a case after these gatekeepers had it."""
    made = opened(first)
    wrapper = unpack_wrapper(made.case.wrapper)
    for one in reviews:
        wrapper = release(wrapper, one)
    return msgspec.structs.replace(made.case, version=2, wrapper=pack_wrapper(wrapper))


def again(case: Case, ruling: Ruling, *, policy: Policy | None = None, now: int = START + 9) -> Reprocessed:
    travelling = unpack(journey().message, case.luggage)
    return reprocess(travelling, ruling, case=case, setting=setting(now, policy=policy or Policy()))


def outranked(rule: str, course: Any, *, digest: str = "v1") -> Ruling:
    """Give what else the rules say, where the gate does not count."""
    return Ruling(course=course, fired=(fired(rule, digest=digest),))


# G-89, G-101, G-102, G-104
def test_l5a_whoever_had_it_is_taken_out_and_then_it_is_delivered() -> None:
    case = returned_home(gating("g1", "g3"), review("g1"), review("g3"))
    found = again(case, gating("g1", "g3"))
    assert found.ruling.course == "deliver"
    assert found.docket is None
    assert (found.case.is_open, found.case.outcome, found.case.closed) == (False, "released", START + 9)
    assert found.case.version == case.version + 1
    assert [one.mark for one in unpack_wrapper(found.case.wrapper).fired] == ["won", "void"]


# G-89, G-102, G-103, G-106, G-208
def test_l5b_a_rule_that_was_added_meanwhile_names_one_more() -> None:
    case = returned_home(gating("g1", "g3"), review("g1"), review("g3"))
    found = again(case, gating("g1", "g2"))
    wrapper = unpack_wrapper(found.case.wrapper)
    assert [stop.gatekeeper for stop in list_of(wrapper)] == ["g2", ""]
    assert wrapper.passes == 2
    assert found.docket is not None
    assert (found.docket.gatekeeper, found.docket.turn) == ("g2", 2)
    assert found.case.is_open


# G-105
def test_what_people_have_seen_and_let_pass_is_void() -> None:
    first = gating("g1", fired=(fired(), fired("delete it", mark="outranked")))
    case = returned_home(first, review("g1"))
    found = again(case, gating("g1", otherwise=outranked("delete it", "delete")))
    assert found.ruling.course == "deliver"
    changed = again(case, gating("g1", otherwise=outranked("delete it", "delete", digest="v2")))
    assert changed.ruling.course == "delete"
    assert changed.case.outcome == "deleted"


# G-105, G-208
def test_it_is_void_too_where_the_gate_itself_is_gone() -> None:
    first = gating("g1", fired=(fired(), fired("delete it", mark="outranked")))
    case = returned_home(first, review("g1"))
    assert again(case, outranked("delete it", "delete")).ruling.course == "deliver"
    assert again(case, outranked("new one", "return")).ruling.course == "return"


# G-227
def test_a_message_that_nobody_looked_at_is_gated_again() -> None:
    case = returned_home(gating("g1"), review("g1", "review", decision="skipped"))
    found = again(case, gating("g1"))
    assert found.docket is not None
    assert found.docket.gatekeeper == "g1"


# G-111
def test_rules_that_gate_again_and_again_end_at_the_postmaster() -> None:
    case = returned_home(gating("g1"), review("g1"))
    found = again(case, gating("g2"), policy=Policy(max_passes=1))
    assert found.docket is not None
    assert (found.docket.gatekeeper, found.docket.folder, found.docket.due) == ("postmaster", REVIEW, None)
    assert "gated it 1 times" in found.docket.fault


# G-52
def test_copies_that_waited_are_made_when_it_is_delivered() -> None:
    case = returned_home(gating("g1", sides=(COPY,)), review("g1"))
    assert again(case, gating("g1", sides=(COPY,))).sides == (COPY,)
    assert again(case, Ruling(course="delete", fired=(fired("new"),))).sides == ()


# G-226
def test_a_copy_that_was_promised_is_dropped_with_a_deleted_message() -> None:
    made = opened(gating("g1", "g3", sides=(COPY,)))
    assert end(unpack_wrapper(made.case.wrapper), review("g1", "delete")).sides == ()


# G-109
def test_another_message_of_the_same_sender_is_gated_all_the_same() -> None:
    fresh = returned_home(gating("g1"))
    found = again(fresh, gating("g1"))
    assert found.docket is not None


# G-211
def test_roles_are_looked_up_again() -> None:
    case = returned_home(gating("g1"), review("g1"))
    found = again(case, gating("g1", "newly appointed"))
    assert found.docket is not None
    assert found.docket.gatekeeper == "newly appointed"
