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
from posthouse.message.changes import Changes, Filter, Letter, Outcome, Register
from posthouse.message.credential import Account, Issue
from posthouse.message.journey import Work
from posthouse.message.message import Body
from posthouse.message.trace import Step
from posthouse.store.gateports import GateShelves


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

    async def oldest(self) -> int | None:
        """Give when the entry arrived that entered the queues before all that are there."""
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

    async def use(self) -> float | None:
        """Give how many percent of the disk they lie on are used; none where they lie on no disk."""
        ...


class Credentials(Protocol):
    """What is shown to the office from afar."""

    async def issued(self, *, after: str = "", limit: int = 1000) -> list[Issue]:
        """Give a page of all credentials ever issued, by id, those that were revoked included."""
        ...

    async def accounts(self) -> list[Account]:
        """Give the accounts of all people, by name, those that were closed included."""
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
    def gate(self) -> GateShelves:
        """What was gated, and what the office goes by."""
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
