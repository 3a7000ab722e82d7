"""What a listener offers and demands, and who is at the other end: the values a dialogue is held on."""

from __future__ import annotations

from typing import Literal

import msgspec

Tls = Literal["none", "starttls", "implicit"]
Auth = Literal["none", "offered", "required"]


class Caps(msgspec.Struct, frozen=True, kw_only=True):
    """What one connection may use at most; each has its own reply."""

    command_bytes: int = 4_096
    """One command line; RFC 5321 asks for 512, and extensions for more."""
    auth_bytes: int = 12_288
    """One line of an AUTH exchange (RFC 4954, section 4)."""
    line_bytes: int = 1_048_576
    """One line of a mail."""
    header_bytes: int = 1_048_576
    """The header section of one mail."""
    mail_bytes: int = 52_428_800
    """One mail."""
    recipients: int = 1_000
    """Recipients of one mail."""
    hops: int = 50
    """`Received:` lines, after which a mail is taken for one that goes in circles."""
    errors: int = 20
    """Refused commands, after which the client is sent away."""
    idle_commands: int = 100
    """Commands that bring no mail, between two mails."""
    mails: int = 10_000
    """Mails of one connection."""


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """One listener."""

    hostname: str = "localhost"
    lmtp: bool = False
    tls: Tls = "none"
    tls_required: bool = False
    """No mail before STARTTLS."""
    auth: Auth = "none"
    mechanisms: tuple[str, ...] = ("SCRAM-SHA-256", "PLAIN", "LOGIN")
    bare_line_ends: Literal["refuse", "mend"] = "refuse"
    caps: Caps = Caps()


class Visitor(msgspec.Struct, frozen=True, kw_only=True):
    """The client of a connection, as far as the listener knows it."""

    address: str
    """An IP address, or `unix`."""
    port: int = 0
    name: str = ""
    """The name a trusted front end found for it."""
    helo: str = ""
    """What a trusted front end was told."""
    user: str = ""
    """Who signed in."""
    tls: str = ""
    """Version and cipher; empty on a plain connection."""
    is_front_end: bool = False
    """It may say with XCLIENT in whose name it comes."""
    may_relay: bool = False
    """It may send to anybody without signing in."""
