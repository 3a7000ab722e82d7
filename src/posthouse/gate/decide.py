"""What the rules of an office say about a batch of messages: asked in bulk, then ruled on one after the other.

Rules that ask for figures are asked in the order of the messages, because each message changes them for the next one.
Nothing is done here; a ruling says what is to be done.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, tzinfo
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from posthouse.gate.action import TABLE
from posthouse.gate.rank import Beside, Proposal, rank
from posthouse.gate.rulebook import BookRule, RuleBook
from posthouse.gate.ruling import Ruling
from posthouse.gate.telling import values_of
from posthouse.matching.engine.indexed.plan import Plan
from posthouse.matching.engine.indexed.sweep import find
from posthouse.matching.engine.single.evaluate import asks_for_recipients, judge, truth_at
from posthouse.matching.engine.single.ground import Ground
from posthouse.matching.language.rule.rule import Checkpoint, Telling
from posthouse.matching.match import FALSE, UNKNOWN, Truth
from posthouse.matching.value.record import Record
from posthouse.message.case import Fired, Side

UNTOUCHED: Final = Ruling()
"""No rule has anything to say."""
NOTHING: Final = (UNTOUCHED,)

Hit = tuple[int, Truth, tuple[int, ...] | None]
"""The number of a rule, its truth and the recipients it holds for."""


class Subject(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One message as the rules are asked about it."""

    id: UUID
    record: Record
    checkpoint: Checkpoint
    local: tuple[int, ...] = ()
    """The recipients that are mailboxes of this office, by their place: rules of `deliver` are about them."""
    deferrals: int = 0
    accepted: int = 0
    before: frozenset[str] = frozenset()
    """The digests of rules that have fired already, where gatekeepers had it."""
    is_again: bool = False
    """Gatekeepers had it."""


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What all rulings of a batch rest on."""

    office: str
    now: int
    zone: tzinfo = UTC
    organisation: int = 0
    """The edition it is judged on."""
    is_first: bool = False
    """The first rule that decides counts, instead of the highest rank."""
    single_action: bool = False
    tell_sender: Telling = "no"


class Broken(NamedTuple):
    """A rule on which the engine broke."""

    rule: BookRule
    fault: str
    """Empty where it broke on others and works on this message."""


class Ruled(NamedTuple):
    """What the rules say about each message of a batch, in its order: one ruling, or one for each part of it."""

    rulings: tuple[tuple[Ruling, ...], ...]
    broken: tuple[Broken, ...] = ()


Note = Callable[[Subject, Sequence[Ruling]], None]
"""Hears of each ruling before the next message is asked about."""


def decide(
    book: RuleBook, subjects: Sequence[Subject], *, terms: Terms, note: Note | None = None, is_still: bool = False
) -> Ruled:
    """Rule on a batch; `is_still` says that no figure passes a bound meanwhile, so that all can be asked in bulk."""
    broken: list[Broken] = []
    records = [subject.record for subject in subjects]
    bulk = _ask(book, book.bulk, records, broken)
    still = _ask(book, book.folded, records, broken) if is_still else {}
    rulings: list[tuple[Ruling, ...]] = []
    for place, subject in enumerate(subjects):
        hits = bulk.get(place) or []
        if book.folded is not None:
            more = still.get(place) if is_still else _ask(book, book.folded, (subject.record,), broken).get(0)
            if more:
                hits = sorted([*hits, *more], key=_number)
        ruled = _rule(book, hits, subject, terms) if hits else NOTHING
        if note is not None:
            note(subject, ruled)
        rulings.append(ruled)
    return Ruled(tuple(rulings), tuple(broken))


def _number(hit: Hit) -> int:
    return hit[0]


# --- asking the engine ------------------------------------------------------------------------------------------------


def _ask(
    book: RuleBook, plan: Plan | None, records: Sequence[Record], broken: list[Broken]
) -> dict[int, list[Hit]]:  # fmt: skip
    """Give what is true or unknown, by the place of the message."""
    if plan is None:
        return {}
    try:
        found = find(plan, records)
    except Exception:  # noqa: BLE001 - which rule it is comes out when they are asked one by one
        found = list(_ask_each(book, plan, records, broken))
    hits: dict[int, list[Hit]] = {}
    for place, number, truth, recipients in found:
        hits.setdefault(place, []).append((number, truth, recipients))
    return hits


def _ask_each(
    book: RuleBook, plan: Plan, records: Sequence[Record], broken: list[Broken]
) -> Iterator[tuple[int, int, Truth, tuple[int, ...] | None]]:
    """Ask rule by rule; one that breaks is unknown, and stops no other."""
    numbers = sorted(plan.numbers)
    for place, record in enumerate(records):
        ground = Ground(record, book.lists)
        for number in numbers:
            rule = book.rules[number]
            try:
                match = judge(rule.rule.condition, ground)
                truth, recipients = match.truth, match.recipients
                broken.append(Broken(rule, ""))
            except Exception as fault:  # noqa: BLE001 - a rule that breaks must not stop the others
                broken.append(Broken(rule, f"{type(fault).__name__}: {fault}"))
                truth, recipients = UNKNOWN, None
            if truth is not FALSE:
                yield place, number, truth, recipients


# --- ruling -----------------------------------------------------------------------------------------------------------


def _rule(book: RuleBook, hits: Sequence[Hit], subject: Subject, terms: Terms) -> tuple[Ruling, ...]:
    proposals = [
        _proposal(book, hit, subject, terms) for hit in hits if _applies(book.rules[hit[0]], hit[1], subject, terms)
    ]
    if not proposals:
        return NOTHING
    if terms.is_first:
        proposals = _first(proposals)
    beside = Beside(
        now=terms.now,
        zone=terms.zone,
        accepted=subject.accepted or terms.now,
        deferrals=subject.deferrals,
        single_action=terms.single_action,
        tell_sender=terms.tell_sender,
        has_sender=subject.record.sender is not None,
        before=subject.before,
        is_again=subject.is_again,
    )
    if all(proposal.places is None for proposal in proposals):
        return (rank(proposals, beside),)
    return _divided(proposals, subject.record, beside)


def _first(proposals: list[Proposal]) -> list[Proposal]:
    """Leave out what stands behind the first rule that decides about the message."""
    for place, proposal in enumerate(proposals):
        decides = any(TABLE[action.name].course is not None for action in proposal.rule.rule.actions)
        if decides and not proposal.is_sampled_out:
            return proposals[: place + 1]
    return proposals


def _applies(rule: BookRule, truth: Truth, subject: Subject, terms: Terms) -> bool:
    if truth is UNKNOWN and rule.unknown == "no match":
        return False
    if subject.checkpoint not in rule.checkpoints and not _is_delivered(rule, subject):
        return False
    return rule.is_valid(terms.now)


def _is_delivered(rule: BookRule, subject: Subject) -> bool:
    """Say whether a rule is asked because the message goes to a mailbox of this office."""
    return "deliver" in rule.checkpoints and bool(subject.local)


def _proposal(book: RuleBook, hit: Hit, subject: Subject, terms: Terms) -> Proposal:
    rule, (_, truth, recipients) = book.rules[hit[0]], hit
    is_out = rule.share is not None and draw(rule, subject.id) >= rule.share
    is_at = subject.checkpoint in rule.checkpoints
    fired = Fired(
        office=terms.office,
        checkpoint=subject.checkpoint if is_at else "deliver",
        book=book.title,
        edition=book.edition,
        rule=rule.name,
        digest=rule.digest,
        reason=rule.rule.reason or "",
        actions=rule.actions,
        at=terms.now,
        values=values_told(book, rule, record=subject.record),
        is_unknown=truth is UNKNOWN,
        organisation=terms.organisation,
    )
    places = _places(book, rule, recipients, subject) if rule.rule.scope == "recipient" else None
    if not is_at and len(subject.local) < len(subject.record.recipients):
        among = range(len(subject.record.recipients)) if places is None else places
        places = tuple(place for place in among if place in subject.local)
    return Proposal(rule, fired, places, is_unknown=truth is UNKNOWN, is_sampled_out=is_out)


def values_told(book: RuleBook, rule: BookRule, *, record: Record) -> tuple[str, ...]:
    """Give what made a rule fire; one that breaks is told as broken."""
    try:
        return values_of(book, rule, record=record)
    except Exception as fault:  # noqa: BLE001 - the rule broke, which is why it is unknown
        return (f"the rule could not be judged: {type(fault).__name__}",)


def draw(rule: BookRule, message: UUID) -> int:
    """Give the lot of a message for a rule: always the same, and another one for each rule."""
    digest = hashlib.blake2b(rule.name.encode(), key=message.bytes, digest_size=4).digest()
    return int.from_bytes(digest)


def _places(
    book: RuleBook, rule: BookRule, recipients: tuple[int, ...] | None, subject: Subject
) -> tuple[int, ...] | None:
    """Give whom a rule about single recipients means; where it is unknown, everybody it is not false for."""
    condition = rule.rule.condition
    if recipients is not None or not asks_for_recipients(condition):
        return recipients
    ground = Ground(subject.record, book.lists)
    everybody = range(len(subject.record.recipients))
    try:
        truths = [truth_at(condition, ground.at("recipient", place)) for place in everybody]
    except Exception:  # noqa: BLE001 - it broke, so nobody is left out
        return None
    return tuple(place for place, truth in enumerate(truths) if truth is not FALSE) or None


# --- parts ------------------------------------------------------------------------------------------------------------


def _divided(proposals: Sequence[Proposal], record: Record, beside: Beside) -> tuple[Ruling, ...]:
    """Rule on each group of recipients of whom the same rules hold; what is to be done for all is done once."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for place in range(len(record.recipients)):
        mine = tuple(
            number for number, proposal in enumerate(proposals) if proposal.places is None or place in proposal.places
        )
        groups.setdefault(mine, []).append(place)
    parts = [(rank([proposals[number] for number in mine], beside), places) for mine, places in groups.items()]
    if len(parts) == 1:
        return (parts[0][0],)
    addresses = [recipient.address for recipient in record.recipients]
    named = [
        msgspec.structs.replace(ruling, recipients=tuple(addresses[place] for place in places))
        for ruling, places in parts
    ]
    return tuple(_each_side_once(named))


def _each_side_once(rulings: Sequence[Ruling]) -> Iterator[Ruling]:
    """Leave a copy or notice to one part: to one that does not wait for a person, if there is one."""
    seen: list[Side] = []
    kept: dict[int, Ruling] = {}
    for place in sorted(range(len(rulings)), key=lambda place: rulings[place].course == "gate"):
        ruling = rulings[place]
        sides = tuple(side for side in ruling.sides if side not in seen)
        immediate = tuple(side for side in ruling.immediate if side not in seen)
        seen += [*sides, *immediate]
        kept[place] = msgspec.structs.replace(ruling, sides=sides, immediate=immediate)
    return (kept[place] for place in range(len(rulings)))
