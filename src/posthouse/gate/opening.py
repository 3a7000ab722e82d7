"""A message is gated: its case, the first docket of it, and the line in the audit, as values to be written at once."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from datetime import tzinfo
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from posthouse.gate.calendar import later
from posthouse.gate.policy import Policy
from posthouse.gate.record import record
from posthouse.gate.ruling import Ruling
from posthouse.gate.seat import seated
from posthouse.gate.wrapper import wrap
from posthouse.message.case import AuditEntry, Case, Docket, Stop, Wrapper, pack_wrapper
from posthouse.message.identity import derived
from posthouse.message.journey import Journey, pack
from posthouse.message.message import Body, Message
from posthouse.organisation.snapshot import Snapshot

STAGE: Final = "gate"
"""The stage at which a journey goes on that gatekeepers had."""
RULES: Final = "rules"
"""Who acts where a rule of the office does."""


class Opened(NamedTuple):
    """What is written where a message is gated."""

    case: Case
    docket: Docket
    audits: tuple[AuditEntry, ...]


class Setting(NamedTuple):
    """What dockets are written by: the policy and the organisation in force, the time and the zone of the office."""

    policy: Policy
    organisation: Snapshot | None
    now: int
    zone: tzinfo


def open_case(
    journey: Journey, ruling: Ruling, *, policy: Policy, organisation: Snapshot | None, now: int, zone: tzinfo
) -> Opened:
    """Gate a message, or of its recipients those the ruling is about."""
    held = narrowed(journey, ruling.recipients)
    envelope = held.luggage.envelope
    setting = Setting(policy, organisation, now, zone)
    parties = parties_of(envelope.sender, envelope.everybody)
    stops = seated(ruling.stops, organisation, now=now, parties=parties)
    identity = case_id(journey.message.id, () if ruling.recipients is None else envelope.everybody)
    wrapper = msgspec.structs.replace(
        wrap(identity, ruling, stops=stops, created=now, content=content_of(journey.message)),
        sender=envelope.sender,
        recipients=envelope.recipients,
        blind=envelope.blind,
    )
    case = Case(
        id=identity,
        message=journey.message.id,
        opened=now,
        turn=1,
        luggage=pack(held.carrying(stage=STAGE, case=identity)),
        wrapper=pack_wrapper(wrapper),
    )
    docket = first_docket(case, wrapper, journey=held, setting=setting)
    gatekeepers = tuple(stop.gatekeeper for stop in stops)
    audit = record(
        "case.gated", identity, at=now, actor=RULES, message=str(case.message), to=gatekeepers,
        rules=tuple(fired.rule for fired in ruling.fired), sender=envelope.sender, recipients=envelope.everybody,
        stood_in=tuple(f"{stop.gatekeeper} for {stop.named or stop.gatekeeper}" for stop in stops if stop.via),
        via=tuple(link for stop in stops for link in stop.via),
    )  # fmt: skip
    return Opened(case, docket, (audit,))


def first_docket(case: Case, wrapper: Wrapper, *, journey: Journey, setting: Setting) -> Docket:
    """Give the docket of a case at its current stop, with what the message says of itself."""
    message, features = journey.message, journey.luggage.features
    mail = features.mail
    subject = None if mail is None else mail.subject
    if subject is None:
        named = message.attributes.get("subject")
        subject = named if isinstance(named, str) else ""
    blank = Docket(
        case=case.id,
        turn=case.turn,
        message=message.id,
        gatekeeper="",
        sender=wrapper.sender or "",
        location=_location(wrapper.sender, setting.organisation),
        subject=subject[:1_000],
        size=message.size,
        attachments=0 if mail is None else len(mail.attachments or ()),
        created=message.created,
    )
    return docket_at(blank, case, wrapper=wrapper, setting=setting)


def docket_at(before: Docket, case: Case, *, wrapper: Wrapper, setting: Setting) -> Docket:
    """Give the docket of the current stop of a case; what its message says of itself is as before."""
    stop = wrapper.current
    assert stop is not None
    expires = expiry(stop, setting)
    reasons = stop.reasons or tuple(fired.reason for fired in wrapper.fired if fired.mark == "won" and fired.reason)
    passed = len([review for review in wrapper.reviews if review.action in {"release", "forward", "gate"}])
    return Docket(
        case=case.id,
        turn=case.turn,
        message=case.message,
        gatekeeper=stop.gatekeeper,
        sender=before.sender,
        location=before.location,
        subject=before.subject,
        size=before.size,
        attachments=before.attachments,
        created=before.created,
        reason=reasons[0] if reasons else "",
        more_reasons=max(len({(one.book, one.rule) for one in wrapper.fired}) - 1, 0),
        recipients=len(wrapper.recipients) + len(wrapper.blind),
        place=passed + 1,
        places=passed + len([one for one in wrapper.stops if one.gatekeeper]) + 1,
        arrived=setting.now,
        expires=expires,
        due=expires,
        fault=f"stands in for {stop.named}" if stop.named else "",
        last_action="back from forward" if stop.is_comeback else "",
    )


def expiry(stop: Stop, setting: Setting) -> int:
    """Give when the rules of a gatekeeper are asked, counted from the arrival at the stop and never from a header."""
    if stop.within is not None:
        return setting.now + stop.within
    return later(setting.now, setting.policy.habits(stop.gatekeeper).inbox, zone=setting.zone)


def case_id(message: UUID, recipients: Iterable[str], *, turn: int = 0) -> UUID:
    """Give the id of the case of a message and of some of its recipients: the same whenever it is asked for."""
    said = "\x00".join(("case", str(turn), *sorted(recipients)))
    return derived(message, said)


def content_of(message: Message) -> str:
    """Give the SHA-256 of the content of a message."""
    return message.body.sha256 if isinstance(message.body, Body) else hashlib.sha256(message.body).hexdigest()


def parties_of(sender: str | None, recipients: Collection[str]) -> tuple[str, ...]:
    """Give the addresses of those who must not decide about a message."""
    return (*(() if sender is None else (sender,)), *recipients)


def narrowed(journey: Journey, recipients: Collection[str] | None) -> Journey:
    """Give a journey for some of its recipients; for all where none are named."""
    if recipients is None:
        return journey
    envelope, chosen = journey.luggage.envelope, frozenset(recipients)
    return journey.carrying(
        envelope=msgspec.structs.replace(
            envelope,
            recipients=tuple(one for one in envelope.recipients if one in chosen),
            blind=tuple(one for one in envelope.blind if one in chosen),
        )
    )


def _location(sender: str | None, organisation: Snapshot | None) -> str:
    """Give the place of a sender: where the organisation says, or else the domain."""
    if sender is None:
        return ""
    known = organisation.location_of(sender) if organisation is not None else None
    return known or (sender.rpartition("@")[2] if "@" in sender else "")
