"""What the checks of a mail ask of the DNS: bounded in number, size and time, whoever's servers answer."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from posthouse.transport.smtp.mx import Mx
from posthouse.transport.smtp.names import NamesUnavailable

if TYPE_CHECKING:
    from dns.resolver import Resolver

Kind = Literal["A", "AAAA", "MX", "PTR", "TXT"]
Answer = bytes | str | Mx

# What SPF may ask at most for one mail, and then the keys of its signatures.
MAX_QUESTIONS: Final = 200
MAX_ANSWERS: Final = 100
MAX_TEXT: Final = 8_192
"""The longest TXT record that is read; a key of 16,384 bits has 2,800 letters."""

_QUESTION_SECONDS: Final = 5.0
_MOST_KEPT: Final = 10_000
_LABELS: Final = re.compile(r"[^.\s\\\"@();]{1,63}(?:\.[^.\s\\\"@();]{1,63})*")


class Lookup(Protocol):
    """Asks the DNS; called in threads, by many at once."""

    def ask(self, name: str, kind: Kind, *, seconds: float) -> Sequence[Answer]:
        """Give the records of a name, TXT as bytes; none where there are none, or no such name.

        `NamesUnavailable` says that nobody can tell now.
        """
        ...


class DnsLookup:
    """See `Lookup`; asks as this machine is set up to ask, unless it is told whom, and remembers."""

    def __init__(self, resolver: Resolver | None = None) -> None:
        self._lock = threading.Lock()
        self._resolver = resolver

    def ask(self, name: str, kind: Kind, *, seconds: float) -> Sequence[Answer]:
        # Only an office that checks mail needs it.
        import dns.exception  # noqa: PLC0415
        import dns.resolver  # noqa: PLC0415

        with self._lock:
            if self._resolver is None:
                self._resolver = dns.resolver.Resolver()
                self._resolver.cache = dns.resolver.LRUCache(_MOST_KEPT)
        try:
            found = self._resolver.resolve(f"{name}.", kind, lifetime=seconds)
            return [_answer(kind, record) for record in found]
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return []
        except (dns.exception.DNSException, OSError) as fault:
            raise NamesUnavailable(f"{name}: {str(fault) or type(fault).__name__}") from fault


# `Any`: a record is of the kind that was asked for.
def _answer(kind: Kind, record: Any) -> Answer:
    match kind:
        case "TXT":
            return b"".join(record.strings)
        case "MX":
            return Mx(record.preference, record.exchange.to_text())
        case "PTR":
            return str(record.target.to_text())
        case _:
            return str(record.address)


class Questions:
    """The questions of one mail: each is asked once, and all of them within one time."""

    def __init__(self, lookup: Lookup, now: Callable[[], float], *, deadline: float) -> None:
        self._lookup = lookup
        self._now = now
        self._deadline = deadline
        self._asked: dict[tuple[str, Kind], Sequence[Answer] | NamesUnavailable] = {}

    def ask(self, name: str, kind: Kind) -> Sequence[Answer]:
        """Give the records of a name; none where it cannot be one."""
        plain = _plain(name)
        if plain is None:
            return []
        question = (plain, kind)
        if question not in self._asked:
            self._asked[question] = self._answer(plain, kind)
        known = self._asked[question]
        if isinstance(known, NamesUnavailable):
            raise known
        return known

    def texts(self, name: str) -> list[bytes]:
        """Give the TXT records of a name."""
        return [answer for answer in self.ask(name, "TXT") if isinstance(answer, bytes)]

    def _answer(self, name: str, kind: Kind) -> Sequence[Answer] | NamesUnavailable:
        left = self._deadline - self._now()
        if left <= 0 or len(self._asked) >= MAX_QUESTIONS:
            return NamesUnavailable(f"{name}: this mail has asked for too long, or too often")
        try:
            answers = self._lookup.ask(name, kind, seconds=min(left, _QUESTION_SECONDS))
        except NamesUnavailable as fault:
            return fault
        return [one for one in answers[:MAX_ANSWERS] if not isinstance(one, bytes) or len(one) <= MAX_TEXT]


def _plain(name: str) -> str | None:
    """Give a name as the DNS knows it."""
    try:
        plain = ascii_domain(name)
    except UnicodeError:
        return None
    return plain if len(plain) <= 253 and _LABELS.fullmatch(plain) else None


def ascii_domain(domain: str) -> str:
    """Give a domain in the letters of the DNS; UnicodeError where it has none."""
    lower = domain.removesuffix(".").lower()
    return lower if lower.isascii() else lower.encode("idna").decode("ascii")
