"""The judge of an office: its rules, its organisation and its policy in force, asked about the messages of a batch.

It keeps nothing but what the rules count; what it decides is written by whoever carries the batch on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from posthouse.gate.conduct import Conduct, conduct, resume
from posthouse.gate.decide import NOTHING, Broken, Ruled, Subject, Terms, decide
from posthouse.gate.emission import Writer
from posthouse.gate.history import history_of
from posthouse.gate.opening import Setting
from posthouse.gate.policy import DEFAULT, Policy
from posthouse.gate.rulebook import RuleBook
from posthouse.gate.ruling import Ruling
from posthouse.gate.statistics import OfficeFigures, SenderFigures, Statistics
from posthouse.matching.language.rule.rule import Checkpoint
from posthouse.matching.value.record import Context, History, Record, make_record
from posthouse.message.case import Wrapper, unpack_wrapper
from posthouse.message.journey import Journey
from posthouse.message.message import HOP
from posthouse.message.name import MalformedName, parse_mailbox
from posthouse.message.passage import Facts, Passage
from posthouse.organisation.snapshot import Snapshot as Who


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """What is in force."""

    office: str = ""
    name: str = "localhost"
    """The mail name of the office."""
    book: RuleBook | None = None
    policy: Policy = DEFAULT
    organisation: Who | None = None
    organisation_edition: int = 0


Report = Callable[[str, Sequence[Broken]], None]
"""Hears of a book that was asked, with those of its rules that broke; all others work."""


def _say_nothing(_: str, __: Sequence[Broken]) -> None:
    """Hear of broken rules."""


class RuleJudge:
    """Judges by one snapshot; the figures outlive it."""

    def __init__(
        self, snapshot: Snapshot, *, statistics: Statistics | None = None, report: Report = _say_nothing
    ) -> None:
        self.snapshot: Final = snapshot
        self._statistics: Final = statistics
        self._report: Final = report

    def judge(self, journeys: Sequence[Journey], facts: Facts) -> Passage:
        """See `Judge`."""
        asked = [place for place, journey in enumerate(journeys) if self._is_asked(journey)]
        if not asked:
            return Passage(tuple(journeys))
        rulings = dict(zip(asked, self._rulings([journeys[place] for place in asked], facts), strict=True))
        if all(ruled is NOTHING for ruled in rulings.values()) and not facts.cases:
            return Passage(tuple(journeys))
        return _sorted_out(self._conducted(journeys, rulings, facts))

    def _is_asked(self, journey: Journey) -> bool:
        luggage, book = journey.luggage, self.snapshot.book
        if luggage.is_automatic:
            return False
        if luggage.case is not None:
            return True
        return book is not None and ("deliver" in book.checkpoints or checkpoint_of(journey) in book.checkpoints)

    def _rulings(self, journeys: Sequence[Journey], facts: Facts) -> Sequence[tuple[Ruling, ...]]:
        book, snapshot = self.snapshot.book, self.snapshot
        if book is None:
            return [NOTHING] * len(journeys)
        office = OfficeFigures(self._statistics, facts.now) if self._statistics is not None else None
        context = Context(
            now=facts.now, zone=snapshot.policy.tzinfo, organisation=snapshot.organisation, office_statistics=office
        )
        fold = None
        if office is not None and self._statistics is not None:
            fold = _Fold(self._statistics, office, now=facts.now, asks_for_senders=book.asks_for_senders)
        subjects = [self._subject(journey, facts, context, fold) for journey in journeys]
        terms = Terms(
            office=snapshot.office,
            now=facts.now,
            zone=snapshot.policy.tzinfo,
            organisation=snapshot.organisation_edition,
            is_first=snapshot.policy.rules == "first",
            single_action=snapshot.policy.single_action,
            tell_sender=snapshot.policy.tell_sender,
        )
        ruled = self._decided(book, subjects, terms, fold)
        return ruled.rulings

    def _decided(self, book: RuleBook, subjects: Sequence[Subject], terms: Terms, fold: _Fold | None) -> Ruled:
        note = fold.note if fold is not None and book.folded is not None else None
        is_still = fold is not None and fold.is_still(book, subjects)
        ruled = decide(book, subjects, terms=terms, note=note, is_still=is_still)
        self._report(book.title, ruled.broken)
        return ruled

    def _subject(self, journey: Journey, facts: Facts, context: Context, fold: _Fold | None) -> Subject:
        book, luggage = self.snapshot.book, journey.luggage
        assert book is not None
        wrapper = _wrapper_of(journey, facts)
        history = None if wrapper is None else history_of(wrapper)
        if history is not None or (fold is not None and book.asks_for_senders):
            context = _own(context, history, fold, luggage.envelope.sender)
        record = make_record(journey.message, luggage.envelope, features=luggage.features, context=context)
        return Subject(
            id=journey.message.id,
            record=record,
            checkpoint=checkpoint_of(journey),
            local=_local(record, facts) if "deliver" in book.checkpoints else (),
            deferrals=luggage.deferrals,
            accepted=luggage.features.accepted,
            before=frozenset() if wrapper is None else frozenset(fired.digest for fired in wrapper.fired),
            is_again=wrapper is not None,
        )

    def _conducted(
        self, journeys: Sequence[Journey], rulings: dict[int, tuple[Ruling, ...]], facts: Facts
    ) -> Iterator[Journey]:
        snapshot = self.snapshot
        setting = Setting(snapshot.policy, snapshot.organisation, facts.now, snapshot.policy.tzinfo)
        means = Conduct(setting, Writer(snapshot.name, facts.now))
        for place, journey in enumerate(journeys):
            ruled = rulings.get(place, NOTHING)
            case = facts.cases.get(journey.luggage.case) if journey.luggage.case is not None else None
            if case is not None:
                yield resume(journey, ruled[0], case=case, means=means)
            else:
                yield journey if ruled is NOTHING else conduct(journey, ruled, means=means)


class _Fold:
    """What the messages of a batch change for those after them."""

    def __init__(self, statistics: Statistics, office: OfficeFigures, *, now: int, asks_for_senders: bool) -> None:
        self._statistics: Final = statistics
        self._asks_for_senders: Final = asks_for_senders
        self._office: Final = office
        self._now: Final = now
        self._senders: Final[dict[str, dict[str, int]]] = {}

    def of_sender(self, sender: str | None) -> SenderFigures | None:
        """Give the figures of a sender, as the messages before have left them by the time they are read."""
        if sender is None:
            return None
        more = self._senders.setdefault(sender, {})
        return SenderFigures(self._statistics.senders, sender, now=self._now, more=more)

    def is_still(self, book: RuleBook, subjects: Sequence[Subject]) -> bool:
        """Say whether the figures cannot come to say anything else while these messages are judged."""
        if book.folded is None or book.bounds is None or book.asks_for_senders:
            return False
        parts = sum(len(subject.record.recipients) or 1 for subject in subjects)
        most = dict.fromkeys(_COUNTED.values(), parts) | {
            "received": len(subjects), "bytes_in": sum(subject.record.size for subject in subjects),
        }  # fmt: skip
        return self._office.is_still(book.bounds, most)

    def note(self, subject: Subject, ruled: Sequence[Ruling]) -> None:
        """See `Note`."""
        record, more = subject.record, self._office.more
        more["received"] = more.get("received", 0) + 1
        more["bytes_in"] = more.get("bytes_in", 0) + record.size
        if ruled is not NOTHING:
            for ruling in ruled:
                if ruling.course in _COUNTED:
                    _add(more, _COUNTED[ruling.course], 1)
        if self._asks_for_senders and record.sender is not None:
            mine = self._senders.setdefault(record.sender, {})
            _add(mine, "messages", 1)
            _add(mine, "recipients", len(record.recipients))


_COUNTED: Final = {"gate": "gated", "return": "returned", "delete": "deleted"}


def _add(counts: dict[str, int], name: str, number: int) -> None:
    counts[name] = counts.get(name, 0) + number


def checkpoint_of(journey: Journey) -> Checkpoint:
    """Say where a journey stands before the rules."""
    if journey.luggage.case is not None:
        return "reprocess"
    sections = journey.message.sections
    return "relay" if sections and any(section.name == HOP for section in sections) else "submit"


def _own(context: Context, history: History | None, fold: _Fold | None, sender: str | None) -> Context:
    figures = None if fold is None else fold.of_sender(sender)
    return msgspec.structs.replace(context, history=history, sender_statistics=figures)


def _wrapper_of(journey: Journey, facts: Facts) -> Wrapper | None:
    case = facts.cases.get(journey.luggage.case) if journey.luggage.case is not None else None
    return None if case is None else unpack_wrapper(case.wrapper)


def _local(record: Record, facts: Facts) -> tuple[int, ...]:
    """Give the recipients that are mailboxes of this office."""
    return tuple(place for place, one in enumerate(record.recipients) if _is_here(one.address, facts))


def _is_here(address: str, facts: Facts) -> bool:
    try:
        return parse_mailbox(address).office in facts.here
    except MalformedName:
        return False


def _sorted_out(journeys: Iterator[Journey]) -> Passage:
    lists: dict[str, list[Journey]] = {"pass": [], "wait": [], "end": []}
    for journey in journeys:
        lists[journey.luggage.verdict.action].append(journey)
    return Passage(tuple(lists["pass"]), tuple(lists["wait"]), tuple(lists["end"]))
