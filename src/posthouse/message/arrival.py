"""How a mail arrived: who brought it and what they said of it, kept as attributes of its message.

Written by the door that takes the mail in; read by whoever writes the `Received:` line when it leaves, or by rules.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from posthouse.message.attribute import Value

_PREFIX = "smtp."


class Arrival(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The hop that ended at this office; each field is the attribute `smtp.` and its name, where it says anything."""

    client: str = ""
    """The address the mail came from: an IP address, or `unix` for a socket on this machine."""
    name: str = ""
    """The client's name as a trusted front end looked it up."""
    helo: str = ""
    by: str = ""
    """The name of the host that took it in."""
    protocol: str = ""
    """SMTP, ESMTP, ESMTPS, ESMTPSA, LMTP and so on (RFC 3848, RFC 6531)."""
    tls: str = ""
    """Version and cipher of the connection."""
    user: str = ""
    """Who was signed in."""
    trusted: bool = False
    """The door takes mail for anybody from where this one came: it is one of our own."""
    body: str = ""
    """8BITMIME, where the sender declared it."""
    utf8: bool = False
    """The sender asked for SMTPUTF8."""
    mark: str = ""
    """What was put in order when it came in: `bare-line-ends`."""
    ret: str = ""
    """FULL or HDRS: how much of the mail its sender wants in a report."""
    envid: str = ""
    """The sender's own name for the envelope."""


def attributes_of(arrival: Arrival) -> dict[str, Value]:
    """Give the attributes that say how a mail arrived."""
    # What says nothing is left out; a truth is written as text, since attributes know no truths.
    return {
        f"{_PREFIX}{name}": "yes" if value is True else value for name, value in msgspec.structs.asdict(arrival).items()
        if value
    }  # fmt: skip


def arrival_of(attributes: Mapping[str, Value]) -> Arrival | None:
    """Give how a mail arrived; none where it did not come by a mail door."""
    if f"{_PREFIX}protocol" not in attributes:
        return None
    known = {
        name: value
        for name in Arrival.__struct_fields__
        if isinstance(value := attributes.get(f"{_PREFIX}{name}"), str)
    }
    utf8, trusted = (known.pop(name, "") == "yes" for name in ("utf8", "trusted"))
    return Arrival(utf8=utf8, trusted=trusted, **known)
