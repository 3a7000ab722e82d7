"""Acts are numbered as they are written, linked to those before, and stay when what they say of persons is erased."""

from __future__ import annotations

import msgspec

from posthouse.message.audit import START as CHAIN_START
from posthouse.message.audit import Seal, audit_entry, linked, record_of
from posthouse.message.case import AuditEntry
from posthouse.message.changes import DONE, Changes
from posthouse.store.gateports import AuditLine
from posthouse.testing.build import START
from posthouse.testing.gated import audited, case
from tests.contract.store.desk import Desk, scenario


def seal_of(line: AuditLine) -> Seal:
    return Seal(
        number=line.number, epoch=line.epoch, chain=line.chain, at=START, office="a", key=b"k" * 32, signature=b"s" * 64
    )


def entry_of(line: AuditLine) -> AuditEntry:
    return AuditEntry(
        at=line.at, actor=line.actor, act=line.act, subject=line.subject, commitment=line.commitment,
        salt=line.salt or b"", payload=line.payload or b"",
    )  # fmt: skip


@scenario
async def test_a_new_store_has_recorded_nothing(desk: Desk) -> None:
    audit = desk.store.gate.audit
    assert await audit.lines() == []
    assert await audit.last() is None
    assert await audit.of_subject("case 1") == []
    assert await audit.seals() == []


# G-18
@scenario
async def test_acts_are_numbered_and_linked_in_the_order_they_are_written(desk: Desk) -> None:
    entries = [audited(f"case {number % 3}", said=b"%d" % number) for number in range(10)]
    await desk.change(audits=tuple(entries[:3]))
    await desk.store.commit([Changes(audits=(entry,)) for entry in entries[3:]])
    lines = await desk.store.gate.audit.lines()
    assert [line.number for line in lines] == list(range(1, 11))
    assert [entry_of(line) for line in lines] == entries
    assert len({line.epoch for line in lines}) == 1
    chain = CHAIN_START
    for line, entry in zip(lines, entries, strict=True):
        chain = linked(chain, record_of(line.number, line.epoch, entry=entry))
        assert line.chain == chain
    assert await desk.store.gate.audit.last() == lines[-1]


@scenario
async def test_records_are_given_by_pages_and_by_subject(desk: Desk) -> None:
    await desk.change(audits=tuple(audited(f"case {number % 2}") for number in range(6)))
    audit = desk.store.gate.audit
    assert [line.number for line in await audit.lines(after=2, limit=3)] == [3, 4, 5]
    assert await audit.lines(after=6) == []
    assert [line.number for line in await audit.of_subject("case 1")] == [2, 4, 6]
    assert [line.number for line in await audit.of_subject("case 1", after=2, limit=1)] == [4]
    assert await audit.of_subject("case") == []


@scenario
async def test_a_refused_change_records_nothing(desk: Desk) -> None:
    refused = await desk.change(cases=(case(1, version=2),), audits=(audited(),))
    assert refused.status == "stale"
    assert await desk.store.gate.audit.lines() == []


@scenario
async def test_what_is_erased_leaves_its_record_and_its_chain(desk: Desk) -> None:
    await desk.change(audits=(audited("ada"), audited("bob"), audited("ada")))
    before = await desk.store.gate.audit.lines()
    erasing = audit_entry("audit.erased", "ada", at=START + 5, actor="dan", salt=b"t" * 32, payload=b"why")
    assert await desk.change(erasures=("ada",), audits=(erasing,)) == DONE
    lines = await desk.store.gate.audit.lines()
    assert lines[:3] == [
        msgspec.structs.replace(before[0], salt=None, payload=None),
        before[1],
        msgspec.structs.replace(before[2], salt=None, payload=None),
    ]
    assert entry_of(lines[3]) == erasing
    assert await desk.change(erasures=("nobody",)) == DONE


@scenario
async def test_what_was_recorded_just_before_is_erased_too(desk: Desk) -> None:
    await desk.store.commit([Changes(audits=(audited("ada"),)), Changes(erasures=("ada",))])
    (line,) = await desk.store.gate.audit.lines()
    assert (line.salt, line.payload) == (None, None)


@scenario
async def test_a_record_may_say_nothing_of_anybody(desk: Desk) -> None:
    await desk.change(audits=(audit_entry("office.opened", "", at=START),))
    (line,) = await desk.store.gate.audit.lines()
    assert (line.actor, line.subject, line.salt, line.payload) == ("", "", b"", b"")


@scenario
async def test_a_seal_holds_for_the_chain_as_it_stands(desk: Desk) -> None:
    await desk.change(audits=(audited(), audited()))
    first, second = await desk.store.gate.audit.lines()
    assert await desk.change(seals=(seal_of(second),)) == DONE
    assert await desk.change(seals=(seal_of(first),)) == DONE
    assert (await desk.change(seals=(msgspec.structs.replace(seal_of(first), chain=second.chain),))).status == "stale"
    assert (await desk.change(seals=(msgspec.structs.replace(seal_of(second), number=3),))).status == "stale"
    assert await desk.store.gate.audit.seals() == [seal_of(first), seal_of(second)]
    assert await desk.store.gate.audit.seals(after=1, limit=1) == [seal_of(second)]


@scenario
async def test_a_seal_may_hold_for_what_the_same_call_wrote_before(desk: Desk) -> None:
    entry = audited()
    chain = linked(CHAIN_START, record_of(1, 1, entry=entry))
    seal = Seal(number=1, epoch=1, chain=chain, at=START, office="a", key=b"k" * 32, signature=b"s" * 64)
    outcomes = await desk.store.commit([Changes(audits=(entry,)), Changes(seals=(seal,))])
    assert [outcome.status for outcome in outcomes] == ["done", "done"]
