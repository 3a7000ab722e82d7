"""The asking side: connects to an office over the network, or says what is in the way and what to do about it."""

from __future__ import annotations

import logging
import ssl
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

from websockets import exceptions as faults
from websockets.asyncio.client import ClientConnection, connect
from websockets.datastructures import Headers
from websockets.typing import Subprotocol

from posthouse.errors import PosthouseError
from posthouse.transport.frames import FrameLink
from posthouse.transport.ports import Unreachable
from posthouse.transport.websocket.address import Address, is_loopback
from posthouse.transport.websocket.stream import OFFICE, PIECE, SUBPROTOCOL, Inbox, Outbox

# At its lowest level that library writes handshakes, with the key in them.
# One of its own, so that no setting of the program's loggers reaches it.
_SILENT: Final = logging.Logger("posthouse.link", level=logging.CRITICAL + 1)  # noqa: LOG001 - see above
_PING_EVERY: Final = 20.0
_MAX_NAME: Final = 1_000


class KeyRefused(PosthouseError):
    """The office does not know the key, or the key is not for this."""

    code: ClassVar[str] = "key.refused"
    public: ClassVar[str] = "The key was refused."


class NotAnOffice(PosthouseError):
    """Something answers at the address, but no office, or another one than was meant."""

    code: ClassVar[str] = "office.not-there"
    public: ClassVar[str] = "There is no office at this address."


class NotTrusted(PosthouseError):
    """The certificate at the address is not one this program trusts."""

    code: ClassVar[str] = "office.not-trusted"
    public: ClassVar[str] = "The certificate of the office is not trusted."


class Reached(NamedTuple):
    """A connection, and the name of the office at its other end."""

    link: FrameLink
    office: str


def read_authority(ca: Path | None, *, secure: bool) -> ssl.SSLContext | None:
    """Give what decides whom to trust: the system's authorities, or those of a file; nothing where all is plain."""
    if not secure:
        if ca is not None:
            raise NotTrusted("expected an https address beside a file of authorities", where=str(ca))
        return None
    try:
        return ssl.create_default_context(cafile=None if ca is None else str(ca))
    except (OSError, ssl.SSLError) as fault:
        raise NotTrusted(
            f"the file of authorities cannot be read: {fault.strerror or fault}", where=str(ca),
            hint="expected certificates in PEM form",
        ) from fault  # fmt: skip


async def reach(address: Address, *, authority: ssl.SSLContext | None, seconds: float) -> Reached:
    """Connect and shake hands within so many seconds."""
    headers = Headers() if address.key is None else Headers(Authorization=f"Bearer {address.key}")
    try:
        connection = await _Straight(
            address.url,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            additional_headers=headers,
            user_agent_header="posthouse",
            compression=None,
            ssl=authority,
            proxy=None if is_loopback(address.host) else True,
            open_timeout=seconds,
            close_timeout=1.0,
            ping_interval=_PING_EVERY,
            ping_timeout=_PING_EVERY,
            max_size=4 * PIECE,
            logger=_SILENT,
        )
    except (OSError, faults.WebSocketException) as fault:
        # Without its cause: that may hold the whole handshake, and so the key.
        raise _told(fault, address, seconds=seconds) from None
    response = connection.response
    office = "" if response is None else response.headers.get(OFFICE, "")[:_MAX_NAME]
    if connection.subprotocol != SUBPROTOCOL:
        await connection.close()
        raise _not_an_office(address)
    carrier = _Carrier(connection)
    return Reached(FrameLink(Inbox(carrier.receive), Outbox(carrier.send, carrier.hang_up)), office)


class _Straight(connect):
    """Connects to where it was told to: a key is not carried on to wherever a stranger points."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class _Carrier:
    """One WebSocket, with the errors of a stream."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    async def receive(self) -> bytes:
        try:
            piece = await self._connection.recv(decode=False)
        except faults.WebSocketException as fault:
            raise ConnectionResetError("the office has gone") from fault
        return piece

    async def send(self, piece: bytes) -> None:
        try:
            await self._connection.send(piece)
        except faults.WebSocketException as fault:
            raise ConnectionResetError("the office has gone") from fault

    async def hang_up(self) -> None:
        await self._connection.close()


def _told(fault: Exception, address: Address, *, seconds: float) -> PosthouseError:
    match fault:
        case faults.InvalidStatus():
            return _denied(fault.response.status_code, address)
        case ssl.SSLCertVerificationError():
            return NotTrusted(
                f"the certificate is not trusted: {fault.verify_message}", where=address.shown,
                hint="name the authority that signed it (ca), and the host as the certificate does",
            )  # fmt: skip
        case ssl.SSLError():
            return NotAnOffice(f"no TLS is spoken there: {fault.reason}", where=address.shown, hint=_SCHEME)
        case TimeoutError():
            return Unreachable(f"no office answered within {seconds:g} seconds", where=address.shown, hint=_RUNNING)
        case faults.ProxyError():
            return Unreachable("the proxy on the way lets nothing through", where=address.shown)
        case faults.InvalidMessage() if isinstance(fault.__cause__, EOFError | OSError):
            # Hung up in the middle of the handshake: as an office does that is going, or one that wants TLS.
            return Unreachable("the connection ended before the handshake did", where=address.shown, hint=_SCHEME)
        case OSError():
            return Unreachable(f"no office answers: {fault.strerror or fault}", where=address.shown, hint=_RUNNING)
        case _:
            return _not_an_office(address)


_SCHEME: Final = "is it https or http, and is it the right port?"
_RUNNING: Final = "is it running, and does it listen there?"


def _denied(status: int, address: Address) -> PosthouseError:
    if status == 401:
        what = "the office asks for a key" if address.key is None else "the office does not accept the key"
        return KeyRefused(what, where=address.shown, hint="`posthouse key create` makes one there")
    if status == 403:
        return KeyRefused("the key does not permit to connect", where=address.shown)
    if status in (429, 502, 503, 504):
        return Unreachable(f"the office takes nobody in now, it says {status}", where=address.shown, hint="try again")
    return _not_an_office(address, status=status)


def _not_an_office(address: Address, *, status: int | None = None) -> NotAnOffice:
    what = "no office answers there" if status is None else f"no office answers there, what does says {status}"
    return NotAnOffice(
        what, where=address.shown, hint="give the address as `posthouse serve` tells it, without the path of a mailbox"
    )
