from __future__ import annotations

from collections.abc import Collection

import pytest

from posthouse.gate.opening import case_id, content_of, docket_at
from posthouse.gate.policy import read_policy
from posthouse.gate.seat import may_act, seated
from posthouse.gate.wrapper import release
from posthouse.message.case import INBOX, Stop, pack_wrapper, unpack_wrapper
from posthouse.message.journey import unpack
from posthouse.organisation.form.parse import parse_directory
from posthouse.organisation.snapshot import Snapshot
from posthouse.testing.build import START
from posthouse.testing.journey import journey, message
from tests.unit.gate.slips import fired, gating, opened, review, setting

DAY = 86_400_000_000


HOUSE = Snapshot(
    parse_directory("""
[user."lea@house.example"]
aliases = ["lea+private@house.example"]
location = "Ulm"
[user."sue@house.example"]
[user."olga@house.example"]
[user."pam@house.example"]
[role."Legal"]
holders = ["lea@house.example"]
[role."Second"]
holders = ["sue@house.example"]
[role."Empty"]
deputies = ["Second"]
[role."office administrator"]
holders = ["olga@house.example"]
[role."postmaster"]
holders = ["pam@house.example"]
""")
)


def who(*named: str, parties: Collection[str] = ()) -> list[tuple[str, str]]:
    parties = [f"{party}@house.example" for party in parties]
    stops = seated([Stop(gatekeeper=one) for one in named], HOUSE, now=START, parties=parties)
    return [(stop.gatekeeper, stop.named) for stop in stops]


# G-09, G-73, G-89, G-141, G-142
def test_l2_the_docket_lies_in_the_inbox_with_its_expiry() -> None:
    made = opened(gating("g1", "g3"), of=journey(message(body=b"twelve bytes", created=START - 40 * DAY)))
    docket = made.docket
    assert (docket.folder, docket.status, docket.gatekeeper, docket.turn) == (INBOX, "gated", "g1", 1)
    assert docket.expires == docket.due == START + 10 * DAY
    assert (docket.created, docket.arrived) == (START - 40 * DAY, START)
    assert (docket.place, docket.places) == (1, 2)
    assert (docket.sender, docket.size, docket.reason) == ("alice", 12, "because")


# G-07, G-69, G-81
def test_the_journey_waits_in_the_case_and_knows_it() -> None:
    given = journey(message(body=b"x"))
    made = opened(gating("g1"), of=given)
    waiting = unpack(given.message, made.case.luggage)
    assert (waiting.luggage.stage, waiting.luggage.case) == ("gate", made.case.id)
    assert waiting.luggage.envelope == given.luggage.envelope
    wrapper = unpack_wrapper(made.case.wrapper)
    assert (wrapper.sender, wrapper.recipients) == ("alice", ("bob",))
    assert wrapper.content == content_of(given.message)


# G-75
def test_the_same_message_has_the_same_case_whenever_it_is_asked() -> None:
    first, second = opened(gating("g1")), opened(gating("g2"))
    assert first.case.id == second.case.id != first.case.message
    assert case_id(first.case.message, ["bob"]) != case_id(first.case.message, ["carol"])


# G-205
def test_some_recipients_may_be_a_case_of_their_own() -> None:
    given = journey(message(recipients=("bob", "carol")), blind=("dan",))
    made = opened(gating("g1", recipients=("carol", "dan")), of=given)
    wrapper = unpack_wrapper(made.case.wrapper)
    assert (wrapper.recipients, wrapper.blind) == (("carol",), ("dan",))
    assert unpack(given.message, made.case.luggage).luggage.envelope.everybody == ("carol", "dan")
    assert made.case.id != opened(gating("g1"), of=given).case.id


# G-122
def test_the_reason_is_that_of_the_winner_and_others_are_counted() -> None:
    both = (fired("big mail"), fired("late mail", mark="outranked"))
    docket = opened(gating("g1", fired=both)).docket
    assert (docket.reason, docket.more_reasons) == ("because", 1)


def test_a_rule_may_say_how_long_the_gatekeeper_has() -> None:
    ruling = gating("g1")
    short = [Stop(gatekeeper="g1", within=3_600_000_000)]
    docket = opened(gating(stops=tuple(short), fired=ruling.fired)).docket
    assert docket.expires == START + 3_600_000_000


# G-216
def test_time_counts_from_the_arrival_at_each_stop() -> None:
    made = opened(gating("g1", "g3"))
    onward = release(unpack_wrapper(made.case.wrapper), review("g1"))
    policy = read_policy('[gatekeeper."g3"]\ninbox = "2 days"')
    docket = docket_at(made.docket, made.case, wrapper=onward, setting=setting(START + 30 * DAY, policy=policy))
    assert docket.gatekeeper == "g3"
    assert docket.expires == START + 32 * DAY
    assert (docket.place, docket.places) == (2, 2)


# G-24, G-196, G-234
def test_whoever_cannot_act_is_stood_in_for() -> None:
    assert who("legal") == [("Legal", "")]
    assert who("Empty") == [("Second", "Empty")]
    assert who("Nobody at all") == [("office administrator", "Nobody at all")]


# G-197, G-220
def test_nobody_reviews_their_own_mail() -> None:
    assert who("Legal", parties=["lea+private"]) == [("office administrator", "Legal")]
    assert who("Legal", parties=["lea", "olga"]) == [("postmaster", "Legal")]
    assert who("Legal", parties=["lea", "olga", "pam"]) == [("postmaster", "Legal")]
    assert may_act("lea@house.example", HOUSE, parties=["bob"])
    assert not may_act("lea@house.example", HOUSE, parties=["lea+private@house.example"])
    assert not may_act("lea", None, parties=["LEA"])


# G-49, G-204
def test_who_is_named_twice_is_visited_once_with_both_reasons() -> None:
    stops = [
        Stop(gatekeeper="Legal", reasons=("big",), within=9),
        Stop(gatekeeper="LEGAL", reasons=("late",), within=5),
    ]
    (stop,) = seated(stops, HOUSE, now=START, parties=())
    assert (stop.reasons, stop.within) == (("big", "late"), 5)


# G-196
def test_a_stand_in_is_named_in_the_docket_and_in_the_audit() -> None:
    made = opened(gating("Empty"), of=journey(message(), sender="lea@house.example"), by=setting(who=HOUSE))
    assert made.docket.fault == "stands in for Empty"
    assert made.docket.location == "Ulm"
    assert b"Second for Empty" in made.audits[0].payload


# G-235
@pytest.mark.parametrize("told", ["no", "yes", "with reason"])
def test_whether_the_sender_is_told_stands_in_the_wrapper(told: str) -> None:
    assert unpack_wrapper(opened(gating("g1", tell_sender=told)).case.wrapper).tell_sender == told


def test_a_case_is_packed_as_it_was_made() -> None:
    made = opened(gating("g1"))
    assert pack_wrapper(unpack_wrapper(made.case.wrapper)) == made.case.wrapper
    assert (made.case.version, made.case.turn, made.case.is_open) == (1, 1, True)
