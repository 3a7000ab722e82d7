"""Where programs elsewhere hear of cases: an address, the secret by which they know the office, what they hear of."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import msgspec

from posthouse.message.name import OfficeName

PROTOCOL: Final = "webhook"
"""Of the names of these places; nobody can send a message there."""


class Webhook(msgspec.Struct, frozen=True, kw_only=True):
    """One of them."""

    name: str
    url: str
    secret_file: str
    """The file that holds the secret; the secret itself stands in no setting."""
    events: tuple[str, ...] = ()
    """Such as `case.opened` or `case.*`; all of them where none is named."""
    inside: tuple[str, ...] = ()
    """Networks that are not public, but meant: `127.0.0.1/32`, `10.0.0.0/8`."""

    def wants(self, act: str) -> bool:
        """Say whether an act is to be heard of there."""
        return not self.events or any(
            act == event or (event.endswith("*") and act.startswith(event[:-1])) for event in self.events
        )

    @property
    def place(self) -> OfficeName:
        """The place as the queue knows it."""
        address = urlsplit(self.url)
        return OfficeName(PROTOCOL, address.hostname or "", port_of(self.url), self.name)


def port_of(url: str) -> int:
    """Give the port of an address."""
    address = urlsplit(url)
    return address.port or (443 if address.scheme == "https" else 80)
