"""Rule books and subjects for tests: say what matters, the rest is sensible."""

from __future__ import annotations

from typing import Any

from posthouse.gate.decide import Subject, Terms, decide
from posthouse.gate.rulebook import RuleBook, compile_edition
from posthouse.gate.ruling import Ruling
from posthouse.matching.value.record import Context, Recipient, Record
from posthouse.message.case import Edition
from posthouse.testing.build import START, identity

TERMS = Terms(office="local:east", now=START)


def book(text: str, *, title: str = "rules", number: int = 1, **given: Any) -> RuleBook:  # Any: what compiling takes
    return compile_edition(Edition(book=title, number=number, text=text), **given)


def record(number: int = 1, *, to: tuple[str, ...] = ("bob",), **fields: Any) -> Record:  # Any: fields of a record
    given: dict[str, Any] = {"sender": "alice", "kind": "mail", "context": Context(now=START), **fields}
    return Record(id=str(identity(number)), recipients=tuple(map(Recipient, to)), **given)


def subject(number: int = 1, asked: Record | None = None, **given: Any) -> Subject:  # Any: fields of a subject
    fields: dict[str, Any] = {"checkpoint": "submit", "accepted": START, **given}
    return Subject(id=identity(number), record=asked or record(number), **fields)


def ruling(text: str, asked: Record | None = None, *, terms: Terms = TERMS, **given: Any) -> Ruling:
    """Rule on one message that is not divided."""
    (found,) = rulings(text, asked, terms=terms, **given)
    return found


def rulings(text: str, asked: Record | None = None, *, terms: Terms = TERMS, **given: Any) -> tuple[Ruling, ...]:
    return decide(book(text), [subject(asked=asked, **given)], terms=terms).rulings[0]


def marks(found: Ruling) -> dict[str, str]:
    return {fired.rule: fired.mark for fired in found.fired}


def always(name: str, actions: str, clauses: str = "") -> str:
    """Write a rule that fires for every message."""
    return f'rule "{name}" {clauses} IF always THEN {actions}\n'
