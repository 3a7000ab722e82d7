"""Builders of gated messages: say what matters to a test, the rest is sensible and the same on every run."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from posthouse.message.audit import audit_entry
from posthouse.message.case import AuditEntry, Case, Docket, Edition, Mailbag, Wrapper, pack_wrapper
from posthouse.testing.build import START, identity


def case_id(number: int) -> UUID:
    """Give the id of the case with this number; one message has one case here."""
    return UUID(int=identity(number).int ^ 0xCA5E)


# `Any`: whatever the struct is given besides, each under its name there.
def case(number: int = 1, **given: Any) -> Case:
    """Give a case that was just opened."""
    wrapper = pack_wrapper(Wrapper(case=case_id(number), sender="alice"))
    known: dict[str, Any] = {"id": case_id(number), "message": identity(number), "opened": START, "wrapper": wrapper}
    return Case(**{**known, **given})


def docket(number: int = 1, turn: int = 1, **given: Any) -> Docket:
    """Give a docket that has just come in."""
    known: dict[str, Any] = {
        "case": case_id(number), "turn": turn, "message": identity(number), "gatekeeper": "Reviewer",
        "sender": "alice", "subject": f"letter {number}", "created": START, "arrived": START + number,
    }  # fmt: skip
    return Docket(**{**known, **given})


def mailbag(name: str = "later", **given: Any) -> Mailbag:
    """Give a mailbag without a function."""
    return Mailbag(**{"id": f"bag-{name}", "gatekeeper": "Reviewer", "name": name, "created": START, **given})


def edition(number: int = 1, *, book: str = "rules", text: str = "") -> Edition:
    """Give an edition of a book."""
    return Edition(book=book, number=number, text=text or f"{book}, edition {number}", author="ada", at=START + number)


def audited(subject: str = "case 1", *, act: str = "case.opened", said: bytes = b"\x81\xa3who\xa3ada") -> AuditEntry:
    """Give an act to be recorded, with something said of a person."""
    return audit_entry(act, subject, at=START, actor="ada", salt=b"s" * 32, payload=said)
