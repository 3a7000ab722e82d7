"""What can be read of the gate on SQLite: pages of dockets are merged from the piles, each read in its order."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby, islice
from typing import Any, Final, TypeVar
from uuid import UUID

import apsw

from posthouse.message.audit import Seal
from posthouse.message.case import Activation, Case, Docket, Edition, Mailbag
from posthouse.store.gateports import (
    AuditLine,
    DocketCount,
    DocketFilter,
    DocketOrder,
    DocketPlace,
    is_chosen,
    key_of,
)
from posthouse.store.sqlite.gaterows import (
    activation_of,
    case_of,
    docket_of,
    edition_of,
    line_of,
    mailbag_of,
    seal_of,
)
from posthouse.store.sqlite.reader import Reader, id_range

Value = TypeVar("Value")
# What a docket is ordered by, its case, its turn and its row. `Any`: the first is a number or a text by the order.
_Place = tuple[Any, bytes, int, int]

_COLUMNS: Final = {"due": "due", "arrival": "arrived", "sender": "sender"}
_FIRST: Final[Mapping[str, _Place]] = {
    "due": (-(2**63), b"", 0, 0),
    "arrival": (-(2**63), b"", 0, 0),
    "sender": ("", b"", 0, 0),
}
_FEW: Final = 4
"""So many dockets of a pile are read first where many piles are merged."""


class SqliteGate:
    """See `gateports.GateShelves`."""

    def __init__(self, reader: Reader) -> None:
        self.cases = SqliteCases(reader)
        self.books = SqliteBooks(reader)
        self.audit = SqliteAudit(reader)
        self.lookup = SqliteLookup(reader)


class SqliteCases:
    """See `gateports.Cases`."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def case(self, identity: UUID) -> Case | None:
        rows = await self._reader.rows("case", identity.bytes)
        return case_of(rows[0][0]) if rows else None

    async def of_message(self, message: UUID) -> list[Case]:
        return _decoded(case_of, await self._reader.rows("cases-of-message", message.bytes))

    async def dockets(
        self, chosen: DocketFilter, *, order: DocketOrder = "due", after: DocketPlace | None = None, limit: int = 100
    ) -> list[Docket]:
        if chosen.case is not None or chosen.message is not None:
            return await self._few(chosen, order=order, after=after, limit=limit)
        return await self._reader.run(
            lambda connection, sql: _page(
                _Piles(connection, sql, order=order, chosen=chosen), after, limit=max(limit, 0)
            )
        )

    async def counts(self, gatekeeper: str | None = None) -> list[DocketCount]:
        return [DocketCount(*row) for row in await self._reader.rows("counts", gatekeeper)]

    async def due(self, now: int, limit: int) -> list[Docket]:
        return await self._reader.run(lambda connection, sql: _due(connection, sql, now=now, limit=limit))

    async def next_due(self) -> int | None:
        instant: int | None = (await self._reader.rows("next-due-of-gate"))[0][0]
        return instant

    async def mailbags(self, gatekeeper: str | None = None) -> list[Mailbag]:
        found = _decoded(mailbag_of, await self._reader.rows("mailbags", gatekeeper))
        return sorted(found, key=lambda mailbag: (mailbag.gatekeeper, mailbag.name, mailbag.id))

    async def _few(
        self, chosen: DocketFilter, *, order: DocketOrder, after: DocketPlace | None, limit: int
    ) -> list[Docket]:
        """Give a page of the dockets of one case or message, of which there are never many."""
        if chosen.case is not None:
            rows = await self._reader.rows("dockets-of-case", chosen.case.bytes)
        else:
            rows = await self._reader.rows("dockets-of-message", chosen.message.bytes if chosen.message else b"")
        found = {_place(docket, order): docket for docket in _decoded(docket_of, rows) if is_chosen(docket, chosen)}
        behind = _behind(order, after)
        return [found[place] for place in sorted(found) if place > behind][: max(limit, 0)]


class SqliteBooks:
    """See `gateports.Books`."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def edition(self, book: str, number: int) -> Edition | None:
        rows = await self._reader.rows("edition", book, number)
        return edition_of(rows[0][0]) if rows else None

    async def editions(self, book: str) -> list[Edition]:
        return _decoded(edition_of, await self._reader.rows("editions", book))

    async def activations(self, book: str) -> list[Activation]:
        return _decoded(activation_of, await self._reader.rows("activations", book))

    async def titles(self) -> list[str]:
        return [row[0] for row in await self._reader.rows("titles")]


class SqliteAudit:
    """See `gateports.Audit`."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def lines(self, *, after: int = 0, limit: int = 1_000) -> list[AuditLine]:
        return list(map(line_of, await self._reader.rows("audit-lines", after, max(limit, 0))))

    async def of_subject(self, subject: str, *, after: int = 0, limit: int = 1_000) -> list[AuditLine]:
        return list(map(line_of, await self._reader.rows("audit-of-subject", subject, after, max(limit, 0))))

    async def last(self) -> AuditLine | None:
        rows = await self._reader.rows("audit-last")
        return line_of(rows[0]) if rows else None

    async def seals(self, *, after: int = 0, limit: int = 1_000) -> list[Seal]:
        return _decoded(seal_of, await self._reader.rows("seals", after, max(limit, 0)))


class SqliteLookup:
    """See `gateports.Lookup`."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def find(self, prefix: str, limit: int) -> list[UUID]:
        within = id_range(prefix)
        rows = await self._reader.rows("cases-find", *within, limit) if within else []
        return [UUID(bytes=bytes(row[0])) for row in rows]


class _Piles:
    """The piles as one connection reads them in one order."""

    def __init__(
        self, connection: apsw.Connection, sql: Mapping[str, str], *, order: DocketOrder, chosen: DocketFilter
    ) -> None:
        self.connection = connection
        self.sql = sql
        self.order = order
        self.chosen = chosen
        self._bindings: tuple[str | None, ...] = ()
        name = "docket-keys"
        if chosen.sender is not None:
            name, self._bindings = "docket-keys-of-sender", (chosen.status, chosen.sender)
        elif chosen.status is not None:
            name, self._bindings = "docket-keys-of-status", (chosen.status,)
        self._statement = sql[name].replace("@order", _COLUMNS[order])

    def chosen_piles(self) -> list[tuple[int, int]]:
        """Give the piles that are meant, each with 1 for what is open in it or 0 for what is not."""
        # `Any`: rows of what the statement gives.
        piles: list[Any] = self.connection.execute(
            self.sql["piles-chosen"], (self.chosen.gatekeeper, self.chosen.folder)
        ).fetchall()
        wanted = [(pile, 1) for pile, held in piles if held] if self.chosen.is_open is not False else []
        return wanted + ([(pile, 0) for pile, _ in piles] if not self.chosen.is_open else [])

    def run(self, pile: int, state: int, *, behind: _Place, few: int, most: int) -> Iterator[_Place]:
        """Give the places of one pile, a few at first and more each time."""
        while True:
            rows: list[Any] = self.connection.execute(
                self._statement, (pile, state, *behind[:3], few, *self._bindings)
            ).fetchall()
            yield from rows
            if len(rows) < few:
                return
            behind = rows[-1]
            few = min(few * 4, most)

    def fetch(self, places: list[_Place]) -> list[Docket]:
        """Give the dockets that stand at these places."""
        statement = self.sql["docket"]
        return [docket_of(self.connection.execute(statement, place[3:]).get) for place in places]


def _page(piles: _Piles, after: DocketPlace | None, *, limit: int) -> list[Docket]:
    wanted = piles.chosen_piles()
    few = limit if len(wanted) == 1 else min(limit, _FEW + 2 * limit // max(len(wanted), 1))
    behind = _behind(piles.order, after)
    runs = [piles.run(pile, state, behind=behind, few=few, most=limit) for pile, state in wanted]
    return piles.fetch(list(islice(heapq.merge(*runs), limit))) if limit else []


def _due(connection: apsw.Connection, sql: Mapping[str, str], *, now: int, limit: int) -> list[Docket]:
    """Take one docket of each gatekeeper in turn, until the page is full or nothing is due any more."""
    piles = _Piles(connection, sql, order="due", chosen=DocketFilter())
    rows: list[Any] = connection.execute(sql["piles-due"], (now,)).fetchall()
    turns = []
    for _, group in groupby(rows, key=lambda row: row[0]):
        runs = [piles.run(pile, state, behind=_FIRST["due"], few=_FEW, most=limit) for _, pile, state in group]
        turns.append(heapq.merge(*runs))
    found: list[_Place] = []
    while turns and len(found) < limit:
        heads = [(turn, place) for turn in turns if (place := next(turn, None)) is not None and place[0] <= now]
        found += sorted(place for _, place in heads)[: limit - len(found)]
        turns = [turn for turn, _ in heads]
    return piles.fetch(sorted(found))


def _place(docket: Docket, order: DocketOrder) -> _Place:
    return (key_of(docket, order), docket.case.bytes, docket.turn, 0)


def _behind(order: DocketOrder, after: DocketPlace | None) -> _Place:
    return _FIRST[order] if after is None else (after.key, after.case.bytes, after.turn, 0)


def _decoded(decode: Callable[[bytes], Value], rows: list[Any]) -> list[Value]:
    return [decode(row[0]) for row in rows]
