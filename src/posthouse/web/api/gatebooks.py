"""The desk over HTTP: mailbags, the books the office goes by, its audit, and the accounts of people."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import delete, get, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from posthouse.message.case import Function, Mailbag, Rhythm
from posthouse.office.bookkeeping import BookUnknown
from posthouse.office.deskcalls import (
    Activate,
    EraseAudit,
    ListAccounts,
    ListActivations,
    ListAudit,
    ListBooks,
    ListEditions,
    ListMailbags,
    ReadEdition,
    RemoveMailbag,
    RunMailbag,
    WriteAccount,
    WriteEdition,
    WriteMailbag,
)
from posthouse.office.permit import Permit
from posthouse.web.api.bookshape import (
    AccountShape,
    ActivationShape,
    AuditShape,
    EditionShape,
    MailbagShape,
    account_of,
    activation_of,
    audit_of,
    edition_of,
    mailbag_of,
)
from posthouse.web.api.gate import TAGS, Gatekeeper
from posthouse.web.api.gateshape import Role, Text, Version
from posthouse.web.api.path import mailbox_in
from posthouse.web.api.shape import Count
from posthouse.web.front import Front

_BOOKS = ["What the office goes by"]
_PEOPLE = ["Audit and accounts"]
_LARGEST = 16_000_000


Number = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Mailbags(msgspec.Struct, frozen=True, kw_only=True):
    """Mailbags, by gatekeeper and name."""

    mailbags: list[MailbagShape]


class WrittenMailbag(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mailbag to be made, or one that is to be otherwise."""

    gatekeeper: Role
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    id: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """Left out, a new one is made."""
    version: Version = 1
    """Of one that is changed, one more than it has now."""
    function: Function = "none"
    to: Text = ""
    saying: Text = ""
    rhythm: Rhythm = Rhythm()
    is_confirmed: bool = False


class RunningMailbag(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose mailbag is to run, and whether that is meant."""

    gatekeeper: Role
    is_confirmed: bool = False
    """Otherwise nothing is done, and the answer is how many messages it would be."""


class Books(msgspec.Struct, frozen=True, kw_only=True):
    """The edition in force of each book that has one."""

    books: dict[str, int]


class Editions(msgspec.Struct, frozen=True, kw_only=True):
    """The editions of a book without their texts, oldest first."""

    editions: list[EditionShape]


class Activations(msgspec.Struct, frozen=True, kw_only=True):
    """Which editions of a book were in force, and since when."""

    activations: list[ActivationShape]


class NewEdition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The text of a new edition."""

    text: Annotated[str, msgspec.Meta(max_length=_LARGEST)]
    note: Text = ""
    is_trial: bool = False
    """Check it only."""


class WrittenEdition(msgspec.Struct, frozen=True, kw_only=True):
    """A new edition, or why there is none."""

    edition: EditionShape | None
    faults: list[str]
    warnings: list[str]


class NewActivation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The edition that is to be in force; 0 ends the book."""

    edition: Number


class Records(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the audit; ask again with `after` as the last one's number."""

    records: list[AuditShape]


class Erasing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is said of persons about one subject, to be erased."""

    subject: Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
    reason: Text = ""


class AccountRows(msgspec.Struct, frozen=True, kw_only=True):
    """The accounts, by name."""

    accounts: list[AccountShape]


class WrittenAccount(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be otherwise of an account; what is left out stays."""

    address: Annotated[str, msgspec.Meta(max_length=1_000)] | None = None
    scopes: Annotated[list[Annotated[str, msgspec.Meta(max_length=200)]], msgspec.Meta(max_length=50)] | None = None
    password: Annotated[str, msgspec.Meta(max_length=1_000)] | None = None
    closed: bool | None = None


# --- mailbags ---------------------------------------------------------------------------------------------------------


@get("/gate/mailbags", summary="List mailbags", tags=TAGS)
async def list_mailbags(
    *, front: NamedDependency[Front], permit: NamedDependency[Permit], gatekeeper: Gatekeeper = None
) -> Mailbags:
    """Give those of one role, or of all roles you may act in."""
    found = await front.ask(permit, ListMailbags(gatekeeper=gatekeeper))
    return Mailbags(mailbags=[mailbag_of(bag) for bag in found])


@post("/gate/mailbags", summary="Make a mailbag, or change one", tags=TAGS, status_code=200)
async def write_mailbag(
    *, data: JSONBody[WrittenMailbag], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> MailbagShape:
    """Say what is done to all that lies in it, and when; a change that makes it run at once has to be confirmed."""
    bag = Mailbag(
        id=data.id, gatekeeper=data.gatekeeper, name=data.name, function=data.function, to=data.to,
        saying=data.saying, rhythm=data.rhythm, version=data.version,
    )  # fmt: skip
    return mailbag_of(await front.ask(permit, WriteMailbag(mailbag=bag, is_confirmed=data.is_confirmed)))


@delete("/gate/mailbags/{identity:str}", summary="Remove a mailbag", tags=TAGS)
async def remove_mailbag(
    *, identity: FromPath[str], gatekeeper: FromQuery[str], front: NamedDependency[Front],
    permit: NamedDependency[Permit],
) -> None:  # fmt: skip
    """Remove one that is empty and that no rule names."""
    await front.ask(permit, RemoveMailbag(gatekeeper=gatekeeper, id=mailbox_in(identity)))


@post("/gate/mailbags/{identity:str}/run", summary="Run a mailbag now", tags=TAGS, status_code=200)
async def run_mailbag(
    *, identity: FromPath[str], data: JSONBody[RunningMailbag], front: NamedDependency[Front],
    permit: NamedDependency[Permit],
) -> Count:  # fmt: skip
    """Apply its function to all that lies in it; answers how many."""
    call = RunMailbag(gatekeeper=data.gatekeeper, id=mailbox_in(identity), is_confirmed=data.is_confirmed)
    return Count(count=await front.ask(permit, call))


# --- books ------------------------------------------------------------------------------------------------------------


@get("/gate/books", summary="Say what is in force", tags=_BOOKS)
async def list_books(*, front: NamedDependency[Front], permit: NamedDependency[Permit]) -> Books:
    """Give the edition in force of each book: `rules`, `rules of ROLE`, `organisation`, `policy`, `words NAME`."""
    return Books(books=(await front.ask(permit, ListBooks())).books)


@get("/gate/books/{book:str}", summary="Read the edition of a book that is in force", tags=_BOOKS)
async def read_book(
    *, book: FromPath[str], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> EditionShape:
    """Give its text."""
    return await _edition(front, permit, mailbox_in(book), None)


@get("/gate/books/{book:str}/editions", summary="List the editions of a book", tags=_BOOKS)
async def list_editions(
    *, book: FromPath[str], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> Editions:
    """Give them without their texts, oldest first."""
    found = await front.ask(permit, ListEditions(book=mailbox_in(book)))
    return Editions(editions=[edition_of(one) for one in found])


@get("/gate/books/{book:str}/editions/{number:int}", summary="Read one edition of a book", tags=_BOOKS)
async def read_edition(
    *, book: FromPath[str], number: FromPath[int], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> EditionShape:
    """Give its text."""
    return await _edition(front, permit, mailbox_in(book), number)


async def _edition(front: Front, permit: Permit, book: str, number: int | None) -> EditionShape:
    fits = number is None or 0 <= number <= 2**53
    edition = await front.ask(permit, ReadEdition(book=book, number=number if fits else 0))
    if edition is None:
        what = f"no edition of {book[:200]} is in force" if number is None else f"{book[:200]} has no edition {number}"
        raise BookUnknown(what, hint="/gate/books says what is in force")
    return edition_of(edition)


@post("/gate/books/{book:str}/editions", summary="Write the next edition of a book", tags=_BOOKS, status_code=200)
async def write_edition(
    *, book: FromPath[str], data: JSONBody[NewEdition], front: NamedDependency[Front],
    permit: NamedDependency[Permit],
) -> WrittenEdition:  # fmt: skip
    """Check the text, and keep it where it has no faults; it is in force once it is activated."""
    call = WriteEdition(book=mailbox_in(book), text=data.text, note=data.note, is_trial=data.is_trial)
    found = await front.ask(permit, call)
    edition = None if found.edition is None else edition_of(found.edition)
    return WrittenEdition(edition=edition, faults=found.faults, warnings=found.warnings)


@get("/gate/books/{book:str}/activations", summary="Say what of a book was in force, and when", tags=_BOOKS)
async def list_activations(
    *, book: FromPath[str], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> Activations:
    """Give them oldest first."""
    found = await front.ask(permit, ListActivations(book=mailbox_in(book)))
    return Activations(activations=[activation_of(one) for one in found])


@post("/gate/books/{book:str}/activations", summary="Put an edition of a book in force", tags=_BOOKS, status_code=200)
async def activate(
    *, book: FromPath[str], data: JSONBody[NewActivation], front: NamedDependency[Front],
    permit: NamedDependency[Permit],
) -> ActivationShape:  # fmt: skip
    """Go by it from now on; an earlier one can be put in force again, and 0 ends the book."""
    return activation_of(await front.ask(permit, Activate(book=mailbox_in(book), number=data.edition)))


# --- the audit, accounts ----------------------------------------------------------------------------------------------


@get("/gate/audit", summary="Read the audit", tags=_PEOPLE)
async def list_audit(
    *,
    front: NamedDependency[Front],
    permit: NamedDependency[Permit],
    after: Annotated[int, QueryParameter(ge=0, le=2**62, description="The last number of the page before.")] = 0,
    limit: Annotated[int, QueryParameter(ge=1, le=1_000)] = 100,
    subject: Annotated[str | None, QueryParameter(max_length=500)] = None,
) -> Records:
    """Give records by number, or those about one subject: a case, a message, a book, an account."""
    found = await front.ask(permit, ListAudit(after=after, limit=limit, subject=subject))
    return Records(records=[audit_of(line) for line in found])


@post("/gate/audit/erase", summary="Erase what the audit says of persons", tags=_PEOPLE, status_code=200)
async def erase_audit(
    *, data: JSONBody[Erasing], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> Count:
    """Forget what was said about one subject; the chain stays whole, and that it was erased is recorded."""
    return Count(count=await front.ask(permit, EraseAudit(subject=data.subject, reason=data.reason)))


@get("/gate/accounts", summary="List accounts", tags=_PEOPLE)
async def list_accounts(*, front: NamedDependency[Front], permit: NamedDependency[Permit]) -> AccountRows:
    """Give the people who sign in, those whose account was closed included; nothing of their passwords."""
    return AccountRows(accounts=[account_of(one) for one in await front.ask(permit, ListAccounts())])


@put("/gate/accounts/{name:str}", summary="Open an account, or change one", tags=_PEOPLE, status_code=200)
async def write_account(
    *, name: FromPath[str], data: JSONBody[WrittenAccount], front: NamedDependency[Front],
    permit: NamedDependency[Permit],
) -> AccountShape:  # fmt: skip
    """Write what is named, leave the rest as it is."""
    call = WriteAccount(
        name=mailbox_in(name), address=data.address, scopes=data.scopes, password=data.password,
        is_closed=data.closed,
    )  # fmt: skip
    return account_of(await front.ask(permit, call))


HANDLERS = [
    list_mailbags, write_mailbag, remove_mailbag, run_mailbag, list_books, read_book, list_editions, read_edition,
    write_edition, list_activations, activate, list_audit, erase_audit, list_accounts, write_account,
]  # fmt: skip
