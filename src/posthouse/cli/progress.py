"""Signs of life on a terminal, for what takes longer than two seconds."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

_PATIENCE: Final = 2.0


class Tally:
    """How far something is; what counts it need not know who looks."""

    def __init__(self, total: int | None = None) -> None:
        self.done = 0
        self.total = total

    def add(self, count: int) -> None:
        """Count what was done."""
        self.done += count


@asynccontextmanager
async def progress(doing: str, total: int | None = None) -> AsyncIterator[Tally]:
    """Show what is being done while the block runs, once it has run for two seconds and somebody can see it."""
    tally = Tally(total)
    if not sys.stderr.isatty():
        yield tally
        return
    showing = asyncio.create_task(_show(doing, tally))
    try:
        yield tally
    finally:
        showing.cancel()
        await asyncio.gather(showing, return_exceptions=True)


async def _show(doing: str, tally: Tally) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    await asyncio.sleep(_PATIENCE)
    bar = [BarColumn()] if tally.total else []
    columns = [SpinnerColumn(), TextColumn("{task.description}"), *bar, TextColumn("{task.fields[told]}")]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(doing, total=tally.total, told="")
        while True:  # the eye wants a picture now and then, whatever happens
            count = f"{tally.done:,}, " if tally.done else ""
            bars.update(task, completed=tally.done, told=f"{count}{loop.time() - began:.0f} s")
            await asyncio.sleep(0.2)
