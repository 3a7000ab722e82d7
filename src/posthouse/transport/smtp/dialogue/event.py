"""What a dialogue tells its door to do; the door answers what is asked by the methods of the dialogue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from posthouse.message.envelope import Report
from posthouse.transport.smtp.dialogue.parameter import MailParameters
from posthouse.transport.smtp.dialogue.service import Visitor


class Say(NamedTuple):
    """Send these bytes."""

    data: bytes


class Consider(NamedTuple):
    """Find out whether a recipient can be taken; answered with `considered`."""

    recipient: str
    """`smtp:local@domain`, or the local part alone for `postmaster`."""
    visitor: Visitor


class Piece(NamedTuple):
    """A piece of the mail under way; the first one begins it."""

    data: bytes


class Discard(NamedTuple):
    """Forget the pieces of the mail under way: it is refused, or given up."""


class Mail(NamedTuple):
    """What belongs to a mail besides its content."""

    sender: str | None
    """`local@domain`, or none for the null path."""
    recipients: tuple[str, ...]
    reports: Mapping[str, Report]
    parameters: MailParameters
    protocol: str
    helo: str
    visitor: Visitor
    size: int
    is_mended: bool


class Deliver(NamedTuple):
    """The mail is complete; answered with `delivered`."""

    mail: Mail


class Check(NamedTuple):
    """Find out whether this is the user's password; answered with `checked`."""

    user: str
    password: str


class FindKeys(NamedTuple):
    """Look up the SCRAM keys of a user; answered with `found`."""

    user: str


class StartTls(NamedTuple):
    """Encrypt the connection once everything said so far is sent; answered with `secured`."""


class Reconsider(NamedTuple):
    """A trusted front end says who the client is; answered with `reintroduced`."""

    visitor: Visitor


class HangUp(NamedTuple):
    """Close the connection once everything said so far is sent."""

    why: Literal["quit", "refused", "expired", "closing"]


Event = Say | Consider | Piece | Discard | Deliver | Check | FindKeys | StartTls | Reconsider | HangUp
