"""Which hosts take the mail of a domain, and in which order they are tried (RFC 5321, section 5; RFC 7505). Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Collection, Sequence
from typing import Final, NamedTuple

# Somebody else's DNS must not send a mail on an endless round of hosts.
MAX_HOSTS: Final = 10
MAX_ADDRESSES: Final = 20


class Mx(NamedTuple):
    """One mail exchanger of a domain."""

    preference: int
    host: str


class DeadEnd(NamedTuple):
    """A domain that no mail can go to, and why, as text and status of RFC 3463."""

    reason: str
    status: str


def exchangers(
    domain: str, records: Sequence[Mx], *, own: Collection[str], chance: Callable[[], float]
) -> list[str] | DeadEnd:
    """Give the hosts to try; `own` are the names this office is known by, and `chance` mixes equals."""
    if not records:
        # No MX at all: the domain itself is the host.
        return _without_own(domain, [(0, 0.0, domain)], own)
    if all(record.host in {"", "."} for record in records):
        return DeadEnd(f"{domain} takes no mail", "5.1.10")
    ranked = sorted(
        (record.preference, chance(), record.host.rstrip(".").lower()) for record in records if record.host.strip(".")
    )
    return _without_own(domain, ranked, own)


def literal(domain: str) -> str | None:
    """Give the address a domain in brackets stands for; none where it is a name."""
    if not domain.startswith("["):
        return None
    inner = domain[1:-1].removeprefix("ipv6:")
    try:
        return str(ipaddress.ip_address(inner))
    except ValueError:
        return None


def mixed(addresses: Sequence[str], *, chance: Callable[[], float]) -> list[str]:
    """Give the addresses of one host as they are tried: the kinds by turns, IPv6 first, equals mixed."""
    drawn = sorted(addresses, key=lambda _: chance())
    newer = [address for address in drawn if ":" in address]
    older = [address for address in drawn if ":" not in address]
    turns = [one for pair in zip(newer, older, strict=False) for one in pair]
    even = min(len(newer), len(older))
    return [*turns, *newer[even:], *older[even:]][:MAX_ADDRESSES]


def _without_own(domain: str, ranked: Sequence[tuple[int, float, str]], own: Collection[str]) -> list[str] | DeadEnd:
    """Leave out this office and every host that is no nearer than it: mail handed there would come back."""
    names = {name.lower() for name in own}
    limit = min((preference for preference, _, host in ranked if host in names), default=None)
    hosts = [host for preference, _, host in ranked if limit is None or preference < limit]
    if not hosts:
        return DeadEnd(f"the mail of {domain} comes back to this office, which has no mailboxes for it", "5.4.6")
    return list(dict.fromkeys(hosts))[:MAX_HOSTS]
