"""Which entries of a box a take may lease, found without looking at those behind the heads of the lanes.

An entry stands in a `View` for each filter it matches. A view keeps its lanes' heads in a heap; what the heap says is
only a hint and is checked against the lane when it is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush, heapreplace
from itertools import islice
from typing import Final

from posthouse.store.memory.row import Row

_SWEEP_FROM: Final = 64


class Lane:
    """The entries of one lane and priority that match one filter, in order of arrival; held ones are not here."""

    __slots__ = ("_rows", "_start", "offered", "present", "ticket", "urgency", "view")

    def __init__(self, view: View, priority: int) -> None:
        self.view = view
        self.urgency = -priority
        self.present = 0
        self.offered = False
        """The view's heaps hold a hint to it, under its latest `ticket`."""
        self.ticket = 0
        self._rows: list[Row] = []
        self._start = 0

    def append(self, row: Row) -> None:
        self._rows.append(row)
        self.present += 1

    def leave(self, row: Row) -> None:
        """Take note that one of its rows is gone."""
        self.present -= 1
        if len(self._rows) - self._start > 2 * self.present + _SWEEP_FROM:
            self._rows = [other for other in self._rows[self._start :] if not other.gone]
            self._start = 0
        if not self.present:
            del self.view.lanes[row.entry.lane, row.entry.priority]
        elif not self.offered:
            self.view.offer(self)

    def look_again(self) -> None:
        """Take note that a row may be leased that could not be before."""
        self.view.offer(self)

    def head(self, now: int) -> Row | None:
        """Give the first row that counts; rows that expired before it are left behind for good."""
        rows, start = self._rows, self._start
        while start < len(rows):
            row = rows[start]
            if not row.gone:
                if row.expires > now or row.state == "leased":
                    break
                self.view.left_behind = max(self.view.left_behind, row.expires)
            start += 1
        if start > _SWEEP_FROM and 2 * start > len(rows):
            del rows[:start]
            start = 0
        self._start = start
        return rows[start] if start < len(rows) else None

    def run(self, now: int) -> Iterator[Row]:
        """Give the rows that can be leased now, from the head to the first that blocks."""
        for row in islice(self._rows, self._start, None):
            if row.gone or (row.expires <= now and row.state != "leased"):
                continue
            if row.state == "leased" or row.pause > now:
                return
            yield row


Hint = tuple[int, int, int, Lane]


class View:
    """What takes with one filter see of a box."""

    __slots__ = ("_pausing", "_ready", "lanes", "left_behind")

    def __init__(self) -> None:
        self.lanes: dict[tuple[int, int], Lane] = {}
        self.left_behind = 0
        """The latest expiry of a row left behind; before that instant the lanes must be made anew."""
        # (urgency, number of the head, ticket, lane) and (instant to look again, number of the head, ticket, lane).
        self._ready: list[Hint] = []
        self._pausing: list[Hint] = []

    def add(self, row: Row) -> Lane:
        """Put a row at the end of its lane."""
        entry = row.entry
        key = (entry.lane, entry.priority)
        lane = self.lanes.get(key)
        if lane is None:
            lane = self.lanes[key] = Lane(self, entry.priority)
        lane.append(row)
        if not lane.offered:
            self.offer(lane)
        return lane

    def offer(self, lane: Lane) -> None:
        """Hint that the lane's head may be taken."""
        head = lane.head(-1)
        if head is None or head.state == "leased":
            return
        lane.offered = True
        lane.ticket += 1
        heappush(self._ready, (lane.urgency, head.number, lane.ticket, lane))
        if len(self._ready) + len(self._pausing) > 4 * len(self.lanes) + _SWEEP_FROM:
            self._sweep()

    def choose(self, now: int, limit: int) -> list[Row]:
        """Give the best rows to lease, as if drawn one by one, those drawn blocking nobody."""
        self._end_pauses(now)
        chosen: list[Row] = []
        opened: list[tuple[int, int, Row, Iterator[Row]]] = []
        while len(chosen) < limit:
            while self._ready and (not opened or self._ready[0][:2] < opened[0][:2]):
                lane = self._draw(now)
                if lane is not None:
                    run = lane.run(now)
                    head = next(run)
                    heappush(opened, (lane.urgency, head.number, head, run))
            if not opened:
                break
            urgency, _, row, run = opened[0]
            chosen.append(row)
            following = next(run, None) if len(chosen) < limit else None
            if following is None:
                heappop(opened)
            else:
                heapreplace(opened, (urgency, following.number, following, run))
        return chosen

    def _draw(self, now: int) -> Lane | None:
        """Follow the best hint: give its lane if the head can be leased, else put the hint right or drop it."""
        urgency, number, ticket, lane = heappop(self._ready)
        if ticket != lane.ticket or not lane.present:
            return None
        head = lane.head(now)
        lane.offered = False
        if head is None or head.state == "leased":
            return None
        if head.number == number and head.pause <= now:
            return lane
        lane.offered = True
        if head.pause > now:
            # Once it expires it blocks nobody, pause or not.
            heappush(self._pausing, (min(head.pause, head.expires), head.number, ticket, lane))
        else:
            heappush(self._ready, (urgency, head.number, ticket, lane))
        return None

    def _end_pauses(self, now: int) -> None:
        while self._pausing and self._pausing[0][0] <= now:
            _, number, ticket, lane = heappop(self._pausing)
            heappush(self._ready, (lane.urgency, number, ticket, lane))

    def _sweep(self) -> None:
        for hints in (self._ready, self._pausing):
            hints[:] = [hint for hint in hints if hint[2] == hint[3].ticket and hint[3].offered and hint[3].present]
            heapify(hints)
