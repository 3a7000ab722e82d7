"""Rules in force in an office at work."""

from __future__ import annotations

from posthouse.message.case import Case, Docket
from posthouse.message.changes import Changes, Entry, Onward
from posthouse.message.message import HOP, Section
from posthouse.message.trace import Step
from posthouse.office.deskcalls import Activate, WriteEdition
from posthouse.office.sorting import RESUME, Parcel, sort
from posthouse.store.gateports import DocketFilter
from posthouse.testing.build import identity
from posthouse.testing.journey import facts
from tests.unit.office.rig import Rig, at_work, message_of, numbers, parcel

WAITING = f"{RESUME}gate"


async def go_by(rig: Rig, text: str, book: str = "rules") -> None:
    """Put a book in force."""
    written = await rig.answer(WriteEdition(book=book, text=text, by="ann"))
    assert written.edition is not None, written.faults
    await rig.answer(Activate(book=book, number=written.edition.number, by="bea"))


async def dockets(rig: Rig) -> list[Docket]:
    return await rig.stores.durable.gate.cases.dockets(DocketFilter())


async def cases(rig: Rig, number: int = 1) -> list[Case]:
    return await rig.stores.durable.gate.cases.of_message(identity(number))


async def acts(rig: Rig) -> list[str]:
    return [line.act for line in await rig.stores.durable.gate.audit.lines()]


# G-07, G-08, G-69, G-230
@at_work()
async def test_what_is_gated_is_kept_with_its_case_and_lies_in_no_mailbox(rig: Rig) -> None:
    await go_by(rig, 'rule "big" IF message.size > 1 kB THEN gate to "G1"')
    assert (await rig.put(1, body=b"x" * 2_000)).status == "accepted"
    assert (await rig.put(2)).status == "accepted"
    assert numbers(await rig.take(limit=9)) == [2]
    (docket,) = await dockets(rig)
    assert (docket.gatekeeper, docket.message) == ("G1", identity(1))
    assert await rig.stores.durable.journal.letter(identity(1)) is not None
    assert (await acts(rig))[-1] == "case.gated"
    lines = await rig.stores.durable.gate.audit.lines()
    assert all(line.salt for line in lines if line.payload), "nobody can guess what was erased"


# G-07
@at_work()
async def test_a_message_that_may_be_lost_is_not_lost_while_it_is_held_or_put_off(rig: Rig) -> None:
    text = 'rule "r" IF message.kind is "mail" THEN gate to "G1"\nrule "d" IF message.kind is "event" THEN '
    await go_by(rig, text + "defer for 1 hours")
    await rig.put(1, keep="memory")
    await rig.put(2, keep="memory", kind="event")
    await rig.put(3, keep="memory", kind="object")
    letters = [await rig.stores.durable.journal.letter(identity(number)) for number in (1, 2, 3)]
    assert [letter is not None for letter in letters] == [True, True, False]
    assert await rig.holds(WAITING) == [2]


# G-62, G-63, G-64
@at_work()
async def test_deleting_returning_and_copying_happen_with_the_answer(rig: Rig) -> None:
    await go_by(
        rig,
        'rule "d" IF message.kind is "event" THEN delete\nrule "r" IF message.kind is "request" THEN return saying '
        '"not here"\nrule "c" IF message.kind is "mail" THEN copy to "zoe"\n',
    )
    for number, kind in enumerate(("event", "request", "mail"), 1):
        assert (await rig.put(number, kind=kind)).status == "accepted"
    assert numbers(await rig.take(limit=9)) == [3]
    (back,) = await rig.take("alice", limit=9)
    assert b"not here" in bytes(message_of(back).body)  # type: ignore[arg-type]  # a notice is small
    (copy,) = await rig.take("zoe", limit=9)
    assert message_of(copy).correlation == str(identity(3))
    assert (await acts(rig))[-3:] == ["message.deleted", "message.returned", "message.copied"]


# G-68
@at_work()
async def test_what_was_put_off_meets_the_rules_again_three_times_and_then_arrives(rig: Rig) -> None:
    await go_by(rig, 'rule "d" IF always THEN defer for 10 minutes AND copy to "zoe"')
    await rig.put(1)
    for times in range(3):
        assert await rig.take() == []
        rig.clock.advance(601)

        async def is_asked_again(times: int = times) -> bool:
            return (await rig.life(1)).count("resumed") > times

        await rig.until(is_asked_again)
    assert numbers(await rig.take(wait=None)) == [1]
    assert len(await rig.take("zoe", limit=9)) == 1, "the copy was sent once"
    assert (await rig.life(1))[:2] == ["accepted", "resumed"]


@at_work()
async def test_a_message_that_was_put_off_may_be_gated_afterwards(rig: Rig) -> None:
    await go_by(rig, 'rule "d" IF always THEN defer for 10 minutes')
    await rig.put(1)
    await go_by(rig, 'rule "g" IF always THEN gate to "G1"')
    rig.clock.advance(601)

    async def is_held() -> bool:
        return bool(await dockets(rig))

    await rig.until(is_held)
    assert await rig.queued(WAITING) == []


# G-101, G-104, G-113
@at_work()
async def test_a_case_comes_back_to_the_rules_and_goes_on(rig: Rig) -> None:
    await go_by(rig, 'rule "g" IF always THEN gate to "G1" AND copy to "zoe"')
    await rig.put(1)
    (case,) = await cases(rig)
    await rig.answer(Activate(book="rules", number=0, by="bea"))
    await come_back(rig, case)
    assert numbers(await rig.take(wait=None)) == [1]
    (closed,) = await cases(rig)
    assert (closed.is_open, closed.outcome) == (False, "released")
    assert len(await rig.take("zoe", limit=9)) == 1, "what had waited is done now"


# G-102
@at_work()
async def test_a_case_that_rules_gate_again_lies_before_the_next_gatekeeper(rig: Rig) -> None:
    await go_by(rig, 'rule "g" IF always THEN gate to "G1"')
    await rig.put(1)
    (case,) = await cases(rig)
    await come_back(rig, case)

    async def is_again() -> bool:
        return any(docket.turn == 2 for docket in await dockets(rig))

    await rig.until(is_again)
    assert await rig.take() == []


# G-205
@at_work()
async def test_those_a_rule_does_not_mean_get_their_message_at_once(rig: Rig) -> None:
    await go_by(rig, 'rule "g" scope recipient IF recipient.address is "ann" THEN gate to "G1"')
    await rig.put(1, recipients=("ann", "bob"))
    assert numbers(await rig.take("bob")) == [1]
    assert await rig.take("ann") == []
    assert len(await cases(rig)) == 1


# G-41, G-84
@at_work()
async def test_rules_for_messages_from_elsewhere_are_asked_of_these_alone(rig: Rig) -> None:
    await go_by(rig, 'rule "g" checkpoint relay IF always THEN delete')
    here = parcel(1)
    there = Parcel(parcel(2).message.with_section(Section(HOP, b"http://west.example/main 1")), here.envelope)
    await rig.house.counter.accept([here, there])
    assert numbers(await rig.take(limit=9)) == [1]


# G-212
@at_work()
async def test_a_notice_of_the_office_is_not_held(rig: Rig) -> None:
    await rig.set_up("closed", closed=True)
    await go_by(rig, 'rule "g" IF sender.address is "postmaster" THEN gate to "G1"\nrule "r" IF always THEN return')
    await rig.put(1)
    assert len(await rig.take("alice", limit=9)) == 1
    assert await dockets(rig) == []


# G-60, G-106
@at_work()
async def test_what_was_decided_on_old_books_is_decided_again(rig: Rig) -> None:
    old = facts(version=(await rig.stores.durable.register()).version)
    await go_by(rig, 'rule "g" IF always THEN gate to "G1"')
    (result,) = sort([parcel(1)], old, key_seconds=0)
    assert result.changes is not None
    (outcome,) = await rig.stores.durable.commit([result.changes])
    assert outcome.status == "stale"


# G-114, G-118
@at_work()
async def test_rules_ask_for_figures_of_the_office(rig: Rig) -> None:
    await go_by(rig, 'rule "busy" IF office.stat.queue_length >= 2 THEN delete')
    for number in (1, 2):
        await rig.put(number)
    rig.clock.advance(2)
    await rig.put(3)
    assert numbers(await rig.take(limit=9)) == [1, 2]


# G-115
@at_work()
async def test_rules_ask_how_long_the_oldest_waits_and_how_full_the_store_is(rig: Rig) -> None:
    await go_by(
        rig,
        'rule "old" IF office.stat.oldest_queued > 100 THEN delete\n'
        'rule "full" on unknown no match IF office.stat.store_use > 100 THEN delete\n',
    )
    await rig.put(1)
    rig.clock.advance(101)
    await rig.put(2)
    assert numbers(await rig.take(limit=9)) == [1]


# G-115
@at_work()
async def test_what_was_delivered_is_counted(rig: Rig) -> None:
    await go_by(rig, 'rule "many" on unknown no match IF office.stat.delivered.1m >= 2 THEN delete')
    for number in (1, 2, 3):
        rig.clock.advance(40)
        await rig.put(number)
        await rig.settle("acknowledged", await rig.take_one())
    await rig.put(4)
    assert await rig.take(limit=9) == []


# G-117
@at_work()
async def test_a_window_is_unknown_until_it_was_watched(rig: Rig) -> None:
    await go_by(rig, 'rule "many" IF sender.stat.messages.1m >= 1 THEN delete')
    await rig.put(1)
    rig.clock.advance(61)
    await rig.put(2)
    await rig.put(3)
    assert numbers(await rig.take(limit=9)) == [1, 2]


@at_work()
async def test_an_organisation_and_lists_are_asked_too(rig: Rig) -> None:
    people = '[role."Chief"]\nholders = ["alice"]\n[user."alice"]\n[role."Guard"]\nholders = ["gus"]\n[user."gus"]\n'
    await go_by(rig, people, "organisation")
    await go_by(rig, "secret\nplans\n", "words hot")
    await go_by(rig, 'rule "g" IF sender.role is "Chief" AND message.text in words "hot" THEN gate to "Guard"')
    for number, text in enumerate((b"plans", b"hello"), 1):
        await rig.put(number, body=text, content_type="text/plain")
    assert numbers(await rig.take(limit=9)) == [2]
    assert [docket.gatekeeper for docket in await dockets(rig)] == ["Guard"]


async def come_back(rig: Rig, case: Case) -> None:
    """Let a case come back to the rules, as the last gatekeeper's release does."""
    entry = Entry(box=WAITING, work="resume", lane=1, priority=5, kind="mail", luggage=case.luggage)
    step = Step(rig.clock.now(), "resumed", "gate")
    onward = Onward(message=case.message, step=step, entries=(entry,))
    (outcome,) = await rig.stores.durable.commit([Changes(onwards=(onward,))])
    assert outcome.status == "done"
    rig.clock.advance(1)
