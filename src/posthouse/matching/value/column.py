"""A record as columns and back: the rows of the table `messages`, whose columns bear the names of the catalogue.

Lists stand for what may have several values, so that a column store keeps each field apart. What is handed in beside a
message is no column; who reads the table joins it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from posthouse.matching.value.record import NOTHING_BESIDE, Context, Recipient, Record
from posthouse.message.attribute import tag_all, untag_all
from posthouse.message.features import Address, Attachment, MailFeatures

# `Any`: the values of a row are as many types as it has columns; `COLUMNS` says which.
Row = Mapping[str, Any]
Kind = str
"""`text`, `int`, `instant`, `truth`, `bytes`, lists of them as `[text]`, and maps of text as `{text}`."""

_PLAIN: Final = {
    "message.id": ("id", "text"), "message.kind": ("kind", "text"), "message.priority": ("priority", "int"),
    "message.size": ("size", "int"), "created": ("created", "instant"), "arrived": ("arrived", "instant"),
    "expires": ("expires", "instant"), "message.keep": ("keep", "text"),
    "message.content_type": ("content_type", "text"), "message.correlation": ("correlation", "text"),
    "message.reply_to": ("reply_to", "text"), "message.lane": ("lane", "text"), "sender.address": ("sender", "text"),
}  # fmt: skip
_OF_MAIL: Final = {
    "subject": ("subject", "text"), "mail.date": ("date", "instant"), "mail.zone": ("zone", "int"),
    "mail.id": ("message_id", "text"), "message.hidden": ("hidden", "text"),
    "is_signed": ("is_signed", "truth"), "is_encrypted": ("is_encrypted", "truth"),
    "unknown": ("unknown", "[text]"), "authentication": ("authentication", "{text}"),
}  # fmt: skip
_PEOPLE: Final = {"from": "sender", "to": "to", "cc": "cc", "reply_to": "reply_to"}

COLUMNS: Final[dict[str, Kind]] = {
    **{name: kind for name, (_, kind) in _PLAIN.items()},
    "recipient.address": "[text]", "recipient.blind": "[truth]", "attribute": "bytes", "message.text": "text",
    **{name: kind for name, (_, kind) in _OF_MAIL.items()},
    "header.name": "[text]", "header.value": "[text]",
    **{f"{name}.{piece}": "[text]" for name in _PEOPLE for piece in ("name", "address")},
    "attachment.name": "[text]", "attachment.type": "[text]", "attachment.size": "[int]",
    "attachment.sha256": "[bytes]", "is_mail": "truth",
}  # fmt: skip
"""Every column and its kind; `attribute` holds the tagged attributes as MessagePack, so that no type is lost."""

_pack: Final = msgspec.msgpack.Encoder().encode
# `Any`: what stands under a tag is anything; `untag_all` looks at it.
_unpack: Final = msgspec.msgpack.Decoder(dict[str, Any]).decode


def to_row(record: Record) -> dict[str, Any]:
    """Give one row with every column."""
    row = {name: getattr(record, field) for name, (field, _) in _PLAIN.items()}
    row["recipient.address"] = [recipient.address for recipient in record.recipients]
    row["recipient.blind"] = [recipient.is_blind for recipient in record.recipients]
    row["attribute"] = _pack(tag_all(record.attributes)) if record.attributes else None
    row["message.text"] = record.text if record.mail is None else record.mail.text
    row["is_mail"] = record.mail is not None
    row |= _mail_row(record.mail)
    return row


def _mail_row(mail: MailFeatures | None) -> dict[str, Any]:
    if mail is None:
        return {name: None for name in COLUMNS if name in _OF_MAIL or name.split(".")[0] in _GROUPS}
    row: dict[str, Any] = {name: getattr(mail, field) for name, (field, _) in _OF_MAIL.items()}
    row["unknown"] = list(mail.unknown)
    row["authentication"] = dict(mail.authentication)
    row["header.name"] = [name for name, _ in mail.headers]
    row["header.value"] = [value for _, value in mail.headers]
    for name, field in _PEOPLE.items():
        people: tuple[Address, ...] = getattr(mail, field)
        row[f"{name}.name"] = [person.name for person in people]
        row[f"{name}.address"] = [person.address for person in people]
    for piece, get in _ATTACHMENT.items():
        there = mail.attachments
        row[f"attachment.{piece}"] = None if there is None else [get(attachment) for attachment in there]
    return row


_GROUPS: Final = frozenset({"header", "attachment", *_PEOPLE})
_ATTACHMENT: Final[dict[str, Callable[[Attachment], object]]] = {
    "name": lambda attachment: attachment.name,
    "type": lambda attachment: attachment.content_type,
    "size": lambda attachment: attachment.size,
    "sha256": lambda attachment: attachment.sha256,
}


def from_row(row: Row, context: Context = NOTHING_BESIDE) -> Record:
    """Give the record of a row; a column that an older table does not have is as if nothing stood there."""
    plain = {field: row[name] for name, (field, _) in _PLAIN.items() if row.get(name) is not None}
    addresses, blind = row.get("recipient.address") or [], row.get("recipient.blind") or []
    packed = row.get("attribute")
    mail = _mail_of(row) if row.get("is_mail") else None
    return Record(
        **plain,
        recipients=tuple(
            Recipient(address, place < len(blind) and blind[place]) for place, address in enumerate(addresses)
        ),
        attributes=untag_all(_unpack(packed)) if packed else {},
        text=row.get("message.text") if mail is None else None,
        mail=mail,
        context=context,
    )


def _mail_of(row: Row) -> MailFeatures:
    fields: dict[str, Any] = {field: row[name] for name, (field, _) in _OF_MAIL.items() if row.get(name) is not None}
    fields["unknown"] = tuple(fields.get("unknown", ()))
    fields["authentication"] = dict(fields.get("authentication", {}))
    for name, field in _PEOPLE.items():
        fields[field] = tuple(
            Address(shown, address) for shown, address in _rows_of(row, f"{name}.name", f"{name}.address")
        )
    attachments = None
    if row.get("attachment.name") is not None:
        found = _rows_of(row, *(f"attachment.{piece}" for piece in _ATTACHMENT))
        attachments = tuple(Attachment(*attachment) for attachment in found)
    headers = tuple(_rows_of(row, "header.name", "header.value"))
    return MailFeatures(**fields, headers=headers, text=row.get("message.text"), attachments=attachments)


def _rows_of(row: Row, *names: str) -> list[tuple[Any, ...]]:
    return list(zip(*(row.get(name) or () for name in names), strict=True))
