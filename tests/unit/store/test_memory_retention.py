"""A memory store that runs for months remembers only the latest of what it is done with."""

from __future__ import annotations

from posthouse.message.changes import Changes, Settle, Take
from posthouse.store.memory.store import MemoryStore
from posthouse.testing.build import SECOND, START, identity, post


async def deal_with(store: MemoryStore, number: int) -> None:
    await store.commit([Changes(posts=(post(number),))])
    take = Take(box="#inbox", now=START, until=START + SECOND, holder="somebody")
    (leased,) = (await store.commit([Changes(take=take)]))[0].taken
    await store.commit([Changes(settles=(Settle(act="done", entry=leased.entry, token=leased.token, at=START),))])


async def test_letters_done_with_are_forgotten_oldest_first() -> None:
    store = await MemoryStore.open(retain=2)
    for number in range(5):
        await deal_with(store, number)
    known = [await store.journal.letter(identity(number)) is not None for number in range(5)]
    assert known == [False, False, False, True, True]


async def test_letters_that_wait_are_never_forgotten() -> None:
    store = await MemoryStore.open(retain=0)
    await store.commit([Changes(posts=(post(7),))])
    for number in range(3):
        await store.commit([Changes(posts=(post(number),))])
    assert await store.journal.letter(identity(7)) is not None


async def test_everything_is_remembered_where_nothing_is_said() -> None:
    store = await MemoryStore.open()
    for number in range(5):
        await deal_with(store, number)
    assert await store.journal.letter(identity(0)) is not None
