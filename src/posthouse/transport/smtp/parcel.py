"""One message made ready to leave as mail: its envelope in the words of SMTP, its content from the first byte."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final, NamedTuple

from posthouse.message.arrival import Arrival, arrival_of
from posthouse.message.envelope import Report
from posthouse.message.form.composition import Base64Lines, Letterhead, address_of, begun, composed, is_mail
from posthouse.message.name import parse_mailbox
from posthouse.transport.ports import Outgoing
from posthouse.transport.smtp.client import Pieces
from posthouse.transport.smtp.dialogue.mail import Mail, Recipient
from posthouse.transport.smtp.dialogue.stuffing import Look
from posthouse.transport.smtp.received import received

_PIECE: Final = 65_536
_BY_HAND: Final = Arrival(protocol="local")
_NO_WISH: Final = Report()


class Unfit(NamedTuple):
    """Why a message cannot leave as mail at all, as text and status of RFC 3463."""

    reason: str
    status: str


class Parcel(NamedTuple):
    """A message made ready."""

    names: tuple[str, ...]
    """Its recipients as they stand in the envelope of the office, in the order of the mail's."""
    mail: Mail
    pieces: Pieces
    wants_notice: bool
    """Its sender wants to hear of its arrival."""


async def parcel_of(outgoing: Outgoing, *, name: str, most_hops: int) -> Parcel | Unfit:
    """Make a message ready; `name` is the mail name of this office."""
    message, envelope = outgoing.message, outgoing.envelope
    arrival = arrival_of(message.attributes) or _BY_HAND
    names = envelope.everybody
    addresses = [_on_the_wire(parse_mailbox(each).mailbox) for each in names]
    content = _content(outgoing, name)
    look = Look()
    async for piece in content():
        look.at(piece)
    look.end()
    if not look.is_sound:
        return Unfit("the mail holds a CR or LF that is no end of a line: mail servers would not agree on it", "5.6.0")
    if is_mail(message) and look.received > most_hops:
        return Unfit(f"the mail was received {look.received} times already: its route is a circle", "5.4.6")
    line = _received(outgoing, arrival, name=name, recipients=tuple(addresses)) if is_mail(message) else b""
    wishes = [envelope.reports.get(each, _NO_WISH) for each in names]
    mail = Mail(
        sender=_sender(outgoing, name),
        recipients=tuple(
            Recipient(address=address, notify=wish.notify, original=wish.original)
            for address, wish in zip(addresses, wishes, strict=True)
        ),
        size=look.size + len(line),
        is_ascii=look.is_ascii,
        declared="8BITMIME" if arrival.body == "8BITMIME" else "",
        needs_utf8=not look.header_is_ascii and arrival.utf8,
        ret=arrival.ret,
        envid=arrival.envid,
    )
    return Parcel(names, mail, _behind(line, content), any("SUCCESS" in wish.notify for wish in wishes))


def _received(outgoing: Outgoing, arrival: Arrival, *, name: str, recipients: Sequence[str]) -> bytes:
    at = outgoing.accepted or outgoing.message.created
    return received(arrival, name=name, identity=outgoing.message.id, at=at, recipients=tuple(recipients))


def _sender(outgoing: Outgoing, name: str) -> str:
    """Give the return path: none for a notice, which must never beget another."""
    sender = outgoing.envelope.sender
    if sender is None or outgoing.message.kind.partition(".")[0] == "notice":
        return ""
    return _on_the_wire(address_of(sender, name))


def _content(outgoing: Outgoing, name: str) -> Pieces:
    """Give the content as it is sent, without the line this office puts before a mail that passes through."""
    message = outgoing.message
    if is_mail(message):
        return _whole(message.body) if isinstance(message.body, bytes) else _kept(outgoing)
    letterhead = Letterhead(name=name, accepted=outgoing.accepted)
    if isinstance(message.body, bytes):
        return _whole(composed(message, letterhead))
    return _encoded(outgoing, begun(message, letterhead))


def _whole(data: bytes) -> Pieces:
    # A body in memory is one piece, unless it is long: what is sent at once must find room on the line in time.
    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(data), _PIECE):
            yield data[start : start + _PIECE] if len(data) > _PIECE else data

    return pieces


def _kept(outgoing: Outgoing) -> Pieces:
    if outgoing.pieces is None:
        raise LookupError(f"the body of {outgoing.message.id} was not brought along")
    return outgoing.pieces


def _encoded(outgoing: Outgoing, beginning: bytes) -> Pieces:
    kept = _kept(outgoing)

    async def pieces() -> AsyncIterator[bytes]:
        yield beginning
        lines = Base64Lines()
        async for piece in kept():
            yield lines.add(piece)
        yield lines.end()

    return pieces


def _behind(line: bytes, content: Pieces) -> Pieces:
    async def pieces() -> AsyncIterator[bytes]:
        if line:
            yield line
        async for piece in content():
            yield piece

    return pieces


def _on_the_wire(address: str) -> str:
    """Give an address as any server understands it, where only its domain is not ASCII."""
    local, _, domain = address.rpartition("@")
    if domain.isascii() or not local.isascii():
        return address
    try:
        return f"{local}@{domain.encode('idna').decode()}"
    except UnicodeError:
        return address
