"""Editions never change, an activation makes a new version of the register, and old decisions are stale by it."""

from __future__ import annotations

from posthouse.message.case import Activation
from posthouse.message.changes import DONE, Changes, Register, Setup
from posthouse.testing.build import START
from posthouse.testing.gated import edition
from tests.contract.store.desk import Desk, scenario


def activation(number: int, *, book: str = "rules") -> Activation:
    return Activation(book=book, number=number, at=START, by="ada", second="bob")


@scenario
async def test_a_new_store_has_no_books(desk: Desk) -> None:
    books = desk.store.gate.books
    assert await books.titles() == []
    assert await books.edition("rules", 1) is None
    assert await books.editions("rules") == []
    assert await books.activations("rules") == []


# G-17
@scenario
async def test_editions_are_numbered_without_gaps_and_never_change(desk: Desk) -> None:
    assert (await desk.change(editions=(edition(2),))).status == "stale"
    assert await desk.change(editions=(edition(1),)) == DONE
    assert (await desk.change(editions=(edition(1, text="other"),))).status == "stale"
    assert (await desk.change(editions=(edition(3),))).status == "stale"
    assert await desk.change(editions=(edition(2), edition(3), edition(1, book="policy"))) == DONE
    outcomes = await desk.store.commit([Changes(editions=(edition(4),))] * 2)
    assert [outcome.status for outcome in outcomes] == ["done", "stale"]
    books = desk.store.gate.books
    assert await books.editions("rules") == [edition(number) for number in range(1, 5)]
    assert await books.edition("rules", 3) == edition(3)
    assert await books.edition("rules", 0) is None
    assert await books.edition("rules", 5) is None
    assert await books.titles() == ["policy", "rules"]
    assert (await desk.store.register()).version == 0


@scenario
async def test_an_activation_makes_a_new_version_of_the_register(desk: Desk) -> None:
    await desk.change(editions=(edition(1), edition(2)))
    assert await desk.change(activations=(activation(2),)) == DONE
    assert await desk.store.register() == Register(version=1, books={"rules": 2})
    await desk.set_up(Setup(mailbox="inbox"))
    assert await desk.change(activations=(activation(1),), register=2) == DONE
    register = await desk.store.register()
    assert (register.version, register.books, list(register.setups)) == (3, {"rules": 1}, ["inbox"])
    assert await desk.store.gate.books.activations("rules") == [activation(2), activation(1)]


@scenario
async def test_a_decision_on_books_that_were_replaced_is_stale(desk: Desk) -> None:
    await desk.change(editions=(edition(1),))
    outcomes = await desk.store.commit(
        [Changes(activations=(activation(1),), register=0), Changes(posts=(desk.post(1),), register=0)]
    )
    assert [outcome.status for outcome in outcomes] == ["done", "stale"]
    assert await desk.change(posts=(desk.post(1),), register=1) == DONE


@scenario
async def test_an_edition_may_be_activated_by_the_change_that_writes_it(desk: Desk) -> None:
    assert await desk.change(editions=(edition(1),), activations=(activation(1),)) == DONE
    assert (await desk.store.register()).books == {"rules": 1}


@scenario
async def test_what_has_no_edition_is_not_activated(desk: Desk) -> None:
    assert (await desk.change(activations=(activation(1),))).status == "stale"
    await desk.change(editions=(edition(1),))
    assert (await desk.change(activations=(activation(2),))).status == "stale"
    assert (await desk.change(activations=(activation(-1),))).status == "stale"
    assert await desk.store.register() == Register()


@scenario
async def test_edition_0_ends_a_book(desk: Desk) -> None:
    await desk.change(editions=(edition(1), edition(1, book="policy")))
    await desk.change(activations=(activation(1), activation(1, book="policy")))
    assert await desk.change(activations=(activation(0),)) == DONE
    assert await desk.store.register() == Register(version=2, books={"policy": 1})
    assert await desk.change(activations=(activation(0),)) == DONE
    assert (await desk.store.register()).version == 3
