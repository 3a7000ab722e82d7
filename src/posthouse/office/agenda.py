"""The agenda: the next instant at which something happens by itself, told by everybody who writes to a store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from posthouse.clock import Clock
from posthouse.message.changes import Changes, Entry
from posthouse.office.waiting import heard

_RENEWING: Final = frozenset({"renew", "retry"})


class Agenda:
    """What the timekeeper sleeps by."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._news = asyncio.Event()
        self._until = 0
        self.desk: Agenda | None = None
        """The agenda of the desk, which hears of dockets from whoever writes them."""

    def expect(self, instant: int) -> None:
        """Hear that something will happen at an instant, maybe before all that was known."""
        if instant < self._until:
            self._news.set()

    def note(self, changes: Iterable[Changes]) -> None:
        """Hear of changes that were just written."""
        for change in changes:
            if change.take is not None:
                self.expect(change.take.until)
            for settle in change.settles:
                if settle.act in _RENEWING:
                    self.expect(settle.at)
            for post in change.posts:
                self._note_entries(post.entries)
            for onward in change.onwards:
                self._note_entries(onward.entries)
            for resend in change.resends:
                self._note_entries(resend.entries)
            if self.desk is not None and (change.dockets or change.mailbags):
                self.desk.note_desk(change)

    def note_desk(self, change: Changes) -> None:
        """Hear of dockets and mailbags that were just written."""
        for docket in change.dockets:
            if docket.due is not None:
                self.expect(docket.due)
            if docket.expires is not None and docket.is_open:
                self.expect(docket.expires)
        for mailbag in change.mailbags:
            if mailbag.next_run is not None:
                self.expect(mailbag.next_run)

    def look_up_to(self, instant: int) -> None:
        """Begin to look for what comes next, at this instant at the latest; what is told from now on counts."""
        self._news.clear()
        self._until = instant

    async def sleep_until(self, instant: int) -> None:
        """Sleep until an instant, or until something was told that comes before it.

        Never beyond the instant up to which was looked: what was told meanwhile of later ones was not kept.
        """
        self._until = min(instant, self._until)
        await heard(self._news, self._clock, until=self._until)

    def _note_entries(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            if entry.not_before is not None:
                self.expect(entry.not_before)
            if entry.expires is not None:
                self.expect(entry.expires)
