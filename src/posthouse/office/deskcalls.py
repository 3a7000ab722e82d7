"""What reviewers, authors of rules and auditors can ask of an office, as values beside those of `office.calls`.

`by` is who asks, as far as the asker knows; whoever comes by a key or an account is named by it, whatever stands there.
"""

from __future__ import annotations

from typing import Any, Final, Literal
from uuid import UUID

import msgspec

from posthouse.message.audit import Seal
from posthouse.message.case import Activation, Case, Command, Docket, Edition, Mailbag, Wrapper
from posthouse.message.changes import Register
from posthouse.message.credential import Account
from posthouse.message.envelope import Envelope
from posthouse.message.tiding import Heard
from posthouse.message.trace import Step
from posthouse.office.calls import Call
from posthouse.store.gateports import AuditLine, DocketCount, DocketFilter, DocketOrder, DocketPlace


class ListDockets(Call[list[Docket]], frozen=True, kw_only=True):
    """List what lies before a gatekeeper, or before all."""

    chosen: DocketFilter = DocketFilter()
    order: DocketOrder = "due"
    after: DocketPlace | None = None
    limit: int = 100


class CountDockets(Call[list[DocketCount]], frozen=True, kw_only=True):
    """Count the open dockets by gatekeeper and folder."""

    gatekeeper: str | None = None


class CaseStory(msgspec.Struct, frozen=True, kw_only=True):
    """One case with everything that is known of it."""

    case: Case
    wrapper: Wrapper
    dockets: list[Docket]
    envelope: Envelope
    accepted: int
    head: bytes
    body: bytes
    """The message as it stands, an edited one as it was edited; cut at `body_limit`."""
    is_cut: bool
    steps: list[Step]
    others: list[Case] = []
    """The other cases of the same message."""


class TellCase(Call[CaseStory | None], frozen=True, kw_only=True):
    """Tell the whole story of a case; to read the body of a held message is recorded in the audit."""

    case: UUID
    by: str = ""
    gatekeeper: str = ""
    body_limit: int = 0
    """Bytes of the body to be told; none where it is 0, and then nothing is recorded."""


class FindCases(Call[list[Case]], frozen=True, kw_only=True):
    """Give the cases whose id, or the id of whose message, begins with these digits."""

    prefix: str
    limit: int = 10


class OpenDocket(Call[Docket], frozen=True, kw_only=True):
    """Say that a gatekeeper has opened a message: gated becomes reviewed; nothing is decided."""

    case: UUID
    turn: int
    gatekeeper: str
    by: str = ""


class Decision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a gatekeeper commands for one docket."""

    case: UUID
    turn: int
    command: Command
    version: int | None = None
    """The version of the docket the decision rests on; none to take it as it stands."""
    id: str = ""
    """Nothing is done twice under one; drawn where it is left out."""
    to: str = ""
    """Whom `forward` and `copy` go to: a gatekeeper's role or an address; several with commas for `copy`."""
    mailbag: str = ""
    """The name of the mailbag for `file`; `inbox` and `review` name those two."""
    saying: str = ""
    """To the sender of what is returned; instructions for whom it is forwarded to."""
    comment: str = ""
    """For those who look after the case, never for sender or recipients."""
    recipients: tuple[str, ...] = ()
    """The specified recipients it is released to; all where nobody is named."""
    comes_back: bool = True
    within: int | None = None
    includes_original: bool = True
    is_confirmed: bool = False
    """The gatekeeper was asked and means it: to forward back, to a recipient, to break a signature."""


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a decision."""

    case: UUID
    turn: int
    status: Literal["done", "already", "stale", "refused", "confirm", "unknown"]
    """already: it was decided before, `text` says by whom and when; confirm: ask the gatekeeper and come again."""
    text: str = ""
    docket: Docket | None = None
    undo_until: int | None = None


class Decide(Call[list[Decided]], frozen=True, kw_only=True):
    """Decide on dockets, each for itself; answers stand in their order."""

    decisions: list[Decision]
    gatekeeper: str
    """The role acted in."""
    by: str = ""


class Undo(Call[Decided], frozen=True, kw_only=True):
    """Take back a decision that was not carried out yet."""

    case: UUID
    turn: int
    gatekeeper: str
    by: str = ""


class Claim(Call[Decided], frozen=True, kw_only=True):
    """Take a docket for oneself for a while, or let it go; its expiry waits while somebody writes."""

    case: UUID
    turn: int
    gatekeeper: str
    by: str = ""
    lets_go: bool = False
    takes_over: bool = False


class Edit(Call[Decided], frozen=True, kw_only=True):
    """Change the text of a held message; the original is kept."""

    case: UUID
    turn: int
    gatekeeper: str
    text: str
    by: str = ""
    version: int | None = None
    subject: str | None = None
    without_attachments: tuple[int, ...] = ()
    """The places, from 0, of attachments that are taken out."""
    is_confirmed: bool = False


class Annotate(Call[Decided], frozen=True, kw_only=True):
    """Add a note to a case, or change the dates of a docket."""

    case: UUID
    turn: int
    gatekeeper: str
    by: str = ""
    comment: str = ""
    expires: int | None = None
    retain: int | None = None
    drops_retain: bool = False


class HoldCase(Call[Decided], frozen=True, kw_only=True):
    """Put a legal hold on a case, or lift it."""

    case: UUID
    by: str = ""
    is_held: bool = True
    reason: str = ""


class Recall(Call[list[Decided]], frozen=True, kw_only=True):
    """Take back a message of one's own that is held; answers for each of its open cases."""

    message: UUID
    by: str = ""
    reason: str = ""


class SkipStop(Call[Decided], frozen=True, kw_only=True):
    """Have a case go on without one of its gatekeepers."""

    case: UUID
    gatekeeper: str
    by: str = ""
    reason: str = ""


class ListMailbags(Call[list[Mailbag]], frozen=True, kw_only=True):
    """List the mailbags of a gatekeeper, or of all."""

    gatekeeper: str | None = None


class WriteMailbag(Call[Mailbag], frozen=True, kw_only=True):
    """Make a mailbag where its id is empty, or change one."""

    mailbag: Mailbag
    by: str = ""
    is_confirmed: bool = False


class RemoveMailbag(Call[None], frozen=True, kw_only=True):
    """Remove an empty mailbag that no rule names."""

    gatekeeper: str
    id: str
    by: str = ""


class RunMailbag(Call[int], frozen=True, kw_only=True):
    """Let the function of a mailbag act on all that lies in it now; answers how many."""

    gatekeeper: str
    id: str
    by: str = ""
    is_confirmed: bool = False
    """Otherwise nothing is done, and the answer is how many it would be."""


class ListBooks(Call[Register], frozen=True, kw_only=True):
    """Say which edition of each book is in force."""


class ListEditions(Call[list[Edition]], frozen=True, kw_only=True):
    """List the editions of a book, without their texts."""

    book: str


class ReadEdition(Call[Edition | None], frozen=True, kw_only=True):
    """Give an edition of a book; the one in force where no number is named."""

    book: str
    number: int | None = None


class ListActivations(Call[list[Activation]], frozen=True, kw_only=True):
    """Say which editions of a book were in force, and since when."""

    book: str


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """A new edition, or why there is none."""

    edition: Edition | None
    faults: list[str] = []
    warnings: list[str] = []


class WriteEdition(Call[Written], frozen=True, kw_only=True):
    """Check a text and keep it as the next edition of its book; it is not in force yet."""

    book: str
    text: str
    by: str = ""
    note: str = ""
    is_trial: bool = False
    """Check only."""


class Activate(Call[Activation], frozen=True, kw_only=True):
    """Put an edition in force, an earlier one as well; 0 ends the book."""

    book: str
    number: int
    by: str = ""


class ListAudit(Call[list[AuditLine]], frozen=True, kw_only=True):
    """List records of the audit by number, or those about one subject."""

    after: int = 0
    limit: int = 1_000
    subject: str | None = None


class ListSeals(Call[list[Seal]], frozen=True, kw_only=True):
    """List the seals of the audit by the number of the record each seals."""

    after: int = 0
    limit: int = 1_000
    is_fresh: bool = False
    """Seal what was recorded since the last one before."""


class EraseAudit(Call[int], frozen=True, kw_only=True):
    """Erase what the audit says of persons about one subject; the chain stays whole. Answers how many records."""

    subject: str
    by: str = ""
    reason: str = ""


class ListAccounts(Call[list[Account]], frozen=True, kw_only=True):
    """List the accounts of people, without what their passwords are checked by."""


class WriteAccount(Call[Account], frozen=True, kw_only=True):
    """Open an account, or change one."""

    name: str
    address: str | None = None
    scopes: list[str] | None = None
    password: str | None = None
    is_closed: bool | None = None
    by: str = ""


class HearCases(Call[Heard], frozen=True, kw_only=True):
    """Say what happened to cases since then; without a number nothing but where to begin."""

    after: int | None = None
    limit: int = 100
    wait: float = 0.0
    """Seconds to wait for something to happen."""


class ConfirmClock(Call[bool], frozen=True, kw_only=True):
    """Say that the clock is right although it jumped; mailbags run again. False where nothing was in doubt."""

    by: str = ""


AnyDeskCall = (
    ListDockets | CountDockets | TellCase | FindCases | OpenDocket | Decide | Undo | Claim | Edit | Annotate | HoldCase
    | Recall | SkipStop | ListMailbags | WriteMailbag | RemoveMailbag | RunMailbag | ListBooks | ListEditions
    | ReadEdition | ListActivations | WriteEdition | Activate | ListAudit | ListSeals | EraseAudit | ListAccounts
    | WriteAccount | HearCases | ConfirmClock
)  # fmt: skip

# `Any`: a type as msgspec reads it; the calls above tie each to its own.
DESK_REPLIES: Final[dict[type[Call[Any]], Any]] = {
    ListDockets: list[Docket],
    CountDockets: list[DocketCount],
    TellCase: CaseStory | None,
    FindCases: list[Case],
    OpenDocket: Docket,
    Decide: list[Decided],
    Undo: Decided,
    Claim: Decided,
    Edit: Decided,
    Annotate: Decided,
    HoldCase: Decided,
    Recall: list[Decided],
    SkipStop: Decided,
    ListMailbags: list[Mailbag],
    WriteMailbag: Mailbag,
    RemoveMailbag: None,
    RunMailbag: int,
    ListBooks: Register,
    ListEditions: list[Edition],
    ReadEdition: Edition | None,
    ListActivations: list[Activation],
    WriteEdition: Written,
    Activate: Activation,
    ListAudit: list[AuditLine],
    ListSeals: list[Seal],
    EraseAudit: int,
    ListAccounts: list[Account],
    WriteAccount: Account,
    HearCases: Heard,
    ConfirmClock: bool,
}
