"""Dockets by pages in each order, how many lie where, and what is due."""

from __future__ import annotations

from itertools import pairwise

import msgspec

from posthouse.message.case import Docket
from posthouse.store.gateports import DocketCount, DocketFilter, DocketOrder, DocketPlace, key_of, place_of
from posthouse.store.ports import Store
from posthouse.testing.build import START, identity, number_of
from posthouse.testing.gated import case_id, docket, mailbag
from tests.contract.store.desk import Desk, scenario

new = msgspec.structs.replace
ORDERS: tuple[DocketOrder, ...] = ("due", "arrival", "sender")


def numbers(dockets: list[Docket]) -> list[int]:
    return [number_of(one.message) for one in dockets]


async def pages(store: Store, chosen: DocketFilter, order: DocketOrder, *, limit: int) -> list[Docket]:
    found: list[Docket] = []
    after: DocketPlace | None = None
    while page := await store.gate.cases.dockets(chosen, order=order, after=after, limit=limit):
        assert len(page) <= limit
        found += page
        after = place_of(page[-1], order)
    return found


# G-09
@scenario
async def test_a_docket_comes_back_with_all_it_says(desk: Desk) -> None:
    whole = docket(
        1, turn=3, folder="bag", status="filed", location="Berlin", reason="price", more_reasons=2, recipients=4,
        size=10**9, attachments=3, place=2, places=5, expires=START + 5, retain=START + 9, is_postponed=True,
        is_expired=True, fault="no such role", claimed_by="bob", claimed_until=START + 4, pending=b"\x00p",
        due=START + 4, last_action="file", decided_by="ada", decided_at=START + 2, is_automatic=True, warned=2,
    )  # fmt: skip
    await desk.change(dockets=(whole,))
    assert await desk.store.gate.cases.dockets(DocketFilter()) == [whole]


@scenario
async def test_each_order_pages_through_everything_once(desk: Desk) -> None:
    dockets = [
        docket(number, gatekeeper="AB"[number % 2], folder=("inbox", "review", "bag")[number % 3],
               due=None if number % 4 == 0 else START + number % 5, arrived=START + 7 * number % 11,
               sender=("zoe", "ada", "élan", "")[number % 4], turn=1 + number % 2)
        for number in range(1, 30)
    ]  # fmt: skip
    await desk.change(dockets=tuple(dockets))
    for order in ORDERS:
        for chosen in (DocketFilter(), DocketFilter(gatekeeper="A"), DocketFilter(gatekeeper="B", folder="bag")):
            found = await pages(desk.store, chosen, order, limit=4)
            wanted = [
                one
                for one in dockets
                if chosen.gatekeeper in (None, one.gatekeeper) and chosen.folder in (None, one.folder)
            ]
            assert sorted(numbers(found)) == sorted(numbers(wanted))
            places = [(key_of(one, order), one.case, one.turn) for one in found]
            assert all(first < second for first, second in pairwise(places))


@scenario
async def test_dockets_without_a_due_time_come_last(desk: Desk) -> None:
    await desk.change(dockets=(docket(1), docket(2, due=START + 5), docket(3, due=START)))
    assert numbers(await desk.store.gate.cases.dockets(DocketFilter())) == [3, 2, 1]


@scenario
async def test_ties_stand_by_case_and_turn(desk: Desk) -> None:
    await desk.change(dockets=(docket(2, due=START), docket(1, turn=2, due=START), docket(1, turn=1, due=START)))
    found = await desk.store.gate.cases.dockets(DocketFilter())
    assert [(one.case, one.turn) for one in found] == sorted((one.case, one.turn) for one in found)


@scenario
async def test_dockets_are_chosen_by_each_field(desk: Desk) -> None:
    await desk.change(
        dockets=(
            docket(1),
            docket(1, turn=2, gatekeeper="Chief", sender="bob"),
            docket(2, is_open=False, status="released"),
            docket(3, folder="bag", status="filed"),
        )
    )
    wanted = {
        DocketFilter(): [1, 1, 3],
        DocketFilter(is_open=None): [1, 1, 2, 3],
        DocketFilter(is_open=False): [2],
        DocketFilter(case=case_id(1)): [1, 1],
        DocketFilter(case=case_id(2)): [],
        DocketFilter(case=case_id(2), is_open=None): [2],
        DocketFilter(message=identity(1), gatekeeper="Chief"): [1],
        DocketFilter(message=identity(2), is_open=None): [2],
        DocketFilter(sender="bob"): [1],
        DocketFilter(status="filed"): [3],
        DocketFilter(folder="bag"): [3],
        DocketFilter(gatekeeper="Nobody"): [],
        DocketFilter(status="released", is_open=None, gatekeeper="Reviewer", sender="alice"): [2],
    }
    for order in ORDERS:
        for chosen, found in wanted.items():
            assert sorted(numbers(await pages(desk.store, chosen, order, limit=2))) == found


# G-10
@scenario
async def test_a_docket_filed_elsewhere_is_counted_there(desk: Desk) -> None:
    await desk.change(dockets=tuple(docket(number) for number in range(1, 5)))
    await desk.change(dockets=(docket(9, gatekeeper="Chief"),))
    await desk.change(dockets=(docket(1, version=2, folder="bag"), docket(2, version=2, is_open=False)))
    everything = [
        DocketCount("Chief", "inbox", 1),
        DocketCount("Reviewer", "bag", 1),
        DocketCount("Reviewer", "inbox", 2),
    ]
    assert await desk.store.gate.cases.counts() == everything
    assert await desk.store.gate.cases.counts("Chief") == everything[:1]
    await desk.change(dockets=(docket(1, version=3, folder="bag", is_open=False),))
    await desk.change(dockets=(docket(2, version=3),))
    assert await desk.store.gate.cases.counts("Reviewer") == [DocketCount("Reviewer", "inbox", 3)]


@scenario
async def test_what_is_due_is_given_earliest_first(desk: Desk) -> None:
    cases = desk.store.gate.cases
    await desk.change(dockets=(docket(1, due=START + 3), docket(2, due=START + 1), docket(3), docket(4, due=START + 9)))
    assert await cases.next_due() == START + 1
    assert numbers(await cases.due(START + 3, 10)) == [2, 1]
    assert numbers(await cases.due(START + 3, 1)) == [2]
    assert await cases.due(START, 10) == []
    await desk.change(dockets=(docket(2, version=2), docket(1, version=2, due=START + 20, is_open=False)))
    assert await cases.next_due() == START + 9
    assert numbers(await cases.due(START + 30, 10)) == [4, 1]
    await desk.change(dockets=(docket(1, version=3, due=START + 3), docket(2, version=3, due=START + 1)))
    assert numbers(await cases.due(START + 30, 10)) == [2, 1, 4]


@scenario
async def test_of_many_gatekeepers_each_gets_a_share_of_what_is_due(desk: Desk) -> None:
    busy = tuple(docket(number, gatekeeper="Busy", due=START + number) for number in range(1, 40))
    quiet = (docket(50, gatekeeper="Quiet", folder="bag", due=START + 100),)
    small = tuple(docket(number, gatekeeper="Small", due=START + number) for number in (61, 62))
    await desk.change(dockets=busy + quiet + small)
    cases = desk.store.gate.cases
    assert numbers(await cases.due(START + 200, 8)) == [1, 2, 3, 4, 5, 61, 62, 50]
    assert numbers(await cases.due(START + 200, 3)) == [1, 61, 50]
    assert numbers(await cases.due(START + 200, 2)) == [1, 61]
    assert numbers(await cases.due(START + 99, 4)) == [1, 2, 61, 62]
    assert len(await cases.due(START + 200, 100)) == 42


@scenario
async def test_the_next_run_of_a_mailbag_is_due_as_well(desk: Desk) -> None:
    cases = desk.store.gate.cases
    bag = mailbag(next_run=START + 5)
    await desk.change(mailbags=(bag,), dockets=(docket(1, due=START + 7),))
    assert await cases.next_due() == START + 5
    assert numbers(await cases.due(START + 10, 10)) == [1]
    await desk.change(mailbags=(new(bag, version=2, next_run=START + 50),))
    assert await cases.next_due() == START + 7
    await desk.change(dockets=(docket(1, version=2),))
    assert await cases.next_due() == START + 50
    await desk.change(mailbags=(new(bag, version=3, next_run=START + 1, is_removed=True),))
    assert await cases.next_due() is None


# G-100
@scenario
async def test_a_case_may_lie_before_several_gatekeepers_at_once(desk: Desk) -> None:
    rows = [docket(1, turn=turn, gatekeeper=f"g{turn}", due=START + turn) for turn in (1, 2, 3)]
    await desk.change(dockets=tuple(rows))
    cases = desk.store.gate.cases
    assert [one.gatekeeper for one in await cases.dockets(DocketFilter(case=case_id(1)))] == ["g1", "g2", "g3"]
    await desk.change(dockets=(new(rows[1], version=2, is_open=False, status="released", due=None),))
    left = await cases.dockets(DocketFilter(case=case_id(1)))
    assert [one.gatekeeper for one in left] == ["g1", "g3"]
    assert [(count.gatekeeper, count.count) for count in await cases.counts()] == [("g1", 1), ("g3", 1)]
