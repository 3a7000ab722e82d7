"""Accounts of people: opened, changed, closed, recognised by name and password, and on record."""

from __future__ import annotations

import msgspec
import pytest

from posthouse.office.accounts import AccountRefused, PasswordUnfit, check_password
from posthouse.office.deskcalls import Activate, ListAccounts, ListAudit, WriteAccount, WriteEdition
from posthouse.office.mailbox import BadRequest
from posthouse.office.permit import MalformedScope
from tests.unit.office.rig import Rig, at_work

PASSWORD = "correct horse battery"
ORGANISATION = """
domains = ["bakery.example"]

[role."Legal"]
deputies = ["ada@bakery.example"]

[role."Baker"]
holders = ["ada@bakery.example"]

[user."ada@bakery.example"]
"""


# G-119, G-197
@at_work()
async def test_an_account_is_opened_and_recognised(rig: Rig) -> None:
    account = await rig.answer(
        WriteAccount(name="ada", address="ada@bakery.example", scopes=["audit"], password=PASSWORD, by="ben")
    )
    assert (account.name, account.address, account.scopes, account.digest) == (
        "ada", "ada@bakery.example", ("audit",), "",
    )  # fmt: skip
    permit = await rig.house.accounts.recognise(" Ada ", PASSWORD)
    assert (permit.principal, permit.signature, permit.address, permit.may("audit"), permit.administers) == (
        "account ada", "ada", "ada@bakery.example", True, False,
    )  # fmt: skip
    for name, password in (("ada", "correct horse batterx"), ("ben", PASSWORD), ("", ""), ("ada", "x" * 10_000)):
        with pytest.raises(AccountRefused):
            await rig.house.accounts.recognise(name, password)
    assert await rig.answer(ListAccounts()) == [account]


# G-197
@at_work()
async def test_what_is_written_is_on_record_without_the_password(rig: Rig) -> None:
    await rig.answer(WriteAccount(name="ada", password=PASSWORD, by="ben"))
    await rig.answer(WriteAccount(name="ada", scopes=["write rules"], by="ben"))
    await rig.answer(WriteAccount(name="ada", is_closed=True, by="carl"))
    lines = await rig.answer(ListAudit())
    assert [(line.act, line.actor, line.subject) for line in lines] == [
        ("account.opened", "ben", "account ada"),
        ("account.changed", "ben", "account ada"),
        ("account.closed", "carl", "account ada"),
    ]
    said = [msgspec.msgpack.decode(line.payload) for line in lines]
    assert [one["changed"] for one in said] == [["password"], ["scopes"], ["closed"]]
    assert not any(b"argon2" in line.payload or PASSWORD.encode() in line.payload for line in lines)


@at_work()
async def test_a_closed_account_lets_nobody_in(rig: Rig) -> None:
    await rig.answer(WriteAccount(name="ada", password=PASSWORD))
    await rig.answer(WriteAccount(name="ada", is_closed=True))
    with pytest.raises(AccountRefused):
        await rig.house.accounts.recognise("ada", PASSWORD)
    assert await rig.house.accounts.permit_of("ada") is None
    await rig.answer(WriteAccount(name="ada", is_closed=False, password="another one, longer"))
    with pytest.raises(AccountRefused):
        await rig.house.accounts.recognise("ada", PASSWORD)
    assert (await rig.house.accounts.recognise("ada", "another one, longer")).name == "ada"


@at_work()
async def test_an_account_without_a_password_lets_nobody_in(rig: Rig) -> None:
    await rig.answer(WriteAccount(name="ada"))
    with pytest.raises(AccountRefused):
        await rig.house.accounts.recognise("ada", "")


@at_work()
async def test_accounts_survive_and_are_known_anew(rig: Rig) -> None:
    await rig.answer(WriteAccount(name="ada", password=PASSWORD))
    await rig.house.accounts.load()
    assert (await rig.house.accounts.recognise("ada", PASSWORD)).name == "ada"


# G-119, G-120
@at_work()
async def test_the_organisation_says_as_what_somebody_reviews(rig: Rig) -> None:
    await rig.answer(WriteAccount(name="ada", address="ada@bakery.example", password=PASSWORD))
    assert (await rig.house.accounts.recognise("ada", PASSWORD)).roles == ()
    written = await rig.answer(WriteEdition(book="organisation", text=ORGANISATION, by="ben"))
    assert written.faults == []
    await rig.answer(Activate(book="organisation", number=1, by="ben"))
    permit = await rig.house.accounts.permit_of("ada")
    assert permit is not None
    assert set(permit.roles) == {"Baker", "Legal"}, "what she holds, and what she stands in for"
    assert permit.acts_as("legal")
    assert not permit.acts_as("Sales")


@pytest.mark.parametrize(
    ("name", "password"), [("ada", "too short"), ("ada", "x" * 201), ("long-enough-name", "Long-Enough-Name"),
                           ("ada", "with a bell \a in it")],
)  # fmt: skip
def test_a_password_that_is_unfit_is_refused(name: str, password: str) -> None:
    with pytest.raises(PasswordUnfit) as refused:
        check_password(name, password)
    assert password not in str(refused.value)


def test_a_password_of_many_kinds_is_fit() -> None:
    for password in ("ten signs!", "x" * 200, "пароль длинный", "with  blanks in it"):
        check_password("ada", password)


@at_work()
async def test_one_password_in_two_spellings_is_the_same(rig: Rig) -> None:
    await rig.answer(WriteAccount(name="ada", password="caf\u00e9 au lait"))
    assert (await rig.house.accounts.recognise("ada", "cafe\u0301 au lait")).name == "ada"


@at_work()
async def test_what_is_no_account_is_refused(rig: Rig) -> None:
    for name in ("", "Ada", "a b", "-x", "x" * 65, "a/b"):
        with pytest.raises(BadRequest):
            await rig.answer(WriteAccount(name=name))
    with pytest.raises(BadRequest):
        await rig.answer(WriteAccount(name="ada", address="no address#"))
    with pytest.raises(MalformedScope):
        await rig.answer(WriteAccount(name="ada", scopes=["rule the world"]))
    assert await rig.answer(ListAccounts()) == []
