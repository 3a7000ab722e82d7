"""An office in a process of its own: `posthouse serve`, as anybody would start it."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from bench.figure import Stopwatch
from posthouse.office.calls import AskStatus
from posthouse.server.assemble import reach_house


class Served(NamedTuple):
    """A running office, and how long it took."""

    process: Process
    ready_s: float
    """From the start of the process until it had answered its first question."""


_ANY_PORT: Final[Mapping[str, str]] = MappingProxyType({"http.listen": "127.0.0.1:0"})


@asynccontextmanager
async def served(store: Path, settings: Mapping[str, str] = _ANY_PORT) -> AsyncIterator[Served]:
    """Run an office on a store; it is told to stop at the end, where it still runs."""
    program = Path(sys.executable).with_name("posthouse")
    told = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    watch = Stopwatch()
    process = await asyncio.create_subprocess_exec(
        program, "serve", "--store", store, *told, stdout=PIPE, stderr=DEVNULL
    )
    try:
        assert process.stdout is not None
        line = await process.stdout.readline()
        assert line, "posthouse serve ended before it was ready"
        link = await reach_house(store)
        await link.answer(AskStatus())
        ready = watch.wall()
        await link.close()
        yield Served(process, ready)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
