"""The read ports of the gate: cases with their dockets and mailbags, the books the office goes by, the audit.

`store.ports` says what holds for all ports.
"""

from __future__ import annotations

from typing import Final, Literal, Protocol
from uuid import UUID

import msgspec

from posthouse.message.audit import Seal
from posthouse.message.case import Activation, Case, Docket, Edition, Mailbag


class DocketFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which dockets are meant; a field left out matches everything."""

    gatekeeper: str | None = None
    folder: str | None = None
    case: UUID | None = None
    message: UUID | None = None
    is_open: bool | None = True
    sender: str | None = None
    status: str | None = None


DocketOrder = Literal["due", "arrival", "sender"]

LAST: Final = 2**63 - 1
"""The key of a docket without a due time in the order of due times."""


class DocketPlace(msgspec.Struct, frozen=True):
    """Where a page of dockets begins: behind the docket that stands here in the order asked for."""

    key: int | str
    case: UUID
    turn: int


def place_of(docket: Docket, order: DocketOrder) -> DocketPlace:
    """Give where a docket stands in an order, for the page behind it."""
    return DocketPlace(key_of(docket, order), docket.case, docket.turn)


def key_of(docket: Docket, order: DocketOrder) -> int | str:
    """Give what a docket is ordered by."""
    if order == "due":
        return LAST if docket.due is None else docket.due
    return docket.arrived if order == "arrival" else docket.sender


def is_chosen(docket: Docket, chosen: DocketFilter) -> bool:
    """Say whether a docket is meant."""
    return (
        chosen.gatekeeper in (None, docket.gatekeeper)
        and chosen.folder in (None, docket.folder)
        and chosen.case in (None, docket.case)
        and chosen.message in (None, docket.message)
        and chosen.is_open in (None, docket.is_open)
        and chosen.sender in (None, docket.sender)
        and chosen.status in (None, docket.status)
    )


class DocketCount(msgspec.Struct, frozen=True):
    """How many open dockets lie in one folder of one gatekeeper."""

    gatekeeper: str
    folder: str
    count: int


class AuditLine(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One record of the audit as it stands in its chain."""

    number: int
    """From 1, without gaps."""
    epoch: int
    """Which writer: each opening of the store begins one."""
    at: int
    actor: str
    act: str
    subject: str
    commitment: bytes
    chain: bytes
    """SHA-256 over the chain before it and this record."""
    salt: bytes | None
    payload: bytes | None
    """None once it was erased."""


class Cases(Protocol):
    """Gated messages, their dockets and the mailbags they lie in."""

    async def case(self, identity: UUID) -> Case | None:
        """Give a case by its id."""
        ...

    async def of_message(self, message: UUID) -> list[Case]:
        """Give the cases of a message, oldest first; more than one where it was divided or gated anew."""
        ...

    async def dockets(
        self, chosen: DocketFilter, *, order: DocketOrder = "due", after: DocketPlace | None = None, limit: int = 100
    ) -> list[Docket]:
        """Give a page of dockets; those without a due time come last, ties by case and turn."""
        ...

    async def counts(self, gatekeeper: str | None = None) -> list[DocketCount]:
        """Give the number of open dockets by gatekeeper and folder, without looking at each."""
        ...

    async def due(self, now: int, limit: int) -> list[Docket]:
        """Give dockets whose `due` has come, earliest first; of many gatekeepers, each gets its share of the page."""
        ...

    async def next_due(self) -> int | None:
        """Give the earliest `due` of all dockets and `next_run` of all mailbags."""
        ...

    async def mailbags(self, gatekeeper: str | None = None) -> list[Mailbag]:
        """Give the mailbags of one gatekeeper, or of all, by gatekeeper and name, those that were removed left out."""
        ...


class Books(Protocol):
    """What the office goes by, in editions that never change."""

    async def edition(self, book: str, number: int) -> Edition | None:
        """Give one edition."""
        ...

    async def editions(self, book: str) -> list[Edition]:
        """Give all editions of a book, oldest first."""
        ...

    async def activations(self, book: str) -> list[Activation]:
        """Give all activations of a book, oldest first."""
        ...

    async def titles(self) -> list[str]:
        """Give the names of all books that have an edition."""
        ...


class Audit(Protocol):
    """The record of what was decided and looked at."""

    async def lines(self, *, after: int = 0, limit: int = 1_000) -> list[AuditLine]:
        """Give a page of records by number."""
        ...

    async def of_subject(self, subject: str, *, after: int = 0, limit: int = 1_000) -> list[AuditLine]:
        """Give a page of the records about one subject by number."""
        ...

    async def last(self) -> AuditLine | None:
        """Give the newest record."""
        ...

    async def seals(self, *, after: int = 0, limit: int = 1_000) -> list[Seal]:
        """Give a page of the seals by the number of the record they seal."""
        ...


class Lookup(Protocol):
    """Cases by the beginning of their ids."""

    async def find(self, prefix: str, limit: int) -> list[UUID]:
        """Give the ids of cases that begin with these hexadecimal digits, hyphens left out or in."""
        ...


class GateShelves(Protocol):
    """The read ports of the gate."""

    @property
    def cases(self) -> Cases:
        """What was gated."""
        ...

    @property
    def books(self) -> Books:
        """What the office goes by."""
        ...

    @property
    def audit(self) -> Audit:
        """What was decided and looked at."""
        ...

    @property
    def lookup(self) -> Lookup:
        """Cases by the beginning of their ids."""
        ...
