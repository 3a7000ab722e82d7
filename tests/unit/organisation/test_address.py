"""An address is one, however it is written: no rule is got round by another spelling."""

from __future__ import annotations

import pytest

from posthouse.message.name import parse_office
from posthouse.organisation.address import address_key, short_address
from posthouse.organisation.directory import Directory, Role, User
from posthouse.organisation.snapshot import Snapshot

HERE = frozenset({parse_office("http://posthouse.example:8025/main")})


# G-27
@pytest.mark.parametrize(
    "written",
    [
        "ann@alpha.example", "Ann@ALPHA.example", "smtp:ann@alpha.example", "SMTP:Ann@alpha.example",
        '"ann"@alpha.example', '"\\a\\nn"@alpha.example',
    ],
)  # fmt: skip
def test_a_mail_address_is_one(written: str) -> None:
    house = Snapshot(
        Directory(users=(User("ann@alpha.example"),), roles=(Role("CEO", holders=("ann@alpha.example",)),))
    )
    assert house.roles_of(written) == ("CEO",)
    assert not house.is_external(written)
    assert house.expand(written).users == ("ann@alpha.example",)


# G-27
@pytest.mark.parametrize("written", ["orders", "Orders", "local:#orders", "posthouse.example#orders"])
def test_a_mailbox_of_this_office_is_one(written: str) -> None:
    house = Snapshot(Directory(users=(User("orders"),), roles=(Role("Desk", holders=("orders",)),)), here=HERE)
    assert house.role_of(written) == "Desk"


def test_what_is_another_address_stays_another() -> None:
    for written in ("far.example#orders", '"a b"@alpha.example', "no name", "@", "", "a@b@c"):
        assert Snapshot(Directory(users=(User("orders"),)), here=HERE).user(written) is None
        assert address_key(written) == address_key(address_key(written))
    assert short_address("smtp:Ann@Alpha.example") == "Ann@alpha.example"
    assert address_key('"a b"@alpha.example') != address_key("a b@alpha.example")
