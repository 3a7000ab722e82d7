"""The only place that names concrete parts: stores, doors and the office are put together here."""

from __future__ import annotations

import hashlib
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from posthouse.clock import Clock, SystemClock
from posthouse.message.audit import Seal, Signer, sealed_bytes
from posthouse.message.name import parse_office
from posthouse.message.peer import Exchange, Peer, may_read
from posthouse.message.proof import Flaw, Link
from posthouse.office.house import House, Keeping
from posthouse.office.intake import Stores
from posthouse.office.terms import Terms
from posthouse.office.window import Window
from posthouse.route import ROUTE, Stage
from posthouse.server.control import Guest, OfficeLink, OfficeSession
from posthouse.store.memory.store import MemoryStore
from posthouse.store.sqlite.checking import verify
from posthouse.store.sqlite.keeping import back_up
from posthouse.store.sqlite.lock import mark_of_this_process
from posthouse.store.sqlite.proving import AuditFile, prove_file
from posthouse.store.sqlite.restoring import restore
from posthouse.store.sqlite.store import SqliteStore
from posthouse.transport.control.socket import FrameServer, open_link
from posthouse.transport.inprocess import InProcessDoor, InProcessErrand, Street
from posthouse.transport.inprocess import Window as StreetWindow
from posthouse.transport.ports import Door, Errand
from posthouse.transport.websocket.site import Denial, LinkSite, Scope

if TYPE_CHECKING:
    from posthouse.transport.http.exchange import Post
    from posthouse.transport.smtp.authentication.lookup import Lookup

STREET: Final = Street()
"""The offices of this process."""


# What answers below a path, as a plain ASGI callable. `Any`: ASGI is untyped by its own definition.
Mount = Callable[[str, Callable[..., Any]], None]

# Messages kept in memory can be looked up for a while after they are dealt with, but memory must not grow with them.
_FINISHED: Final = 10_000

_SOCKET_NAME: Final = 64


@asynccontextmanager
async def open_house(
    path: Path,
    terms: Terms,
    *,
    clock: Clock | None = None,
    route: Sequence[Stage] = ROUTE,
    socket: bool = True,
    mount: Mount | None = None,
) -> AsyncIterator[House]:
    """Open the office whose store is this file, serve its control socket, and close both at the end.

    `mount` is handed what answers below a path where the office speaks HTTP.
    """
    clock = clock or SystemClock()
    async with AsyncExitStack() as opened:
        store = await SqliteStore.open(path)
        opened.push_async_callback(store.close)
        passing = await MemoryStore.open(retain=_FINISHED)
        opened.push_async_callback(passing.close)
        keeping = Keeping(lambda folder: back_up(store, Path(folder)), lambda repair: verify(store, repair=repair))
        signer = partial(_signer, path, terms.exchange)
        house = House(clock, terms, stores=Stores(store, passing), keeping=keeping, route=route, signer=signer)
        opened.push_async_callback(house.stop)
        doors: list[Door] = [InProcessDoor(STREET)]
        if terms.mailing.name:
            # Nor one that sends no mail.
            from posthouse.transport.smtp.door import mail_door  # noqa: PLC0415

            doors.append(mail_door(terms.mailing, clock))
        doors += _webhook_doors(terms, clock)
        errands: dict[str, Errand] = {"local": InProcessErrand(STREET, str(terms.name))}
        if terms.exchange.peers:
            # An office that exchanges nothing with others carries no library for it: it takes a fifth of the memory.
            from posthouse.transport.http.entrance import Inside  # noqa: PLC0415

            post = _post(path, terms, clock=clock)
            doors += post.doors()
            errands |= dict.fromkeys(("http", "https"), post.errand())
            if mount is not None:
                take_in, largest = house.letterbox.take_in, terms.limits.body_bytes
                ask = peers_window(house, terms.exchange)
                entrance = await post.entrance(Inside(terms.name, take_in, store.bodies, largest, house.hear, ask))
                opened.callback(entrance.close)
                mount("/offices", entrance)
        await house.start(doors, errands=errands)
        if terms.name.protocol == "local" and terms.name.office:
            STREET.move_in(terms.name.office, house.letterbox.take_in, window=neighbours_window(house))
            opened.callback(STREET.move_out, terms.name.office)
        if socket:
            control = FrameServer(socket_of(path), lambda user: OfficeSession(house, Guest(f"user {user}")))
            opened.push_async_callback(control.close)
            await control.open()
        yield house


def _signer(path: Path, exchange: Exchange) -> Signer:
    from posthouse.transport.http.exchange import key_of  # noqa: PLC0415 - as above

    key = key_of(exchange, path)
    return Signer(key.public.raw, key.sign)


def open_audit(path: Path) -> AuditFile:
    """Open the audit of the office whose store is this file, beside whoever writes it."""
    return AuditFile(path)


def prove_audit(path: Path) -> Link | Flaw:
    """Follow the chain of that audit on all cores of this machine."""
    return prove_file(path)


def is_signed(seal: Seal) -> bool:
    """Say whether a seal is signed with the key it names."""
    from posthouse.transport.http.trust import PublicKey  # noqa: PLC0415 - as above

    try:
        return PublicKey(seal.key).has_signed(seal.signature, sealed_bytes(seal))
    except ValueError:
        # What it names is no key.
        return False


def _webhook_doors(terms: Terms, clock: Clock) -> list[Door]:
    """Give the door to those elsewhere who hear of cases, where there are any."""
    if not terms.webhooks:
        return []
    from posthouse.transport.http.webhook import WebhookDoor  # noqa: PLC0415 - as above

    return [WebhookDoor(terms.webhooks, clock, ca=terms.exchange.ca)]


def own_public_key(path: Path, exchange: Exchange) -> str:
    """Give the public key of the office whose store is this file as other offices list it, made now if need be."""
    from posthouse.transport.http.exchange import key_of  # noqa: PLC0415 - as above

    return str(key_of(exchange, path).public)


def following_public_key(path: Path, exchange: Exchange) -> str:
    """Give the public key that is to follow the one in use, made now if need be."""
    from posthouse.transport.http.exchange import following_key  # noqa: PLC0415 - as above

    return str(following_key(exchange, path).public)


def switch_keys(path: Path, exchange: Exchange) -> str | None:
    """Put the key that was made to follow in the place of the one in use; gives it, or nothing if there is none."""
    from posthouse.transport.http.exchange import switch_key  # noqa: PLC0415 - as above

    key = switch_key(exchange, path)
    return None if key is None else str(key.public)


async def greet_peer(path: Path, terms: Terms, *, name: str) -> float:
    """Greet a peer as this office would; gives by how many seconds the clock there is ahead."""
    caller = _post(path, terms, clock=SystemClock()).caller
    try:
        return await caller.greet(next(peer for peer in terms.exchange.peers if peer.name == name))
    finally:
        await caller.close()


def _post(path: Path, terms: Terms, *, clock: Clock) -> Post:
    from posthouse.transport.http.exchange import Post, key_of  # noqa: PLC0415 - as above

    folder = path.with_name(f"{path.name}.arriving")
    return Post(clock, terms.exchange, name=terms.name, key=key_of(terms.exchange, path), folder=folder)


@asynccontextmanager
async def open_mail_doors(
    house: House, context: ssl.SSLContext | None, *, lookup: Lookup | None = None
) -> AsyncIterator[Mapping[str, list[str]]]:
    """Take in mail at the doors of the house; gives where each listens, by its name.

    `lookup` answers in place of the DNS where mail is checked.
    """
    terms = house.terms.mail
    if not terms.doors:
        yield {}
        return
    from posthouse.transport.smtp.accounts import AccountFile, check_accounts  # noqa: PLC0415 - as above
    from posthouse.transport.smtp.dialogue.relay import Domains  # noqa: PLC0415 - as above
    from posthouse.transport.smtp.entry import Office as MailOffice  # noqa: PLC0415 - as above
    from posthouse.transport.smtp.server import MailServer  # noqa: PLC0415 - as above

    check_accounts(terms)
    accounts = AccountFile(Path(terms.accounts) if terms.accounts else None)
    domains = Domains(terms.domains, terms.relay_domains)
    server = MailServer(terms, MailOffice(house.clock, house.mailroom, accounts, domains), context=context)
    with _checking(house, lookup):
        await server.open()
        house.mail = server.addresses
        try:
            yield server.addresses
        finally:
            house.mail = {}
            await server.close()


@contextmanager
def _checking(house: House, lookup: Lookup | None) -> Iterator[None]:
    """Have mail checked as it arrives, where that is wanted."""
    if not house.terms.mail.authenticate:
        yield
        return
    from posthouse.transport.smtp.authentication.checker import Checker  # noqa: PLC0415 - as above
    from posthouse.transport.smtp.authentication.lookup import DnsLookup  # noqa: PLC0415 - as above

    checker = Checker(lookup or DnsLookup(), seconds=house.terms.mail.authenticate_seconds)
    house.mailroom.authenticator = checker
    try:
        yield
    finally:
        house.mailroom.authenticator = None
        checker.close()


def account_line(name: str, password: str) -> str:
    """Give the line of somebody who may sign in to send mail, as it stands in the file of accounts."""
    from posthouse.transport.smtp.accounts import write_account  # noqa: PLC0415 - as above

    return write_account(name, password)


async def restore_store(folder: Path, path: Path, *, force: bool = False) -> int:
    """Put a backup in the place of a store on which no office runs; gives the bytes put there."""
    return await restore(folder, path, force=force)


async def reach_house(path: Path) -> OfficeLink:
    """Reach the office another process runs on this file, by its control socket."""
    return OfficeLink(await open_link(socket_of(path)))


def neighbours_window(house: House) -> StreetWindow:
    """Give the window for offices of this process, which may read everything: whoever runs one runs them all."""
    windows: dict[str, Window] = {}

    async def answer(peer: str, question: bytes) -> bytes:
        if peer not in windows:
            windows[peer] = Window(house, peer, leave=lambda _mailbox: True)
        return await windows[peer].answer(question)

    return answer


def peers_window(house: House, exchange: Exchange) -> Callable[[Peer, bytes], Awaitable[bytes]]:
    """Give the window for the offices that are listed, each with the leave it was given."""
    windows = {
        peer.office: Window(house, peer.office, leave=partial(may_read, peer)) for peer in exchange.peers
    }  # fmt: skip

    async def answer(peer: Peer, question: bytes) -> bytes:
        return await windows[peer.office].answer(question)

    return answer


Authenticate = Callable[[Scope], Awaitable[Guest | Denial]]
"""Says who asks to be let in, from what he shows."""


def link_site(house: House, authenticate: Authenticate) -> LinkSite:
    """Give the ASGI application at which programs connect to an office over the network."""

    async def admit(scope: Scope) -> OfficeSession | Denial:
        guest = await authenticate(scope)
        return guest if isinstance(guest, Denial) else OfficeSession(house, guest)

    return LinkSite(str(house.terms.name), admit)


class FarOffice:
    """An office that is reached over the network: all that has to be known to reach it, read and checked at once."""

    def __init__(self, url: str, *, key: str | None, office: str | None, ca: Path | None, plain: bool) -> None:
        # Whoever uses an office on this machine carries no library for those elsewhere.
        from posthouse.transport.websocket.address import read_address  # noqa: PLC0415
        from posthouse.transport.websocket.link import read_authority  # noqa: PLC0415

        self._address = read_address(url, key=key, plain=plain)
        self._office = office if office is None else str(parse_office(office))
        self.name: str | None = None
        """What the office calls itself, once it was reached."""
        self._authority = read_authority(ca, secure=self._address.secure)

    @property
    def url(self) -> str:
        """Where it is, without a secret."""
        return self._address.shown

    async def reach(self, *, seconds: float) -> OfficeLink:
        """Connect; raises what says why that cannot be."""
        from posthouse.transport.websocket.link import NotAnOffice, reach  # noqa: PLC0415 - as above

        link, office = await reach(self._address, authority=self._authority, seconds=seconds)
        if self._office is not None and office != self._office:
            await link.close()
            raise NotAnOffice(f"expected the office {self._office}, found {office[:200]}", where=self.url)
        self.name = office or None
        return OfficeLink(link)


def name_of_insider() -> str:
    """Give the name under which to take a lease inside the process that has the office open: it ends with it."""
    return mark_of_this_process()


def socket_of(path: Path) -> Path:
    """Give where the control socket of an office lies; its name is short, however long that of the office is."""
    name = os.fsencode(path.name)
    short = path.name if len(name) <= _SOCKET_NAME else hashlib.sha256(name).hexdigest()[:32]
    return path.with_name(f"{short}.sock")
