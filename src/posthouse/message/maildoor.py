"""The doors by which mail comes in, as they are set up: values, and nothing that is done."""

from __future__ import annotations

from typing import Literal

import msgspec

MIB = 1_048_576

Speech = Literal["smtp", "lmtp", "milter"]


class MailDoor(msgspec.Struct, frozen=True, kw_only=True):
    """One address at which mail is taken in, and how far whoever comes there is trusted."""

    name: str
    """What the door is called in the settings and in the log."""
    speech: Speech
    listen: str
    """`host:port`, or `unix:` and the path of a socket."""
    tls: Literal["none", "starttls", "required", "implicit"] = "none"
    """Offered with STARTTLS, required before any mail, or there from the first byte."""
    auth: Literal["none", "offered", "required"] = "none"
    relay: tuple[str, ...] = ()
    """Networks whose mail is taken for anybody, and `unix` for everybody at a socket of this machine."""
    front_ends: tuple[str, ...] = ()
    """Networks that may say with XCLIENT in whose name they come."""
    mail_bytes: int | None = None
    """The largest mail, where it is another one than at other doors."""


class MailTerms(msgspec.Struct, frozen=True, kw_only=True):
    """What all doors for mail have in common."""

    doors: tuple[MailDoor, ...] = ()
    hostname: str = ""
    """The name this office greets with; that of the machine where it is left out."""
    domains: tuple[str, ...] = ()
    """The domains whose mailboxes are here."""
    relay_domains: tuple[str, ...] = ()
    """The domains whose mail is taken from anybody and passed on to the server a route names."""
    accounts: str = ""
    """The file of those who may sign in."""
    tls_certificate: str = ""
    tls_key: str = ""
    bare_line_ends: Literal["refuse", "mend"] = "refuse"
    authenticate: bool = False
    """Find out whether mail comes from whom it says: SPF, DKIM, DMARC, ARC."""
    authenticate_seconds: float = 20.0
    """How long that may take for one mail."""
    mail_bytes: int = 50 * MIB
    header_bytes: int = MIB
    line_bytes: int = MIB
    recipients: int = 1_000
    hops: int = 50
    errors: int = 20
    commands: int = 100
    """Commands between two mails that bring none."""
    mails: int = 10_000
    """Mails of one connection."""
    connections: int = 1_000
    client_connections: int = 50
    idle_seconds: float = 300.0
    mail_seconds: float = 3_600.0
    """How long one mail may take from MAIL to its end."""
    connection_seconds: float = 14_400.0
    inline_bytes: int = 65_536
    """Mails up to this size are kept in memory until they are stored; larger ones are stored while they come."""
