"""The gate's part of one transaction: versions are read in one go, checked one by one, and rows written in bulk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from posthouse.message.case import Activation, Docket
from posthouse.message.changes import Changes
from posthouse.store.sqlite.gaterows import (
    AUDIT_COLUMNS,
    CASE_COLUMNS,
    CASE_OVER,
    DOCKET_COLUMNS,
    DOCKET_OVER,
    case_row,
    docket_row,
    encode,
    mailbag_row,
)
from posthouse.store.sqlite.ledger import Ledger
from posthouse.store.sqlite.rows import Cell, Row, inserts

_decode: Final = msgspec.json.decode
_NOBODY: Final = -1
"""The pile of a docket that is not there yet."""


class _Standing(NamedTuple):
    """What is known of a docket before it is written."""

    version: int = 0
    pile: int = _NOBODY
    is_open: bool = False


_NEW: Final = _Standing()


class GateGroup:
    """Rows of the gate of one group of changes."""

    def __init__(self, ledger: Ledger, changes: Sequence[Changes]) -> None:
        self._ledger = ledger
        self._gate = ledger.gate
        self._cursor = ledger.cursor
        self._sql = ledger.sql
        self._versions = self._case_versions(changes)
        self._standing = self._docket_standing(changes)
        self._cases: dict[bytes, Row] = {}
        self._dockets: dict[tuple[bytes, int], Row] = {}
        self._held: Counter[int] = Counter()
        self._records: list[Cell] = []
        self._chains: dict[int, bytes] = {}

    def objection(self, change: Changes) -> str:
        """Say which row is no longer what the decision rested on; nothing where all are."""
        met: set[tuple[object, ...]] = set()
        for key, version, standing in self._asked(change):
            if standing != version - 1:
                return f"{' '.join(map(str, key))}: expected version {version - 1}, found {standing}"
            if key in met:
                return f"{' '.join(map(str, key))} is meant twice"
            met.add(key)
        if change.editions or change.activations:
            return self._wrong_book(change)
        return self._wrong_seal(change) if change.seals else ""

    def note(self, change: Changes) -> None:
        """Take up what is to be written."""
        for case in change.cases:
            self._versions[case.id.bytes] = case.version
            self._cases[case.id.bytes] = case_row(case)
        for docket in change.dockets:
            self._note_docket(docket)
        for mailbag in change.mailbags:
            self._run("mailbag-write", *mailbag_row(mailbag))
        for account in change.accounts:
            self._run("account-write", account.name, account.version, encode(account))
        for edition in change.editions:
            self._run("edition-add", edition.book, edition.number, encode(edition))
        if change.activations:
            self._activate(change.activations)
        for subject in change.erasures:
            self._erase(subject)
        for entry in change.audits:
            row = self._gate.record(entry)
            self._records += row
            self._chains[self._gate.last_record] = bytes(row[2])  # type: ignore[arg-type]  # the cell of the chain
        for seal in change.seals:
            self._run("seal-add", seal.number, encode(seal))

    def write(self) -> None:
        """Write what was taken up."""
        self._put("gated", CASE_COLUMNS, over=CASE_OVER, cells=[cell for row in self._cases.values() for cell in row])
        self._put(
            "docket",
            DOCKET_COLUMNS,
            over=DOCKET_OVER,
            cells=[cell for row in self._dockets.values() for cell in row],
        )
        for pile, more in self._held.items():
            if more:
                self._run("pile-count", pile, more)
        self._write_records()

    def _asked(self, change: Changes) -> Iterator[tuple[tuple[object, ...], int, int]]:
        """Give for each row its key, its version and the one that stands."""
        for case in change.cases:
            yield ("case", case.id), case.version, self._versions.get(case.id.bytes, 0)
        for docket in change.dockets:
            standing = self._standing.get((docket.case.bytes, docket.turn), _NEW)
            yield ("docket", docket.case, docket.turn), docket.version, standing.version
        for mailbag in change.mailbags:
            found = self._ask("mailbag-version", mailbag.gatekeeper, mailbag.id)
            yield ("mailbag", mailbag.gatekeeper, mailbag.id), mailbag.version, found or 0
        for account in change.accounts:
            yield ("account", account.name), account.version, self._ask("account-version", account.name) or 0

    def _wrong_book(self, change: Changes) -> str:
        books = {edition.book for edition in change.editions} | {one.book for one in change.activations}
        last = {book: self._ask("edition-last", book) for book in books}
        for edition in change.editions:
            last[edition.book] += 1
            if edition.number != last[edition.book]:
                return f"book {edition.book}: expected edition {last[edition.book]}, found {edition.number}"
        for activation in change.activations:
            if not 0 <= activation.number <= last[activation.book]:
                return f"book {activation.book} has no edition {activation.number}"
        return ""

    def _wrong_seal(self, change: Changes) -> str:
        for seal in change.seals:
            chain = self._chains.get(seal.number) or self._ask("audit-chain", seal.number)
            if chain != seal.chain:
                return f"the audit does not stand at record {seal.number} as it is sealed"
        return ""

    def _note_docket(self, docket: Docket) -> None:
        key = (docket.case.bytes, docket.turn)
        before = self._standing.get(key, _NEW)
        pile = self._gate.pile(docket.gatekeeper, docket.folder)
        self._held[before.pile] -= before.is_open
        self._held[pile] += docket.is_open
        self._standing[key] = _Standing(docket.version, pile, docket.is_open)
        self._dockets[key] = docket_row(docket, pile)

    def _activate(self, activations: Sequence[Activation]) -> None:
        for activation in activations:
            self._run("activation-add", activation.book, activation.number, encode(activation))
        self._ledger.put_in_force({activation.book: activation.number for activation in activations})

    def _erase(self, subject: str) -> None:
        self._write_records()
        # What is erased is overwritten, not just given free. Only here: it costs every deletion a write more.
        self._cursor.execute("PRAGMA secure_delete = on").fetchall()
        self._run("audit-erase", subject)
        self._cursor.execute("PRAGMA secure_delete = off").fetchall()

    def _write_records(self) -> None:
        for statement, cells in inserts("audit", AUDIT_COLUMNS, cells=self._records):
            self._cursor.execute(statement, cells).fetchall()
        self._records = []

    def _put(self, table: str, columns: str, *, over: str, cells: list[Cell]) -> None:
        for statement, bindings in inserts(table, columns, cells=cells, over=over):
            self._cursor.execute(statement, bindings).fetchall()

    def _run(self, statement: str, *bindings: Cell) -> None:
        self._cursor.execute(self._sql[statement], bindings).fetchall()

    # `Any`: the one cell a statement gives.
    def _ask(self, statement: str, *bindings: Cell) -> Any:
        return self._cursor.execute(self._sql[statement], bindings).get

    def _case_versions(self, changes: Sequence[Changes]) -> dict[bytes, int]:
        wanted = [case.id.hex for change in changes for case in change.cases]
        if not wanted:
            return {}
        found = _decode(self._ask("cases-versions", msgspec.json.encode(wanted).decode()))
        return {bytes.fromhex(identity): version for identity, version in found}

    def _docket_standing(self, changes: Sequence[Changes]) -> dict[tuple[bytes, int], _Standing]:
        wanted = [(docket.case.hex, docket.turn) for change in changes for docket in change.dockets]
        if not wanted:
            return {}
        found = _decode(self._ask("dockets-versions", msgspec.json.encode(wanted).decode()))
        return {
            (bytes.fromhex(identity), turn): _Standing(version, pile, bool(is_open))
            for identity, turn, version, pile, is_open in found
        }
