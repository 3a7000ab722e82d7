"""What can be asked of an office, as values: the same whether the caller shares its process or comes by the socket.

Each call names the type of its reply; `REPLIES` is the table by which a reply from the socket is read.
"""

from __future__ import annotations

from typing import Any, Final, Generic, Literal, TypeVar
from uuid import UUID

import msgspec

from posthouse.message.changes import Filter, Leased, Setup
from posthouse.message.credential import Credential
from posthouse.message.envelope import Envelope
from posthouse.message.message import Body, Section
from posthouse.message.trace import Step
from posthouse.office.intake import Receipt
from posthouse.store.ports import Aside, Dead, Depth, Queued

Reply = TypeVar("Reply")


class Call(msgspec.Struct, Generic[Reply], frozen=True, kw_only=True, tag=True):
    """A request; its type parameter is what answers it."""


class Handed(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A message as it crosses the socket."""

    head: bytes
    body: bytes | Body
    sections: tuple[Section, ...]
    envelope: Envelope


class Put(Call[list[Receipt]], frozen=True, kw_only=True):
    """Hand in messages; each is answered."""

    parcels: list[Handed]


class TakeNext(Call[list["Taken"]], frozen=True, kw_only=True):
    """Lease what comes next in a mailbox."""

    mailbox: str
    filter: Filter = Filter()
    limit: int = 1
    wait: float | None = 0.0
    """Seconds to wait for something to come; None waits for ever."""
    lease: float | None = None
    """Seconds; the office's own term where it is left out."""
    holder: str = ""
    strict: bool = False
    """Whether an office elsewhere that cannot be asked is an error, and not just a mailbox where nothing came."""
    ticket: str = ""
    """Between offices: what names this take, so that it can be asked again, or given up, where its answer was lost."""


class Taken(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A leased message, and which of the office's stores it lies in."""

    leased: Leased
    passing: bool
    office: str = ""
    """The office elsewhere that lent it; empty for this one."""


class Slip(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What shows that a message is yours: its entry and the token of the lease."""

    message: UUID
    entry: int
    token: int
    box: str
    failures: int
    arrived: int
    passing: bool
    office: str = ""
    """The office elsewhere that lent it; empty for this one."""


def slip_of(taken: Taken) -> Slip:
    """Give what shows that a taken message is yours."""
    leased = taken.leased
    return Slip(
        message=leased.letter.id,
        entry=leased.entry,
        token=leased.token,
        box=leased.box,
        failures=leased.failures,
        arrived=leased.arrived,
        passing=taken.passing,
        office=taken.office,
    )


class SettleTaken(Call[list[bool]], frozen=True, kw_only=True):
    """Say what became of taken messages; false where the lease was no longer yours."""

    slips: list[Slip]
    event: Literal["acknowledged", "returned", "failed", "renewed"]
    reason: str = ""
    pause: float | None = None
    """For `failed`: seconds until it may be taken again; grows by itself where it is left out."""
    lease: float | None = None
    """For `renewed`: seconds from now."""
    ticket: str = ""
    """Between offices, with `returned`: whatever was lent to the take of this name, besides what the slips show."""


class AwaitArrival(Call[int], frozen=True, kw_only=True):
    """Wait until something may have come to a mailbox since an earlier answer; the same answer says: nothing did."""

    mailbox: str
    since: int = 0
    """The answer before this one."""
    wait: float | None = None


class BeginBody(Call[int], frozen=True, kw_only=True):
    """Begin to hand in a large body; answers the number to name it by."""


class AddToBody(Call[None], frozen=True, kw_only=True):
    """Hand in the next piece of a large body."""

    number: int
    piece: bytes


class EndBody(Call[Body], frozen=True, kw_only=True):
    """End a large body; it is durable when this is answered."""

    number: int


class AbandonBody(Call[None], frozen=True, kw_only=True):
    """Forget a large body that was begun."""

    number: int


class ReadBody(Call[bytes], frozen=True, kw_only=True):
    """Give the next piece of a large body; empty at its end."""

    body: Body
    start: int


class ListMailboxes(Call[list[Depth]], frozen=True, kw_only=True):
    """List the boxes that hold something, by name."""

    after: str = ""
    limit: int = 1_000


class ListSetups(Call[list[Setup]], frozen=True, kw_only=True):
    """List the mailboxes with settings of their own."""


class SetUp(Call[None], frozen=True, kw_only=True):
    """Write or remove the settings of a mailbox."""

    setup: Setup


class HoldPlace(Call[None], frozen=True, kw_only=True):
    """Bring nothing to an office or mail domain elsewhere, until it is let go again."""

    place: str
    held: bool = True


class ListHeld(Call[list[str]], frozen=True, kw_only=True):
    """List the places elsewhere that are held."""


class FlushPlace(Call[int], frozen=True, kw_only=True):
    """Bring at once what was brought to a place in vain; answers how many messages that are."""

    place: str


class ListQueue(Call[list[Queued]], frozen=True, kw_only=True):
    """List what waits in a box, in order of arrival."""

    box: str
    after: int = 0
    limit: int = 100


class ListDead(Call[list[Dead]], frozen=True, kw_only=True):
    """List dead letters."""

    box: str | None = None
    kind: str | None = None
    after: int = 0
    limit: int = 100


class RedriveDead(Call[int], frozen=True, kw_only=True):
    """Put dead letters back into their queues, or drop them; answers how many."""

    numbers: list[int] = []
    """These, or all that the filter lets through."""
    box: str | None = None
    kind: str | None = None
    drop: bool = False


class ListAside(Call[list[Aside]], frozen=True, kw_only=True):
    """List the messages set aside by a bug."""

    after: int = 0
    limit: int = 100


class ResendAside(Call[int], frozen=True, kw_only=True):
    """Send messages that were set aside through the stages again; answers how many went on."""

    numbers: list[int] = []
    """These, or all."""


class Lookup(Call[list[UUID]], frozen=True, kw_only=True):
    """Give the message ids that begin with these digits."""

    prefix: str
    limit: int = 10


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """One message with its whole life."""

    head: bytes
    body: bytes | Body
    sections: tuple[Section, ...]
    envelope: Envelope
    accepted: int
    steps: list[Step]


class Tell(Call[Story | None], frozen=True, kw_only=True):
    """Give one message with its trace."""

    message: UUID


class Destination(msgspec.Struct, frozen=True, kw_only=True):
    """How the way to one other office is."""

    name: str
    state: Literal["open", "probing", "closed"]
    """closed: unreachable, nothing is sent before `next_try`."""
    failures: int = 0
    next_try: int | None = None
    last_fault: str = ""


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """How an office is."""

    office: str
    version: str
    process: int
    started: int
    accepted: int
    """Messages ever accepted."""
    queued: int
    dead: int
    aside: int
    waiting: int
    """Takers that wait."""
    store: str
    """`ok`, or why the store cannot write now."""
    destinations: list[Destination]
    addresses: list[str] = []
    """Where the office answers over HTTP."""
    mail: dict[str, list[str]] = {}
    """Where its doors for mail listen, by their names."""
    domains: list[str] = []
    """The domains of mail whose mailboxes are here."""


class AskStatus(Call[Status], frozen=True, kw_only=True):
    """Say how the office is."""


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """What an examination found."""

    faults: list[str]
    """What is wrong, in words for whoever looks after the office; empty where the office is well."""
    write_seconds: float = 0.0
    read_seconds: float = 0.0


class Examine(Call[Health], frozen=True, kw_only=True):
    """Write and read something through the store, and say how that went."""


class Issued(msgspec.Struct, frozen=True, kw_only=True):
    """A new credential with its key, which is shown this once."""

    credential: Credential
    key: str


class CreateCredential(Call[Issued], frozen=True, kw_only=True):
    """Issue a credential, with scopes such as `send as ada`, `read orders*`, `administer`."""

    name: str
    scopes: list[str]
    expires_in: float | None = None
    """Seconds; None for a credential that stands until it is revoked."""
    by: str = ""


class ListCredentials(Call[list[Credential]], frozen=True, kw_only=True):
    """List all credentials ever issued, by id."""

    after: str = ""
    limit: int = 1_000


class RevokeCredential(Call[Credential], frozen=True, kw_only=True):
    """End a credential for good, by its id."""

    id: str
    by: str = ""


class Reloaded(msgspec.Struct, frozen=True, kw_only=True):
    """What came of reading the settings again; all of them by their full names."""

    changed: list[str]
    later: list[str]
    """What differs but waits for a restart."""
    faults: list[str]
    """What is wrong; then nothing was changed."""


class Reload(Call[Reloaded], frozen=True, kw_only=True):
    """Read the settings and certificates again."""


class Backup(Call[int], frozen=True, kw_only=True):
    """Write a copy of the store with its bodies into a new folder; answers its bytes."""

    folder: str


class Verify(Call[list[str]], frozen=True, kw_only=True):
    """Check the store: damaged pages, missing, broken and orphaned bodies; answers one line for each fault."""

    repair: bool = False
    """Remove orphaned bodies."""


AnyCall = (
    Put | TakeNext | SettleTaken | AwaitArrival | BeginBody | AddToBody | EndBody | AbandonBody | ReadBody
    | ListMailboxes | ListSetups | SetUp | ListQueue | ListDead | RedriveDead | ListAside | ResendAside | Lookup | Tell
    | AskStatus | Examine | CreateCredential | ListCredentials | RevokeCredential | Reload | Backup | Verify
    | HoldPlace | ListHeld | FlushPlace
)  # fmt: skip

# `Any`: a type as msgspec reads it; the calls above tie each to its own.
REPLIES: Final[dict[type[Call[Any]], Any]] = {
    Put: list[Receipt],
    TakeNext: list[Taken],
    SettleTaken: list[bool],
    AwaitArrival: int,
    BeginBody: int,
    AddToBody: None,
    EndBody: Body,
    AbandonBody: None,
    ReadBody: bytes,
    ListMailboxes: list[Depth],
    ListSetups: list[Setup],
    HoldPlace: None,
    ListHeld: list[str],
    FlushPlace: int,
    SetUp: None,
    ListQueue: list[Queued],
    ListDead: list[Dead],
    RedriveDead: int,
    ListAside: list[Aside],
    ResendAside: int,
    Lookup: list[UUID],
    Tell: Story | None,
    AskStatus: Status,
    Examine: Health,
    CreateCredential: Issued,
    ListCredentials: list[Credential],
    RevokeCredential: Credential,
    Reload: Reloaded,
    Backup: int,
    Verify: list[str],
}
