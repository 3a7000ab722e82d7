"""Lanes in SQL: which entries stand at the front, and which of them a take may lease.

The front of a lane is kept up to date as entries come and go, so that a take reads a short index of fronts however deep
the lanes behind them are.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import apsw
import msgspec

from posthouse.message.changes import Filter
from posthouse.store.sqlite.rows import LEASED, numbers

_encode: Final = msgspec.json.encode
_decode: Final = msgspec.json.decode

# How many entries of a lane one look reads.
_RUN: Final = 64

HEAD, FIRST_OF_KIND, BEHIND = 2, 1, 0


class Place(NamedTuple):
    """A lane of a box, at one priority, and a kind in it."""

    box: int
    lane: int
    priority: int
    kind: str

    @property
    def whole(self) -> tuple[int, int, int]:
        """The lane without the kind."""
        return self.box, self.lane, self.priority


class Candidate(NamedTuple):
    """An entry a take may look at."""

    urgency: int
    """The priority turned round, so that the smallest comes first."""
    seq: int
    free: bool
    """Neither leased nor pausing."""
    expired: bool


class Newcomers:
    """The lanes that the entries of one group enter, one after the other; the database does not know of them yet."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[int, int, int], tuple[str, ...]] = {}

    def mark(self, box: int, lane: int, *, priority: int, kind: str) -> int:
        """Note the next entry; give the highest front mark it may get, as far as those before it in the group say."""
        whole = (box, lane, priority)
        kinds = self._kinds.get(whole)
        if kinds is None:
            self._kinds[whole] = (kind,)
            return HEAD
        if kind in kinds:
            return BEHIND
        self._kinds[whole] = (*kinds, kind)
        return FIRST_OF_KIND


class Lanes:
    """The lanes of one database, seen from its writer's transaction."""

    def __init__(self, cursor: apsw.Cursor, sql: dict[str, str]) -> None:
        self._cursor = cursor
        self._sql = sql

    def promote(self, removed: dict[Place, int]) -> None:
        """Mark the new fronts after entries with these marks have left these places."""
        places = [place for place, front in removed.items() if front]
        heads: set[int] = set()
        firsts: set[int] = set()
        for place, (lowest, highest, first) in zip(places, self._bulk("lanes-first", places), strict=True):
            if removed[place] == HEAD and lowest is not None:
                heads.add(first if lowest == highest == place.kind else self._head(place))
            if first is not None:
                firsts.add(first)
        if heads:
            self._cursor.execute(self._sql["front-set"], (numbers(heads), HEAD)).fetchall()
        if firsts - heads:
            self._cursor.execute(self._sql["front-raise"], (numbers(firsts - heads),)).fetchall()

    def choose(self, box: int, chosen: Filter, *, now: int, limit: int) -> list[int]:
        """Give the entries a take leases, in their order."""
        if chosen.correlation is not None:
            return self._choose_correlated(box, chosen, now, limit)
        if chosen.kind is not None:
            rows = self._packed("fronts-of-kind", (box, chosen.kind, now, limit + 64))
        else:
            rows = self._packed("fronts", (box, now, limit + 64))
        if limit == 1 and rows and not _is_past(rows[0][4], now):
            return [rows[0][0]]
        runs = [self._run(box, row, chosen.kind, now) for row in rows]
        return _merge(runs, limit)

    def _run(self, box: int, front: Any, only_kind: str | None, now: int) -> Iterator[Candidate]:
        """Walk a lane from its front; the rest of it is read only when somebody gets that far."""
        seq, lane, priority, _, expires = front
        yield Candidate(-priority, seq, free=True, expired=_is_past(expires, now))
        kinds = [only_kind] if only_kind is not None else self._kinds(box, lane, priority)
        walks = [self._walk(Place(box, lane, priority, kind), seq, now) for kind in kinds]
        yield from walks[0] if len(walks) == 1 else heapq.merge(*walks)

    def _walk(self, place: Place, after: int, now: int) -> Iterator[Candidate]:
        rows: list[Any] = [()]
        while rows:
            rows = self._packed("lane-run", (*place, after, _RUN))
            for seq, state, ready_at, expires in rows:
                expired = state != LEASED and _is_past(expires, now)
                free = expired or (state != LEASED and ready_at <= now)
                yield Candidate(-place.priority, seq, free, expired)
                after = seq

    def _choose_correlated(self, box: int, chosen: Filter, now: int, limit: int) -> list[int]:
        taken: list[int] = []
        blocked: set[tuple[int, int]] = set()
        rows: Any = self._cursor.execute(self._sql["correlated"], (box, chosen.correlation))
        for seq, lane, priority, kind, state, ready_at, expires in rows:
            if chosen.kind is not None and kind != chosen.kind:
                continue
            if state != LEASED and _is_past(expires, now):
                continue
            if state == LEASED or ready_at > now:
                blocked.add((lane, priority))
            elif (lane, priority) not in blocked:
                taken.append(seq)
                if len(taken) == limit:
                    break
        return taken

    def _kinds(self, box: int, lane: int, priority: int) -> list[str]:
        rows: Any = self._cursor.execute(self._sql["lane-kinds"], (box, lane, priority)).fetchall()
        return [row[0] for row in rows]

    def _head(self, place: Place) -> int:
        firsts: list[int] = []
        for kind in self._kinds(*place.whole):
            first: Any = self._cursor.execute(self._sql["lane-first"], (*place.whole, kind)).get
            firsts.append(first)
        return min(firsts)

    def _bulk(self, statement: str, places: Sequence[Place]) -> list[Any]:
        if not places:
            return []
        return self._packed(statement, (_encode(places).decode(),))

    def _packed(self, statement: str, bindings: tuple[Any, ...]) -> list[Any]:
        """Run a statement that answers with one JSON list; see the statement `leased` for why."""
        answer: Any = self._cursor.execute(self._sql[statement], bindings).get
        rows: list[Any] = _decode(answer)
        return rows


def _merge(runs: list[Iterator[Candidate]], limit: int) -> list[int]:
    """Take the best of all lanes, one by one; a lane ends at the first entry that is not free."""
    taken: list[int] = []
    heap = [(next(run), number) for number, run in enumerate(runs)]
    heapq.heapify(heap)
    while heap and len(taken) < limit:
        best, number = heap[0]
        if best.free and not best.expired:
            taken.append(best.seq)
        following = next(runs[number], None) if best.free else None
        if following is None:
            heapq.heappop(heap)
        else:
            heapq.heapreplace(heap, (following, number))
    return taken


def _is_past(expires: int | None, now: int) -> bool:
    return expires is not None and expires <= now
