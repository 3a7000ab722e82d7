from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from posthouse.message import envelope as envelopes
from posthouse.message.changes import Key, Room, Setup, lane_of
from posthouse.message.journey import Journey, unpack
from posthouse.message.passage import Facts, Passage
from posthouse.message.verdict import Verdict, refuse
from posthouse.office.sorting import RESUME, Sorted, begin, sort, travel
from posthouse.office.terms import SECOND
from posthouse.route import END, ROUTE, Stage, Step
from posthouse.testing.build import START
from posthouse.testing.journey import facts
from tests.unit.office.rig import parcel

FACTS = facts()
LATER = START + 60 * SECOND


def let_wait(journeys: Sequence[Journey], known: Facts) -> Passage:
    """Let urgent messages through, everything else waits for a minute."""
    return Passage(
        going=tuple(each for each in journeys if each.message.priority > 5 or known.now >= LATER),
        waiting=tuple(
            each.carrying(verdict=Verdict("wait"), resume_at=LATER)
            for each in journeys
            if each.message.priority <= 5 and known.now < LATER
        ),
    )


def break_on_orders(journeys: Sequence[Journey], _known: Facts) -> Passage:
    if any(each.message.kind == "order" for each in journeys):
        raise ZeroDivisionError("orders are not understood")
    return Passage(tuple(journeys))


def lose_orders(journeys: Sequence[Journey], _known: Facts) -> Passage:
    return Passage(tuple(each for each in journeys if each.message.kind != "order"))


def double_orders(journeys: Sequence[Journey], _known: Facts) -> Passage:
    return Passage((*journeys, *(each for each in journeys if each.message.kind == "order")))


def drop(journeys: Sequence[Journey], _known: Facts) -> Passage:
    return Passage(stopped=tuple(each.carrying(verdict=Verdict("drop")) for each in journeys))


def refuse_all(journeys: Sequence[Journey], _known: Facts) -> Passage:
    return Passage(stopped=tuple(each.carrying(verdict=refuse("no", "no")) for each in journeys))


# `Any`: what `parcel` takes.
def sort_one(*, route: Sequence[Stage] = ROUTE, known: Facts = FACTS, **given: Any) -> Sorted:
    (result,) = sort([parcel(**given)], known, key_seconds=60, route=route)
    return result


def test_a_message_becomes_a_letter_and_an_entry_for_each_place() -> None:
    result = sort_one(kind="order", correlation="7", priority=8, body=b"12345", to="bob", expires=LATER)
    assert result.verdict is None
    assert result.changes is not None
    (post,) = result.changes.posts
    (entry,) = post.entries
    assert (entry.box, entry.work, entry.kind, entry.correlation) == ("#bob", "take", "order", "7")
    assert (entry.priority, entry.size, entry.expires, entry.luggage) == (8, 5, LATER, b"")
    assert entry.lane == lane_of("from alice")
    assert (post.letter.accepted, post.letter.step.happened, post.letter.step.place) == (START, "accepted", "#bob")
    assert envelopes.decode.decode(post.letter.envelope).recipients == ("bob",)
    assert result.changes.register == FACTS.register.version
    assert (result.changes.rooms, result.changes.key) == ((), None)


def test_what_goes_elsewhere_carries_for_whom() -> None:
    result = sort_one(to="local:west#bob")
    assert result.changes is not None
    ((entry,),) = [post.entries for post in result.changes.posts]
    assert (entry.box, entry.work) == ("local:west", "deliver")
    luggage = unpack(parcel().message, entry.luggage).luggage
    assert [target.recipients for target in luggage.targets] == [("local:west#bob",)]


def test_the_sender_is_the_lane_unless_the_message_names_one() -> None:
    lanes = []
    for sender, lane in (("alice", None), ("carol", None), ("carol", "from alice"), ("alice", "alice")):
        changes = sort_one(sender=sender, lane=lane).changes
        assert changes is not None
        lanes.append(changes.posts[0].entries[0].lane)
    assert lanes[0] == lanes[2], "a lane is a text, whoever gives it"
    assert len(set(lanes)) == 3


def test_a_key_belongs_to_who_was_authenticated_and_is_forgotten() -> None:
    changes = sort_one(envelope={"idempotency": "order 7", "principal": "user 7"}).changes
    assert changes is not None
    assert changes.key == Key("user 7", "order 7", START + 60 * SECOND)


def test_quotas_stand_in_the_conditions() -> None:
    known = facts(Setup(mailbox="bob", max_messages=3), Setup(mailbox="carol", max_bytes=9), Setup(mailbox="dave"))
    everybody = {"recipients": ("bob", "carol", "dave", "erin", "local:west#bob")}
    changes = sort_one(known=known, envelope=everybody).changes
    assert changes is not None
    assert changes.rooms == (Room("#bob", 3, None), Room("#carol", None, 9))


def test_a_refused_message_changes_nothing() -> None:
    result = sort_one(envelope={"recipients": ()})
    assert result.changes is None
    assert result.verdict is not None
    assert result.verdict.reasons[0].code == "recipients.none"


def test_answers_stand_in_the_order_of_the_batch() -> None:
    batch = [parcel(1), parcel(2, to="not a name"), parcel(3, to="carol")]
    results = sort(batch, FACTS, key_seconds=0)
    assert [result.verdict is None for result in results] == [True, False, True]
    places = [result.changes.posts[0].letter.step.place for result in results if result.changes is not None]
    assert places == ["#bob", "#carol"]
    assert sort([], FACTS, key_seconds=0) == []


def test_a_message_on_which_a_stage_breaks_is_set_aside_alone() -> None:
    route = [Stage("doubtful", break_on_orders), *ROUTE]
    batch = [parcel(1), parcel(2, kind="order", envelope={"idempotency": "k"}), parcel(3)]
    results = [result.changes for result in sort(batch, FACTS, key_seconds=60, route=route)]
    reason = "ZeroDivisionError: orders are not understood"
    posts = [changes.posts[0] for changes in results if changes is not None]
    assert [post.aside for post in posts] == [None, reason, None]
    assert [len(post.entries) for post in posts] == [1, 0, 1]
    assert posts[1].letter.step.detail == reason
    assert results[1] is not None
    assert results[1].key is not None, "sent again under its key it is known"


@pytest.mark.parametrize("step", [lose_orders, double_orders])
def test_a_message_a_stage_loses_or_doubles_is_set_aside_alone(step: Step) -> None:
    batch = [parcel(1), parcel(2, kind="order"), parcel(3)]
    results = sort(batch, FACTS, key_seconds=0, route=[Stage("doubtful", step), *ROUTE])
    asides = [result.changes.posts[0].aside for result in results if result.changes is not None]
    assert asides[0] is asides[2] is None
    assert asides[1] is not None
    assert "1 journeys entered the stages" in asides[1]


def test_one_message_twice_in_a_batch_is_decided_twice() -> None:
    results = sort([parcel(1), parcel(1, to="not a name"), parcel(1)], FACTS, key_seconds=0)
    assert [result.verdict is None for result in results] == [True, False, True]


def test_a_message_that_waits_becomes_an_entry_that_resumes() -> None:
    route = [Stage("office_hours", let_wait), *ROUTE]
    waiting, urgent = sort([parcel(1), parcel(2, priority=9)], FACTS, key_seconds=0, route=route)
    assert waiting.changes is not None
    ((entry,),) = [post.entries for post in waiting.changes.posts]
    assert (entry.box, entry.work, entry.not_before) == (f"{RESUME}office_hours", "resume", LATER)
    resumed = unpack(parcel(1).message, entry.luggage)
    assert resumed.luggage.stage == "office_hours"
    assert urgent.changes is not None
    assert urgent.changes.posts[0].entries[0].box == "#bob"


def test_what_waited_goes_on_at_its_stage() -> None:
    route = [Stage("doubtful", break_on_orders), Stage("office_hours", let_wait), *ROUTE]
    waiting = begin(parcel(kind="order"), FACTS, route=route).carrying(stage="office_hours")
    ((journey, broken),) = travel([waiting], facts(now=LATER), route=route)
    assert broken is None
    assert journey.luggage.stage == END
    assert [target.box for target in journey.luggage.targets] == ["#bob"]


def test_a_stage_that_is_gone_is_a_fault_of_that_message_only() -> None:
    gone, known = begin(parcel(1), FACTS).carrying(stage="gone"), begin(parcel(2), FACTS)
    (_, broken), (journey, sound) = travel([gone, known], FACTS)
    assert broken == "LookupError: no stage of the route is named 'gone'"
    assert sound is None
    assert journey.luggage.stage == END


def test_what_a_stage_drops_or_refuses_is_stopped() -> None:
    assert sort_one(route=[Stage("bin", drop)]).verdict == Verdict("drop")
    assert sort_one(route=[Stage("no", refuse_all)]).verdict == refuse("no", "no")
