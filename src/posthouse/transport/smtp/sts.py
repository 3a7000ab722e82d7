"""MTA-STS (RFC 8461): whether a domain wants its mail encrypted, and for which hosts; the policies are remembered.

Reading and deciding are functions; `Policies` asks the DNS and the web and keeps what it heard as long as it may.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Literal, NamedTuple

import structlog

from posthouse.clock import Clock
from posthouse.transport.smtp.names import Names, NamesUnavailable

MAX_POLICY: Final = 65_536
MAX_DOMAINS: Final = 10_000
_SECOND: Final = 1_000_000
_LONGEST: Final = 31_557_600
_AGAIN: Final = 300 * _SECOND
_RECORD: Final = re.compile(r"v=STSv1\s*;.*?\bid=([A-Za-z0-9]{1,32})\s*(?:;|$)")

_log = structlog.get_logger("posthouse.mail")


class Policy(NamedTuple):
    """What a domain wants."""

    mode: Literal["enforce", "testing", "none"]
    hosts: tuple[str, ...]
    seconds: int


class _Kept(NamedTuple):
    policy: Policy
    identity: str
    until: int


Fetch = Callable[[str], Awaitable[str]]
"""Gives the text at the address of a domain's policy; raises where it cannot be had."""


def read_policy(text: str) -> Policy | None:
    """Read a policy; none where the text is not one, and a domain with a broken one counts as one without."""
    fields: dict[str, str] = {}
    hosts: list[str] = []
    for line in text.splitlines():
        name, sign, value = line.partition(":")
        if not sign:
            continue
        if name.strip() == "mx":
            hosts.append(value.strip().lower().rstrip("."))
        else:
            fields.setdefault(name.strip(), value.strip())
    seconds = fields.get("max_age", "")
    mode = fields.get("mode")
    if fields.get("version") != "STSv1" or not seconds.isdecimal() or len(seconds) > 10:
        return None
    for known in ("enforce", "testing", "none"):
        if mode == known and (hosts or known == "none"):
            return Policy(known, tuple(hosts), min(int(seconds), _LONGEST))
    return None


def read_record(texts: Sequence[str]) -> str | None:
    """Give the id of the policy that the DNS speaks of; none where it speaks of none, or of two."""
    found = [match[1] for text in texts if (match := _RECORD.match(text))]
    return found[0] if len(found) == 1 else None


def allows(policy: Policy, host: str) -> bool:
    """Say whether a host may take the mail; `*.` stands for one label."""
    host = host.lower().rstrip(".")
    return any(host == one or (one.startswith("*.") and host.partition(".")[2] == one[2:]) for one in policy.hosts)


class Policies:
    """The policies of the domains mail goes to."""

    def __init__(self, clock: Clock, names: Names, *, fetch: Fetch) -> None:
        self._clock = clock
        self._names = names
        self._fetch = fetch
        self._kept: dict[str, _Kept] = {}
        self._failed: dict[str, int] = {}

    async def policy(self, domain: str) -> Policy | None:
        """Give what a domain wants; what was heard before holds while it lasts, whoever meddles with the DNS now."""
        now = self._clock.now()
        kept = self._kept.get(domain)
        if kept is not None and kept.until <= now:
            kept = None
        try:
            identity = read_record(await self._names.texts(f"_mta-sts.{domain}"))
        except NamesUnavailable:
            identity = None
        stale = identity is not None and (kept is None or kept.identity != identity)
        if identity is not None and stale and self._failed.get(domain, 0) <= now:
            kept = await self._renew(domain, identity, now=now) or kept
        return kept.policy if kept is not None else None

    async def _renew(self, domain: str, identity: str, *, now: int) -> _Kept | None:
        try:
            policy = read_policy(await self._fetch(domain))
        except Exception as fault:  # noqa: BLE001 - RFC 8461, section 5.1: a policy that cannot be had is none
            _log.warning("mail.policy-missing", domain=domain, fault=type(fault).__name__)
            policy = None
        if policy is None:
            self._remember(self._failed, domain, now + _AGAIN)
            return None
        kept = _Kept(policy, identity, now + policy.seconds * _SECOND)
        self._kept.pop(domain, None)
        self._kept[domain] = kept
        if len(self._kept) > MAX_DOMAINS:
            del self._kept[next(iter(self._kept))]
        return kept

    @staticmethod
    def _remember(table: dict[str, int], domain: str, until: int) -> None:
        table.pop(domain, None)
        table[domain] = until
        if len(table) > MAX_DOMAINS:
            del table[next(iter(table))]


async def fetch(domain: str) -> str:
    """Get a domain's policy from the web; redirects and other types than text are refused (section 3.3)."""
    # Only an office that sends mail to the world needs it.
    import httpx  # noqa: PLC0415

    address = f"https://mta-sts.{domain}/.well-known/mta-sts.txt"
    async with (
        httpx.AsyncClient(timeout=30.0, follow_redirects=False) as web,
        web.stream("GET", address) as answer,
    ):
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        if answer.status_code != 200 or kind != "text/plain":
            raise NamesUnavailable(f"expected a text at {address}, found status {answer.status_code} and type {kind!r}")
        text = b""
        async for piece in answer.aiter_bytes():
            text += piece
            if len(text) > MAX_POLICY:
                raise NamesUnavailable(f"expected a policy of at most {MAX_POLICY} bytes at {address}")
    return text.decode("utf-8", "replace")
