"""A wrapper that this version cannot read is kept as it is, and the office administrator has to look.

Nobody is sent such a message: where it goes stands in its wrapper. It can be deleted by hand, and read again by a
version of this house that knows its wrapper.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from posthouse.gate.calendar import later
from posthouse.gate.opening import Setting, first_docket
from posthouse.gate.record import record
from posthouse.gate.seat import administrator_of
from posthouse.message.case import REVIEW, AuditEntry, Case, Docket, Stop, Wrapper
from posthouse.message.journey import Journey, unpack
from posthouse.message.message import Message

ACT: Final = "case.unreadable"


class Laid(NamedTuple):
    """What is written where the administrator has a case from now on."""

    case: Case | None
    docket: Docket
    audits: tuple[AuditEntry, ...]


def stand_in(case: Case, message: Message) -> Wrapper:
    """Give what is known of a case without its wrapper."""
    envelope = unpack(message, case.luggage).luggage.envelope
    return Wrapper(
        case=case.id, sender=envelope.sender, recipients=envelope.recipients, blind=envelope.blind, created=case.opened
    )


def moved(docket: Docket, why: str, *, setting: Setting) -> Laid:
    """Lay a docket into the review list of the administrator; what was commanded for it is not done."""
    role = administrator_of(setting.organisation)
    row = msgspec.structs.replace(docket, gatekeeper=role, version=docket.version + 1)
    was_at = docket.gatekeeper if docket.gatekeeper != role else ""
    return Laid(None, _listed(row, why, setting), (_audit(docket, why, setting, was_at),))


def opened(case: Case, journey: Journey, *, why: str, setting: Setting) -> Laid:
    """Give the administrator a case that came back to the rules; its wrapper stays as it is."""
    role = administrator_of(setting.organisation)
    again = msgspec.structs.replace(case, version=case.version + 1, turn=case.turn + 1)
    known = msgspec.structs.replace(stand_in(case, journey.message), current=Stop(gatekeeper=role))
    docket = first_docket(again, known, journey=journey, setting=setting)
    return Laid(again, _listed(docket, why, setting), (_audit(docket, why, setting, ""),))


def _listed(docket: Docket, why: str, setting: Setting) -> Docket:
    warns = later(setting.now, setting.policy.warn_gatekeeper, zone=setting.zone)
    return msgspec.structs.replace(
        docket, folder=REVIEW, status="gated", pending=b"", expires=None, retain=None, due=warns, fault=why[:1_000],
        warned=0, last_action="its wrapper cannot be read",
    )  # fmt: skip


def _audit(docket: Docket, why: str, setting: Setting, was_at: str) -> AuditEntry:
    return record(ACT, docket.case, at=setting.now, actor="office", fault=why, turn=docket.turn, gatekeeper=was_at)
