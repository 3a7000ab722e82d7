"""The catalogue: every part of a message a predicate may name, its type, and how it is read. Nothing else can be named.

The page docs/reference/attributes.md is written from this table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import msgspec

from posthouse.matching.value import beside, part
from posthouse.matching.value.part import CALENDAR, Asked, Read
from posthouse.matching.value.reading import Reading, one, unreadable
from posthouse.matching.value.record import Record
from posthouse.matching.value.type import Type
from posthouse.message.features import Address, MailFeatures

Scope = Literal["message", "recipient", "attachment", "office", "case"]
Argument = Literal["", "name", "tail"]
"""Whether a name is complete, or takes an argument: `header("X-Spam")`, `office.stat.queue_length`."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One name of the catalogue."""

    name: str
    type: Type
    meaning: str
    read: Read
    scope: Scope = "message"
    is_many: bool = False
    """It may have several values, and is a match where one of them is."""
    argument: Argument = ""


def _entry(name: str, kind: Type, meaning: str, read: Read) -> Entry:
    return Entry(name=name, type=kind, meaning=meaning, read=read)


def _message() -> list[Entry]:
    return [
        _entry("message.id", "text", "its id", part.maybe(lambda r: r.id, "id")),
        _entry("message.kind", "text", "what it is: mail, event, request …", part.always(lambda r: r.kind)),
        _entry("message.priority", "int64", "1 to 10; 10 is the most urgent", part.always(lambda r: r.priority)),
        _entry("message.size", "size", "the bytes of its body; of a mail, of the whole mail",
               part.always(lambda r: r.size)),
        _entry("message.keep", "text", "durable or memory", part.always(lambda r: r.keep)),
        _entry("message.content_type", "text", "its content type with all parameters",
               part.always(lambda r: r.content_type)),
        _entry("object.type", "text", "its content type, small and without parameters", _object_type),
        _entry("message.correlation", "text", "the correlation id",
               part.maybe(lambda r: r.correlation, "correlation id")),
        _entry("message.reply_to", "address", "the response destination",
               part.maybe(lambda r: r.reply_to, "response destination")),
        _entry("message.lane", "text", "the lane its sender chose", part.maybe(lambda r: r.lane, "lane")),
        _entry("message.text", "text", "the text of a mail; of another message its body, if it is text",
               part.text),
        _entry("message.hidden", "text", "the text in the HTML of a mail that its reader does not see; empty where "
               "nothing is hidden", part.in_mail(lambda mail: mail.hidden, "hidden")),
        _entry("message.whole", "text", "subject and text, a line break between them", part.whole),
        Entry(name="attribute", type="any", is_many=True, argument="name", read=beside.attribute,
              meaning="an attribute of the head; a list has several values"),
    ]  # fmt: skip


def _object_type(record: Record, _: Asked) -> Reading:
    return one(record.content_type.partition(";")[0].strip().lower())


def _instants() -> list[Entry]:
    moments: tuple[tuple[str, str, Callable[[Record], int | None], Scope], ...] = (
        ("created", "when it was written, as its sender's office says", lambda r: r.created or None, "message"),
        ("arrived", "when this office accepted it", lambda r: r.arrived, "message"),
        ("expires", "when it loses its worth", lambda r: r.expires, "message"),
        ("mail.date", "the date its sender wrote into the mail",
         lambda r: None if r.mail is None else r.mail.date, "message"),
        ("now", "the time of the decision", lambda r: r.context.now, "office"),
        ("history.retain_until", "until when the case is kept",
         lambda r: None if r.context.history is None else r.context.history.retain_until, "case"),
    )  # fmt: skip
    entries = []
    for name, meaning, get, scope in moments:
        what, is_mail = ("time of decision" if name == "now" else f"time “{name}”"), name == "mail.date"
        read = part.mail_date() if is_mail else part.at(get, what)
        entries.append(Entry(name=name, type="instant", meaning=meaning, read=read, scope=scope))
        for kind, (turn, told) in CALENDAR.items():
            read = part.mail_date(turn) if is_mail else part.on_calendar(get, what, turn=turn)
            meant = f"{told} of `{name}`, in the zone of the office"
            entries.append(Entry(name=f"{name}.{kind}", type=kind, meaning=meant, read=read, scope=scope))
    return entries


_PIECES: Final[dict[part.Piece, tuple[Type, str]]] = {
    "address": ("address", "the address of {}"),
    "local": ("text", "what stands before the @ of {}, or its mailbox"),
    "domain": ("text", "what stands behind the @ of {}, or its host; empty for a mailbox of this office"),
    "name": ("text", "the display name of {}; empty where there is none"),
}


def _people() -> list[Entry]:
    entries = []
    for piece in ("address", "local", "domain"):
        kind, meaning = _PIECES[piece]
        entries += [
            _entry(f"sender.{piece}", kind, meaning.format("the envelope's sender"), part.sender_piece(piece)),
            Entry(name=f"recipient.{piece}", type=kind, meaning=meaning.format("a recipient of the envelope"),
                  read=part.recipient_piece(piece), scope="recipient", is_many=True),
        ]  # fmt: skip
    known: tuple[tuple[str, Type, str, part.Ask], ...] = (
        ("role", "role", "the roles of {}; an outsider has none", part.roles),
        ("under", "role", "the roles of {} and all roles above them", part.roles_above),
        ("location", "text", "where {} works", part.location),
        ("external", "truth", "whether {} belongs to nobody here", part.is_external),
    )
    for name, kind, meaning, ask in known:
        several = name in ("role", "under")
        entries += [
            Entry(name=f"sender.{name}", type=kind, meaning=meaning.format("the sender"), read=part.of_sender(ask),
                  is_many=several),
            Entry(name=f"recipient.{name}", type=kind, meaning=meaning.format("a recipient"), scope="recipient",
                  read=part.of_recipient(ask), is_many=True),
        ]  # fmt: skip
    return [
        *entries,
        Entry(name="recipient.blind", type="truth", meaning="whether only the envelope names a recipient",
              read=part.is_blind, scope="recipient", is_many=True),
        Entry(name="levels_between", type="int64", scope="recipient", is_many=True, read=part.of_recipient(part.levels),
              meaning="steps of reporting from the sender up to a recipient; none where no way leads there"),
        _entry("recipient.count", "int64", "how many recipients the envelope names",
               part.always(lambda r: len(r.recipients))),
    ]  # fmt: skip


def _mail() -> list[Entry]:
    def from_(mail: MailFeatures) -> tuple[Address, ...]:
        return mail.sender

    fields = (
        ("from", from_, "from"),
        ("to", lambda mail: mail.to, "to"),
        ("cc", lambda mail: mail.cc, "cc"),
        ("reply_to", lambda mail: mail.reply_to, "reply-to"),
    )
    entries = [
        _entry("subject", "text", "the subject of a mail", part.in_mail(lambda mail: mail.subject, "subject")),
        _entry("mail.id", "text", "the Message-ID", part.in_mail(lambda mail: mail.message_id, "message_id")),
        _entry("is_signed", "truth", "whether a mail is signed",
               part.in_mail(lambda mail: mail.is_signed, "is_signed")),
        _entry("is_encrypted", "truth", "whether a mail is encrypted",
               part.in_mail(lambda mail: mail.is_encrypted, "is_encrypted")),
        Entry(name="header", type="text", argument="name", is_many=True, read=part.header,
              meaning="a header by its name, decoded; one that stands there twice has two values"),
        Entry(name="authentication", type="text", argument="name", read=part.authentication,
              meaning="the result of spf, dkim, dmarc or arc, or the dmarc.policy, where it was asked for"),
    ]  # fmt: skip
    for name, get, header in fields:
        entries += [
            Entry(name=f"{name}.{piece}", type=kind, meaning=meaning.format(f"an address in {header.title()}"),
                  is_many=True, read=part.header_addresses(get, header, piece=piece))
            for piece, (kind, meaning) in _PIECES.items()
        ]  # fmt: skip
    return entries


def _attachments() -> list[Entry]:
    def _each(name: str, kind: Type, meaning: str, read: Read) -> Entry:
        return Entry(name=name, type=kind, meaning=meaning, read=read, scope="attachment", is_many=True)

    return [
        _entry("attachment.count", "int64", "how many attachments there are; what is no mail has none",
               part.over_attachments(len, "count")),
        _each("attachment.name", "text", "the file name of an attachment", part.attachments(lambda a: a.name, "name")),
        _each("attachment.type", "text", "the content type of an attachment",
             part.attachments(lambda a: a.content_type, "type")),
        _each("attachment.size", "size", "the bytes of an attachment, decoded",
             part.attachments(lambda a: a.size, "size")),
        _each("attachment.sha256", "text", "the hash of an attachment, in small hexadecimal digits",
             part.attachments(lambda a: None if a.sha256 is None else a.sha256.hex(), "hash")),
        _entry("attachment.size.total", "size", "the bytes of all attachments", part.over_attachments(sum, "total")),
        _entry("attachment.size.largest", "size", "the bytes of the largest attachment; 0 where there is none",
               part.over_attachments(lambda sizes: max(sizes, default=0), "largest")),
    ]  # fmt: skip


def _handed_in() -> list[Entry]:
    def _case(name: str, kind: Type, meaning: str, read: Read, *, is_many: bool = False) -> Entry:
        return Entry(name=name, type=kind, meaning=meaning, read=read, scope="case", is_many=is_many)

    return [
        Entry(name="office.stat", type="any", argument="tail", scope="office", read=beside.office_statistic,
              meaning="a figure of the office, by its name, without the message itself"),
        Entry(name="sender.stat", type="any", argument="tail", read=beside.sender_statistic,
              meaning="a figure of the sender, by its name, without the message itself"),
        Entry(name="history.fired", type="truth", argument="name", scope="case", read=beside.has_fired,
              meaning="whether a rule of this id or name fired before"),
        _case("history.fired_count", "int64", "how many rules fired before",
             beside.of_case(lambda h: h.fired_count, "count")),
        _case("history.offices", "text", "the offices it went through", beside.of_case(lambda h: h.offices, "offices"),
             is_many=True),
        _case("history.proposed_actions", "text", "the actions that were proposed",
             beside.of_case(lambda h: h.proposed_actions, "actions"), is_many=True),
        _case("history.gatekeepers", "role", "the gatekeepers who had it",
             beside.of_case(lambda h: h.gatekeepers, "gatekeepers"), is_many=True),
        _case("history.last_action", "text", "what was done last",
             beside.of_case(lambda h: h.last_action, "last action")),
        _case("history.auto_released", "truth", "whether it was released without a person",
             beside.of_case(lambda h: h.auto_released, "release")),
        _case("history.edited", "truth", "whether a gatekeeper changed it", beside.of_case(lambda h: h.edited, "edit")),
        _case("history.passes", "int64", "how often it has come back to its origin",
             beside.of_case(lambda h: h.passes, "passes")),
        _case("history.age", "duration", "how long ago it was gated", beside.age),
        _case("history.folder", "text", "the folder it lies in", beside.of_case(lambda h: h.folder, "folder")),
        _case("history.status", "text", "its status at the gatekeeping office",
             beside.of_case(lambda h: h.status, "status")),
    ]  # fmt: skip


ENTRIES: Final = (*_message(), *_instants(), *_people(), *_mail(), *_attachments(), *_handed_in())
CATALOGUE: Final[dict[str, Entry]] = {entry.name: entry for entry in ENTRIES}

ALIASES: Final = {
    "retain_until": "history.retain_until",
    "folder": "history.folder",
    "status": "history.status",
    "message.subject": "subject",
    "sender": "sender.address",
    "recipient": "recipient.address",
    "text": "message.text",
    "size": "message.size",
}
"""Shorter or older words for a name of the catalogue; they are read and never printed."""


def read_part(record: Record, name: str, *, argument: str | None = None, place: int | None = None) -> Reading:
    """Give what a record says under a name, of one recipient or attachment where its place is given."""
    entry = CATALOGUE.get(name)
    return unreadable(f"no part is called {name}") if entry is None else entry.read(record, Asked(argument, place))
