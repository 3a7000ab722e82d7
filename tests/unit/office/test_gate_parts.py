"""What an office that gates is made of: each part does its own, and another one can stand in its place."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from posthouse.gate.conduct import Conduct, conduct
from posthouse.gate.decide import decide
from posthouse.gate.emission import Writer
from posthouse.gate.judge import RuleJudge, Snapshot
from posthouse.gate.ruling import Ruling
from posthouse.gate.stage import gate
from posthouse.matching.language.rule.parse import parse_rules
from posthouse.message.case import REVIEW, Rhythm, pack_wrapper
from posthouse.message.form.composition import MAIL_TYPE
from posthouse.message.form.mail.limit import MAX_DEPTH, MAX_TEXT
from posthouse.message.journey import Journey
from posthouse.message.message import HOP, Section
from posthouse.message.passage import Facts, Limits, Passage
from posthouse.message.verdict import refuse
from posthouse.office.calls import Handed, Put
from posthouse.office.deskcalls import ListEditions
from posthouse.testing.build import START
from posthouse.testing.journey import facts, journey
from posthouse.transport.ports import Outgoing
from tests.unit.gate.books import TERMS as BOOK_TERMS
from tests.unit.gate.books import always, book, subject
from tests.unit.gate.slips import fired, gating, setting
from tests.unit.office.gatehouse import (
    AT_ONCE,
    MINUTE,
    begin,
    body_at,
    case_of,
    delivered,
    docket_of,
    dockets,
    eventually,
    is_closed,
    is_empty,
    mailbag,
    put_in_force,
    wrapper_of,
)
from tests.unit.office.gatehouse import (
    decide as command,
)
from tests.unit.office.rig import TERMS, Rig, at_work, parcel

HOUR = 60 * MINUTE
SHORT = f'{AT_ONCE}inbox = "1 hour"\n'


class Strict:
    """A judge of another make: it refuses everything."""

    def judge(self, journeys: Sequence[Journey], _facts: Facts) -> Passage:
        return Passage(stopped=tuple(one.carrying(verdict=refuse("house.closed", "nobody is in")) for one in journeys))


# --- a rule office ----------------------------------------------------------------------------------------------------


# G-03
def test_engine_and_distribution_meet_in_a_ruling_and_each_can_be_another() -> None:
    # Receipt to engine: the messages and one snapshot. Any judge does.
    (closed,) = gate([journey()], msgspec.structs.replace(facts(), judge=Strict())).stopped
    assert closed.luggage.verdict.text == "nobody is in"
    # Rule base to engine, engine to distribution: the action, and every rule that fired.
    (ruled,) = decide(book(always("a", 'gate to "G1"') + always("b", "delete")), [subject()], terms=BOOK_TERMS).rulings
    assert [(one.rule, one.mark) for one in ruled[0].fired] == [("a", "won"), ("b", "outranked")]
    # Distribution does what any ruling says, whoever made it.
    means = Conduct(setting(), Writer("house.example", START))
    by_hand = conduct(journey(), [Ruling(course="delete", fired=(fired(),))], means=means)
    assert by_hand.luggage.verdict.action == "end"
    held = conduct(journey(), [gating("G1")], means=means)
    assert [docket.gatekeeper for docket in held.effects.dockets] == ["G1"]
    # The engine has changed nothing: the same journey goes on where another ruling says so.
    assert RuleJudge(Snapshot(book=book(always("c", "release")))).judge([journey()], facts()).going


# G-06
@at_work()
async def test_programs_and_other_offices_hand_in_at_the_same_place(rig: Rig) -> None:
    await begin(rig, "g1")
    mine, other = parcel(1), parcel(2)
    (receipt,) = await rig.answer(Put(parcels=[Handed(mine.message.head, mine.message.body, (), mine.envelope)]))
    assert receipt.status == "accepted"
    there = other.message.with_section(Section(HOP, b"http://west.example/main 1"))
    (result,) = await rig.house.letterbox.take_in([Outgoing(there, other.envelope)])
    assert result.status == "delivered"
    fired_at = [(await wrapper_of(rig, number)).fired[0].checkpoint for number in (1, 2)]
    assert fired_at == ["submit", "relay"]
    assert await is_empty(rig)


# G-14
@at_work()
async def test_a_rule_is_recorded_with_all_that_is_said_of_it(rig: Rig) -> None:
    text = (
        'rule "big mail" reason "it is large" policy "Mail 4.2" owner "Chief" checkpoint submit priority 30\n'
        'IF message.size > 1 MB AND attachment.count > 0 THEN copy to "archive" AND return saying "too large"\n'
        'rule "off" disabled IF always THEN delete\n'
    )
    first, second = parse_rules(text).rules
    assert (first.name, first.reason, first.policy, first.owner) == ("big mail", "it is large", "Mail 4.2", "Chief")
    assert (first.checkpoints, first.priority, first.is_enabled, second.is_enabled) == (("submit",), 30, True, False)
    assert [action.name for action in first.actions] == ["copy", "return"]
    assert [action.saying for action in first.actions] == [None, "too large"]
    kept = book(text, number=4)
    assert [(rule.number, rule.name, bool(rule.digest)) for rule in kept.rules] == [(0, "big mail", True)]
    # Its version, its author and when it was written are those of its edition.
    await put_in_force(rig, rules=text)
    (edition,) = await rig.answer(ListEditions(book="rules"))
    assert (edition.number, edition.author, edition.at) == (1, "author", rig.clock.now())


# G-58
@at_work()
async def test_what_rules_want_is_done_at_once_and_what_a_gatekeeper_wants_may_wait(rig: Rig) -> None:
    own = 'RULE "later"\nIF message.size >= 0 B\nTHEN file in "returns"\n'
    rules = (
        'RULE "now"\nIF message.kind is "event"\nTHEN return saying "no events"\n'
        'RULE "ask"\nIF message.kind is not "event"\nTHEN gate to "g1"\n'
    )
    await mailbag(rig, "returns", function="return", saying="not today", rhythm=Rhythm(every="hours", count=20))
    await put_in_force(rig, policy=SHORT, rules=rules, rules_of_g1=own)
    await rig.put(1, kind="event")
    assert await rig.queued("#alice"), "with the answer, before any time has passed"
    await rig.put(2, sender="ann")
    rig.clock.advance(HOUR)

    async def is_filed() -> bool:
        return (await docket_of(rig, 2)).status == "filed"

    await eventually(is_filed)
    rig.clock.advance(18 * HOUR)
    assert await is_empty(rig, "ann")
    rig.clock.advance(HOUR)
    assert b"not today" in await body_at(rig, "ann")


# --- a gatekeeping office ---------------------------------------------------------------------------------------------


# G-04, G-11
@at_work()
async def test_every_gatekeeper_has_an_inbox_rules_and_mailbags_over_one_store(rig: Rig) -> None:
    rules = "".join(
        f'RULE "{role}"\nIF sender.address is "{sender}"\nTHEN gate to "{role}"\n'
        for role, sender in (("g1", "alice"), ("g2", "ann"))
    )
    own = {"rules_of_g1": 'RULE "r"\nIF always\nTHEN release\n', "rules_of_g2": 'RULE "d"\nIF always\nTHEN delete\n'}
    await put_in_force(rig, policy=SHORT, rules=rules, **own)
    await mailbag(rig, "later", gatekeeper="g2")
    await rig.put(1)
    await rig.put(2, sender="ann")
    cases = rig.stores.durable.gate.cases
    counts = [(one.gatekeeper, one.folder, one.count) for one in await cases.counts()]
    assert sorted(counts) == [("g1", "inbox", 1), ("g2", "inbox", 1)]
    assert [bag.name for bag in await cases.mailbags("g1")] == []
    # The scheduler wakes, the engine asks the rules of each, the distribution does what they say.
    rig.clock.advance(HOUR)
    await delivered(rig)
    for number, outcome in ((1, "released"), (2, "deleted")):
        await is_closed(rig, number)
        assert (await case_of(rig, number)).outcome == outcome
    # The stored message is one, whatever became of its dockets.
    assert [len(await dockets(rig, number)) for number in (1, 2)] == [1, 1]


# G-83
@at_work()
async def test_release_forward_and_return_write_the_wrapper_anew_and_delete_sends_none(rig: Rig) -> None:
    await begin(rig, "g1", "g3")
    for number, act, to in ((1, "release", ""), (2, "forward", "g4"), (3, "return", "")):
        await rig.put(number)
        before = await wrapper_of(rig, number)
        await command(rig, act, number, to=to)  # type: ignore[arg-type]  # one of the commands
        after = await wrapper_of(rig, number)
        assert [(one.gatekeeper, one.action) for one in after.reviews] == [("g1", act)]
        assert after.stops != before.stops
    await rig.put(4)
    await command(rig, "delete", 4)
    assert [len(await dockets(rig, number)) for number in (1, 2, 3, 4)] == [2, 2, 1, 1]
    assert (await wrapper_of(rig, 4)).current is None
    assert await is_empty(rig)
    assert len(await rig.queued("#alice")) <= 1, "nothing but what was returned"
    # What stays in the office leaves the wrapper as it is.
    await rig.put(5)
    kept = pack_wrapper(await wrapper_of(rig, 5))
    await mailbag(rig, "later")
    await command(rig, "file", 5, mailbag="later")
    await command(rig, "file", 5, mailbag=REVIEW)
    assert pack_wrapper(await wrapper_of(rig, 5)) == kept


# G-219
@at_work(terms=msgspec.structs.replace(TERMS, limits=Limits(body_bytes=4_000_000)))
async def test_past_a_limit_text_and_attachments_are_unknown_and_a_gate_holds(rig: Rig) -> None:
    await put_in_force(
        rig,
        rules='RULE "t"\nIF message.text contains "secret"\nTHEN gate to "g1"\n'
        'RULE "a"\nIF attachment.count > 90\nTHEN gate to "g2"\n',
    )
    head = b"From: a@house.example\r\nSubject: x\r\n"
    long = head + b"\r\n" + b"word and word\r\n" * (MAX_TEXT // 10)
    deep = (
        head
        + b"MIME-Version: 1.0\r\n"
        + b"".join(
            b'Content-Type: multipart/mixed; boundary="b%d"\r\n\r\n--b%d\r\n' % (depth, depth)
            for depth in range(MAX_DEPTH * 2)
        )
    )
    await rig.put(1, body=head + b"\r\nhello\r\n", content_type=MAIL_TYPE)
    assert (await delivered(rig)).body.endswith(b"hello\r\n")  # type: ignore[union-attr]  # it is small
    await rig.put(2, body=long, content_type=MAIL_TYPE)
    await rig.put(3, body=deep, content_type=MAIL_TYPE)
    for number in (2, 3):
        wrapper = await wrapper_of(rig, number)
        assert any(one.is_unknown for one in wrapper.fired)


# G-218
@at_work()
async def test_what_is_let_go_to_a_full_mailbox_waits_and_is_not_lost(rig: Rig) -> None:
    await rig.set_up("bob", max_messages=1)
    await begin(rig, "g1")
    for number in (1, 2):
        await rig.put(number)
        await command(rig, "release", number)
    first = await rig.take_one(wait=None)
    assert await rig.holds() == [1]
    await rig.settle("acknowledged", first)
    rig.clock.advance(2 * MINUTE)
    await rig.take_one(wait=None)
    await is_closed(rig, 2)
