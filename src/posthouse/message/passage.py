"""What the stages of a route are handed, and what they hand back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

import msgspec

from posthouse.message.case import Case
from posthouse.message.changes import Register
from posthouse.message.journey import Journey
from posthouse.message.name import OfficeName


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What an office accepts at most."""

    body_bytes: int = 1_073_741_824
    """Bytes of one body."""
    recipients: int = 1_000
    """Recipients of one message."""
    hops: int = 25
    """Offices a message may pass before it is taken for one that goes in circles."""
    listed_only: bool = False
    """Accept mail only for mailboxes that have been set up; otherwise the first message makes a mailbox."""


class Judge(Protocol):
    """The rules of an office with all they are judged by: books, organisation, policy and running figures."""

    def judge(self, journeys: Sequence[Journey], facts: Facts) -> Passage:
        """Say what becomes of the journeys that enter the stage `gate`, in their order; nothing of it is done yet."""
        ...


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """One snapshot of all that a decision may rest on; a whole batch is decided on one."""

    now: int
    register: Register
    limits: Limits
    here: frozenset[OfficeName]
    """The names this office answers to."""
    protocols: frozenset[str]
    """The protocols of names for which there is a door to elsewhere."""
    judge: Judge | None = None
    """None where no rules are in force."""
    cases: Mapping[UUID, Case] = {}
    """The cases of those journeys that come back from gatekeepers."""


class Passage(msgspec.Struct, frozen=True):
    """What became of the journeys that entered a stage; each stands in one of the lists."""

    going: tuple[Journey, ...] = ()
    waiting: tuple[Journey, ...] = ()
    """These come back later, to the stage their luggage names."""
    stopped: tuple[Journey, ...] = ()
    """These end here, with the verdict they carry."""
