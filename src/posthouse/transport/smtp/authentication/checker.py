"""Checks mails as they arrive: beside the loop, a few at a time, each within its time and never to its loss."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import structlog

from posthouse.message.arrival import Arrival
from posthouse.transport.smtp.authentication.lookup import Lookup, Questions

# They wait for the DNS most of the time.
_THREADS: Final = 16

_log = structlog.get_logger("posthouse.smtp")


class Checker:
    """As `office.mailroom.Authenticator` asks."""

    def __init__(self, lookup: Lookup, *, seconds: float) -> None:
        self._lookup = lookup
        self._seconds = seconds
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="posthouse-mail-check")

    async def check(self, mail: bytes, arrival: Arrival, *, sender: str | None, whole: bool) -> Mapping[str, str]:
        if arrival.user:
            # The office knows who it is.
            return {}
        deadline = time.monotonic() + self._seconds
        work = asyncio.get_running_loop().run_in_executor(
            self._pool, self._work, (mail, whole, arrival.client, arrival.helo, sender), deadline
        )
        try:
            async with asyncio.timeout(self._seconds):
                return await work
        except TimeoutError:
            _log.warning("mail.check-late", client=arrival.client, seconds=self._seconds)
        except Exception as fault:  # noqa: BLE001 - a mail is taken whatever becomes of its checks
            _log.error("mail.check-stumbled", client=arrival.client, fault=type(fault).__name__, exc_info=True)
        return dict.fromkeys(("spf", "dkim", "dmarc", "arc"), "temperror")

    def close(self) -> None:
        """Take no more; what is under way ends with its time."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _work(self, case: tuple[bytes, bool, str, str, str | None], deadline: float) -> dict[str, str]:
        # Its libraries are loaded with the first mail.
        from posthouse.transport.smtp.authentication.assessment import Case, assess  # noqa: PLC0415

        return assess(Case(*case), Questions(self._lookup, time.monotonic, deadline=deadline))
