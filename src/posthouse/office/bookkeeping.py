"""The books of an office as people write them: editions are checked and kept, activated, and told of.

An edition never changes; what is in force is said by the newest activation, and every one of them is recorded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Final

import msgspec

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.gate.policy import BOOK as POLICY
from posthouse.gate.policy import read_policy
from posthouse.gate.proof import Known, prove
from posthouse.gate.record import record
from posthouse.gate.rulebook import RuleBook, kind_of, list_of, named_lists, read_words
from posthouse.matching.language.reader import MAX_TEXT, UnreadableText
from posthouse.matching.value.wordlist import MAX_WORD, MAX_WORDS
from posthouse.message.case import Activation, AuditEntry, Edition
from posthouse.message.changes import Changes, Outcome, Register
from posthouse.office.counter import Unavailable
from posthouse.office.deskcalls import (
    Activate,
    ListActivations,
    ListBooks,
    ListEditions,
    ReadEdition,
    WriteEdition,
    Written,
)
from posthouse.office.library import BookUnreadable, InForce, Library, is_title
from posthouse.office.mailbox import BadRequest
from posthouse.office.sealing import sealed
from posthouse.organisation.directory import BOOK as ORGANISATION
from posthouse.organisation.directory import key_of
from posthouse.organisation.form.parse import parse_directory
from posthouse.store.ports import Store

_TRIES: Final = 8
_MOST_NOTE: Final = 10_000


class BookUnknown(PosthouseError):
    """There is no such book, or no such edition of it."""

    code: ClassVar[str] = "book.unknown"
    public: ClassVar[str] = "There is no such book or edition."


class BookFaulty(PosthouseError):
    """An edition that cannot come into force as things stand; `rules check` and the trial of an edition say why."""

    code: ClassVar[str] = "book.faulty"
    public: ClassVar[str] = "The edition cannot be activated."


class SecondPersonNeeded(PosthouseError):
    """Policy wants a second person to agree: whoever wrote an edition cannot activate it."""

    code: ClassVar[str] = "person.second-needed"
    public: ClassVar[str] = "A second person has to do this."


class Bookkeeping:
    """Answers what authors of books ask."""

    def __init__(self, clock: Clock, store: Store, *, library: Library) -> None:
        self._clock = clock
        self._store = store
        self._library = library

    async def books(self, _call: ListBooks) -> Register:
        """See `ListBooks`."""
        return await self._store.register()

    async def editions(self, call: ListEditions) -> list[Edition]:
        """See `ListEditions`."""
        found = await self._store.gate.books.editions(call.book)
        return [msgspec.structs.replace(edition, text="") for edition in found]

    async def edition(self, call: ReadEdition) -> Edition | None:
        """See `ReadEdition`."""
        number = call.number
        if number is None:
            number = (await self._store.register()).books.get(call.book)
        return None if not number else await self._store.gate.books.edition(call.book, number)

    async def activations(self, call: ListActivations) -> list[Activation]:
        """See `ListActivations`."""
        return await self._store.gate.books.activations(call.book)

    async def write(self, call: WriteEdition) -> Written:
        """See `WriteEdition`."""
        if not is_title(call.book):
            raise BadRequest(
                f"expected a book such as rules, rules of ROLE, words NAME, organisation or policy, found {call.book!r}"
            )
        faults, warnings = await self._checked(call.book, call.text)
        if faults or call.is_trial:
            return Written(edition=None, faults=faults, warnings=warnings)
        for _ in range(_TRIES):
            edition = await self._next(call)
            outcome = await self._commit(Changes(editions=(edition,), audits=(_of_writing(edition),)))
            if outcome.status == "done":
                return Written(edition=edition, warnings=warnings)
            if outcome.status != "stale":
                raise Unavailable(outcome.detail)
        raise Unavailable("others are writing this book at the same time")

    async def activate(self, call: Activate) -> Activation:
        """See `Activate`."""
        now, register = self._clock.now(), await self._store.register()
        in_force = await self._library.in_force(register)
        if call.number:
            edition = await self._store.gate.books.edition(call.book, call.number)
            if edition is None:
                raise BookUnknown(f"there is no edition {call.number}", where=call.book)
            self._refuse_alone(call, edition, in_force)
            await self._refuse_faulty(edition, register)
        elif call.book not in register.books:
            raise BookUnknown("no edition of the book is in force", where=call.book)
        await self._refuse_gap(call, in_force)
        activation = Activation(book=call.book, number=call.number, at=now, by=call.by)
        audit = record("book.activated", call.book, at=now, actor=call.by, edition=call.number)
        outcome = await self._commit(Changes(activations=(activation,), audits=(audit,)))
        if outcome.status != "done":
            raise Unavailable(outcome.detail)
        return activation

    async def _commit(self, changes: Changes) -> Outcome:
        (outcome,) = await self._store.commit([sealed(changes, self._clock)])
        return outcome

    async def _next(self, call: WriteEdition) -> Edition:
        known = await self._store.gate.books.editions(call.book)
        return Edition(
            book=call.book, number=len(known) + 1, text=call.text, author=call.by, note=call.note[:_MOST_NOTE],
            at=self._clock.now(),
        )  # fmt: skip

    # --- what keeps an edition out ------------------------------------------------------------------------------------

    async def _checked(self, title: str, text: str) -> tuple[list[str], list[str]]:
        """Give faults and warnings of a text, found away from the event loop."""
        if len(text) > MAX_TEXT:
            return [f"expected a text of at most {MAX_TEXT:,} characters, found {len(text):,}"], []
        in_force = await self._library.in_force(await self._store.register())
        known = await self._known(in_force)
        rules = {} if in_force is None else in_force.rules
        return await asyncio.to_thread(_check, title, text, known, rules)

    async def _known(self, in_force: InForce | None) -> Known:
        mailbags: dict[str, list[str]] = {}
        for mailbag in await self._store.gate.cases.mailbags():
            mailbags.setdefault(mailbag.gatekeeper.casefold(), []).append(mailbag.name)
        register = await self._store.register()
        organisation = None if in_force is None else in_force.organisation
        rules = {} if in_force is None else in_force.rules
        return Known(
            roles=None if organisation is None else [role.name for role in organisation.directory.roles],
            lists=[name for title in register.books if (name := list_of(title)) is not None],
            mailbags=mailbags,
            forwards={book.gatekeeper.casefold(): _forwards(book) for book in rules.values() if book.gatekeeper},
        )

    @staticmethod
    def _refuse_alone(call: Activate, edition: Edition, in_force: InForce | None) -> None:
        needs_two = in_force is not None and "activate" in in_force.policy.four_eyes
        if needs_two and (not call.by or call.by == edition.author):
            raise SecondPersonNeeded(
                f"expected somebody else than {edition.author or 'its author'} to activate edition {edition.number}",
                where=call.book,
                hint="the policy of the office wants two people for this",
            )

    async def _refuse_faulty(self, edition: Edition, register: Register) -> None:
        """Refuse what was sound when it was written, and is not any more: a list is gone, a role is."""
        faults, _ = await self._checked(edition.book, edition.text)
        if faults:
            raise BookFaulty(faults[0], where=edition.book, hint=f"and {len(faults) - 1} more" if faults[1:] else None)
        try:
            await self._library.prepare(edition, register.books)
        except BookUnreadable as fault:
            raise BookFaulty(fault.what, where=edition.book) from fault

    async def _refuse_gap(self, call: Activate, in_force: InForce | None) -> None:
        """Refuse to take away what something that goes on rests on: a list of rules, a role with messages before it."""
        name = list_of(call.book)
        if name is not None and not call.number and in_force is not None:
            for title, book in in_force.rules.items():
                if any(name in named_lists(rule.rule.condition) for rule in book.rules):
                    raise BookFaulty(f"the book {title} asks for this list", where=call.book)
        if call.book != ORGANISATION or not call.number:
            return
        edition = await self._store.gate.books.edition(call.book, call.number)
        text = "" if edition is None else edition.text
        roles = {key_of(role.name) for role in (await asyncio.to_thread(parse_directory, text)).roles}
        had = set() if in_force is None or in_force.organisation is None else set(in_force.organisation.roles)
        for count in await self._store.gate.cases.counts():
            if count.count and key_of(count.gatekeeper) in had - roles:
                raise BookFaulty(
                    f"{count.count} messages lie before {count.gatekeeper}, a role that edition {call.number} has not",
                    where=call.book,
                    hint="let somebody decide on them, or forward them, first",
                )


def _check(
    title: str, text: str, known: Known, rules: Mapping[str, RuleBook]
) -> tuple[list[str], list[str]]:  # fmt: skip
    if kind_of(title) is not None:
        proof = prove(title, text, known=known)
        return [str(fault) for fault in proof.faults], [str(warning) for warning in proof.warnings]
    if list_of(title) is not None:
        return list(_faults_of_words(text)), []
    try:
        if title == POLICY:
            read_policy(text)
            return [], []
        directory = parse_directory(text)
    except UnreadableText as unreadable:
        return [str(problem) for problem in unreadable.problems], []
    except ExceptionGroup as group:
        return [str(fault) for fault in group.exceptions], []
    roles = {key_of(role.name) for role in directory.roles}
    return [], list(_missing_roles(rules.values(), roles))


def _faults_of_words(text: str) -> Iterator[str]:
    words = read_words(text)
    if not 0 < len(words) <= MAX_WORDS:
        yield f"expected 1 to {MAX_WORDS:,} words, one to a line, found {len(words):,}"
    for word in words:
        if len(word) > MAX_WORD:
            yield f"expected a word of at most {MAX_WORD:,} characters, found {len(word):,}"
            return


def _missing_roles(books: Iterable[RuleBook], roles: set[str]) -> Iterator[str]:
    """Tell of gatekeepers that rules in force name and an organisation has not."""
    for book in books:
        for rule in book.rules:
            named = [who for action in rule.rule.actions if action.name == "gate" for who in action.to]
            for who in named:
                if "@" not in who and key_of(who) not in roles:
                    yield f'{book.title}, rule "{rule.name}": expected a role, found "{who}", which nobody has now'


def _forwards(book: RuleBook) -> tuple[str, ...]:
    actions = [action for rule in book.rules for action in rule.rule.actions]
    return tuple(dict.fromkeys(who for action in actions if action.name in ("forward", "gate") for who in action.to))


def _of_writing(edition: Edition) -> AuditEntry:
    return record(
        "book.written", edition.book, at=edition.at, actor=edition.author, edition=edition.number, note=edition.note
    )
