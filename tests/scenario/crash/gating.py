"""The moves of gated messages under the crash tests' load, and the stage a case is at: all of its rows together."""

from __future__ import annotations

import random
from typing import NamedTuple

import msgspec

from posthouse.message.audit import audit_entry
from posthouse.message.case import Activation, AuditEntry, Case, Docket
from posthouse.message.changes import Changes, Onward, Post
from posthouse.message.trace import Step
from posthouse.testing.build import START, entry, letter
from posthouse.testing.gated import case, docket, edition
from tests.scenario.crash.book import Stage

GATED = "gate"
_new = msgspec.structs.replace


class Open(NamedTuple):
    """A case in hand, with its dockets and how often something of it was recorded."""

    number: int
    case: Case
    dockets: tuple[Docket, ...]
    records: int

    @property
    def stage(self) -> Stage:
        return stage_of(self.case, list(self.dockets), records=self.records)


class Move(NamedTuple):
    """What is asked of the store, and the case as it is then."""

    changes: Changes
    after: Open
    is_onward: bool = False


def stage_of(gated: Case, dockets: list[Docket], *, records: int) -> Stage:
    """Give the stage of a case: half of a change is another stage than each."""
    rows = sorted((one.turn, one.version, one.is_open, one.status, one.folder) for one in dockets)
    return ("case", gated.version, gated.is_open, gated.turn, records, str(rows))


def opened(number: int) -> Move:
    """A message is gated: letter, case, docket and record come together."""
    first = Open(number, case(number, turn=1), (docket(number, due=START + number),), 1)
    changes = Changes(
        posts=(Post(letter=letter(number)),), cases=(first.case,), dockets=first.dockets, audits=(_record(first),)
    )
    return Move(changes, first)


def moved(known: Open, chance: random.Random) -> Move:
    """Something happens to a case: it is decided, goes to its next stop, is filed, or is closed and goes on."""
    last = known.dockets[-1]
    if last.status != "in progress":
        decided = _new(last, version=last.version + 1, status="in progress", pending=b"release", due=START)
        return _changed(known, (decided,))
    match chance.choice(("stop", "stop", "file", "close")):
        case "stop":
            final = _new(last, version=last.version + 1, status="released", is_open=False, due=None, pending=b"")
            following = docket(known.number, last.turn + 1, gatekeeper=chance.choice(("Chief", "Clerk")), due=START + 9)
            return _changed(known, (final, following))
        case "file":
            return _changed(known, (_new(last, version=last.version + 1, status="filed", folder="bag", due=None),))
        case _:
            final = _new(last, version=last.version + 1, status="released", is_open=False, due=None, pending=b"")
            return _changed(known, (final,), closes=True)


def activated(number: int) -> Changes:
    """A book gets its next edition, in force at once."""
    activation = Activation(book="rules", number=number, at=START)
    record = audit_entry("rules.activated", "rules", at=START, actor="ada")
    return Changes(editions=(edition(number),), activations=(activation,), audits=(record,))


def _changed(known: Open, dockets: tuple[Docket, ...], *, closes: bool = False) -> Move:
    kept = {one.turn: one for one in (*known.dockets, *dockets)}
    last = dockets[-1]
    gated = _new(known.case, version=known.case.version + 1, turn=last.turn, is_open=not closes)
    after = Open(known.number, gated, tuple(kept[turn] for turn in sorted(kept)), known.records + 1)
    onward = Onward(message=gated.message, step=Step(START, "resumed"), entries=(entry(f"to {known.number}"),))
    changes = Changes(
        cases=(gated,), dockets=dockets, audits=(_record(after),), onwards=(onward,) if closes else ()
    )  # fmt: skip
    return Move(changes, after, is_onward=closes)


def _record(known: Open) -> AuditEntry:
    return audit_entry("case.moved", f"case {known.number}", at=START, actor="ada", salt=b"s" * 32, payload=b"why")
