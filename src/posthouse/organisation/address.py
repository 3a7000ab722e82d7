"""How addresses are told apart: whichever way one is written, it is the same user's.

`smtp:Ann@Alpha.example`, `"ann"@alpha.example` and `ann@alpha.example` are one address, as are the short and the full
name of a mailbox of this office; otherwise a rule for the CEO would be got round by writing the address differently.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from posthouse.message.name import LOCAL, MailboxName, MalformedName, OfficeName, parse_mailbox, short
from posthouse.organisation.directory import key_of

_LABEL: Final = r"[a-z][a-z0-9]*+(?:-[a-z0-9]++)*+"
# What is its own short form; everything else is read with care.
_USUAL: Final = re.compile(rf"[A-Za-z0-9._+-]++@{_LABEL}(?:\.{_LABEL})++")
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)++)"(@.+)', re.DOTALL)
_ATOMS: Final = re.compile(r"[^\s()<>\[\]:;@\\,\".]+(?:\.[^\s()<>\[\]:;@\\,\".]+)*")


def short_address(text: str) -> str:
    """Give an address as the house writes it in short; MalformedName where it is none."""
    return text if len(text) < 255 and _USUAL.fullmatch(text) else short(parse_mailbox(text))


def address_key(text: str, here: Collection[OfficeName] = ()) -> str:
    """Give what an address is compared by; `here` are other names of this office, whose mailboxes are written short."""
    key = key_of(text)
    if _USUAL.fullmatch(key):
        return key
    try:
        name = parse_mailbox(text)
    except MalformedName:
        return key
    if name.office in here:
        name = MailboxName(LOCAL, name.mailbox)
    return key_of(_unquoted(short(name)))


def _unquoted(address: str) -> str:
    """Take the quotation marks from a local part that needs none (RFC 5321, section 4.1.2)."""
    found = _QUOTED.fullmatch(address)
    if found is None:
        return address
    local = re.sub(r"\\(.)", r"\1", found[1])
    return f"{local}{found[2]}" if _ATOMS.fullmatch(local) else address
