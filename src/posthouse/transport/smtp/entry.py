"""One mail door as its connections see it: what it offers, whom it trusts, who is inside, and the office behind it."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol

import msgspec

from posthouse.clock import Clock
from posthouse.message.message import Body
from posthouse.transport.smtp.dialogue import answer
from posthouse.transport.smtp.dialogue.relay import Domains
from posthouse.transport.smtp.dialogue.reply import Reply
from posthouse.transport.smtp.dialogue.service import Service, Visitor
from posthouse.transport.smtp.port import Accounts, Mailroom, Pace

# Large mails that are read from in one turn of the loop; what is read at a time takes a millisecond or so.
_AT_ONCE = 2

UNIX = "unix"
"""The address of every client at a socket of this machine."""


class Member(Protocol):
    """A connection, as far as its door looks after it."""

    client: str

    def look_at_clock(self, now: float) -> None: ...
    def end(self, reply: Reply, why: Literal["expired", "closing"]) -> None: ...
    def abort(self) -> None: ...
    @property
    def is_busy(self) -> bool: ...


class Crowd:
    """The connections of all doors of one office."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._clients: Counter[str] = Counter()
        self._inside: set[Member] = set()
        self.members: set[Member] = set()
        self.clearing: set[asyncio.Task[Body]] = set()
        """Large mails that were given up, until nothing of them is left."""
        self.turnstile = Turnstile()
        self.empty = asyncio.Event()
        self.empty.set()

    def admit(self, member: Member) -> Reply | None:
        """Let a connection in, or give what turns it away; it leaves in either case."""
        self.members.add(member)
        self.empty.clear()
        if len(self.members) > self._pace.connections:
            return answer.TOO_MANY_CONNECTIONS
        if member.client != UNIX and self._clients[member.client] >= self._pace.client_connections:
            return answer.TOO_MANY_OF_YOURS
        # Those that are turned away do not count: they are gone in a moment.
        self._clients[member.client] += 1
        self._inside.add(member)
        return None

    def leave(self, member: Member) -> None:
        """Let a connection go."""
        self.members.discard(member)
        if member in self._inside:
            self._inside.discard(member)
            self._clients[member.client] -= 1
            if not self._clients[member.client]:
                del self._clients[member.client]
        if not self.members:
            self.empty.set()

    def look_after(self, clearing: asyncio.Task[Body]) -> None:
        """Remember what is still being cleared away; how it ends is nobody's business any more."""
        self.clearing.add(clearing)
        clearing.add_done_callback(self._cleared)

    def _cleared(self, clearing: asyncio.Task[Body]) -> None:
        self.clearing.discard(clearing)
        if not clearing.cancelled():
            clearing.exception()


class Turnstile:
    """Lets connections with large mails go on a few at a time, so that those with small ones come between them."""

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()
        self._turning = False

    def wait(self, go_on: Callable[[], None]) -> None:
        """Have something called when it is its turn, at one of the next turns of the loop."""
        self._waiting.append(go_on)
        if not self._turning:
            self._turning = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        for _ in range(min(_AT_ONCE, len(self._waiting))):
            self._waiting.popleft()()
        self._turning = bool(self._waiting)
        if self._turning:
            asyncio.get_running_loop().call_soon(self._turn)


class Networks:
    """Addresses that are trusted with something."""

    def __init__(self, networks: Sequence[str]) -> None:
        self._unix = UNIX in networks
        self._networks = [ipaddress.ip_network(network, strict=False) for network in networks if network != UNIX]

    def __contains__(self, address: str) -> bool:
        if address == UNIX:
            return self._unix
        try:
            found = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return False
        if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
            found = found.ipv4_mapped
        return any(found in network for network in self._networks)


class Office(NamedTuple):
    """What stands behind all mail doors."""

    clock: Clock
    room: Mailroom
    accounts: Accounts
    domains: Domains


class Entry:
    """One mail door."""

    def __init__(
        self, service: Service, office: Office, *, pace: Pace, crowd: Crowd, trust: tuple[Networks, Networks],
        context: ssl.SSLContext | None,
    ) -> None:  # fmt: skip
        self.service = service
        self.office = office
        self.pace = pace
        self.crowd = crowd
        self.context = context
        self._relay, self._front_ends = trust

    def visitor_of(self, transport: asyncio.Transport) -> Visitor:
        """Give who is at the other end of a connection."""
        peer = transport.get_extra_info("peername")
        at_network = isinstance(peer, tuple)
        visitor = Visitor(
            address=_plain(peer[0]) if at_network else UNIX,
            port=peer[1] if at_network else 0,
            tls=cipher_of(transport),
        )
        front_end = visitor.address in self._front_ends
        return msgspec.structs.replace(self.trusted(visitor), is_front_end=front_end)

    def trusted(self, visitor: Visitor) -> Visitor:
        """Give a client with what it may do."""
        return msgspec.structs.replace(visitor, may_relay=visitor.address in self._relay)


def cipher_of(transport: asyncio.BaseTransport) -> str:
    """Give the version and the cipher of an encrypted connection; nothing for a plain one."""
    cipher = transport.get_extra_info("cipher")
    return f"{cipher[1]} {cipher[0]}" if cipher else ""


def _plain(address: str) -> str:
    """Give an address in its usual form: IPv4 as such, also where a socket of IPv6 took it."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(found)
