"""What is asked of the DNS, and the resolver that asks it; its library is imported with the first question."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

from posthouse.errors import PosthouseError
from posthouse.transport.smtp.mx import Mx

if TYPE_CHECKING:
    from dns.asyncresolver import Resolver as Resolving

_NO_ADDRESS: Final = frozenset({socket.EAI_NONAME, socket.EAI_NODATA, socket.EAI_ADDRFAMILY})
_MOST_KEPT: Final = 10_000


class NamesUnavailable(PosthouseError):
    """The DNS gives no answer now."""

    code: ClassVar[str] = "names.unavailable"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The domain cannot be looked up now."


class NoSuchName(PosthouseError):
    """The DNS says that there is no such domain."""

    code: ClassVar[str] = "names.unknown"
    public: ClassVar[str] = "There is no such domain."


class Names(Protocol):
    """The questions mail has for the DNS; `NoSuchName` and `NamesUnavailable` say that there is no answer."""

    async def exchangers(self, domain: str) -> list[Mx]:
        """Give the MX records of a domain; none where it has none."""
        ...

    async def addresses(self, host: str) -> list[str]:
        """Give the addresses of a host, of both kinds; none where it has none."""
        ...

    async def texts(self, name: str) -> list[str]:
        """Give the TXT records of a name; none also where there is no such name."""
        ...


class Resolver:
    """See `Names`; asks as this machine is set up to ask."""

    def __init__(self, seconds: float = 20.0) -> None:
        self._seconds = seconds
        self._asked: Resolving | None = None

    async def exchangers(self, domain: str) -> list[Mx]:
        answers = await self._ask(domain, "MX")
        return [Mx(answer.preference, answer.exchange.to_text()) for answer in answers]

    async def addresses(self, host: str) -> list[str]:
        # The machine's own way knows its hosts file too, where a relay next door often stands.
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except socket.gaierror as fault:
            if fault.errno in _NO_ADDRESS:
                return []
            raise NamesUnavailable(f"{host}: {fault.strerror}", where=host) from fault
        except UnicodeError as fault:
            raise NoSuchName(f"{host} cannot be a host") from fault
        return list(dict.fromkeys(str(address[0]) for *_, address in found))

    async def texts(self, name: str) -> list[str]:
        try:
            answers = await self._ask(name, "TXT")
        except NoSuchName:
            return []
        return [b"".join(answer.strings).decode("utf-8", "replace") for answer in answers]

    # `Any`: the records of an answer are of the kind that was asked for.
    async def _ask(self, name: str, kind: str) -> list[Any]:
        # Only an office that sends mail to the world needs it.
        import dns.asyncresolver  # noqa: PLC0415
        import dns.exception  # noqa: PLC0415
        import dns.resolver  # noqa: PLC0415

        try:
            if self._asked is None:
                self._asked = dns.asyncresolver.Resolver()
                self._asked.cache = dns.resolver.LRUCache(_MOST_KEPT)
            return list(await self._asked.resolve(f"{name}.", kind, lifetime=self._seconds))
        except dns.resolver.NXDOMAIN as fault:
            raise NoSuchName(f"there is no domain {name}") from fault
        except dns.resolver.NoAnswer:
            return []
        except (dns.exception.DNSException, OSError) as fault:
            raise NamesUnavailable(f"{name}: {str(fault) or type(fault).__name__}") from fault
