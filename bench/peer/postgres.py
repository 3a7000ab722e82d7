"""PostgreSQL as a queue: one table, `FOR UPDATE SKIP LOCKED`, every commit synced."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from bench.figure import Missing

WHO: Final = "PostgreSQL"
MISSING: Final = Missing(WHO, "pip install pgserver 'psycopg[binary]'")

_TABLE: Final = """
CREATE TABLE message (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, mailbox text NOT NULL, data bytea NOT NULL);
CREATE INDEX message_mailbox ON message (mailbox, seq);
"""
_ACCEPT: Final = "INSERT INTO message (mailbox, data) SELECT * FROM unnest(%s::text[], %s::bytea[])"
_TAKE: Final = "SELECT seq, data FROM message WHERE mailbox = %s ORDER BY seq LIMIT %s FOR UPDATE SKIP LOCKED"
_DONE: Final = "DELETE FROM message WHERE seq = ANY(%s)"

Letter = tuple[str, bytes]


class Postgres:
    """One table, and some connections to it."""

    # `Any`: the client is no dependency of the project, so its types are not known here.
    def __init__(self, connections: Sequence[Any]) -> None:
        self._connections = connections

    async def accept(self, messages: Sequence[Letter], *, rows: int) -> None:
        """Insert messages over one connection, so many in a transaction."""
        await self._insert(self._connections[0], messages, rows)

    async def accept_at_once(self, messages: Sequence[Letter], *, rows: int) -> None:
        """Insert messages over all connections."""
        width = len(self._connections)
        shares = [messages[number::width] for number in range(width)]
        inserting = (self._insert(one, share, rows) for one, share in zip(self._connections, shares, strict=True))
        await asyncio.gather(*inserting)

    async def flow(self, messages: Sequence[Letter], *, rows: int) -> None:
        """Let half of the connections insert messages while the other half takes and deletes them."""
        half = len(self._connections) // 2
        boxes = sorted({mailbox for mailbox, _ in messages})
        working = []
        for number in range(half):
            share = [each for each in messages if each[0] in boxes[number::half]]
            working.append(self._insert(self._connections[number], share, rows))
            working.append(self._take(self._connections[half + number], boxes[number::half], count=len(share)))
        await asyncio.gather(*working)

    async def _insert(self, connection: Any, messages: Sequence[Letter], rows: int) -> None:
        for start in range(0, len(messages), rows):
            part = messages[start : start + rows]
            await connection.execute(_ACCEPT, ([box for box, _ in part], [data for _, data in part]), binary=True)

    async def _take(self, connection: Any, boxes: Sequence[str], *, count: int) -> None:
        while count > 0:
            found = 0
            for box in boxes:
                async with connection.transaction():
                    taken = await (await connection.execute(_TAKE, (box, 64))).fetchall()
                    if taken:
                        await connection.execute(_DONE, ([seq for seq, _ in taken],))
                found += len(taken)
            count -= found
            if not found:
                await asyncio.sleep(0.001)


def is_missing() -> bool:
    """Say whether the server or its client is not on this machine."""
    return importlib.util.find_spec("pgserver") is None or importlib.util.find_spec("psycopg") is None


@asynccontextmanager
async def postgres(folder: Path, *, connections: int) -> AsyncIterator[Postgres]:
    """Run a server on a folder of its own."""
    psycopg = importlib.import_module("psycopg")
    server = await asyncio.to_thread(importlib.import_module("pgserver").get_server, folder / "postgres")
    try:
        async with AsyncExitStack() as open_ones:
            opened = []
            for _ in range(connections):
                connection = await psycopg.AsyncConnection.connect(server.get_uri(), autocommit=True)
                opened.append(await open_ones.enter_async_context(connection))
            await opened[0].execute(_TABLE)
            yield Postgres(opened)
    finally:
        await asyncio.to_thread(server.cleanup)
