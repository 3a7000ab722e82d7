"""What the tests of gating are about: one message, a policy, rulings, and the acts of gatekeepers."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from posthouse.gate.opening import Opened, Setting, open_case
from posthouse.gate.policy import DEFAULT, Policy
from posthouse.gate.ruling import Ruling
from posthouse.message.case import Command, Fired, Review, Stop
from posthouse.message.journey import Journey
from posthouse.organisation.snapshot import Snapshot
from posthouse.testing.build import START
from posthouse.testing.journey import journey

BERLIN = ZoneInfo("Europe/Berlin")
UTC_ZONE = ZoneInfo("UTC")


def at(text: str, zone: ZoneInfo = BERLIN) -> int:
    """Give an instant, read off the clock on the wall."""
    return int(datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()) * 1_000_000


def fired(rule: str = "big mail", *, digest: str = "v1", mark: Any = "won", **given: Any) -> Fired:
    return Fired(**{
        "office": "", "checkpoint": "submit", "book": "rules", "edition": 1, "rule": rule, "digest": digest,
        "mark": mark, "reason": f"{rule} is looked at", **given,
    })  # fmt: skip


def gating(*gatekeepers: str, **given: Any) -> Ruling:
    stops = tuple(Stop(gatekeeper=one, reasons=("because",)) for one in gatekeepers)
    return Ruling(**{"course": "gate", "stops": stops, "fired": (fired(),), **given})


def review(gatekeeper: str, action: Command = "release", **given: Any) -> Review:
    known = {"person": f"{gatekeeper}@house.example", "at": START, "decision": f"{gatekeeper} {action}"}
    return Review(gatekeeper=gatekeeper, action=action, **{**known, **given})


def setting(now: int = START, *, policy: Policy = DEFAULT, who: Snapshot | None = None) -> Setting:
    return Setting(policy, who, now, policy.tzinfo)


def opened(ruling: Ruling, *, of: Journey | None = None, by: Setting | None = None) -> Opened:
    known = by or setting()
    return open_case(
        of or journey(), ruling, policy=known.policy, organisation=known.organisation, now=known.now, zone=known.zone
    )
