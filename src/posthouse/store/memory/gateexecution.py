"""The gate's part of a `Changes`: whether its versions still hold, and carrying it out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator

import msgspec

from posthouse.message.case import Case, Docket, Mailbag
from posthouse.message.changes import Changes, Outcome
from posthouse.message.credential import Account
from posthouse.store.memory.tables import Tables


def stale_gate(tables: Tables, changes: Changes) -> Outcome | None:
    """Say which row of the gate is no longer what the decision rested on."""
    met: set[tuple[str, Hashable]] = set()
    for what, key, version, standing in _versions(tables, changes):
        if standing != version - 1:
            return _stale(f"{what} {key}: expected version {version - 1}, found {standing}")
        if (what, key) in met:
            return _stale(f"{what} {key} is meant twice")
        met.add((what, key))
    return _stale_book(tables, changes) or _stale_seal(tables, changes)


def carry_out_gate(tables: Tables, changes: Changes) -> None:
    """Write the rows of the gate."""
    gate = tables.gate
    for account in changes.accounts:
        tables.accounts[account.name] = account
    for case in changes.cases:
        gate.write_case(case)
    for docket in changes.dockets:
        gate.write_docket(docket)
    for mailbag in changes.mailbags:
        gate.mailbags[mailbag.gatekeeper, mailbag.id] = mailbag
    for edition in changes.editions:
        gate.editions.setdefault(edition.book, []).append(edition)
    if changes.activations:
        _activate(tables, changes)
    for subject in changes.erasures:
        gate.erase(subject)
    for entry in changes.audits:
        gate.record(entry)
    gate.seals += changes.seals


def _versions(tables: Tables, changes: Changes) -> Iterator[tuple[str, Hashable, int, int]]:
    """Give for each row what it is, its key, its version and the one that stands."""
    gate = tables.gate
    for case in changes.cases:
        yield "case", case.id, case.version, _version(gate.cases.get(case.id))
    for docket in changes.dockets:
        place = (docket.case, docket.turn)
        yield "docket", place, docket.version, _version(gate.dockets.get(place))
    for mailbag in changes.mailbags:
        folder = (mailbag.gatekeeper, mailbag.id)
        yield "mailbag", folder, mailbag.version, _version(gate.mailbags.get(folder))
    for account in changes.accounts:
        yield "account", account.name, account.version, _version(tables.accounts.get(account.name))


def _version(row: Case | Docket | Mailbag | Account | None) -> int:
    return 0 if row is None else row.version


def _activate(tables: Tables, changes: Changes) -> None:
    books = dict(tables.register.books)
    for activation in changes.activations:
        tables.gate.activations.setdefault(activation.book, []).append(activation)
        books[activation.book] = activation.number
        if not activation.number:
            del books[activation.book]
    tables.register = msgspec.structs.replace(tables.register, version=tables.register.version + 1, books=books)


def _stale_book(tables: Tables, changes: Changes) -> Outcome | None:
    last = Counter({book: len(editions) for book, editions in tables.gate.editions.items()})
    for edition in changes.editions:
        last[edition.book] += 1
        if edition.number != last[edition.book]:
            return _stale(f"book {edition.book}: expected edition {last[edition.book]}, found {edition.number}")
    for activation in changes.activations:
        if not 0 <= activation.number <= last[activation.book]:
            return _stale(f"book {activation.book} has no edition {activation.number}")
    return None


def _stale_seal(tables: Tables, changes: Changes) -> Outcome | None:
    lines = tables.gate.audit
    for seal in changes.seals:
        if not 0 < seal.number <= len(lines) or lines[seal.number - 1].chain != seal.chain:
            return _stale(f"the audit does not stand at record {seal.number} as it is sealed")
    return None


def _stale(detail: str) -> Outcome:
    return Outcome(status="stale", detail=detail)
