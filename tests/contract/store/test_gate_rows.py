"""Cases, dockets, mailbags and accounts are written whole, and refused where somebody else wrote them meanwhile."""

from __future__ import annotations

from uuid import UUID

import msgspec

from posthouse.message.changes import DONE, Changes
from posthouse.message.credential import Account
from posthouse.store.gateports import DocketFilter
from posthouse.testing.build import START, identity
from posthouse.testing.gated import case, case_id, docket, mailbag
from tests.contract.store.desk import Desk, scenario

new = msgspec.structs.replace
UNKNOWN = UUID(int=7)


def account(name: str, **given: object) -> Account:
    return Account(**{"name": name, "address": f"{name}@example.org", "scopes": ("audit",), "created": START, **given})  # type: ignore[arg-type]  # each field under its own name


@scenario
async def test_a_new_store_knows_nothing_of_the_gate(desk: Desk) -> None:
    gate = desk.store.gate
    assert await gate.cases.case(UNKNOWN) is None
    assert await gate.cases.of_message(UNKNOWN) == []
    assert await gate.cases.dockets(DocketFilter()) == []
    assert await gate.cases.counts() == []
    assert await gate.cases.due(START, 10) == []
    assert await gate.cases.next_due() is None
    assert await gate.cases.mailbags() == []
    assert await gate.lookup.find("", 10) == []
    assert await desk.store.credentials.accounts() == []


@scenario
async def test_a_case_comes_with_its_letter_and_its_docket(desk: Desk) -> None:
    opened = case(1, luggage=b"journey", wrapper=b"w" * 100_000)
    assert await desk.change(posts=(desk.post(1),), cases=(opened,), dockets=(docket(1),)) == DONE
    assert await desk.store.gate.cases.case(case_id(1)) == opened
    assert await desk.store.gate.cases.of_message(identity(1)) == [opened]
    assert await desk.store.gate.cases.dockets(DocketFilter()) == [docket(1)]
    assert await desk.holds() == [1]


@scenario
async def test_a_row_is_written_over_by_its_next_version_only(desk: Desk) -> None:
    for field, first in (
        ("cases", case(1)),
        ("dockets", docket(1)),
        ("mailbags", mailbag()),
        ("accounts", account("ada")),
    ):
        second = new(first, version=2)
        assert (await desk.change(**{field: (second,)})).status == "stale"
        assert await desk.change(**{field: (first,)}) == DONE
        assert (await desk.change(**{field: (first,)})).status == "stale"
        assert (await desk.change(**{field: (new(first, version=3),)})).status == "stale"
        assert await desk.change(**{field: (second,)}) == DONE
        assert (await desk.change(**{field: (second,)})).status == "stale"
    assert await desk.store.gate.cases.case(case_id(1)) == case(1, version=2)
    assert await desk.store.gate.cases.dockets(DocketFilter()) == [docket(1, version=2)]
    assert await desk.store.gate.cases.mailbags() == [mailbag(version=2)]
    assert await desk.store.credentials.accounts() == [account("ada", version=2)]


@scenario
async def test_a_row_meant_twice_by_one_change_is_stale(desk: Desk) -> None:
    for field, first in (
        ("cases", case(1)),
        ("dockets", docket(1)),
        ("mailbags", mailbag()),
        ("accounts", account("ada")),
    ):
        assert (await desk.change(**{field: (first, new(first, version=2))})).status == "stale"
        assert (await desk.change(**{field: (first, first)})).status == "stale"
    assert await desk.store.gate.cases.counts() == []


# G-16
@scenario
async def test_of_two_decisions_in_one_call_the_first_wins(desk: Desk) -> None:
    await desk.change(cases=(case(1),), dockets=(docket(1),))
    won, lost = (docket(1, version=2, status="released", decided_by=name, is_open=False) for name in ("ada", "bob"))
    outcomes = await desk.store.commit([Changes(dockets=(won,)), Changes(dockets=(lost,))])
    assert [outcome.status for outcome in outcomes] == ["done", "stale"]
    assert await desk.store.gate.cases.dockets(DocketFilter(is_open=None)) == [won]


@scenario
async def test_a_stale_row_refuses_the_whole_change(desk: Desk) -> None:
    await desk.change(cases=(case(1),), dockets=(docket(1),))
    refused = await desk.change(
        posts=(desk.post(2),), cases=(case(1, version=2), case(2)), dockets=(docket(1, version=3),)
    )
    assert refused.status == "stale"
    assert "version" in refused.detail
    assert await desk.store.gate.cases.case(case_id(2)) is None
    assert await desk.store.gate.cases.case(case_id(1)) == case(1)
    assert await desk.store.journal.letter(identity(2)) is None


@scenario
async def test_a_change_refused_for_another_reason_writes_no_row(desk: Desk) -> None:
    await desk.put(1)
    assert (await desk.change(posts=(desk.post(1),), cases=(case(1),), dockets=(docket(1),))).status == "duplicate"
    assert await desk.store.gate.cases.case(case_id(1)) is None
    assert await desk.store.gate.cases.counts() == []


@scenario
async def test_the_cases_of_a_message_are_given_oldest_first(desk: Desk) -> None:
    later, earlier = case(1, opened=START + 9), case(2, message=identity(1), opened=START + 3)
    await desk.change(cases=(later, earlier))
    assert await desk.store.gate.cases.of_message(identity(1)) == [earlier, later]


@scenario
async def test_cases_are_found_by_the_beginning_of_their_ids(desk: Desk) -> None:
    await desk.change(cases=tuple(map(case, range(1, 6))))
    whole = sorted(case_id(number) for number in range(1, 6))
    assert await desk.store.gate.lookup.find("", 10) == whole
    assert await desk.store.gate.lookup.find(str(whole[2]), 10) == [whole[2]]
    assert await desk.store.gate.lookup.find(whole[2].hex[:11].upper(), 2) == whole[:2]
    assert await desk.store.gate.lookup.find("xyz", 2) == []
    assert await desk.store.gate.lookup.find("f" * 33, 2) == []


@scenario
async def test_mailbags_are_given_by_gatekeeper_and_name_without_those_removed(desk: Desk) -> None:
    bags = (mailbag("b"), mailbag("a"), mailbag("c", gatekeeper="Clerk"), mailbag("d", is_removed=True))
    await desk.change(mailbags=bags)
    assert await desk.store.gate.cases.mailbags() == [bags[2], bags[1], bags[0]]
    assert await desk.store.gate.cases.mailbags("Clerk") == [bags[2]]
    assert await desk.store.gate.cases.mailbags("Nobody") == []
    await desk.change(mailbags=(new(bags[1], version=2, is_removed=True),))
    assert await desk.store.gate.cases.mailbags("Reviewer") == [bags[0]]


@scenario
async def test_accounts_are_given_by_name_those_closed_included(desk: Desk) -> None:
    accounts = (account("bob", digest="$argon2id$x"), account("ada", is_closed=True))
    await desk.change(accounts=accounts)
    assert await desk.store.credentials.accounts() == [accounts[1], accounts[0]]
