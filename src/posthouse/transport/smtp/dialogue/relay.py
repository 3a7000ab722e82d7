"""Where a recipient may be at all: here or at a server behind for everybody, elsewhere for those who are trusted.

Nobody's words make this office carry mail for strangers: no route in a local part, no address in brackets, no name that
only looks like one of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from posthouse.message.name import MailboxName, parse_mailbox, parse_office
from posthouse.message.verdict import PASS, Verdict, refuse
from posthouse.transport.smtp.dialogue.path import local_part
from posthouse.transport.smtp.dialogue.service import Visitor
from posthouse.transport.smtp.dialogue.transaction import POSTMASTER

# The percent hack, bang paths, quoted addresses, source routes and drive letters of old mail systems.
_ROUTE: Final = re.compile(r"[%!@:\\/]")
_PLAIN: Final = re.compile(r"[A-Za-z0-9!#$&'*+=?^_`{|}~-]+(\.[A-Za-z0-9!#$&'*+=?^_`{|}~-]+)*")

_DENIED: Final = refuse("relay.denied", "Mail for this domain is not taken here")
_ROUTED: Final = refuse("relay.denied", "Routes in an address are not followed")
_NOBODY: Final = refuse("mailbox.unknown", "There is no such mailbox here")


class Placed(NamedTuple):
    """Whether a recipient can be taken as far as its domain goes, and the name it has here."""

    verdict: Verdict
    name: str


class Domains:
    """The domains of this office, in every spelling, and those it passes mail on for, exactly as they are listed."""

    def __init__(self, domains: Iterable[str], relayed: Iterable[str] = ()) -> None:
        names = [parse_office(f"smtp:{domain}").host for domain in domains]
        onward = [parse_office(f"smtp:{domain}").host for domain in relayed]
        # A bare `postmaster` is somebody everywhere; where no mailbox is here, it is the one of the server behind.
        self._first = next(iter((*names, *onward)), "")
        self._relayed = frozenset(onward)
        self._spellings = {name: name for name in names}
        for name in names:
            self._spellings.setdefault(_ascii(name), name)

    def place(self, recipient: str, visitor: Visitor) -> Placed:
        """Say whether a client may send to a recipient."""
        if recipient == POSTMASTER:
            if not self._first:
                return Placed(_NOBODY, recipient)
            return Placed(PASS, f"smtp:{POSTMASTER}@{self._first}")
        name = parse_mailbox(recipient)
        domain = self._spellings.get(name.office.host) or self._spellings.get(_ascii(name.office.host))
        if domain is not None:
            return self._here(name, domain)
        if visitor.may_relay or visitor.user:
            return Placed(PASS, recipient)
        # No other spelling of the domain, and none below it: the routes name it letter by letter as well.
        if name.office.host not in self._relayed:
            return Placed(_DENIED, recipient)
        # The server behind trusts what comes from here, and might follow a route in a local part.
        return Placed(_ROUTED if _ROUTE.search(local_part(name)) else PASS, recipient)

    def _here(self, name: MailboxName, domain: str) -> Placed:
        local = local_part(name)
        if _ROUTE.search(local):
            return Placed(_ROUTED, str(name))
        if local.lower() == POSTMASTER:
            local = POSTMASTER
        elif not _PLAIN.fullmatch(local) and local.isascii():
            # Quotation marks that are needed stay: the mailbox is called so.
            return Placed(PASS, str(name))
        return Placed(PASS, f"smtp:{local}@{domain}")


def _ascii(domain: str) -> str:
    """Give a domain as the domain name system has it."""
    if domain.isascii():
        return domain
    try:
        return ".".join(
            label if label.isascii() else f"xn--{label.encode('punycode').decode()}" for label in domain.split(".")
        )
    except UnicodeError:
        return domain
