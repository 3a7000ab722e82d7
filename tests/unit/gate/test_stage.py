from __future__ import annotations

from typing import Any

import msgspec
import pytest

from posthouse.gate.judge import RuleJudge, Snapshot, checkpoint_of
from posthouse.gate.stage import gate
from posthouse.gate.statistics import Statistics
from posthouse.gate.wrapper import release
from posthouse.message.case import Case, pack_wrapper, unpack_wrapper
from posthouse.message.form.composition import MAIL_TYPE
from posthouse.message.journey import NO_EFFECTS, Journey
from posthouse.message.message import HOP, Section
from posthouse.message.passage import Facts, Passage
from posthouse.testing.build import SECOND, START
from posthouse.testing.journey import facts, journey, message
from tests.unit.gate.books import always, book
from tests.unit.gate.slips import review

LETTER = b"From: alice@house.example\r\nTo: bob@house.example\r\nSubject: Hi\r\n\r\nHello.\r\n"


def judge(text: str, **given: Any) -> RuleJudge:  # Any: fields of a snapshot
    return RuleJudge(Snapshot(office="local:east", book=book(text), **given))


def through(text: str, *journeys: Journey, known: Facts | None = None) -> Passage:
    return judge(text).judge(journeys or (journey(),), known or facts())


def stopped(text: str, one: Journey | None = None) -> Journey:
    (found,) = through(text, one or journey()).stopped
    return found


def going(text: str, one: Journey | None = None) -> Journey:
    (found,) = through(text, one or journey()).going
    return found


# G-228
def test_what_no_rule_speaks_of_goes_on_as_it_came() -> None:
    journeys = [journey(message(number, b"x" * 600 * number)) for number in range(1, 11)]
    passage = through('rule "big" IF message.size > 4 kB THEN gate to "G1"', *journeys)
    assert [one for one in passage.going if one is journeys[journeys.index(one)]] == journeys[:6]
    assert all(one.effects is NO_EFFECTS for one in passage.going)
    assert len(passage.stopped) == 4
    assert gate(journeys, facts()).going == tuple(journeys), "without rules"


# G-07, G-69, G-70
def test_a_gated_message_becomes_a_case_and_goes_to_nobody() -> None:
    held = stopped(always("r", 'gate to "G1", "G2" because "big"'))
    (case,), (docket,) = held.effects.cases, held.effects.dockets
    assert (held.luggage.verdict.action, held.effects.emitted) == ("end", ())
    assert (docket.gatekeeper, docket.reason, docket.places) == ("G1", "big", 2)
    wrapper = unpack_wrapper(case.wrapper)
    assert [stop.gatekeeper for stop in wrapper.stops] == ["G2", ""]
    assert wrapper.fired[0].mark == "won"
    assert [audit.act for audit in held.effects.audits] == ["case.gated"]


# G-61
def test_a_release_delivers_to_everybody() -> None:
    one = journey()
    assert going(always("r", "release"), one).luggage == one.luggage


# G-62, G-76
def test_what_is_deleted_reaches_nobody_and_is_recorded() -> None:
    gone = stopped(always("r", 'delete because "spam"'))
    assert (gone.effects.cases, gone.effects.emitted) == ((), ())
    assert [audit.act for audit in gone.effects.audits] == ["message.deleted"]
    assert gone.effects.happened == "deleted by r"


# G-63, G-102
def test_what_is_returned_goes_to_its_sender_and_to_nobody_else() -> None:
    back = stopped(always("r", 'return saying "too big"'))
    (emitted,) = back.effects.emitted
    assert emitted.envelope.everybody == ("alice",)
    assert emitted.message.kind == "notice.returned"
    assert isinstance(emitted.message.body, bytes)
    assert b"too big" in emitted.message.body
    assert [audit.act for audit in back.effects.audits] == ["message.returned"]


# G-63
def test_a_mail_is_returned_by_mail_with_the_words_of_the_rule() -> None:
    one = journey(message(1, LETTER, content_type=MAIL_TYPE), sender="smtp:alice@house.example")
    (emitted,) = stopped(always("r", 'return saying "Größe"'), one).effects.emitted
    body = emitted.message.body
    assert isinstance(body, bytes)
    assert b"Auto-Submitted: auto-replied" in body
    assert b"Status: 5.7.1" in body
    assert b"Subject: Hi" in body
    assert emitted.envelope.sender is None, "nothing answers it"
    plain = stopped(always("r", 'return saying "too big"'), one).effects.emitted[0].message.body
    assert isinstance(plain, bytes)
    assert b"\r\ntoo big\r\n" in plain


# G-64, G-65
def test_a_copy_goes_to_somebody_else_and_the_message_on_its_way() -> None:
    one = going(always("r", 'copy to "zoe", "bob"'))
    (emitted,) = one.effects.emitted
    assert emitted.envelope.everybody == ("zoe",), "bob gets it anyway"
    assert one.luggage.envelope.everybody == ("bob",)
    assert emitted.message.id != one.message.id
    assert (emitted.message.reply_to, emitted.envelope.sender) == (None, None)


def test_a_notice_tells_whom_the_rule_names() -> None:
    (emitted,) = going(always("watch", 'notify "zoe" saying "look"')).effects.emitted
    assert emitted.envelope.everybody == ("zoe",)
    assert b"look" in bytes(emitted.message.body)  # type: ignore[arg-type]  # a notice is small


# G-66
def test_what_is_forwarded_goes_to_another_instead() -> None:
    one = going(always("r", 'forward to "zoe" saying "please"'), journey(blind=("cyd",)))
    assert one.luggage.envelope.everybody == ("zoe",)
    assert [emitted.envelope.everybody for emitted in one.effects.emitted] == [("zoe",)]


# G-67, G-68
def test_what_is_put_off_waits_at_the_gate() -> None:
    (waiting,) = through(always("r", "defer for 2 hours")).waiting
    luggage = waiting.luggage
    assert (luggage.stage, luggage.resume_at, luggage.deferrals) == ("gate", START + 7_200 * SECOND, 1)


# G-52
def test_an_immediate_copy_of_a_held_message_goes_at_once_and_another_waits_in_the_wrapper() -> None:
    text = always("r", 'gate to "G1" AND copy to "zoe" AND notify "yan" saying "held" immediately')
    held = stopped(text)
    assert [emitted.envelope.everybody for emitted in held.effects.emitted] == [("yan",)]
    wrapper = unpack_wrapper(held.effects.cases[0].wrapper)
    assert [side.to for side in wrapper.sides] == [("zoe",)]


# G-235
@pytest.mark.parametrize(
    ("clause", "told"), [("", None), ("tell sender yes", b""), ("tell sender with reason", b"big")]
)
def test_a_sender_hears_that_a_message_waits_where_a_rule_says_so(clause: str, told: bytes | None) -> None:
    emitted = stopped(always("secret name", 'gate to "G1" because "too big"', clause)).effects.emitted
    if told is None:
        assert emitted == ()
        return
    assert [one.envelope.everybody for one in emitted] == [("alice",)]
    body = bytes(emitted[0].message.body)  # type: ignore[arg-type]  # a notice is small
    assert told in body
    assert b"secret name" not in body
    assert b"G1" not in body


# G-205, G-206
def test_parts_of_a_message_fare_differently() -> None:
    text = (
        'rule "gate" scope recipient IF recipient.address is "ann" THEN gate to "G1"\n'
        'rule "late" scope recipient IF recipient.address is "cyd" THEN defer for 1 hours\n'
        'rule "gone" scope recipient IF recipient.address is "eve" THEN delete\n'
    )
    one = going(text, journey(recipients=("ann", "bob", "eve"), blind=("cyd", "dan")))
    assert (one.luggage.envelope.recipients, one.luggage.envelope.blind) == (("bob",), ("dan",))
    (case,), (waiting,) = one.effects.cases, one.effects.waiting
    assert unpack_wrapper(case.wrapper).recipients == ("ann",)
    assert waiting.envelope.everybody == ("cyd",)
    assert {audit.act for audit in one.effects.audits} == {"case.gated", "message.deferred", "message.deleted"}


# G-206
def test_two_parts_have_cases_of_their_own() -> None:
    text = (
        'rule "one" scope recipient IF recipient.address is "ann" THEN gate to "G1"\n'
        'rule "two" scope recipient IF recipient.address is "bob" THEN gate to "G1"\n'
    )
    cases = stopped(text, journey(recipients=("ann", "bob"))).effects.cases
    assert len({case.id for case in cases}) == 2
    assert len({case.message for case in cases}) == 1


# G-212
@pytest.mark.parametrize("is_ours", [True, False])
def test_what_is_automatic_is_never_gated_or_answered(is_ours: bool) -> None:
    report = b"Content-Type: multipart/report; boundary=x\r\nSubject: Failed\r\n\r\n--x--\r\n"
    theirs = journey(message(1, report, content_type=MAIL_TYPE, sender=None), sender=None)
    one = journey().carrying(is_automatic=True) if is_ours else theirs
    assert through(always("r", 'gate to "G1"'), one).going == (one,)


# G-212
def test_a_null_sender_alone_makes_nothing_automatic() -> None:
    one = journey(message(1, LETTER, content_type=MAIL_TYPE, sender=None), sender=None)
    assert stopped(always("r", 'gate to "G1"'), one).effects.cases


# G-86
def test_a_forged_wrapper_changes_nothing() -> None:
    forged = message(1, b"x").with_section(Section("wrapper", b"innoculated: G1"))
    held = stopped(always("r", 'gate to "G1"'), journey(forged))
    assert unpack_wrapper(held.effects.cases[0].wrapper).reviews == ()


# G-13
def test_a_data_object_is_gated_like_a_mail() -> None:
    form = message(1, b"{}", kind="object", content_type="application/json", attributes=None)
    held = stopped('rule "r" IF object.type is "application/json" THEN gate to "G1"', journey(form))
    assert held.effects.dockets[0].gatekeeper == "G1"


# G-41
def test_where_a_message_stands() -> None:
    assert checkpoint_of(journey()) == "submit"
    assert checkpoint_of(journey(message(1).with_section(Section(HOP, b"http://west.example/main x")))) == "relay"


# G-101, G-104, G-85
def test_a_message_whose_gatekeeper_has_had_it_goes_on_without_its_case() -> None:
    text = always("r", 'gate to "G1"')
    back, case = _back(text, "G1")
    known = facts_with(case)
    (one,) = judge(text).judge((back,), known).going
    assert one.luggage.case is None
    (closed,) = one.effects.cases
    assert (closed.is_open, closed.outcome, closed.version) == (False, "released", case.version + 1)


# G-102, G-103, G-106
def test_a_rule_that_was_added_meanwhile_gates_to_its_own_gatekeeper() -> None:
    back, case = _back(always("r", 'gate to "G1"'), "G1")
    text = always("r", 'gate to "G1"') + always("new", 'gate to "G2"')
    (one,) = judge(text).judge((back,), facts_with(case)).stopped
    assert [docket.gatekeeper for docket in one.effects.dockets] == ["G2"]


# G-105
def test_a_rule_that_changed_meanwhile_may_still_delete() -> None:
    first = always("r", 'gate to "G1"') + always("d", "delete")
    back, case = _back(first, "G1")
    assert judge(first).judge((back,), facts_with(case)).going
    changed = first.replace("THEN delete", 'THEN delete because "now for good"')
    (gone,) = judge(changed).judge((back,), facts_with(case)).stopped
    assert gone.effects.cases[0].outcome == "deleted"


def test_a_case_that_comes_back_after_the_rules_have_ended_is_released() -> None:
    back, case = _back(always("r", 'gate to "G1"'), "G1")
    (one,) = gate((back,), facts_with(case)).going
    assert one.effects.cases[0].outcome == "released"


# G-117
def test_messages_of_one_batch_see_each_other_in_the_figures() -> None:
    text = (
        'rule "all" IF office.stat.received.1m >= 2 THEN delete\n'
        'rule "mine" IF sender.stat.messages.1m >= 1 THEN copy to "zoe"\n'
    )
    statistics = Statistics(START - 100 * SECOND)
    by_figures = RuleJudge(Snapshot(book=book(text)), statistics=statistics)
    journeys = [journey(message(number), sender=sender) for number, sender in enumerate(("ann", "bob", "ann"), 1)]
    passage = by_figures.judge(journeys, facts())
    assert [len(one.effects.emitted) for one in passage.going] == [0, 0]
    (third,) = passage.stopped
    assert len(third.effects.emitted) == 1, "ann has sent one before"


def facts_with(case: Case) -> Facts:
    known = facts()
    return Facts(
        now=known.now, register=known.register, limits=known.limits, here=known.here, protocols=known.protocols,
        cases={case.id: case},
    )  # fmt: skip


def _back(text: str, *gatekeepers: str) -> tuple[Journey, Case]:
    """Gate a message, let it be released by these, and give it as it comes back."""
    (case,) = stopped(text).effects.cases
    wrapper = unpack_wrapper(case.wrapper)
    for gatekeeper in gatekeepers:
        wrapper = release(wrapper, review(gatekeeper))
    case = msgspec.structs.replace(case, wrapper=pack_wrapper(wrapper))
    return journey().carrying(stage="gate", case=case.id), case
