"""The stores that must keep the contract; another one joins by a line in ADAPTERS."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from posthouse.store.memory.store import MemoryStore
from posthouse.store.ports import Store

Opening = Callable[[Path], AbstractAsyncContextManager[Store]]


@asynccontextmanager
async def memory(_folder: Path) -> AsyncIterator[Store]:
    store = await MemoryStore.open()
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def sqlite(folder: Path) -> AsyncIterator[Store]:
    module = pytest.importorskip("posthouse.store.sqlite.store", exc_type=ImportError)
    store = await module.SqliteStore.open(folder / "office.db")
    try:
        yield store
    finally:
        await store.close()


ADAPTERS: dict[str, Opening] = {
    "memory": memory,
    "sqlite": sqlite,
}
