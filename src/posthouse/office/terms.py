"""The terms an office works on: how long, how often, how much."""

from __future__ import annotations

import msgspec

from posthouse.message.maildoor import MailTerms
from posthouse.message.mailing import Mailing
from posthouse.message.name import LOCAL, OfficeName
from posthouse.message.passage import Limits
from posthouse.message.peer import Exchange
from posthouse.message.webhook import Webhook

SECOND = 1_000_000
DAY = 86_400 * SECOND


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How an office tries again, and when it gives up."""

    first_pause: float = 1.0
    """Seconds before the first retry."""
    growth: float = 2.0
    """How much longer each following pause is."""
    longest_pause: float = 900.0
    """Seconds no pause is longer than."""
    attempts: int = 20
    """Failures after which a message in a mailbox goes to the dead letters."""
    give_up_after: float = 432_000.0
    """Seconds after which a message that cannot be delivered elsewhere goes to the dead letters."""
    deferral: float = 60.0
    """Seconds before the first retry of a single message that a place wants later; the following pauses grow alike."""


class Traffic(msgspec.Struct, frozen=True, kw_only=True):
    """How postmen share the ways to other offices."""

    at_once: int = 16
    """Destinations served at the same time."""
    batch: int = 256
    """Messages one walk to a destination carries."""
    trip_after: int = 3
    """Walks to an unreachable destination after which only one probe at a time is sent there."""
    walk_seconds: float = 60.0
    """Seconds one walk may take."""


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """All terms of one office."""

    name: OfficeName = OfficeName("local", "", None, "")
    limits: Limits = Limits()
    patience: Patience = Patience()
    traffic: Traffic = Traffic()
    lease_seconds: float = 30.0
    """How long a taken message is the taker's, where the taker names no time."""
    longest_lease_seconds: float = 43_200.0
    """The longest lease a taker may ask for."""
    key_days: float = 7.0
    """Days for which an idempotency key is remembered."""
    exchange: Exchange = Exchange()
    """With which other offices messages are exchanged, and how."""
    inline_bytes: int = 65_536
    """Bodies up to this size stand in the database, larger ones in files of their own."""
    mail: MailTerms = MailTerms()
    """How mail comes in, and for which domains."""
    mailing: Mailing = Mailing()
    """How mail goes out."""
    webhooks: tuple[Webhook, ...] = ()
    """Who elsewhere hears of cases."""

    @property
    def here(self) -> frozenset[OfficeName]:
        """The names this office answers to; to the mail system of a domain of its own, too."""
        return frozenset({LOCAL, self.name, *(OfficeName("smtp", domain, None, "") for domain in self.mail.domains)})
