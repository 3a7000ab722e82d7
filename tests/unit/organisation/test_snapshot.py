"""Who is who, asked of one snapshot: the test set of the gate's rules, aliases, groups and outsiders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.organisation.directory import Directory, Group, Role, Unit, User
from posthouse.organisation.snapshot import Snapshot
from tests.unit.organisation.company import COMPANY


def at(name: str) -> str:
    return f"{name}@alpha.example"


# G-22
@pytest.mark.parametrize(
    ("lower", "upper", "steps"),
    [
        ("clerk", "ceo", 3), ("clerk", "vp", 2), ("clerk", "manager", 1), ("manager", "ceo", 2), ("vp", "ceo", 1),
        ("clerk", "clerk", 0), ("clerk", "second", 0), ("ceo", "clerk", None), ("manager", "ida", None),
        ("clerk", "nobody", None), ("nobody", "ceo", None), ("CLERK", "chief", 3),
    ],
)  # fmt: skip
def test_levels_are_steps_of_reporting(lower: str, upper: str, steps: int | None) -> None:
    assert COMPANY.levels_between(at(lower), at(upper)) == steps


# G-19, G-22, G-23
def test_roles_of_an_address() -> None:
    assert COMPANY.roles_of(at("VP")) == ("VP", "Auditor")
    assert COMPANY.role_of(at("vp")) == "VP"
    assert COMPANY.role_of("eve@far.example") is None
    assert COMPANY.above("clerk") == ("Clerk", "Manager", "VP", "CEO")
    assert COMPANY.above("Pope") == ("Pope",)
    assert COMPANY.is_or_under(at("clerk"), "vp")
    assert COMPANY.is_or_under(at("vp"), "VP")
    assert not COMPANY.is_or_under(at("ceo"), "VP")
    assert not COMPANY.is_or_under("eve@far.example", "VP")


# G-22, G-24
def test_who_manages_whom() -> None:
    assert COMPANY.manager_of(at("clerk")) == (at("manager"),)
    assert COMPANY.manager_of(at("ceo")) == ()
    assert COMPANY.nearest_common_manager(at("clerk"), at("second")) == "Manager"
    assert COMPANY.nearest_common_manager(at("clerk"), at("manager")) == "Manager"
    assert COMPANY.nearest_common_manager(at("clerk"), at("ida")) == "CEO"
    assert COMPANY.nearest_common_manager(at("clerk"), at("pm")) is None
    assert COMPANY.same_unit(at("clerk"), at("VP"))
    assert not COMPANY.same_unit(at("clerk"), at("ceo"))
    assert not COMPANY.same_unit("eve@far.example", "eve@far.example")


# G-24
def test_a_vacant_manager_is_passed_over() -> None:
    house = Snapshot(
        Directory(
            users=(User("a"), User("b")),
            roles=(Role("Top", holders=("a",)), Role("Middle", "Top"), Role("Low", "Middle", holders=("b",))),
        )
    )
    assert house.manager_of("b") == ("a",)
    assert house.holders("Middle") == house.holders("Nobody") == ()
    assert house.levels_between("b", "a") == 2


# G-25
def test_an_outsider_has_nothing_and_is_no_error() -> None:
    stranger = "eve@far.example"
    assert COMPANY.roles_of(stranger) == ()
    assert COMPANY.user(stranger) is None
    assert COMPANY.location_of(stranger) is None
    assert COMPANY.manager_of(stranger) == ()
    assert COMPANY.expand(stranger).outsiders == (stranger,)


@pytest.mark.parametrize(
    ("address", "is_outside"),
    [
        ("ceo@alpha.example", False), ("Chief@Alpha.example", False), ("typo@alpha.example", False),
        ("a@b.alpha.example", False), ("a@notalpha.example", True), ("eve@far.example", True), ("orders", False),
        ("http://far.example:8025/main#desk", True), ("sales@alpha.example", False),
        ("friends@alpha.example", True), ("", False),
    ],
)  # fmt: skip
def test_who_is_an_outsider(address: str, is_outside: bool) -> None:
    assert COMPANY.is_external(address) is is_outside


def test_where_somebody_works() -> None:
    assert COMPANY.location_of(at("vp")) == "Rome"
    assert COMPANY.location_of(at("clerk")) == "Oslo"
    assert COMPANY.location_of(at("ida")) is None
    assert COMPANY.location_of(at("sales")) is None
    house = Snapshot(Directory(users=(User("a"),), roles=(Role("R", holders=("a",), location="Bergen"),)))
    assert house.location_of("a") == "Bergen"


# G-27
def test_aliases_and_groups_are_expanded_and_the_way_is_shown() -> None:
    found = COMPANY.expand(at("shop"))
    assert found.users == (at("manager"), at("clerk"), at("second"))
    assert found.way == (f"{at('shop')} is the group Sales: {at('manager')}, {at('clerk')}, {at('second')}",)
    assert COMPANY.expand(at("chief")).way == (f"{at('chief')} is an alias of {at('ceo')}",)
    assert COMPANY.expand(at("friends")).outsiders == ("eve@far.example",)
    assert COMPANY.roles_of(at("friends")) == ("Manager", "Clerk")
    assert COMPANY.roles_of(at("friends")) == ("Manager", "Clerk")
    assert COMPANY.levels_between(at("friends"), at("ceo")) == 2
    assert COMPANY.expand(at("all")).way[0].endswith(" and 1 more")


@st.composite
def trees(draw: st.DrawFn) -> Directory:
    """Give roles that report to roles before them, or in circles, with several holders."""
    count = draw(st.integers(1, 12))
    users = tuple(User(f"u{number}", aliases=(f"x{number}",)) for number in range(4))
    names = [f"R{number}" for number in range(count)]
    roles = tuple(
        Role(
            name,
            draw(st.sampled_from(["", *names, "unknown"])),
            holders=tuple(draw(st.lists(st.sampled_from([user.address for user in users]), unique=True))),
        )
        for name in names
    )
    return Directory(users=users, roles=roles, units=(Unit("A", "B"), Unit("B", "A")))


def walked(directory: Directory, lower: str, upper: str) -> int | None:
    """Give the levels between two users by the plainest of walks."""
    found = []
    for start in (role for role in directory.roles if lower in role.holders):
        for goal in (role for role in directory.roles if upper in role.holders):
            name, steps = start.name, 0
            while name != goal.name and steps <= len(directory.roles):
                name = next((role.reports_to for role in directory.roles if role.name == name), "")
                steps += 1
            if name == goal.name:
                found.append(steps)
    return min(found, default=None)


# G-22
@given(trees())
def test_levels_are_what_a_walk_finds(directory: Directory) -> None:
    house = Snapshot(directory)
    for lower in range(4):
        for upper in range(4):
            assert house.levels_between(f"u{lower}", f"X{upper}") == walked(directory, f"u{lower}", f"u{upper}")


GROUPS = st.lists(
    st.lists(st.sampled_from([f"{kind}{number}" for kind in "guxo" for number in range(4)]), max_size=5),
    min_size=4, max_size=4,
)  # fmt: skip


# G-27
@given(GROUPS)
def test_groups_in_circles_end(members: list[list[str]]) -> None:
    users = tuple(User(f"u{number}", aliases=(f"x{number}",)) for number in range(4))
    groups = tuple(Group(f"g{number}", members=tuple(several)) for number, several in enumerate(members))
    house = Snapshot(Directory(users=users, groups=groups, roles=(Role("R", holders=("u0",)),)))
    reached, waiting = set[str](), ["g0"]
    while waiting:
        name = waiting.pop().replace("x", "u")
        if name not in reached:
            reached.add(name)
            waiting += members[int(name[1])] if name[0] == "g" else []
    found = house.expand("g0")
    assert sorted(found.users) == sorted(name for name in reached if name[0] == "u")
    assert sorted(found.outsiders) == sorted(name for name in reached if name[0] == "o")
    assert house.roles_of("g0") == (("R",) if "u0" in reached else ())
