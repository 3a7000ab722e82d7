"""How mail goes out, as it is set: the group `outgoing`, and the lines of the group `routes`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Final, Literal

import msgspec

from posthouse.errors import PosthouseError
from posthouse.message.mailroute import MX, read_target
from posthouse.server.quantity import OPTIONAL_FILE, TRUTH, Kind, choice, seconds_within, whole_within

_HOST: Final = re.compile(
    r"(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)+"
)
_MOST_LETTERS: Final = 1_000


def _read_route(value: object) -> str:
    if not isinstance(value, str) or len(value) > _MOST_LETTERS:
        raise ValueError(value)
    try:
        read_target(value)
    except PosthouseError:
        raise ValueError(value) from None
    return value.strip()


def _read_host(value: object) -> str:
    if value == "":
        return ""
    if not isinstance(value, str) or not _HOST.fullmatch(value):
        raise ValueError(value)
    return value.lower()


def _read_text(value: object) -> str:
    if not isinstance(value, str) or len(value) > _MOST_LETTERS or not value.isprintable():
        raise ValueError(value)
    return value


ROUTE: Final = Kind(
    "mx, smtp://HOST:PORT, smtp+tls://HOST:PORT, smtps://HOST:PORT, lmtp://HOST:PORT, lmtp:/SOCKET or maildir:/FOLDER",
    _read_route,
)
_OPTIONAL_HOST: Final = Kind('the full name of a host, such as "post.example", or ""', _read_host)
_TEXT: Final = Kind(f"a text of at most {_MOST_LETTERS} letters", _read_text)

RouteLine = Annotated[str, ROUTE]
HostName = Annotated[str, _OPTIONAL_HOST]
Text = Annotated[str, _TEXT]
Path = Annotated[str, OPTIONAL_FILE]
Truth = Annotated[bool, TRUTH]
Seconds = Annotated[float, seconds_within(0.001, 86_400.0)]
Delay = Annotated[float, seconds_within(0.0, 2_592_000.0)]
Talks = Annotated[int, whole_within(1, 100)]
Hops = Annotated[int, whole_within(1, 1_000)]
Encryption = Annotated[Literal["never", "may", "must"], choice("never", "may", "must")]
Bounces = Annotated[Literal["known", "all", "none"], choice("known", "all", "none")]


def relay_faults(
    domains: Iterable[str], *, own: Iterable[str], routes: Mapping[str, str], name: str
) -> Iterator[tuple[str, str]]:
    """Say what is wrong with the domains mail is passed on for: what was expected, and what was found."""
    targets = {pattern.strip().lower(): read_target(line) for pattern, line in routes.items()}
    here = frozenset(own)
    for domain in domains:
        if domain in here:
            yield "mail.relay_domains to name domains whose mailboxes are elsewhere", f"{domain} among mail.domains"
        elif domain not in targets:
            # By the DNS, or by a line for many, it would mostly come back here.
            yield f'routes."{domain}" to say to which server the mail of {domain} goes', "no such line"
        elif targets[domain] == MX:
            yield f'routes."{domain}" to name a server', "mx, which may well be this office"
        elif not name:
            yield "mail.hostname or outgoing.name for mail that is passed on", "neither of them"


class OutgoingSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How mail goes out to the world. Where it goes stands under `routes`."""

    name: HostName = ""
    """What the office calls itself to other mail servers: the name its address resolves to, such as post.example. Left
    empty, it is `mail.hostname`; where that is empty too, no mail goes out."""
    encryption: Encryption = "may"
    """may encrypts wherever the other server can, whoever it is; must sends only to servers whose certificate says who
    they are; never does not encrypt. A route may be stricter."""
    mta_sts: Truth = True
    """Ask domains how they want their mail encrypted (MTA-STS), and keep to it."""
    ca: Path = ""
    """The file of certificates to believe beside those of the system."""
    user: Text = ""
    """Who the office is to the servers that its routes name, where these want to know; said on encrypted connections
    only."""
    password: Text = ""
    """The password that goes with it."""
    talks: Talks = 4
    """Connections to one server at a time."""
    hops: Hops = 50
    """The most mail servers a mail may have passed before it is taken for one that goes in circles."""
    walk_seconds: Seconds = 3_600.0
    """How long one walk to the servers of a domain may take."""
    connect_seconds: Seconds = 30.0
    """How long a connection may take to open."""
    reply_seconds: Seconds = 120.0
    """How long a server may take to reply to a command."""
    end_seconds: Seconds = 600.0
    """How long a server may take to reply to a whole mail: given up too early, it arrives twice."""
    bounces: Bounces = "known"
    """Whose mail is returned by mail where it cannot be delivered: known for that of programs here, of senders who
    signed in and of those a door trusts with `relay=`, all for everybody's, none for nobody's. What is not returned
    stays among the dead letters."""
    delay_seconds: Delay = 14_400.0
    """After how long a mail that still waits for its server is reported to its sender, once for each destination; 0 for
    never. To whom reports go says `outgoing.bounces`."""
