"""Opens what a power cut left and compares it with the book."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import apsw

from posthouse.errors import PosthouseError
from posthouse.message.case import Docket
from posthouse.store.sqlite.checking import Check
from posthouse.store.sqlite.connection import open_reader
from posthouse.store.sqlite.gaterows import case_of, docket_of
from posthouse.store.sqlite.store import SqliteStore
from posthouse.testing.build import number_of
from posthouse.testing.disk import Disk, Layer
from posthouse.testing.powercut import State
from tests.scenario.crash.book import ABSENT, ASIDE, DEAD, GONE, REGISTER, SHELF, Book, Place, Stage, queued
from tests.scenario.crash.gating import GATED, stage_of

ENTRIES = (
    "SELECT j.id, b.name, e.state, e.token FROM entry e JOIN box b ON b.id = e.box JOIN journal j ON j.seq = e.message"
)
DEAD_LETTERS = "SELECT j.id, d.box FROM dead d JOIN journal j ON j.seq = d.message"
ASIDES = "SELECT j.id FROM aside a JOIN journal j ON j.seq = a.message"
CASES = "SELECT message, content FROM gated"
DOCKETS = "SELECT message, content FROM docket"
RECORDS = "SELECT subject, count(*) FROM audit GROUP BY subject"
LAST_ENTRY = """SELECT max(coalesce((SELECT max(seq) FROM entry), 0),
    coalesce((SELECT value FROM version WHERE name = 'entry'), 0))"""


@dataclass(frozen=True)
class Inspection:
    """One recorded load, and a folder in which the states of its disk are tried."""

    book: Book
    recorded: Path
    folder: Path
    disk: Disk

    async def faults(self, state: State) -> list[str]:
        """Open a state as the office would and say what is wrong with it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        state.lay_out(self.recorded, self.folder)
        try:
            store = await SqliteStore.open(self.folder / "office.db", vfs=self.disk.name, layer=Layer(self.disk))
        except PosthouseError as fault:
            return [f"the store does not open: {fault.what}"]
        try:
            return [*Check(store, repair=False).run(), *self._compared(state)]
        finally:
            await store.close()

    def _compared(self, state: State) -> list[str]:
        connection = open_reader(str(self.folder / "office.db"), self.disk.name)
        try:
            seen = _seen(connection)
            keys: Any = connection.execute("SELECT message FROM idempotency").fetchall()
            last: Any = connection.execute(LAST_ENTRY).get
        finally:
            connection.close()
        found = []
        for place in self.book.places:
            stages = seen.get(place, [GONE if (place[0], "journal") in seen else ABSENT])
            allowed = self._allowed(place, state.at, seen)
            if len(stages) != 1 or stages[0] not in allowed:
                found.append(f"message {place[0]} in {place[1]}: expected one of {allowed}, found {stages}")
        found += [f"message {n} in {box}: nobody put it there" for n, box in seen if not self._is_known((n, box))]
        here = {number for number, box in seen if box == "journal"}
        keyed = {number_of(UUID(bytes=bytes(row[0]))) for row in keys}
        if keyed != self.book.keyed & here:
            found.append(f"expected the keys of {self.book.keyed & here}, found those of {keyed}")
        if last < self.book.highest_entry(state.at):
            found.append(f"entry {self.book.highest_entry(state.at)} was given out, and {last + 1} would be next")
        return found

    def _allowed(self, place: Place, cut: int, seen: dict[Place, list[Stage]]) -> list[Stage]:
        allowed = self.book.allowed(place, cut)
        # A message that came to this place later was in the journal before.
        others = any(other[0] == place[0] and other != place for other in self.book.places)
        return [*allowed, GONE] if ABSENT in allowed and others and (place[0], "journal") in seen else allowed

    def _is_known(self, place: Place) -> bool:
        return place[1] == "journal" or place in self.book.places or place == REGISTER


def _seen(connection: apsw.Connection) -> dict[Place, list[Stage]]:
    """Give what every place holds."""
    seen: dict[Place, list[Stage]] = {}

    def add(identity: Any, box: str, stage: Stage) -> None:
        seen.setdefault((number_of(UUID(bytes=bytes(identity))), box), []).append(stage)

    for (identity,) in connection.execute("SELECT id FROM journal"):
        add(identity, "journal", GONE)
    rows: Any = connection.execute(ENTRIES)
    for identity, box, state, token in rows:
        add(identity, box, queued(state, token))
    rows = connection.execute(DEAD_LETTERS)
    for identity, box in rows:
        add(identity, box, DEAD)
    for (identity,) in connection.execute(ASIDES):
        add(identity, SHELF, ASIDE)
    _add_cases(connection, seen)
    version: Any = connection.execute("SELECT value FROM version WHERE name = 'register'").get
    seen[REGISTER] = [("version", version)]
    return seen


def _add_cases(connection: apsw.Connection, seen: dict[Place, list[Stage]]) -> None:
    """Give each case with all its rows as one stage."""
    # `Any`: rows of what the statements give.
    cases: Any = connection.execute(CASES).fetchall()
    rows: Any = connection.execute(DOCKETS).fetchall()
    records: Any = connection.execute(RECORDS).fetchall()
    told: dict[str, int] = dict(records)
    dockets: dict[bytes, list[Docket]] = {}
    for message, content in rows:
        dockets.setdefault(message, []).append(docket_of(content))
    for message, content in cases:
        number = number_of(UUID(bytes=bytes(message)))
        stage = stage_of(case_of(content), dockets.pop(message, []), records=told.pop(f"case {number}", 0))
        seen.setdefault((number, GATED), []).append(stage)
    for message in dockets:
        seen.setdefault((number_of(UUID(bytes=bytes(message))), GATED), []).append(("dockets without a case",))
    told.pop("rules", None)
    if told:
        seen[0, "audit"] = [("records of nothing", str(told))]
