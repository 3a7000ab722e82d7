"""What deciders return and one function writes: rows to add, entries to settle, the conditions under which.

A `Changes` is carried out whole or refused whole; `store.commit` answers each with an `Outcome`.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Literal
from uuid import UUID

import msgspec

from posthouse.message.audit import Seal
from posthouse.message.case import Activation, AuditEntry, Case, Docket, Edition, Mailbag
from posthouse.message.credential import Account, Issue, Revoke
from posthouse.message.journey import Work
from posthouse.message.message import Body, Section
from posthouse.message.trace import Step


# gc=False, on every value a message on its way is made of: frozen values never hold each other in a ring, so the
# collector of garbage need not walk over the thousands that are under way at a time.
class Letter(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A message as the journal keeps it."""

    id: UUID
    accepted: int
    head: bytes
    body: bytes | Body
    envelope: bytes
    features: bytes
    step: Step
    """The first line of its trace."""
    sections: tuple[Section, ...] = ()


class Entry(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A place in a queue for one message in one box."""

    box: str
    work: Work
    lane: int
    """Entries of one box, lane and priority are leased in their order, none before its predecessor is settled."""
    priority: int
    kind: str
    correlation: str | None = None
    size: int = 0
    not_before: int | None = None
    """Held back until then; it enters its lane when it is due, behind what came meanwhile."""
    expires: int | None = None
    luggage: bytes = b""


class Post(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A letter and the queue entries that go with it; refused as a duplicate where the journal has its id."""

    letter: Letter
    entries: tuple[Entry, ...] = ()
    aside: str | None = None
    """Why the message is set aside instead of going on."""


class Filter(msgspec.Struct, frozen=True):
    """Which messages of a box are meant; a field left out matches everything."""

    kind: str | None = None
    correlation: str | None = None


class Take(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Lease what comes next in a box: by priority, then arrival, at most a run from the head of each lane."""

    box: str
    now: int
    until: int
    """When the lease ends by itself."""
    holder: str
    filter: Filter = Filter()
    limit: int = 1


class Settle(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What becomes of one queue entry, provided its token is still this one and, where `box` names one, its box.

    done    it leaves the queue
    renew   its lease lasts until `at`
    back    it can be taken again at once, as if it had not been
    retry   it can be taken again at `at`; its lane waits with it
    wake    it enters its lane, now that it is due
    bury    it leaves the queue for the dead letters, with the reason
    """

    act: Literal["done", "renew", "back", "retry", "wake", "bury"]
    entry: int
    token: int
    at: int
    """When this happens; for `renew` and `retry` the instant meant above."""
    step: Step | None = None
    """A line for the trace."""
    reason: str = ""
    box: str = ""
    """Who may settle what lies in one box must not settle, by a number that was guessed, what lies in another."""


class Redrive(msgspec.Struct, frozen=True):
    """Put a dead letter back into its queue, or drop it for good."""

    dead: int
    now: int
    drop: bool = False


class Resend(msgspec.Struct, frozen=True):
    """Take up a message that was set aside: these entries replace it."""

    aside: int
    entries: tuple[Entry, ...]
    step: Step


class Onward(msgspec.Struct, frozen=True, kw_only=True):
    """A message of the journal goes on: these entries are added for it, or it is set aside for the reason."""

    message: UUID
    step: Step
    entries: tuple[Entry, ...] = ()
    aside: str | None = None


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one mailbox; writing them makes a new version of the register."""

    mailbox: str
    closed: bool = False
    """A closed mailbox takes nothing in and gives nothing out; what it holds is kept."""
    max_messages: int | None = None
    max_bytes: int | None = None
    removed: bool = False


class Register(msgspec.Struct, frozen=True, kw_only=True):
    """The mailboxes with settings of their own; one immutable snapshot with its version."""

    version: int = 0
    setups: dict[str, Setup] = {}
    books: dict[str, int] = {}
    """The edition in force of each book that has one; an activation makes a new version of the register."""


class Key(msgspec.Struct, frozen=True):
    """An idempotency key that must be new; `until` is when it may be forgotten."""

    principal: str
    key: str
    until: int


class Room(msgspec.Struct, frozen=True):
    """A quota that must hold after the change."""

    box: str
    max_messages: int | None
    max_bytes: int | None


class Changes(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One decision: everything in it happens, or nothing; queues are entered in the order of the fields."""

    posts: tuple[Post, ...] = ()
    settles: tuple[Settle, ...] = ()
    take: Take | None = None
    redrives: tuple[Redrive, ...] = ()
    resends: tuple[Resend, ...] = ()
    onwards: tuple[Onward, ...] = ()
    setups: tuple[Setup, ...] = ()
    issues: tuple[Issue, ...] = ()
    revokes: tuple[Revoke, ...] = ()
    accounts: tuple[Account, ...] = ()
    """Written whole, like the rows of the gate below."""
    pulse: int | None = None
    """The instant of an examination, written in the place of the one before, so that the disk is really asked."""
    # The gate. A row is written whole; it is stale where the store has another version than the one before this one.
    cases: tuple[Case, ...] = ()
    dockets: tuple[Docket, ...] = ()
    mailbags: tuple[Mailbag, ...] = ()
    editions: tuple[Edition, ...] = ()
    """Stale where the number is not the next one of its book."""
    activations: tuple[Activation, ...] = ()
    """Stale where the book has no such edition; they make a new version of the register."""
    erasures: tuple[str, ...] = ()
    """Subjects of the audit of which everything said so far is erased, before the acts below are recorded."""
    audits: tuple[AuditEntry, ...] = ()
    seals: tuple[Seal, ...] = ()
    """Stale where the chain does not stand as it is sealed."""
    # Conditions.
    key: Key | None = None
    rooms: tuple[Room, ...] = ()
    register: int | None = None
    """The version of the register the decision rests on."""


def concerns_gate(changes: Changes) -> bool:
    """Say whether rows of the gate, of accounts or of the audit are written; nearly all changes write none."""
    return bool(
        changes.dockets or changes.cases or changes.audits or changes.mailbags or changes.accounts
        or changes.editions or changes.activations or changes.erasures or changes.seals
    )  # fmt: skip


class Leased(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One queue entry in somebody's hands, with its letter."""

    entry: int
    token: int
    """The fencing token: whoever shows an older one is refused."""
    attempt: int
    """How often it has been leased; more than 1 marks a redelivery."""
    failures: int
    until: int
    box: str
    work: Work
    priority: int
    arrived: int
    luggage: bytes
    letter: Letter


class Outcome(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What became of one `Changes`.

    done       written
    duplicate  the message id or the key is known; `known` is the message that came first
    full       a quota would not hold
    stale      a token, a version or a row is no longer what the decision rested on: decide again, or give up
    refused    the store cannot write now (disk full, read-only, damaged); nothing happened
    """

    status: Literal["done", "duplicate", "full", "stale", "refused"]
    detail: str = ""
    known: UUID | None = None
    taken: tuple[Leased, ...] = ()


DONE = Outcome(status="done")


@lru_cache(maxsize=4096)
def lane_of(text: str) -> int:
    """Give the number of a lane; two lanes that share one by chance are merely kept in one order."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), signed=True)
