"""Who stands in for a gatekeeper, and why nobody before."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from posthouse.message.instant import to_microseconds
from posthouse.organisation.appointment import Appointed, acting_roles, check_roles, gatekeeper_for
from posthouse.organisation.directory import Directory, Group, Role, User
from posthouse.organisation.snapshot import Snapshot
from tests.unit.organisation.company import COMPANY

IN_MAY = to_microseconds(datetime(2026, 5, 1, tzinfo=UTC))
IN_JULY = to_microseconds(datetime(2026, 7, 14, 23, 59, tzinfo=UTC))
BEHIND = to_microseconds(datetime(2026, 7, 15, tzinfo=UTC))
KAI = "kai@alpha.example: the account is disabled"
OWN = "it is mail of their own"


def without(*roles: str) -> Snapshot:
    """Give the company with these roles vacant."""
    emptied = (
        msgspec.structs.replace(role, holders=()) if role.name in roles else role for role in COMPANY.directory.roles
    )
    return Snapshot(msgspec.structs.replace(COMPANY.directory, roles=tuple(emptied)))


# G-196
def test_whoever_holds_the_role_and_is_there_looks_first() -> None:
    assert gatekeeper_for(COMPANY, "compliance", at=IN_MAY) == Appointed("Compliance", ("ida@alpha.example",))
    assert gatekeeper_for(COMPANY, "Compliance", at=BEHIND) == Appointed("Compliance", ("ida@alpha.example",))


# G-196
def test_an_absence_hands_on_to_the_deputy_in_the_role() -> None:
    found = gatekeeper_for(COMPANY, "Compliance", at=IN_JULY)
    why = f'role "Compliance": Ida Lund: away until 2026-07-15 00:00 UTC (leave), {KAI}'
    assert found == Appointed("Compliance", ("lea@alpha.example",), (why,))


# G-196, G-197, G-220
def test_nobody_looks_at_mail_of_their_own() -> None:
    found = gatekeeper_for(COMPANY, "Compliance", at=IN_MAY, not_these=("IDA@alpha.example", "lea@alpha.example"))
    assert found.role == "Auditor"
    assert found.people == ("vp@alpha.example",)
    assert found.via == (f'role "Compliance": Ida Lund: {OWN}, {KAI}', f"deputy: lea@alpha.example: {OWN}")


# G-197, G-220
def test_an_alias_is_the_same_person() -> None:
    found = gatekeeper_for(COMPANY, "CEO", not_these=["chief@alpha.example"])
    assert found.role == "Registrar"
    assert found.via == (f'role "CEO": Zoë Okafor: {OWN}',)


# G-220
def test_what_goes_to_everybody_is_looked_at_by_somebody() -> None:
    found = gatekeeper_for(COMPANY, "Compliance", at=IN_MAY, not_these=["all@alpha.example"])
    assert found.people == ("ida@alpha.example",)
    assert found.via == ("everybody is concerned, so members of groups are not passed over",)
    found = gatekeeper_for(COMPANY, "Clerk", at=IN_MAY, not_these=["sales@alpha.example"])
    assert found.people == ("reg@alpha.example",)


# G-24, G-196
def test_a_vacant_role_goes_to_the_office_administrator_and_then_to_the_postmaster() -> None:
    assert gatekeeper_for(COMPANY, "Vacant").role == "Registrar"
    found = gatekeeper_for(without("Registrar"), "Vacant")
    assert found == Appointed(
        "Postmaster", ("pm@alpha.example",), ('role "Vacant": it is vacant', 'role "Registrar": it is vacant')
    )


# G-234
def test_an_unknown_role_goes_the_same_way() -> None:
    found = gatekeeper_for(COMPANY, "Pope")
    assert found == Appointed("Registrar", ("reg@alpha.example",), ('role "Pope": there is no such role',))


# G-196
def test_where_nobody_is_left_it_is_said() -> None:
    found = gatekeeper_for(without("Registrar", "Postmaster"), "Vacant")
    assert not found.people
    assert found.role == "Postmaster"
    assert len(found.via) == 3
    assert gatekeeper_for(Snapshot(Directory()), "Pope") == Appointed(
        "postmaster",
        (),
        (
            'role "Pope": there is no such role',
            'role "office administrator": there is no such role',
            'role "postmaster": there is no such role',
        ),
    )


# G-196
def test_the_postmaster_is_asked_even_when_away() -> None:
    directory = Directory(
        users=(User("a", absences=COMPANY.users["ida@alpha.example"].absences),),
        roles=(Role("Postmaster", holders=("a",)),),
    )
    assert gatekeeper_for(Snapshot(directory), "Pope", at=IN_JULY).people == ("a",)


# G-197
@pytest.mark.parametrize(
    ("who", "when", "roles"),
    [
        ("ida", IN_MAY, ("Compliance",)),
        ("lea", IN_MAY, ()),
        ("lea", IN_JULY, ("Compliance",)),
        ("vp", IN_JULY, ("VP", "Auditor")),
        ("kai", IN_MAY, ()),
        ("nobody", IN_MAY, ()),
    ],
)
def test_in_which_roles_somebody_may_act(who: str, when: int, roles: tuple[str, ...]) -> None:
    assert acting_roles(COMPANY, f"{who}@alpha.example", at=when) == roles


# G-24, G-234
def test_roles_that_rules_name_are_checked() -> None:
    told = [str(problem) for problem in check_roles(COMPANY, ["Complience", "Vacant", "CEO", "CEO"], at=IN_MAY)]
    assert told == [
        'role "Complience": there is no such role; Registrar has what is gated to it (did you mean Compliance?)',
        'role "Vacant": it is vacant; Registrar has what is gated to it',
    ]
    assert check_roles(Snapshot(Directory()), ["X"])[0].what.endswith("nobody would look at what is gated to it")


def test_many_who_are_passed_over_are_told_in_short() -> None:
    users = tuple(User(f"u{number}", is_disabled=True) for number in range(8))
    role = Role("R", holders=tuple(user.address for user in users))
    house = Snapshot(Directory(users=users, roles=(role,), groups=(Group("g"),)))
    assert gatekeeper_for(house, "R").via[0].endswith("u4: the account is disabled, and 3 more")
