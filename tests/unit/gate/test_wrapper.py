from __future__ import annotations

import msgspec
import pytest

from posthouse.gate.policy import Policy
from posthouse.gate.wrapper import (
    end,
    forward,
    gate_further,
    innoculant,
    is_known,
    limit_of,
    list_of,
    part,
    release,
    skip,
    with_fired,
)
from posthouse.message.case import Stop, Wrapper, pack_wrapper, unpack_wrapper
from tests.unit.gate.slips import fired, gating, opened, review

POLICY = Policy()


def wrapped(*gatekeepers: str) -> Wrapper:
    return unpack_wrapper(opened(gating(*gatekeepers)).case.wrapper)


def ways(wrapper: Wrapper) -> list[str]:
    """Give the distribution list, a come-back stop with a star, the origin as R."""
    return [(stop.gatekeeper or "R") + "*" * stop.is_comeback for stop in list_of(wrapper)]


def past(wrapper: Wrapper) -> set[str]:
    return {one.role for one in innoculant(wrapper, POLICY)}


# G-69, G-77, G-78, G-80, G-89, G-90, G-95
def test_l1_a_gated_message_has_a_list_that_ends_at_its_origin() -> None:
    wrapper = wrapped("g1", "g3")
    assert ways(wrapper) == ["g1", "g3", "R"]
    assert past(wrapper) == set()
    assert [one.rule for one in wrapper.fired] == ["big mail"]
    assert wrapper.passes == wrapper.hops == 1
    assert len(wrapper.content) == 64


# G-81, G-82, G-89, G-92, G-93, G-167
def test_l3_and_l4_release_goes_on_to_the_next_and_then_to_the_origin() -> None:
    wrapper = release(wrapped("g1", "g3"), review("g1"))
    assert ways(wrapper) == ["g3", "R"]
    assert past(wrapper) == {"g1"}
    wrapper = release(wrapper, review("g3"))
    assert wrapper.current is None
    assert ways(wrapper) == []
    assert past(wrapper) == {"g1", "g3"}
    assert [(one.gatekeeper, one.action) for one in wrapper.reviews] == [("g1", "release"), ("g3", "release")]


# G-71, G-89, G-91, G-108, G-132
def test_l6_forward_comes_back_directly_before_the_origin() -> None:
    asked = review("g1", "forward", instructions="please look at page 3")
    wrapper = forward(wrapped("g1", "g3"), asked, to=Stop(gatekeeper="g4"))
    assert ways(wrapper) == ["g4", "g3", "g1*", "R"]
    assert past(wrapper) == {"g1"}
    assert wrapper.forwards == 1
    assert wrapper.reviews[-1].instructions == "please look at page 3"


# G-91
def test_a_forward_need_not_come_back() -> None:
    wrapper = forward(wrapped("g1"), review("g1", "forward"), to=Stop(gatekeeper="g4"), comes_back=False)
    assert ways(wrapper) == ["g4", "R"]


# G-89, G-96, G-203, G-226
@pytest.mark.parametrize("action", ["return", "delete", "recall"])
def test_l7_and_l8_an_end_drops_the_pending_stops(action: str) -> None:
    ended = end(wrapped("g1", "g3"), msgspec.structs.replace(review("g1"), action=action))
    assert ways(ended) == []
    assert ended.sides == ()
    assert past(ended) == set()


# G-71, G-170
def test_gating_further_adds_stops_before_the_origin_and_leaves_out_who_had_it() -> None:
    wrapper = release(wrapped("g1", "g2", "g3"), review("g1"))
    named = [Stop(gatekeeper=one) for one in ("g1", "g3", "g4")]
    assert ways(gate_further(wrapper, review("g2", "gate"), stops=named, policy=POLICY)) == ["g3", "g4", "R"]
    alone = wrapped("g1")
    onward = gate_further(alone, review("g1", "gate"), stops=[Stop(gatekeeper="g1")], policy=POLICY)
    assert onward.current is None


# G-75
def test_the_same_decision_stands_in_the_history_once() -> None:
    once = release(wrapped("g1", "g3"), review("g1"))
    assert len(release(once, review("g1")).reviews) == 1


# G-107
def test_an_automatic_release_counts_unless_the_policy_says_otherwise() -> None:
    wrapper = release(wrapped("g1"), review("g1", is_automatic=True))
    assert past(wrapper) == {"g1"}
    assert innoculant(wrapper, Policy(auto_release_innoculates=False)) == frozenset()


# G-112
def test_an_edit_makes_earlier_reviewers_count_as_not_asked_where_the_policy_says_so() -> None:
    wrapper = release(wrapped("g1"), review("g1", content_after="before"))
    edited = msgspec.structs.replace(wrapper, content="after", is_edited=True)
    assert past(edited) == {"g1"}
    assert innoculant(edited, Policy(edit_voids_innoculation=True)) == frozenset()


# G-103, G-110
def test_a_gatekeeper_counts_by_role_and_office_whoever_the_person_is() -> None:
    wrapper = release(wrapped("g1"), review("g1", person="deputy@house.example"))
    assert innoculant(wrapper, POLICY) == {("g1", "")}


# G-212
def test_limits_end_what_goes_round_in_circles() -> None:
    wrapper = msgspec.structs.replace(wrapped("g1", "g3"), forwards=5)
    assert limit_of(wrapper, "forward", policy=POLICY) is not None
    assert limit_of(wrapper, "release", policy=POLICY) is None
    far = msgspec.structs.replace(wrapper, hops=50, forwards=0)
    found = limit_of(far, "release", policy=POLICY)
    assert found is not None
    assert found.code == "hops"
    # The last way is always open.
    assert limit_of(release(far, review("g1")), "release", policy=POLICY) is None


# G-227
def test_a_skipped_gatekeeper_does_not_count_as_having_had_it() -> None:
    passed = skip(wrapped("g1", "g3"), review("g1", "review", decision="skip"), gatekeeper="g1")
    assert passed is not None
    assert ways(passed) == ["g3", "R"]
    assert past(passed) == set()
    later = skip(wrapped("g1", "g3"), review("g3", "review", decision="skip"), gatekeeper="g3")
    assert later is not None
    assert ways(later) == ["g1", "R"]
    assert skip(wrapped("g1"), review("g9", "review"), gatekeeper="g9") is None


# G-105
def test_a_rule_is_known_while_nobody_changed_it() -> None:
    wrapper = with_fired(wrapped("g1"), [fired("delete it", digest="v1")])
    assert is_known(fired("delete it", digest="v1", edition=9), wrapper)
    assert not is_known(fired("delete it", digest="v2"), wrapper)
    assert not is_known(fired("other", digest="v1"), wrapper)


# G-229
def test_the_rule_history_only_grows() -> None:
    wrapper = wrapped("g1")
    more = with_fired(wrapper, [fired("own rule", book="rules of g1")])
    assert more.fired[: len(wrapper.fired)] == wrapper.fired
    assert len(more.fired) == len(wrapper.fired) + 1


# G-184, G-206
def test_a_case_is_divided_by_its_recipients() -> None:
    wrapper = msgspec.structs.replace(wrapped("g1"), recipients=("bob", "carol"), blind=("dan",))
    theirs, left = part(wrapper, wrapper.case, recipients=["carol", "dan"])
    assert (theirs.recipients, theirs.blind) == (("carol",), ("dan",))
    assert (left.recipients, left.blind) == (("bob",), ())


# G-88
def test_what_a_newer_version_wrote_survives() -> None:
    written = msgspec.msgpack.decode(pack_wrapper(release(wrapped("g1", "g3"), review("g1"))))
    written["seal"] = b"signature"
    written["stops"][0]["colour"] = {"more": "blue"}
    written["reviews"][0]["mood"] = "good"
    read = unpack_wrapper(msgspec.msgpack.encode(written))
    onward = release(read, review("g3"))
    assert msgspec.msgpack.decode(pack_wrapper(read)) == written
    told = msgspec.msgpack.decode(pack_wrapper(onward))
    assert told["seal"] == b"signature"
    assert told["reviews"][0]["mood"] == "good"
