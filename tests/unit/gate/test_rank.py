from __future__ import annotations

from datetime import timedelta, timezone

import msgspec
import pytest

from posthouse.gate.rank import LONGEST_DEFERRAL, MAX_DEFERRALS
from posthouse.gate.ruling import Ruling
from posthouse.message.case import Side
from posthouse.testing.build import SECOND, START
from tests.unit.gate.books import TERMS, always, marks, record, ruling

GATE, DEFER, RETURN = always("gate", 'gate to "G1"'), always("defer", "defer for 1 hours"), always("return", "return")
DELETE, FORWARD = always("delete", "delete"), always("forward", 'forward to "zoe"')
RELEASE, COPY = always("release", "release"), always("copy", 'copy to "zoe"')
HOUR = 3_600 * SECOND


# G-44, G-45, G-50, G-51
def test_all_that_fire_are_kept_and_one_action_is_carried_out() -> None:
    found = ruling(RELEASE + DELETE + RETURN + 'rule "never" IF never THEN delete\n')
    assert found.course == "return"
    assert marks(found) == {"release": "outranked", "delete": "outranked", "return": "won"}


# G-46
def test_a_gate_wins_over_return_and_delete() -> None:
    found = ruling(RETURN + DELETE + GATE)
    assert found.course == "gate"
    assert marks(found) == {"return": "outranked", "delete": "outranked", "gate": "won"}


# G-46, G-47
def test_a_gate_stays_on_top_whatever_priorities_say() -> None:
    text = always("low gate", 'gate to "G1"', "priority 0") + always("high", "delete", "priority 1000")
    assert ruling(text).course == "gate"


# G-47
def test_the_usual_ranks() -> None:
    ladder = [("gate", GATE), ("defer", DEFER), ("return", RETURN), ("delete", DELETE), ("forward", FORWARD)]
    ladder.append(("release", RELEASE))
    for place, (course, _) in enumerate(ladder):
        text = "".join(rule for _, rule in reversed(ladder[place:]))
        assert ruling(text).course == course


# G-47
def test_a_priority_moves_an_action() -> None:
    assert ruling(DELETE + always("rescue", "release", "priority 55")).course == "release"
    assert ruling(DELETE + always("rescue", "release", "priority 45")).course == "delete"


# G-48
def test_a_release_cannot_rescue_from_a_gate() -> None:
    text = 'rule "big" IF message.size > 1 MB THEN gate to "G1"\nrule "chief" IF sender.role is "CEO" THEN release\n'
    assert ruling(text, record(size=2_000_000)).course == "gate"


# G-49, G-95, G-204
def test_several_gates_are_one_with_every_gatekeeper_once() -> None:
    text = (
        always("first", 'gate to "G1", "G2" within 2 days because "one"')
        + always("second", 'gate to "g2", "G3" within 1 days because "two"')
        + always("urgent", 'gate to "G4"', "priority 200")
    )
    stops = ruling(text).stops
    assert [stop.gatekeeper for stop in stops] == ["G4", "G1", "G2", "G3"]
    assert stops[2].reasons == ("one", "two")
    assert stops[2].within == 24 * HOUR


# G-49
def test_several_forwards_are_the_first_one() -> None:
    found = ruling(FORWARD + always("other", 'forward to "yan"') + always("best", 'forward to "xia"', "priority 41"))
    assert found.to == "xia"
    assert marks(found) == {"forward": "outranked", "other": "outranked", "best": "won"}


# G-49
def test_several_returns_are_one_with_all_reasons() -> None:
    found = ruling(always("a", 'return saying "too big"') + always("b", "return", 'reason "no pictures"'))
    assert found.saying == "too big\nno pictures"
    assert found.reasons == ("a", "no pictures")
    assert set(marks(found).values()) == {"won"}


# G-49
def test_several_deferrals_last_until_the_latest() -> None:
    assert ruling(DEFER + always("longer", "defer for 3 hours")).until == START + 3 * HOUR


# G-49
def test_of_equal_rank_the_rule_that_stands_first_wins() -> None:
    assert ruling(always("d", "delete", "priority 60") + RETURN).course == "delete"
    assert ruling(RETURN + always("d", "delete", "priority 60")).course == "return"


# G-52, G-65, G-76
def test_copies_are_made_beside_the_winner_and_wait_where_it_is_held() -> None:
    copy = Side(action="copy", to=("zoe",), rule="copy")
    assert ruling(DELETE + COPY).sides == (copy,)
    held = ruling(GATE + COPY + always("at once", 'notify "yan" saying "look" immediately'))
    assert held.sides == (copy,)
    assert held.immediate == (Side(action="notify", to=("yan",), saying="look", rule="at once"),)
    assert marks(held) == {"gate": "won", "copy": "side", "at once": "side"}


# G-52
def test_nobody_gets_the_same_copy_twice() -> None:
    sides = ruling(COPY + always("again", 'copy to "zoe", "yan"')).sides
    assert [side.to for side in sides] == [("zoe",), ("yan",)]


# G-53
def test_strictly_one_action_is_carried_out() -> None:
    strict = msgspec.structs.replace(TERMS, single_action=True)
    found = ruling(DELETE + COPY, terms=strict)
    assert (found.course, found.sides, marks(found)) == ("delete", (), {"delete": "won", "copy": "outranked"})
    alone = ruling(always("tell", 'notify "yan"') + COPY, terms=strict)
    assert [side.action for side in alone.sides] == ["copy"]


# G-54
def test_where_nothing_fires_the_message_is_delivered() -> None:
    assert ruling('rule "never" IF never THEN delete') == Ruling()


# G-67
def test_a_deferral_ends_at_a_time_of_day_in_the_zone_of_the_office() -> None:
    east = msgspec.structs.replace(TERMS, zone=timezone(timedelta(hours=2)))
    text = always("evening", "defer until 20:00")
    assert ruling(text).until == START + 20 * HOUR
    assert ruling(text, terms=east).until == START + 18 * HOUR
    later = msgspec.structs.replace(TERMS, now=START + 20 * HOUR)
    assert ruling(text, terms=later).until == START + 44 * HOUR


# G-68
def test_a_message_is_put_off_three_times_and_seven_days_at_most() -> None:
    assert ruling(DEFER, deferrals=MAX_DEFERRALS - 1).course == "defer"
    over = ruling(DEFER, deferrals=MAX_DEFERRALS)
    assert (over.course, marks(over)) == ("deliver", {"defer": "void"})
    assert ruling(always("d", "defer for 30 days")).until == START + LONGEST_DEFERRAL
    late = msgspec.structs.replace(TERMS, now=START + LONGEST_DEFERRAL)
    assert ruling(DEFER, terms=late, accepted=START).course == "deliver"
    assert ruling(always("d", "defer until 2020-01-01T00:00:00Z")).course == "deliver"


# G-212
def test_what_nobody_sent_is_not_returned_but_looked_at() -> None:
    found = ruling(RETURN, record(sender=None))
    assert found.course == "gate"
    assert [stop.gatekeeper for stop in found.stops] == ["postmaster"]


# G-235
@pytest.mark.parametrize(("first", "second", "told"), [("no", "yes", "yes"), ("yes", "with reason", "with reason")])
def test_the_most_a_rule_says_is_what_the_sender_is_told(first: str, second: str, told: str) -> None:
    text = always("a", 'gate to "G1"', f"tell sender {first}") + always("b", 'gate to "G2"', f"tell sender {second}")
    assert ruling(text).tell_sender == told
    assert ruling(GATE).tell_sender == "no"
    assert ruling(GATE, terms=msgspec.structs.replace(TERMS, tell_sender="yes")).tell_sender == "yes"


# G-105
def test_what_a_person_has_let_pass_is_left_out_of_what_else_the_rules_say() -> None:
    first = ruling(GATE + DELETE + FORWARD)
    known = frozenset(fired.digest for fired in first.fired)
    again = ruling(GATE + DELETE + FORWARD, is_again=True, before=known)
    assert again.otherwise is not None
    assert again.otherwise.course == "deliver"
    changed = ruling(GATE + DELETE.replace("delete\n", 'delete because "new"\n') + FORWARD, is_again=True, before=known)
    assert changed.otherwise is not None
    assert changed.otherwise.course == "delete"
    assert marks(changed.otherwise) == {"gate": "void", "delete": "won", "forward": "void"}


# G-56
def test_a_policy_may_let_the_first_rule_decide() -> None:
    first = msgspec.structs.replace(TERMS, is_first=True)
    found = ruling(COPY + always("off", "delete", "sample 0.0001 %") + RELEASE + GATE, terms=first)
    assert (found.course, [side.to for side in found.sides]) == ("release", [("zoe",)])
    assert "gate" not in marks(found)


# G-56
def test_the_rules_of_a_gatekeeper_can_be_ranked_too() -> None:
    found = ruling(always("f", 'file in "later"') + always("r", "review"), checkpoint="submit")
    assert (found.course, marks(found)) == ("review", {"f": "outranked", "r": "won"})
    assert ruling(always("f", 'file in "later"') + RELEASE).to == "later"
