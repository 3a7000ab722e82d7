"""The ports of a store: one function that writes, and what can be read beside it.

Every method may be called from the event loop at any time; none blocks it. What `commit` has answered is durable in a
store that is, and visible to every read that starts afterwards.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import ClassVar, Protocol
from uuid import UUID

import msgspec

from posthouse.errors import PosthouseError
from posthouse.message.case import Activation, Case, Edition, Mailbag, Slip
from posthouse.message.changes import Changes, Filter, Letter, Outcome, Register
from posthouse.message.credential import Issue
from posthouse.message.journey import Work
from posthouse.message.message import Body
from posthouse.message.trace import Step


class StoreUnavailable(PosthouseError):
    """The store cannot be read or written now; it serves again by itself once the cause is gone."""

    code: ClassVar[str] = "store.unavailable"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The office cannot store messages now."


class StoreLocked(PosthouseError):
    """Another process has the store open and does not answer."""

    code: ClassVar[str] = "store.locked"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The office is in use."


class StoreDamaged(PosthouseError):
    """The file is no store, or its content is broken."""

    code: ClassVar[str] = "store.damaged"
    public: ClassVar[str] = "The office cannot store messages."


class StoreNewer(PosthouseError):
    """A newer program wrote this store; this one would misread it."""

    code: ClassVar[str] = "store.newer"
    public: ClassVar[str] = "The office cannot store messages."


class BodyMissing(PosthouseError):
    """A large body is not where its content address says."""

    code: ClassVar[str] = "body.missing"
    public: ClassVar[str] = "The body of the message cannot be read."


class BodyTooLarge(PosthouseError):
    """A body is larger than the office accepts."""

    code: ClassVar[str] = "body.too-large"
    public: ClassVar[str] = "The message is too large."


class Queued(msgspec.Struct, frozen=True, kw_only=True):
    """One queue entry as a reader sees it."""

    entry: int
    token: int
    box: str
    work: Work
    state: str
    """waiting, leased or held (not yet due)."""
    priority: int
    kind: str
    correlation: str | None
    size: int
    arrived: int
    attempt: int
    failures: int
    next_at: int | None
    """When something happens to it by itself: it is due, its pause or lease ends, it expires."""
    expires: int | None
    holder: str
    message: UUID


class Depth(msgspec.Struct, frozen=True, kw_only=True):
    """How full one box is."""

    box: str
    messages: int
    bytes: int


class Dead(msgspec.Struct, frozen=True, kw_only=True):
    """One dead letter."""

    number: int
    box: str
    kind: str
    message: UUID
    at: int
    attempts: int
    reason: str


class Aside(msgspec.Struct, frozen=True, kw_only=True):
    """One message set aside because handling it hit a bug."""

    number: int
    message: UUID
    at: int
    reason: str


class Journal(Protocol):
    """Everything ever accepted."""

    async def letter(self, message: UUID) -> Letter | None:
        """Give a message by its id."""
        ...

    async def trace(self, message: UUID) -> list[Step]:
        """Give the life of a message, oldest line first; empty where it is unknown."""
        ...

    async def find(self, prefix: str, limit: int) -> list[UUID]:
        """Give the ids that begin with these hexadecimal digits, hyphens left out or in."""
        ...

    async def count(self) -> int:
        """Give the number of messages, near enough for a status line."""
        ...

    async def pulse(self) -> int | None:
        """Give the instant of the last examination that was written."""
        ...


class Queue(Protocol):
    """What waits, by box."""

    async def entries(self, box: str, *, after: int = 0, limit: int = 100) -> list[Queued]:
        """Give a page of one box in order of arrival; `after` is the last entry of the page before."""
        ...

    async def depths(self, *, after: str = "", limit: int = 1000) -> list[Depth]:
        """Give a page of the boxes that hold something, by name."""
        ...

    async def due(self, now: int, limit: int) -> list[Queued]:
        """Give entries whose `next_at` has come, earliest first."""
        ...

    async def next_due(self) -> int | None:
        """Give the earliest `next_at` of all entries."""
        ...

    async def destinations(self) -> list[str]:
        """Give the boxes that postmen empty: all that hold `deliver` or `resume` entries."""
        ...


class DeadLetters(Protocol):
    """What was given up, until somebody redrives or drops it."""

    async def dead(self, box: str | None, chosen: Filter, *, after: int = 0, limit: int = 100) -> list[Dead]:
        """Give a page of dead letters, oldest first; `Filter.correlation` is not looked at."""
        ...

    async def dead_count(self) -> int:
        """Give the number of dead letters."""
        ...

    async def asides(self, *, after: int = 0, limit: int = 100) -> list[Aside]:
        """Give a page of messages set aside, oldest first."""
        ...

    async def aside_count(self) -> int:
        """Give the number of messages set aside."""
        ...


class Bodies(Protocol):
    """Large bodies by content address."""

    async def save(self, chunks: AsyncIterator[bytes], *, limit: int) -> Body:
        """Keep a body and give its address once it is durable; `BodyTooLarge` past the limit."""
        ...

    def read(self, body: Body, *, start: int = 0) -> AsyncIterator[bytes]:
        """Give the body in pieces from a byte on; `BodyMissing` where there is none."""
        ...

    async def has(self, body: Body) -> bool:
        """Say whether the body is here whole."""
        ...


class Credentials(Protocol):
    """What is shown to the office from afar."""

    async def issued(self, *, after: str = "", limit: int = 1000) -> list[Issue]:
        """Give a page of all credentials ever issued, by id, those that were revoked included."""
        ...


class SlipFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which slips are meant; a field left out matches everything."""

    gatekeeper: str | None = None
    folder: str | None = None
    case: UUID | None = None
    message: UUID | None = None
    is_open: bool | None = True
    sender: str | None = None
    status: str | None = None


SlipOrder = Literal["due", "arrival", "sender"]


class SlipPlace(msgspec.Struct, frozen=True):
    """Where a page of slips begins: behind the slip that stands here in the order asked for."""

    key: int | str
    case: UUID
    turn: int


class SlipCount(msgspec.Struct, frozen=True):
    """How many open slips lie in one folder of one gatekeeper."""

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
    """Gated messages, their slips and the mailbags they lie in."""

    async def case(self, identity: UUID) -> Case | None:
        """Give a case by its id."""
        ...

    async def of_message(self, message: UUID) -> list[Case]:
        """Give the cases of a message, oldest first; more than one where it was divided or gated anew."""
        ...

    async def slips(
        self, chosen: SlipFilter, *, order: SlipOrder = "due", after: SlipPlace | None = None, limit: int = 100
    ) -> list[Slip]:
        """Give a page of slips; those without a due time come last, ties by case and turn."""
        ...

    async def counts(self, gatekeeper: str | None = None) -> list[SlipCount]:
        """Give the number of open slips by gatekeeper and folder, without looking at each."""
        ...

    async def due(self, now: int, limit: int) -> list[Slip]:
        """Give slips whose `due` has come, earliest first; of many gatekeepers, each gets its share of the page."""
        ...

    async def next_due(self) -> int | None:
        """Give the earliest `due` of all slips and `next_run` of all mailbags."""
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

    async def of_subject(self, subject: str, *, limit: int = 1_000) -> list[AuditLine]:
        """Give the records about one subject, oldest first."""
        ...

    async def last(self) -> AuditLine | None:
        """Give the newest record."""
        ...


Listener = Callable[[frozenset[str]], None]


class Shelves(Protocol):
    """The read ports of a store."""

    @property
    def journal(self) -> Journal:
        """Everything ever accepted."""
        ...

    @property
    def queue(self) -> Queue:
        """What waits."""
        ...

    @property
    def dead_letters(self) -> DeadLetters:
        """What was given up or set aside."""
        ...

    @property
    def bodies(self) -> Bodies:
        """Large bodies."""
        ...

    @property
    def credentials(self) -> Credentials:
        """What is shown to the office from afar."""
        ...

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


class Store(Shelves, Protocol):
    """One store: a single writer, the read ports, and news of arrivals."""

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        """Write each of the changes whole or refuse it; the outcomes stand in the same order.

        Changes of one call are decided as if one after the other; its takes come after everything else in it.
        """
        ...

    async def register(self) -> Register:
        """Give the mailboxes with settings of their own."""
        ...

    def watch(self, listener: Listener) -> None:
        """Have the listener called on the event loop after each commit, with the boxes that may have something now."""
        ...
