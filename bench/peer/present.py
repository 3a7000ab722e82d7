"""The peers that are on this machine, running for one measurement; what is not here is said, never fetched."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import NamedTuple

from bench.figure import Missing
from bench.peer import jetstream, postgres
from bench.peer.jetstream import JetStream
from bench.peer.postgres import Postgres
from bench.peer.sqlite import BareSqlite


class Peers(NamedTuple):
    """The peers of one measurement."""

    sqlite: BareSqlite
    jetstream: JetStream | None
    postgres: Postgres | None

    @property
    def missing(self) -> list[Missing]:
        """Say which ones are not here."""
        advice = ((self.jetstream, jetstream.MISSING), (self.postgres, postgres.MISSING))
        return [missing for peer, missing in advice if peer is None]


@asynccontextmanager
async def peers(folder: Path, *, connections: int) -> AsyncIterator[Peers]:
    """Start what is here, each on a folder of its own below this one."""
    async with AsyncExitStack() as running:
        bare = running.enter_context(closing(BareSqlite(folder)))
        stream = server = None
        if not jetstream.is_missing():
            stream = await running.enter_async_context(jetstream.jetstream(folder))
        if not postgres.is_missing():
            server = await running.enter_async_context(postgres.postgres(folder, connections=connections))
        yield Peers(bare, stream, server)
