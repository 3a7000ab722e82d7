"""The settings of an office: groups of frozen values, each with its default, its bounds and its meaning.

The string below a field is its entry in docs/reference/settings.md. `server.sources` reads settings; nothing here does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal, get_args, get_type_hints

import msgspec

from posthouse.message.maildoor import MailTerms
from posthouse.message.mailing import Mailing
from posthouse.message.name import parse_office
from posthouse.message.passage import Limits
from posthouse.message.peer import Exchange
from posthouse.office.terms import Patience, Terms, Traffic
from posthouse.server.hooking import WEBHOOK, hook_of
from posthouse.server.maildoor import DOMAINS, DOOR, HOSTNAME, door_of
from posthouse.server.mailing import ROUTE, OutgoingSettings, RouteLine
from posthouse.server.peering import PEER, peer_of
from posthouse.server.quantity import (
    FILE,
    LISTEN,
    OFFICE,
    OPTIONAL_FILE,
    TRUTH,
    Kind,
    bytes_within,
    choice,
    number_within,
    seconds_within,
    whole_within,
)

YEAR: Final = 365 * 86_400.0

FilePath = Annotated[str, FILE]
OptionalPath = Annotated[str, OPTIONAL_FILE]
Listen = Annotated[str, LISTEN]
Name = Annotated[str, OFFICE]
Truth = Annotated[bool, TRUTH]
Seconds = Annotated[float, seconds_within(0.001, 10 * YEAR)]
Days = Annotated[float, number_within(0, 3_650)]
Factor = Annotated[float, number_within(1, 1_000)]
Bytes = Annotated[int, bytes_within(0, 2**50)]
# The largest single message fits into the smallest frame.
FrameBytes = Annotated[int, bytes_within(3 * 2**23, 2**28)]
InlineBytes = Annotated[int, bytes_within(0, 2**24)]
Count = Annotated[int, whole_within(1, 1_000_000)]
Letters = Annotated[int, whole_within(1, 1_024)]
PeerLine = Annotated[str, PEER]
DoorLine = Annotated[str, DOOR]
WebhookLine = Annotated[str, WEBHOOK]
Domains = Annotated[str, DOMAINS]
Hostname = Annotated[str, HOSTNAME]
LineEnds = Annotated[Literal["refuse", "mend"], choice("refuse", "mend")]
Level = Annotated[Literal["debug", "info", "warning", "error"], choice("debug", "info", "warning", "error")]
Openness = Annotated[Literal["auto", "yes", "no"], choice("auto", "yes", "no")]
Form = Annotated[Literal["auto", "console", "json"], choice("auto", "console", "json")]


class StoreSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where messages are kept."""

    path: FilePath = "office.db"
    """The file of the store; its lock, its socket and the folder of large bodies lie beside it. A path in the settings
    file counts from the folder of that file, any other from the working directory."""
    inline_bytes: InlineBytes = 65_536
    """Bodies up to this size stand in the database, larger ones in files of their own."""


class OfficeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Who the office is."""

    name: Name = "local:"
    """The name other offices know this one by; mailboxes under it are mailboxes here."""


class LimitSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the office accepts at most."""

    body_bytes: Bytes = 1_073_741_824
    """The largest body."""
    recipients: Count = 1_000
    """The most recipients of one message."""
    hops: Count = 25
    """The most offices a message may pass before it is taken for one that goes in circles."""
    listed_only: Truth = False
    """Accept messages only for mailboxes that were set up with `posthouse mailbox set`; otherwise the first message
    makes a mailbox."""


class PatienceSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How the office tries again, and when it gives up."""

    first_pause: Seconds = 1.0
    """The pause before the first retry."""
    growth: Factor = 2.0
    """How much longer each following pause is."""
    longest_pause: Seconds = 900.0
    """No pause is longer than this."""
    attempts: Count = 20
    """Failures after which a message in a mailbox goes to the dead letters."""
    give_up_after: Seconds = 432_000.0
    """The time after which a message that cannot be delivered elsewhere goes to the dead letters."""
    deferral: Seconds = 60.0
    """The pause before the first retry of a single message that a place wants later, while it takes others; the
    following ones grow as above."""


class TrafficSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How the ways to other offices are shared."""

    at_once: Count = 16
    """Destinations served at the same time."""
    batch: Count = 256
    """The most messages one walk to a destination carries."""
    trip_after: Count = 3
    """Walks to an unreachable destination after which only one probe at a time is sent there."""
    walk_seconds: Seconds = 60.0
    """How long one walk may take."""


class LeaseSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How long a taken message is its taker's."""

    usual: Seconds = 30.0
    """The lease where the taker names none."""
    longest: Seconds = 43_200.0
    """The longest lease a taker may ask for."""


class KeySettings(msgspec.Struct, frozen=True, kw_only=True):
    """Idempotency keys."""

    days: Days = 7.0
    """Days for which a key is remembered."""


class ExchangeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How messages are exchanged with the offices listed under `peers`."""

    key: OptionalPath = ""
    """The file of this office's own key; it is made when it is first needed. Left empty, it lies beside the store, with
    `.key` after the name of the store."""
    ca: OptionalPath = ""
    """The file of the certificates that vouch for other offices reached by https; left empty, those of the system."""
    skew_seconds: Seconds = 300.0
    """How far the clocks of two offices may be apart."""
    frame_bytes: FrameBytes = 33_554_432
    """The largest frame that is taken, as it comes and as it is when unpacked."""
    frame_letters: Letters = 1_024
    """The most messages in one frame."""
    read_seconds: Seconds = 30.0
    """How long a frame may take to arrive."""
    answer_within: Seconds = 40.0
    """How long to wait for the answer to a frame."""
    at_once: Count = 4
    """Frames of one office that are worked on at the same time; with more it is asked to come back."""
    half_bytes: Bytes = 8_589_934_592
    """Room for large bodies of which only a part has arrived."""
    half_seconds: Seconds = 86_400.0
    """How long such a part is kept after its last piece."""
    compress: Truth = True
    """Pack frames that become smaller by it."""


class LogSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the office writes to standard error while it runs."""

    level: Level = "info"
    """The least important lines to write: debug, info, warning or error."""
    form: Form = "auto"
    """console for people, json for programs; auto is console on a terminal and json elsewhere."""


class HttpSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How the office answers over HTTP while `posthouse serve` runs."""

    listen: Listen = "127.0.0.1:8025"
    """The host and the port to answer at; port 0 takes one that is free, off answers nowhere."""
    tls_certificate: OptionalPath = ""
    """The file with the certificate and those between it and its authority, as PEM; with it everything is TLS."""
    tls_key: OptionalPath = ""
    """The file with the private key of the certificate, as PEM, without a passphrase."""
    body_bytes: Bytes = 16_777_216
    """The largest body of one request; larger messages come in pieces."""
    request_seconds: Seconds = 30.0
    """How long a request may take to arrive: its head, and then again its body."""
    answer_seconds: Seconds = 90.0
    """How long an answer may take to begin; it is longer than any wait a request may ask for."""
    idle_seconds: Seconds = 60.0
    """How long a connection stays open between two requests."""
    drain_seconds: Seconds = 5.0
    """How long the office waits for requests under way when it is told to stop."""
    connections: Count = 1_000
    """The most connections at a time."""
    key_requests: Count = 5_000
    """Requests a second that one key may make, in the long run."""
    stranger_requests: Count = 50
    """Requests a second that one address may make without a key, in the long run."""
    burst_seconds: Seconds = 2.0
    """How many seconds' worth of requests may come at once after a pause."""
    status_open: Openness = "auto"
    """Who sees the status page and the metrics without a key: yes for everybody, no for nobody; auto for those on this
    machine while the office listens on loopback only."""


class MailSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How mail comes in, at the doors listed under `doors`."""

    domains: Domains = ""
    """The domains whose mailboxes are here, with spaces between them: mail for `ada@bakery.example` goes to the mailbox
    of that name. Mail for other domains is taken only from those a door trusts."""
    relay_domains: Domains = ""
    """The domains of a mail server behind this office, with spaces between them: mail for them is taken from anybody
    and passed on as it came. Each needs a line of its own in `routes` that says to which server; no domain below it is
    meant, and no other spelling."""
    hostname: Hostname = ""
    """The name the office greets with; left empty, that of this machine."""
    accounts: OptionalPath = ""
    """The file of those who may sign in, a line for each as `posthouse account` prints it."""
    tls_certificate: OptionalPath = ""
    """The file with the certificate and those between it and its authority, as PEM; doors with TLS need it."""
    tls_key: OptionalPath = ""
    """The file with the private key of the certificate, as PEM, without a passphrase."""
    bare_line_ends: LineEnds = "refuse"
    """What happens to a mail whose lines do not all end with CR LF: refuse, or mend, which puts them in order and marks
    the message."""
    authenticate: Truth = False
    """Find out whether mail comes from whom it says (SPF, DKIM, DMARC, ARC), for rules to ask; it asks the DNS."""
    authenticate_seconds: Seconds = 20.0
    """How long that may take for one mail; what is not known by then is `temperror`, and the mail is taken."""
    mail_bytes: Bytes = 52_428_800
    """The largest mail."""
    header_bytes: Bytes = 1_048_576
    """The largest header section of a mail."""
    line_bytes: Bytes = 1_048_576
    """The longest line of a mail."""
    recipients: Count = 1_000
    """The most recipients of one mail that are taken over one connection."""
    hops: Count = 50
    """The most `Received:` lines, before a mail is taken for one that goes in circles."""
    errors: Count = 20
    """Refused commands after which a client is sent away."""
    commands: Count = 100
    """Commands between two mails that bring none, after which a client is sent away."""
    mails: Count = 10_000
    """The most mails of one connection."""
    connections: Count = 1_000
    """The most connections at a time, at all doors."""
    client_connections: Count = 50
    """The most connections of one address at a time."""
    idle_seconds: Seconds = 300.0
    """How long a client may say nothing."""
    mail_seconds: Seconds = 3_600.0
    """How long one mail may take to arrive."""
    connection_seconds: Seconds = 14_400.0
    """How long a connection may last."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings of one office."""

    store: StoreSettings = StoreSettings()
    office: OfficeSettings = OfficeSettings()
    limits: LimitSettings = LimitSettings()
    patience: PatienceSettings = PatienceSettings()
    traffic: TrafficSettings = TrafficSettings()
    lease: LeaseSettings = LeaseSettings()
    keys: KeySettings = KeySettings()
    exchange: ExchangeSettings = ExchangeSettings()
    peers: dict[str, PeerLine] = {}
    """The offices messages are exchanged with: `peers.NAME` is a line with the name of the office and its public keys,
    `http://post.example:8025/north ed25519:KEY`, where NAME is what it is called here. More words may follow: further
    keys, `ca=FILE` for certificates of its own, `relay` if it may send on mail for others by way of this office, and
    `read=MAILBOX` for each mailbox here it may take messages out of, or all that begin alike with `read=orders*`. An
    office without keys is reached by way of another one: `http://far.example:8025/west via=north`."""
    mail: MailSettings = MailSettings()
    doors: dict[str, DoorLine] = {}
    """The doors at which mail comes in: `doors.NAME` is a line with what is spoken there and where, such as
    `smtp 127.0.0.1:2525`, `lmtp unix:/run/posthouse/lmtp.sock` or `milter 127.0.0.1:8893`. More words may follow:
    `tls=starttls`, `tls=required` or `tls=implicit`; `auth=offered` or `auth=required`, on encrypted connections;
    `relay=NETWORKS` whose mail is taken for anybody (`unix` are all at a socket); `xclient=NETWORKS` of front ends that
    may say in whose name they come; `size=BYTES` of the largest mail there."""
    outgoing: OutgoingSettings = OutgoingSettings()
    routes: dict[str, RouteLine] = {}
    """Where the mail of a domain goes: `routes."bakery.example"` for one domain, `routes.".bakery.example"` for all
    below it, `routes."*"` for all others. `mx` asks the DNS, as for every domain that no route names;
    `smtp://relay.example:25` is one server, `smtp+tls://` one that must encrypt and show a certificate, `smtps://` one
    that is encrypted from the first byte; `lmtp://host:24` and `lmtp:/run/lmtp.sock` are stores of mailboxes,
    `maildir:/var/mail/{domain}/{local}` is a folder."""
    webhooks: dict[str, WebhookLine] = {}
    """Who elsewhere hears of cases: `webhooks.NAME` is a line with an address and the file of the secret that what is
    posted is signed with, `https://crm.example/posthouse secret=crm.secret`. More words may follow: `events=` and the
    events, with commas; `inside=NETWORKS` if the address is not public, such as `inside=127.0.0.1/32`."""
    log: LogSettings = LogSettings()
    http: HttpSettings = HttpSettings()


ORDERED: Final = (("lease.usual", "lease.longest"), ("patience.first_pause", "patience.longest_pause"))
"""Pairs of settings of which the first must not be greater than the second."""

OPEN: Final = {"peers": PEER, "doors": DOOR, "routes": ROUTE, "webhooks": WEBHOOK}
"""The groups in which each setting has the name it is given, with the kind of all of them."""

_SECRET: Final = re.compile(r"(^|[._])(secret|password|token|key_material)s?($|_)")


def terms_of(settings: Settings) -> Terms:
    """Give the terms on which the office works."""
    return Terms(
        name=parse_office(settings.office.name),
        limits=Limits(**msgspec.structs.asdict(settings.limits)),
        patience=Patience(**msgspec.structs.asdict(settings.patience)),
        traffic=Traffic(**msgspec.structs.asdict(settings.traffic)),
        lease_seconds=settings.lease.usual,
        longest_lease_seconds=settings.lease.longest,
        key_days=settings.keys.days,
        exchange=Exchange(
            peers=tuple(peer_of(name, line) for name, line in settings.peers.items()),
            **msgspec.structs.asdict(settings.exchange),
        ),
        inline_bytes=settings.store.inline_bytes,
        mail=mail_terms_of(settings),
        webhooks=tuple(hook_of(name, line) for name, line in settings.webhooks.items()),
        mailing=Mailing(
            routes=tuple(settings.routes.items()),
            **{**msgspec.structs.asdict(settings.outgoing), "name": mail_name_of(settings)},
        ),
    )


def mail_name_of(settings: Settings) -> str:
    """Give what the office calls itself to other mail servers."""
    return settings.outgoing.name or settings.mail.hostname


def mail_terms_of(settings: Settings) -> MailTerms:
    """Give how mail comes in."""
    chosen = msgspec.structs.asdict(settings.mail)
    return MailTerms(
        doors=tuple(door_of(name, line) for name, line in settings.doors.items()),
        domains=tuple(chosen.pop("domains").split()),
        relay_domains=tuple(chosen.pop("relay_domains").split()),
        inline_bytes=settings.store.inline_bytes,
        **chosen,
    )


def kinds() -> dict[str, Kind]:
    """Give the kind of every setting with a name of its own, by its full name."""
    return {
        f"{group}.{name}": _kind(hint)
        for group, kind in get_type_hints(Settings).items()
        if group not in OPEN
        for name, hint in get_type_hints(kind, include_extras=True).items()
    }


def kind_of(name: str) -> Kind | None:
    """Give the kind of a setting by its full name; none where there is no such setting."""
    group, _, rest = name.partition(".")
    return OPEN[group] if group in OPEN and rest else kinds().get(name)


# `Any`: a type as Python writes it.
def _kind(hint: Any) -> Kind:
    return next(part for part in get_args(hint) if isinstance(part, Kind))


# `Any`: a setting is a text, a number or a truth.
def values(settings: Settings) -> Iterator[tuple[str, Any]]:
    """Give every setting by its full name."""
    for group, part in msgspec.structs.asdict(settings).items():
        for name, value in (part if group in OPEN else msgspec.structs.asdict(part)).items():
            yield f"{group}.{name}", value


def settings_of(chosen: dict[str, Any]) -> Settings:
    """Make settings of values by their full names; what is left out keeps its default."""
    groups: dict[str, dict[str, Any]] = {}
    for full, value in chosen.items():
        group, _, name = full.partition(".")
        groups.setdefault(group, {})[name] = value
    hints = get_type_hints(Settings)
    # `Any`: a group, or the table of one whose settings are named freely.
    parts: dict[str, Any] = {
        group: fields if group in OPEN else hints[group](**fields) for group, fields in groups.items()
    }
    return Settings(**parts)


def is_secret(name: str) -> bool:
    """Say whether the value of a setting must not be shown."""
    return _SECRET.search(name) is not None
