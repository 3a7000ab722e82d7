from __future__ import annotations

import pytest

from posthouse.message.case import Case, Docket, Mailbag
from posthouse.message.changes import Changes
from posthouse.office.bookkeeping import BookFaulty, BookUnknown, SecondPersonNeeded
from posthouse.office.deskcalls import (
    Activate,
    ListActivations,
    ListBooks,
    ListEditions,
    ReadEdition,
    WriteEdition,
    Written,
)
from posthouse.office.mailbox import BadRequest
from posthouse.testing.build import identity
from tests.unit.office.rig import Rig, at_work, numbers

RULES = 'rule "r" IF always THEN delete\n'
PEOPLE = '[role."Guard"]\nholders = ["gus"]\n[user."gus"]\n'


async def write(rig: Rig, book: str, text: str, *, by: str = "ann", is_trial: bool = False) -> Written:
    written: Written = await rig.answer(WriteEdition(book=book, text=text, by=by, is_trial=is_trial))
    return written


async def activate(rig: Rig, book: str, number: int = 1, *, by: str = "bea") -> None:
    await rig.answer(Activate(book=book, number=number, by=by))


# G-17, G-208
@at_work()
async def test_editions_are_counted_and_never_change(rig: Rig) -> None:
    for text in (RULES, RULES.replace("delete", "return")):
        assert (await write(rig, "rules", text)).edition is not None
    editions = await rig.answer(ListEditions(book="rules"))
    assert [(edition.number, edition.text, edition.author) for edition in editions] == [(1, "", "ann"), (2, "", "ann")]
    first = await rig.answer(ReadEdition(book="rules", number=1))
    assert first.text == RULES
    assert await rig.answer(ReadEdition(book="rules")) is None, "none is in force"


# G-17, G-208
@at_work()
async def test_an_edition_is_put_in_force_rolled_back_and_ended(rig: Rig) -> None:
    await write(rig, "rules", RULES)
    await write(rig, "rules", RULES.replace("always", "never"))
    for place, (number, arrives) in enumerate(((2, True), (1, False), (0, True)), 1):
        await activate(rig, "rules", number)
        assert (await rig.answer(ListBooks())).books.get("rules", 0) == number
        await rig.put(place, to=f"box{place}")
        assert bool(await rig.take(f"box{place}")) == arrives
    assert [each.number for each in await rig.answer(ListActivations(book="rules"))] == [2, 1, 0]
    with pytest.raises(BookUnknown):
        await activate(rig, "rules", 0)
    with pytest.raises(BookUnknown):
        await activate(rig, "rules", 9)


# G-18
@at_work()
async def test_writing_and_activating_are_recorded(rig: Rig) -> None:
    await write(rig, "rules", RULES)
    await activate(rig, "rules")
    lines = await rig.stores.durable.gate.audit.of_subject("rules")
    assert [(line.act, line.actor) for line in lines] == [("book.written", "ann"), ("book.activated", "bea")]


# G-39
@at_work()
async def test_a_faulty_text_is_not_kept(rig: Rig) -> None:
    for book, text, told in (
        ("rules", 'rule "r" IF subjct is "x" THEN delete', "line 1, column 13"),
        ("rules of Guard", 'rule "r" IF always THEN defer for 2 hours', "defer"),
        ("organisation", '[role."A"]\nreports_to = "B"\n', "line 2"),
        ("policy", "undo = 3", "undo"),
        ("words hot", "\n\n", "1 to"),
        ("words hot", "x" * 10_001, "10,000 characters"),
    ):
        written = await write(rig, book, text)
        assert written.edition is None
        assert told in written.faults[0], written.faults
        assert await rig.answer(ListEditions(book=book)) == []
    with pytest.raises(BadRequest):
        await write(rig, "cookery", "")
    with pytest.raises(BadRequest):
        await write(rig, "rules of ", RULES)


@at_work()
async def test_a_trial_keeps_nothing(rig: Rig) -> None:
    written = await write(rig, "rules", RULES + 'rule "g" IF always THEN gate to "G1"', is_trial=True)
    assert (written.edition, written.faults) == (None, [])
    assert len(written.warnings) == 1
    assert await rig.answer(ListEditions(book="rules")) == []


# G-198
@at_work()
async def test_where_policy_wants_two_people_the_author_cannot_activate(rig: Rig) -> None:
    await write(rig, "policy", 'four_eyes = ["activate"]')
    await activate(rig, "policy", by="ann")
    await write(rig, "rules", RULES)
    for alone in ("ann", ""):
        with pytest.raises(SecondPersonNeeded):
            await activate(rig, "rules", by=alone)
    await activate(rig, "rules", by="bea")


# G-39
@at_work()
async def test_rules_name_lists_roles_and_mailbags_that_there_are(rig: Rig) -> None:
    text = 'rule "r" IF sender.address in words "hot" THEN gate to "Guard"'
    assert "hot" in (await write(rig, "rules", text)).faults[0]
    for book, content in (("words hot", "alice\n"), ("organisation", PEOPLE)):
        await write(rig, book, content)
        await activate(rig, book)
    assert (await write(rig, "rules", text.replace("Guard", "Gard"))).faults
    assert (await write(rig, "rules", text)).warnings == []
    await activate(rig, "rules")
    with pytest.raises(BookFaulty, match="asks for this list"):
        await activate(rig, "words hot", 0)
    own = 'rule "r" IF always THEN file in "later"'
    assert (await write(rig, "rules of Guard", own)).faults
    await rig.stores.durable.commit([Changes(mailbags=(Mailbag(id="m", gatekeeper="Guard", name="Later"),))])
    assert (await write(rig, "rules of Guard", own)).faults == []


@at_work()
async def test_what_was_sound_when_it_was_written_is_checked_again(rig: Rig) -> None:
    await write(rig, "words hot", "alice\n")
    await activate(rig, "words hot")
    await write(rig, "rules", 'rule "r" IF sender.address in words "hot" THEN delete')
    await activate(rig, "words hot", 0)
    with pytest.raises(BookFaulty):
        await activate(rig, "rules")


# G-210
@at_work()
async def test_a_role_before_which_messages_lie_cannot_be_taken_away(rig: Rig) -> None:
    for text in (PEOPLE, '[user."gus"]\n'):
        await write(rig, "organisation", text)
    await activate(rig, "organisation")
    case = Case(id=identity(9), message=identity(1), turn=1)
    docket = Docket(case=case.id, turn=1, message=identity(1), gatekeeper="Guard")
    await rig.put(1)
    await rig.stores.durable.commit([Changes(cases=(case,), dockets=(docket,))])
    with pytest.raises(BookFaulty, match="lie before Guard"):
        await activate(rig, "organisation", 2)


# G-209, G-12
@at_work()
async def test_an_organisation_that_lacks_a_role_of_the_rules_says_so(rig: Rig) -> None:
    await write(rig, "rules", 'rule "r" IF never THEN gate to "Guard"')
    await activate(rig, "rules")
    assert len((await write(rig, "organisation", '[user."gus"]\n')).warnings) == 1
    await rig.put(1)
    assert numbers(await rig.take()) == [1]
