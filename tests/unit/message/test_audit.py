"""Records are bytes anybody can make again, and a chain of them shows what was done to it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable

import msgspec
import pytest

from posthouse.message.audit import START, Seal, audit_entry, linked, record_of, sealed_bytes, signed
from posthouse.message.proof import BEGINNING, Flaw, Link, Row, against, prove, wrong_seal

NUMBERS = range(1, 9)


def rows(count: int = len(NUMBERS)) -> list[Row]:
    chain = START
    found = []
    for number in range(1, count + 1):
        salt, payload = b"s" * 32, b"said %d" % number
        made = audit_entry("case.released", f"case {number}", at=number, actor="ada", salt=salt, payload=payload)
        record = record_of(number, 1, entry=made)
        chain = linked(chain, record)
        found.append(Row(number, record, chain, salt, payload))
    return found


# G-18
def test_a_record_is_json_as_any_program_writes_it() -> None:
    made = audit_entry("a.b", 'case "1" é\n\x1f\\', at=1_767_225_600_000_000, actor="ada", salt=b"s", payload=b"p")
    fields = [7, 2, made.at, made.actor, made.act, made.subject, hashlib.sha256(b"sp").hexdigest()]
    record = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
    assert record_of(7, 2, entry=made) == record
    assert linked(START, record) == hashlib.sha256(bytes(32) + record).digest()


def test_a_whole_chain_is_proved_also_in_parts_and_where_payloads_were_erased() -> None:
    whole = rows()
    end = Link(8, whole[-1].chain)
    assert prove(whole, BEGINNING) == end
    assert prove(whole[5:], Link(5, whole[4].chain)) == end
    assert prove([row._replace(salt=None, payload=None) for row in whole], BEGINNING) == end
    assert prove([], end) == end


CHANGES: dict[str, tuple[Callable[[list[Row]], list[Row]], int, str]] = {
    "an act is another": (
        lambda rows: [*rows[:3], rows[3]._replace(record=rows[3].record.replace(b"released", b"returned")), *rows[4:]],
        4, "changed",
    ),
    "a link is another": (lambda rows: [*rows[:2], rows[2]._replace(chain=b"x" * 32), *rows[3:]], 3, "changed"),
    "what is said is another": (
        lambda rows: [*rows[:6], rows[6]._replace(payload=b"other"), rows[7]], 7, "payload"
    ),
    "the salt is another": (lambda rows: [*rows[:6], rows[6]._replace(salt=b"other"), rows[7]], 7, "payload"),
    "one is gone": (lambda rows: [*rows[:4], *rows[5:]], 5, "removed"),
    "several are gone": (lambda rows: [*rows[:2], *rows[5:]], 3, "removed"),
    "the first is gone": (lambda rows: rows[1:], 1, "removed"),
    "one stands twice": (lambda rows: [*rows[:4], rows[3], *rows[4:]], 5, "reordered"),
    "two changed places": (
        lambda rows: [*rows[:4], rows[5]._replace(number=5), rows[4]._replace(number=6), *rows[6:]], 5, "reordered"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", list(CHANGES))
def test_the_first_record_that_is_not_as_it_was_is_named(what: str) -> None:
    change, number, ill = CHANGES[what]
    found = prove(change(rows()), BEGINNING)
    assert isinstance(found, Flaw)
    assert (found.number, found.ill) == (number, ill)
    assert str(number) in found.text


def seal(row: Row, key: bytes = b"k") -> Seal:
    made = Seal(number=row.number, epoch=1, chain=row.chain, at=9, office="local:here", key=key)
    return signed(made, lambda data: hashlib.sha256(key + data).digest())


def is_signed(seal: Seal) -> bool:
    return seal.signature == hashlib.sha256(seal.key + sealed_bytes(seal)).digest()


def test_a_seal_holds_for_the_record_it_was_made_of() -> None:
    known = rows()
    made = seal(known[4])
    assert b"posthouse audit seal" in sealed_bytes(made)
    assert wrong_seal(made, known[4].chain, is_signed=is_signed) is None
    assert wrong_seal(made, known[4].chain, is_signed=is_signed, key=b"k") is None
    for given, chain, key, ill in (
        (made, known[5].chain, None, "changed"),
        (made, None, None, "cut off"),
        (made, known[4].chain, b"l", "seal"),
        (msgspec.structs.replace(made, chain=known[5].chain), known[5].chain, None, "seal"),
        (msgspec.structs.replace(made, number=6), known[5].chain, None, "seal"),
        (msgspec.structs.replace(made, office="local:there"), known[4].chain, None, "seal"),
    ):
        flaw = wrong_seal(given, chain, is_signed=is_signed, key=key)
        assert flaw is not None
        assert flaw.ill == ill


def test_a_copy_shows_what_was_cut_off_or_written_anew() -> None:
    copy = [Link(row.number, row.chain) for row in rows()]
    chains = dict(copy)
    assert against(copy, chains.get) is None
    assert against(copy[:5], chains.get) is None
    cut = against(copy, dict(copy[:6]).get)
    assert cut is not None
    assert (cut.number, cut.ill) == (7, "cut off")
    anew = against(copy, (chains | {3: b"x" * 32}).get)
    assert anew is not None
    assert (anew.number, anew.ill) == (3, "changed")
