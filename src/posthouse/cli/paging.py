"""Long lists, asked of the office page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from posthouse.client import Office
from posthouse.office.calls import ListAside, ListDead, ListMailboxes, ListQueue
from posthouse.store.ports import Aside, Dead, Depth, Queued

_PAGE: Final = 500


async def all_depths(office: Office) -> AsyncIterator[Depth]:
    """Give how full each box is, by name."""
    after = ""
    while page := await office.call(ListMailboxes(after=after, limit=_PAGE)):
        for depth in page:
            yield depth
        after = page[-1].box


async def queued(office: Office, box: str, *, limit: int | None) -> AsyncIterator[Queued]:
    """Give what waits in a box, in order of arrival."""
    after = count = 0
    while page := await office.call(ListQueue(box=box, after=after, limit=_page(limit, count))):
        for entry in page:
            yield entry
        after, count = page[-1].entry, count + len(page)


async def dead_letters(office: Office, box: str | None, *, kind: str | None, limit: int | None) -> AsyncIterator[Dead]:
    """Give dead letters, oldest first."""
    after = count = 0
    while page := await office.call(ListDead(box=box, kind=kind, after=after, limit=_page(limit, count))):
        for dead in page:
            yield dead
        after, count = page[-1].number, count + len(page)


async def set_aside(office: Office, limit: int | None) -> AsyncIterator[Aside]:
    """Give what was set aside, oldest first."""
    after = count = 0
    while page := await office.call(ListAside(after=after, limit=_page(limit, count))):
        for aside in page:
            yield aside
        after, count = page[-1].number, count + len(page)


def _page(limit: int | None, count: int) -> int:
    """Give how many to ask for, after so many."""
    return _PAGE if limit is None else max(0, min(_PAGE, limit - count))
