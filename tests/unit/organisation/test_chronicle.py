"""Who was who when, and what one edition changes of the one before."""

from __future__ import annotations

import pytest

from posthouse.matching.language.reader import UnreadableText
from posthouse.message.case import Activation, Edition
from posthouse.organisation.chronicle import Chronicle, edition_at
from posthouse.organisation.difference import compare
from posthouse.organisation.directory import BOOK, Directory, User
from posthouse.organisation.form.parse import parse_directory
from tests.unit.organisation.company import TEXT

FIRST = '[role."CEO"]\nholders = ["ann"]\n[user."ann"]\n[user."ben"]\n'
SECOND = FIRST.replace('["ann"]', '["ben"]')
EDITIONS = tuple(Edition(book=BOOK, number=at, text=text) for at, text in ((1, FIRST), (2, SECOND), (3, "oh no")))
ACTIVATIONS = tuple(
    Activation(book=BOOK, number=number, at=at) for number, at in ((1, 10), (2, 20), (1, 30), (0, 40), (2, 40), (3, 50))
)


# G-26
@pytest.mark.parametrize(
    ("at", "number"), [(9, None), (10, 1), (19, 1), (20, 2), (30, 1), (39, 1), (40, 2), (49, 2), (50, 3)]
)
def test_at_each_instant_one_edition_is_in_force(at: int, number: int | None) -> None:
    found = edition_at(EDITIONS, ACTIVATIONS, at=at)
    assert (found.number if found else None) == number


# G-26
def test_who_held_a_role_is_asked_of_an_instant() -> None:
    chronicle = Chronicle(EDITIONS, ACTIVATIONS)
    assert chronicle.at(5) is None
    held = []
    for at in (10, 20, 35):
        snapshot = chronicle.at(at)
        assert snapshot is not None
        held.append((snapshot.edition, snapshot.role_of("ann"), snapshot.role_of("ben")))
    assert held == [(1, "CEO", None), (2, None, "CEO"), (1, "CEO", None)]
    assert chronicle.at(10) is chronicle.at(35)
    assert chronicle.of(4) is None


def test_an_ended_book_and_a_faulty_one() -> None:
    chronicle = Chronicle(EDITIONS, [Activation(book=BOOK, number=0, at=5)])
    assert chronicle.at(6) is None
    with pytest.raises(UnreadableText):
        chronicle.of(3)


CHANGES = (
    ('holders = ["manager@alpha.example"]', 'holders = ["clerk@alpha.example"]',
     ["manager@alpha.example lays down Manager", "clerk@alpha.example takes up Manager"]),
    ('"clerk@alpha.example", "second', '"second',
     ["clerk@alpha.example lays down Clerk"]),
    ('[user."lea@alpha.example"]', '[user."lea@alpha.example"]\n[user."new@alpha.example"]\nname = "Noor Haddad"',
     ["Noor Haddad (new@alpha.example) comes"]),
    ('reports_to = "Manager"', 'reports_to = "CEO"', ["role Clerk reports to CEO, before Manager"]),
    ('reports_to = "Clerk"', "", ["role Vacant reports to nothing, before Clerk"]),
    ('holders = ["reg@alpha.example"]', "", ["reg@alpha.example lays down Registrar", "role Registrar is vacant"]),
    ('[role."Vacant"]', '[role."Vacant"]\nholders = ["lea@alpha.example"]',
     ["lea@alpha.example takes up Vacant", "role Vacant is no longer vacant"]),
    ('[role."Vacant"]', '[role."Chair"]\nreports_to = "CEO"\n[role."Vacant"]',
     ["role Chair is new and reports to CEO"]),
    ('[role."Vacant"]\nreports_to = "Clerk"', "", ["role Vacant is gone"]),
    ('"lea@alpha.example", "Auditor"', '"Auditor", "lea@alpha.example"',
     ["role Compliance asks its deputies in this order: Auditor, lea@alpha.example"]),
    ('"lea@alpha.example", "Auditor"', '"lea@alpha.example"', ["role Compliance loses the deputy Auditor"]),
    ('location = "Rome"', 'location = "Oslo"', ["vp@alpha.example works in Oslo, before Rome"]),
    ('location = "Bergen"', "", ["role Auditor is at nothing, before Bergen"]),
    ('part_of = "House"', 'part_of = "House"\nlocation = "Turin"', ["unit Sales is at Turin"]),
    ("disabled = true", "", ["kai@alpha.example is no longer disabled"]),
    ("    { from = 2026-09-01T12:00:00Z },\n", "    { until = 2026-01-01 },\n",
     ["Ida Lund (ida@alpha.example) is away until 2026-01-01",
      "Ida Lund (ida@alpha.example) is no longer away from 2026-09-01T12:00:00Z"]),
    ('name = "Ida Lund"', 'name = "Ida Holm"', ["Ida Holm (ida@alpha.example) was called Ida Lund before"]),
    ('"eve@far.example"', '"eve@far.example", "bob@far.example"',
     ["group friends@alpha.example gains the member bob@far.example"]),
    ('roles = ["Clerk"]', 'roles = ["VP"]',
     ["group sales@alpha.example gains whoever is VP", "group sales@alpha.example loses whoever is Clerk"]),
    ('"*.alpha.example"', '"beta.example"',
     ["the house gains the domain beta.example", "the house loses the domain *.alpha.example"]),
    ('postmaster = "Postmaster"', "", ["the postmaster is nobody, before Postmaster"]),
)  # fmt: skip


@pytest.mark.parametrize(("old", "new", "told"), CHANGES)
def test_a_change_is_told_in_plain_words(old: str, new: str, told: list[str]) -> None:
    assert old in TEXT
    found = compare(parse_directory(TEXT), parse_directory(TEXT.replace(old, new, 1)))
    assert [str(difference) for difference in found] == told


def test_one_who_moves_is_told_once() -> None:
    text = TEXT.replace('"clerk@alpha.example", "second', '"second').replace(
        'reports_to = "Clerk"', 'holders = ["clerk@alpha.example"]'
    )
    found = compare(parse_directory(TEXT), parse_directory(text))
    assert found[0].sort == "moved"
    assert str(found[0]) == "clerk@alpha.example moves from Clerk to Vacant"


def test_who_comes_and_who_goes() -> None:
    old, new = parse_directory(FIRST), parse_directory(SECOND.replace('[user."ann"]\n', ""))
    told = [(difference.sort, str(difference)) for difference in compare(old, new)]
    assert told == [("moved", "ben takes up CEO"), ("went", "ann goes, who was CEO")]
    assert compare(old, old) == ()
    many = Directory(users=tuple(User(f"u{number}") for number in range(3)))
    assert len(compare(Directory(), many)) == 3
