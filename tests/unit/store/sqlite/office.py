"""A store with something of everything in it, for the tests of this folder."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from posthouse.message.audit import Seal
from posthouse.message.case import Activation
from posthouse.message.changes import Changes, Leased, Outcome, Post, Settle, Setup, Take
from posthouse.message.credential import Account
from posthouse.message.message import Body
from posthouse.store.bodies import FileLayer
from posthouse.store.gateports import DocketFilter
from posthouse.store.sqlite.store import SqliteStore
from posthouse.testing.build import SECOND, START, entry, letter, number_of, post
from posthouse.testing.gated import audited, case, case_id, docket, edition, mailbag

LARGE = b"a body that stands in a file of its own " * 5_000


async def pieces(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


@asynccontextmanager
async def opened(path: Path, *, layer: FileLayer | None = None) -> AsyncIterator[SqliteStore]:
    store = await SqliteStore.open(path, layer=layer)
    try:
        yield store
    finally:
        await store.close()


async def change(store: SqliteStore, changes: Changes) -> Outcome:
    (outcome,) = await store.commit([changes])
    assert outcome.status == "done", outcome
    return outcome


async def put(store: SqliteStore, *numbers: int, box: str = "#inbox") -> None:
    outcomes = await store.commit([Changes(posts=(post(number, entry(box)),)) for number in numbers])
    assert all(outcome.status == "done" for outcome in outcomes)


async def put_large(store: SqliteStore, number: int, content: bytes = LARGE) -> Body:
    body = await store.bodies.save(pieces(content), limit=len(content))
    await change(store, Changes(posts=(Post(letter=letter(number, body=body), entries=(entry("#large"),)),)))
    return body


async def take(
    store: SqliteStore, box: str = "#inbox", *, limit: int = 1, holder: str = "worker"
) -> tuple[Leased, ...]:
    wanted = Take(box=box, now=START, until=START + 60 * SECOND, holder=holder, limit=limit)
    return (await change(store, Changes(take=wanted))).taken


async def fill(store: SqliteStore) -> Body:
    """Put something into every table."""
    await put(store, *range(1, 41))
    await put(store, *range(41, 51), box="#other")
    taken = await take(store, limit=6)
    acts: tuple[Literal["done", "bury", "retry"], ...] = ("done", "done", "bury", "retry")
    for leased, act in zip(taken, acts, strict=False):
        await change(store, Changes(settles=(Settle(act=act, entry=leased.entry, token=leased.token, at=START),)))
    await change(store, Changes(posts=(post(51, aside="a bug"),)))
    await change(store, Changes(setups=(Setup(mailbox="inbox", max_messages=1_000),)))
    await gate(store)
    return await put_large(store, 52)


async def gate(store: SqliteStore) -> None:
    """Put something into the tables of the gate."""
    activation = Activation(book="rules", number=1, at=START)
    account = Account(name="ada", address="ada@example.org")
    gated = Changes(cases=(case(1),), dockets=(docket(1),), mailbags=(mailbag(),), audits=(audited(), audited("ada")))
    await change(store, gated)
    await change(store, Changes(editions=(edition(1),), activations=(activation,), accounts=(account,)))
    last = await store.gate.audit.last()
    assert last is not None
    seal = Seal(number=2, epoch=last.epoch, chain=last.chain, at=START, office="local:", key=b"k" * 32)
    await change(store, Changes(seals=(seal,)))


async def gate_of(store: SqliteStore) -> list[object]:
    """Give what stands in the tables of the gate."""
    cases, books, audit = store.gate.cases, store.gate.books, store.gate.audit
    return [
        await cases.case(case_id(1)), await cases.dockets(DocketFilter()), await cases.counts(),
        await cases.mailbags(), await books.editions("rules"), await books.activations("rules"),
        await audit.lines(), await audit.seals(), await store.credentials.accounts(), (await store.register()).books,
    ]  # fmt: skip


async def holds(store: SqliteStore, box: str = "#inbox") -> list[int]:
    return [number_of(queued.message) for queued in await store.queue.entries(box, limit=100_000)]
