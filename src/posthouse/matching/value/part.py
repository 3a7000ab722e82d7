"""How each part of a record is read: one function per family of names; `catalogue` is the table of them.

A reader that is asked for one recipient or attachment gives the value of that one, else of all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import msgspec

from posthouse.matching.value.reading import EMPTY, Reading, State, many, missing, one, one_or_missing, unreadable
from posthouse.matching.value.record import MAX_TEXT, Recipient, Record
from posthouse.matching.value.type import (
    Clock,
    Day,
    Instant,
    Type,
    Value,
    Weekday,
    clock_of,
    day_of,
    weekday_of,
)
from posthouse.message.features import Address, Attachment, MailFeatures
from posthouse.message.name import MalformedName, parse_mailbox


class Asked(msgspec.Struct, frozen=True, gc=False):
    """What a name is read with: its argument, if it takes one, and one recipient or attachment, or None for all."""

    argument: str | None = None
    place: int | None = None


Read = Callable[[Record, Asked], Reading]
Piece = Literal["address", "local", "domain", "name"]
Ask = Callable[[Record, str], Reading]


def always(get: Callable[[Record], Value]) -> Read:
    """Read what every record has."""
    return lambda record, _: one(get(record))


def maybe(get: Callable[[Record], Value | None], what: str) -> Read:
    """Read what may be left out."""
    return lambda record, _: one_or_missing(get(record), what)


# --- instants ---------------------------------------------------------------------------------------------------------


def at(get: Callable[[Record], int | None], what: str) -> Read:
    """Read an instant."""
    return lambda record, _: one_or_missing(_instant(get(record)), what)


def on_calendar(
    get: Callable[[Record], int | None], what: str, *, turn: Callable[..., Day | Clock | Weekday | None]
) -> Read:
    """Read the day, the time of day or the weekday of an instant, in the zone of the context."""

    def read(record: Record, _: Asked) -> Reading:
        instant = _instant(get(record))
        if instant is None:
            return missing(what)
        turned = turn(instant, record.context.zone)
        return unreadable(f"the {what} lies behind the end of the calendar") if turned is None else one(turned)

    return read


CALENDAR: Final[dict[Type, tuple[Callable[..., Day | Clock | Weekday | None], str]]] = {
    "date": (day_of, "the day"),
    "time": (clock_of, "the time of day"),
    "weekday": (weekday_of, "the day of the week"),
}


def _instant(count: int | None) -> Instant | None:
    return None if count is None else Instant(count)


# --- addresses --------------------------------------------------------------------------------------------------------


def split_address(text: str) -> tuple[str, str] | None:
    """Give the local part and the domain of an address or a mailbox name; a mailbox here has no domain."""
    local, sign, domain = text.rpartition("@")
    if sign and "#" not in text and "://" not in text:
        return local, domain
    try:
        name = parse_mailbox(text)
    except MalformedName:
        return None
    if name.office.protocol == "smtp":
        local, _, domain = name.mailbox.rpartition("@")
        return local, domain
    return name.mailbox, name.office.host


def piece_of(text: str, piece: Piece) -> Reading:
    """Read a piece of an address."""
    if piece == "address":
        return one(text)
    split = split_address(text)
    if split is None:
        return unreadable(f"{text[:100]!r} cannot be read as an address")
    return one(split[0] if piece == "local" else split[1])


def sender_piece(piece: Piece) -> Read:
    """Read the envelope's sender."""
    return lambda record, _: missing("sender") if record.sender is None else piece_of(record.sender, piece)


def recipient_piece(piece: Piece) -> Read:
    """Read the address of the recipient asked for, or of all recipients."""
    return of_recipient(lambda _, address: piece_of(address, piece))


def of_recipient(get: Ask) -> Read:
    """Read something of the recipient asked for, or of all recipients."""

    def read(record: Record, asked: Asked) -> Reading:
        return together([get(record, recipient.address) for recipient in _chosen(record, asked.place)])

    return read


def is_blind(record: Record, asked: Asked) -> Reading:
    """Read whether the recipient stands in the envelope only."""
    return many(tuple(recipient.is_blind for recipient in _chosen(record, asked.place)))


def _chosen(record: Record, place: int | None) -> tuple[Recipient, ...]:
    return record.recipients if place is None else record.recipients[place : place + 1]


def together(readings: list[Reading]) -> Reading:
    """Give one reading of several; what is unknown of one is unknown of all."""
    if len(readings) == 1:
        return readings[0]
    values = tuple(value for reading in readings for value in reading.values)
    odd = next((reading for reading in readings if reading.state != "whole"), None)
    if odd is None:
        return many(values)
    return Reading(values, "partial" if values else odd.state, odd.why)


_FIELDS: Final = {"from": "sender", "to": "to", "cc": "cc", "reply-to": "reply_to"}
"""The headers of addresses, and what the record calls them."""


def mail_date(turn: Callable[..., Day | Clock | Weekday | None] | None = None) -> Read:
    """Read the date of a mail, or its day, time of day or weekday; one that nobody can read is unknown."""
    whole = at(_date_of, "date in the mail")
    read_whole = whole if turn is None else on_calendar(_date_of, "date in the mail", turn=turn)

    def read(record: Record, asked: Asked) -> Reading:
        if record.mail is not None and record.mail.date is None and "date" in record.mail.unknown:
            return unreadable("the date in the mail could not be read")
        return read_whole(record, asked)

    return read


def _date_of(record: Record) -> int | None:
    return None if record.mail is None else record.mail.date


def header_addresses(get: Callable[[MailFeatures], tuple[Address, ...]], field: str, *, piece: Piece) -> Read:
    """Read the addresses of a header."""

    def read(record: Record, _: Asked) -> Reading:
        mail = record.mail
        if mail is None:
            return missing(f"{field}, as it is no mail")
        if piece == "name":
            found = many(tuple(address.name for address in get(mail)))
        else:
            found = together([piece_of(address.address, piece) for address in get(mail)])
        if _FIELDS[field] not in mail.unknown:
            return found
        state: State = "partial" if found.values else "unreadable"
        return Reading(found.values, state, f"the header {field} could not be read to its end")

    return read


# --- who is who -------------------------------------------------------------------------------------------------------

_NOBODY = unreadable("nobody has handed in the organisation")


def of_sender(get: Ask) -> Read:
    """Read something the organisation knows of the sender."""
    return lambda record, _: missing("sender") if record.sender is None else get(record, record.sender)


def roles(record: Record, address: str) -> Reading:
    """Read the roles of an address; an outsider has none."""
    organisation = record.context.organisation
    return _NOBODY if organisation is None else many(organisation.roles_of(address))


def roles_above(record: Record, address: str) -> Reading:
    """Read the roles of an address and all above them."""
    organisation = record.context.organisation
    if organisation is None:
        return _NOBODY
    above = dict.fromkeys(name for role in organisation.roles_of(address) for name in organisation.above(role))
    return many(tuple(above))


def location(record: Record, address: str) -> Reading:
    """Read where the owner of an address works."""
    organisation = record.context.organisation
    return _NOBODY if organisation is None else one_or_missing(organisation.location_of(address), "known location")


def is_external(record: Record, address: str) -> Reading:
    """Read whether an address belongs to nobody here."""
    organisation = record.context.organisation
    return _NOBODY if organisation is None else one(organisation.is_external(address))


def levels(record: Record, address: str) -> Reading:
    """Read how many steps of reporting lead from the sender up to a recipient; none where no way leads there."""
    organisation = record.context.organisation
    if organisation is None:
        return _NOBODY
    if record.sender is None:
        return missing("sender")
    steps = organisation.levels_between(record.sender, address)
    return EMPTY if steps is None else one(steps)


# --- what a mail says -------------------------------------------------------------------------------------------------


def in_mail(get: Callable[[MailFeatures], Value | None], field: str) -> Read:
    """Read a field of a mail; what its reader could not read is unknown, what it cut is cut."""

    def read(record: Record, _: Asked) -> Reading:
        if record.mail is None:
            return missing(f"{field}, as it is no mail")
        return _limited(get(record.mail), field, unknown=record.mail.unknown)

    return read


def _limited(value: Value | None, field: str, *, unknown: tuple[str, ...]) -> Reading:
    is_odd = field in unknown
    if value is None:
        return unreadable(f"the {field} could not be read") if is_odd else missing(field)
    if isinstance(value, str) and len(value) > MAX_TEXT:
        value, is_odd = value[:MAX_TEXT], True
    return Reading((value,), "cut", f"the {field} could not be read to its end") if is_odd else one(value)


def text(record: Record, _: Asked) -> Reading:
    """Read the text of a mail, or the body of another message whose content type is text."""
    if record.mail is not None:
        if record.mail.text is None:
            return unreadable("the text of the mail could not be read")
        return _limited(record.mail.text, "text", unknown=record.mail.unknown)
    if record.text is None:
        return missing(f"text, as its content is {record.content_type[:100]}")
    return _limited(record.text, "text", unknown=())


def whole(record: Record, _: Asked) -> Reading:
    """Read subject and text as one, a line break between them."""
    body = text(record, _)
    if record.mail is None or record.mail.subject is None:
        return body
    subject = record.mail.subject
    if body.state in ("missing", "unreadable"):
        return Reading((subject,), "cut", body.why)
    return msgspec.structs.replace(body, values=(f"{subject}\n{body.values[0]!s}",))


def header(record: Record, asked: Asked) -> Reading:
    """Read all headers of one name."""
    name = asked.argument or ""
    if record.mail is None:
        return missing(f"header {name}, as it is no mail")
    wanted = name.lower()
    found = tuple([value for known, value in record.mail.headers if known == wanted])
    if "headers" in record.mail.unknown or wanted in record.mail.unknown:
        return Reading(found, "partial" if found else "unreadable", "the headers could not be read to their end")
    return many(found) if found else missing(f"header {name}")


def attachments(get: Callable[[Attachment], Value | None], field: str) -> Read:
    """Read something of the attachment asked for, or of all attachments."""

    def read(record: Record, asked: Asked) -> Reading:
        there = attachments_of(record)
        if isinstance(there, Reading):
            return there
        chosen = there if asked.place is None else there[asked.place : asked.place + 1]
        return together(
            [
                unreadable(f"the {field} of attachment {attachment.name[:100]!r} could not be read")
                if (value := get(attachment)) is None
                else one(value)
                for attachment in chosen
            ]
        )

    return read


def over_attachments(count: Callable[[tuple[int, ...]], int], field: str) -> Read:
    """Read a figure over the sizes of all attachments."""

    def read(record: Record, _: Asked) -> Reading:
        there = attachments_of(record)
        if isinstance(there, Reading):
            return there
        sizes = tuple(attachment.size for attachment in there if attachment.size is not None)
        if field != "count" and len(sizes) < len(there):
            return unreadable("the size of an attachment could not be read")
        return one(len(there) if field == "count" else count(sizes))

    return read


def attachments_of(record: Record) -> tuple[Attachment, ...] | Reading:
    """Give the attachments, or why they are unknown; what is no mail has none."""
    if record.mail is None:
        return ()
    if record.mail.attachments is None or "attachments" in record.mail.unknown:
        return unreadable("the attachments could not be read")
    return record.mail.attachments


def authentication(record: Record, asked: Asked) -> Reading:
    """Read the result of a check of the sender, such as spf."""
    name = asked.argument or ""
    if record.mail is None:
        return missing(f"result of {name}, as it is no mail")
    return one_or_missing(record.mail.authentication.get(name.lower()), f"result of {name}")
