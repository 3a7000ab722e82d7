"""The paths of MAIL and RCPT (RFC 5321, section 4.1.2): who sends, who is to get it, and the parameters behind them.

A path is read into the name of the house, `smtp:local@domain`: the local part byte by byte as it came, the domain in
lower case. Nothing here knows which domains are local.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from posthouse.message.name import MailboxName, MalformedName, parse_mailbox

# Spaces behind the colon stand in no grammar, but in what many programs send.
_COMMAND: Final = re.compile(r"(FROM|TO): *<([^<>]*)>(?: +(.*))?", re.IGNORECASE | re.DOTALL)
_QUOTED: Final = re.compile(r'(FROM|TO): *<("(?:[^"\\]|\\.)*"@[^<>]*)>(?: +(.*))?', re.IGNORECASE | re.DOTALL)
# RFC 5321, section 4.5.3.1: what every server must take; longer ones are names nobody has.
MAX_PATH: Final = 512


class Path(NamedTuple):
    """One path as it stood in a command, and what followed it."""

    text: str
    """What stood between the angle brackets."""
    parameters: str


class MalformedPath(ValueError):
    """Not a path; the text says what was expected, in words for the peer."""


def read_path(argument: str, word: str) -> Path:
    """Find the path in the argument of `MAIL` (word FROM) or `RCPT` (word TO)."""
    found = _QUOTED.fullmatch(argument) or _COMMAND.fullmatch(argument)
    if found is None or found[1].upper() != word:
        raise MalformedPath(f"Expected {word}:<address>")
    if len(found[2]) > MAX_PATH:
        raise MalformedPath("The address is too long")
    return Path(found[2], found[3] or "")


def read_address(text: str) -> MailboxName:
    """Read what stands between the angle brackets as a mail address."""
    if text.startswith("@"):
        # RFC 5321, section 3.6.1: a server may decline them, and nobody honest has used them for decades.
        raise MalformedPath("Source routes are not accepted")
    try:
        return parse_mailbox(f"smtp:{text}")
    except MalformedName as fault:
        raise MalformedPath(f"Malformed address: {fault.reason}") from None


def local_part(name: MailboxName) -> str:
    """Give the part before the last `@`, without quotation marks and escapes."""
    local = name.mailbox.rpartition("@")[0]
    if local.startswith('"'):
        return re.sub(r"\\(.)", r"\1", local[1:-1], flags=re.DOTALL)
    return local
