"""Work that blocks, such as reading from a terminal, done so that Ctrl-C never has to wait for it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")


async def apart(work: Callable[[], Answer]) -> Answer:
    """Do something in a thread of its own, which the end of the process does not wait for."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Answer] = loop.create_future()

    def settle(settling: Callable[[], None]) -> None:
        if not answer.done():
            settling()

    def run() -> None:
        try:
            result = work()
        except BaseException as fault:  # noqa: BLE001 - handed on to whoever waits for the answer
            settling = _failing(answer, fault)
        else:
            settling = _giving(answer, result)
        # The loop may have ended meanwhile: then nobody waits any more.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, settling)

    threading.Thread(target=run, daemon=True).start()
    return await answer


def _giving(answer: asyncio.Future[Answer], result: Answer) -> Callable[[], None]:
    return lambda: answer.set_result(result)


def _failing(answer: asyncio.Future[Answer], fault: BaseException) -> Callable[[], None]:
    return lambda: answer.set_exception(fault)
