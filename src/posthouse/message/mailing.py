"""The terms on which an office sends mail out."""

from __future__ import annotations

from typing import Literal

import msgspec

from posthouse.message.mailroute import Encryption


class Mailing(msgspec.Struct, frozen=True, kw_only=True):
    """All of them; an office without a mail name sends no mail out."""

    name: str = ""
    """What it calls itself to other mail servers, and what its mailboxes are called by the world outside."""
    routes: tuple[tuple[str, str], ...] = ()
    """Where the mail of domains goes, as people wrote it."""
    encryption: Encryption = "may"
    mta_sts: bool = True
    ca: str = ""
    """The file of certificates to believe beside those of the system."""
    user: str = ""
    """Who this office is to the servers its routes name."""
    password: str = ""
    talks: int = 4
    """Connections to one server at a time."""
    hops: int = 50
    """Servers a mail may have passed."""
    walk_seconds: float = 3_600.0
    """How long one walk to the servers of a domain may take."""
    connect_seconds: float = 30.0
    reply_seconds: float = 120.0
    end_seconds: float = 600.0
    """How long the answer to a whole mail may take."""
    bounces: Literal["known", "all", "none"] = "known"
    """Whose mail is returned by mail where it cannot be delivered."""
    delay_seconds: float = 14_400.0
    """After how long a mail that still waits is reported to its sender; 0 for never."""

    def __repr__(self) -> str:
        return f"Mailing(name={self.name!r}, routes={self.routes!r})"
