"""The books an office goes by, read and made ready once for each edition, away from the event loop, and swapped whole.

What a batch is decided on is what the register of that batch names; a book that cannot be read stops the intake rather
than let pass what it would have held.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import msgspec
import structlog

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.gate.judge import RuleJudge, Snapshot
from posthouse.gate.policy import BOOK as POLICY
from posthouse.gate.policy import DEFAULT, Policy, read_policy
from posthouse.gate.rulebook import RULES, RuleBook, compile_edition, kind_of, list_of, owner_of, read_words
from posthouse.gate.statistics import Statistics
from posthouse.matching.value.wordlist import WordList
from posthouse.message.case import Edition
from posthouse.message.changes import Changes, Outcome, Register
from posthouse.office.breakage import Breakage
from posthouse.office.levels import Levels
from posthouse.office.sorting import Parcel
from posthouse.office.terms import Terms
from posthouse.organisation.directory import BOOK as ORGANISATION
from posthouse.organisation.form.parse import parse_directory
from posthouse.organisation.snapshot import Snapshot as Organisation
from posthouse.store.gateports import Books
from posthouse.store.ports import Store

_KEPT: Final = 64
"""Editions that are kept ready besides those in force: what was rolled back is there again at once."""

_SETTLED: Final = {"done": "delivered", "bury": "failed"}
_COUNTED: Final = {"message.returned": "returned", "message.deleted": "deleted"}

_log = structlog.get_logger("posthouse.library")


class BookUnreadable(PosthouseError):
    """A book that is in force and cannot be read; nothing is taken in until an edition that can be is activated."""

    code: ClassVar[str] = "book.unreadable"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The office cannot decide about messages now."


class InForce(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the office goes by at one version of its register."""

    policy: Policy = DEFAULT
    organisation: Organisation | None = None
    rules: Mapping[str, RuleBook] = {}
    """By their titles: those of the office, and those of gatekeepers."""
    judge: RuleJudge

    @property
    def has_rules(self) -> bool:
        """Whether the office has rules of its own."""
        return RULES in self.rules

    def rules_of(self, gatekeeper: str) -> RuleBook | None:
        """Give the rules of a gatekeeper, however the role is written."""
        wanted = gatekeeper.casefold()
        return next((book for book in self.rules.values() if book.gatekeeper.casefold() == wanted), None)


class Library:
    """Keeps the books of one office."""

    def __init__(self, clock: Clock, terms: Terms, *, store: Store) -> None:
        self._clock = clock
        self._terms = terms
        self._store = store
        # `Any`: what a book becomes, each kind its own.
        self._ready: dict[tuple[object, ...], Any] = {}
        self._key: tuple[tuple[str, int], ...] = ()
        self._current: InForce | None = None
        self._building = asyncio.Lock()
        self.breakage = Breakage()
        self._levels = Levels(clock, store)
        self.statistics: Statistics | None = None
        """Counted from when the first book came into force."""

    async def in_force(self, register: Register) -> InForce | None:
        """Give what a version of the register names; None where it names no book."""
        if not register.books:
            return None
        key = tuple(sorted(register.books.items()))
        if self._current is None or key != self._key:
            async with self._building:
                if self._current is None or key != self._key:
                    self._current, self._key = await self._build(register.books), key
        rules = self._current.rules.get(RULES)
        if rules is not None and rules.figures and self.statistics is not None:
            await self._levels.refresh(self.statistics, rules.figures)
        return self._current

    def note(self, written: Sequence[tuple[Parcel, Changes]], *, since: int) -> None:
        """Count messages that were just taken in, decided on from an instant on."""
        if self.statistics is None or not written:
            return
        now = self._clock.now()
        counts = Counter(received=len(written), bytes_in=sum(parcel.message.size for parcel, _ in written))
        for _, changes in written:
            counts["bytes_out"] += sum([entry.size for entry in changes.posts[0].entries if entry.work == "deliver"])
            if changes.audits:
                counts["gated"] += len(changes.cases)
                counts.update(_COUNTED[audit.act] for audit in changes.audits if audit.act in _COUNTED)
        for counter, number in counts.items():
            self.statistics.count(counter, number, at=now)
        self.statistics.took(now - since, at=now, number=len(written))
        if self._asks_for_senders:
            for parcel, _ in written:
                envelope = parcel.envelope
                if envelope.sender is not None:
                    self.statistics.senders.count(envelope.sender, len(envelope.everybody), at=now)

    @property
    def _asks_for_senders(self) -> bool:
        rules = None if self._current is None else self._current.rules.get(RULES)
        return rules is not None and rules.asks_for_senders

    def hear(self, changes: Sequence[Changes], outcomes: Sequence[Outcome]) -> None:
        """Count what was delivered or given up in a commit."""
        if self.statistics is None:
            return
        counts = Counter[str]()
        for change, outcome in zip(changes, outcomes, strict=True):
            # What is settled and goes on has not arrived.
            if change.settles and outcome.status == "done" and not change.onwards:
                counts.update(_SETTLED[settle.act] for settle in change.settles if settle.act in _SETTLED)
        for counter, number in counts.items():
            self.statistics.count(counter, number, at=self._clock.now())

    async def prepare(self, edition: Edition, books: Mapping[str, int]) -> None:
        """Make ready what is about to come into force, so that nobody waits for it; raises what is wrong with it."""
        await self._build({**books, edition.book: edition.number})

    async def _build(self, books: Mapping[str, int]) -> InForce:
        editions = [await self._edition(self._store.gate.books, *book) for book in books.items() if book[1]]
        if self.statistics is None:
            self.statistics = Statistics(self._clock.now())
        return await asyncio.to_thread(self._made, editions)

    @staticmethod
    async def _edition(books: Books, title: str, number: int) -> Edition:
        edition = await books.edition(title, number)
        if edition is None:
            raise BookUnreadable(f"expected edition {number} of the book, found none", where=title)
        return edition

    def _made(self, editions: Sequence[Edition]) -> InForce:
        by_title = {edition.book: edition for edition in editions}
        policy = DEFAULT
        if POLICY in by_title:
            policy = self._read(by_title[POLICY], lambda edition: read_policy(edition.text))
        organisation = None
        if ORGANISATION in by_title:
            organisation = self._read(
                by_title[ORGANISATION],
                lambda edition: Organisation(parse_directory(edition.text), edition=edition.number, zone=policy.tzinfo),
                policy.zone,
            )
        lists = [edition for edition in editions if list_of(edition.book) is not None]
        words = {
            list_of(edition.book) or "": self._read(edition, lambda edition: WordList(read_words(edition.text)))
            for edition in lists
        }
        beside = (policy.zone, *sorted((edition.book, edition.number) for edition in lists))
        rules = {
            edition.book: self._read(
                edition, lambda edition: compile_edition(edition, lists=words, zone=policy.tzinfo), beside
            )
            for edition in editions
            if kind_of(edition.book) is not None
        }
        return self._together(policy, organisation, rules)

    def _together(
        self, policy: Policy, organisation: Organisation | None, rules: Mapping[str, RuleBook]
    ) -> InForce:  # fmt: skip
        snapshot = Snapshot(
            office=str(self._terms.name),
            name=self._terms.mailing.name or "localhost",
            book=rules.get(RULES),
            policy=policy,
            organisation=organisation,
            organisation_edition=0 if organisation is None else organisation.edition,
        )
        judge = RuleJudge(snapshot, statistics=self.statistics, report=self.breakage.hear)
        return InForce(policy=policy, organisation=organisation, rules=rules, judge=judge)

    # `Any`: an edition is made into whatever its kind of book is.
    def _read(self, edition: Edition, make: Any, beside: object = None) -> Any:
        key = (edition.book, edition.number, beside)
        if key not in self._ready:
            try:
                self._ready[key] = make(edition)
            except (PosthouseError, ExceptionGroup) as fault:
                where = f"{edition.book}, edition {edition.number}"
                raise BookUnreadable(str(fault), where=where, hint="activate another edition") from fault
            while len(self._ready) > _KEPT:
                del self._ready[next(iter(self._ready))]
        return self._ready[key]


def is_title(title: str) -> bool:
    """Say whether a book of this title can be."""
    return title in {RULES, POLICY, ORGANISATION} or bool(owner_of(title)) or bool(list_of(title))
