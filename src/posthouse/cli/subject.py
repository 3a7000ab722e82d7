"""The message that rules are explained on: a mail in a file, a document, or one the office has, by its id."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from posthouse.cli.desk import Desk
from posthouse.cli.ending import misuse
from posthouse.cli.rulefile import STANDARD_INPUT, read_limited
from posthouse.cli.trace import MessageUnknown, find_message
from posthouse.client import Office
from posthouse.clock import SystemClock
from posthouse.matching.trial.example import record_of_mail
from posthouse.matching.value.record import Context, Record, make_record
from posthouse.message.features import MAIL, extract
from posthouse.message.form import plain
from posthouse.message.instant import read_instant, to_microseconds
from posthouse.message.message import Body, Message, read_head
from posthouse.office.calls import Story, Tell

MAX_MAIL: Final = 256 << 20
"""Bytes of a mail that is explained."""
_ID: Final = frozenset("0123456789abcdefABCDEF-")


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a command was told about the message it asks for."""

    message: str
    """A path, `-` for standard input, or the id of a message."""
    sender: str | None = None
    recipients: tuple[str, ...] = ()
    now: str | None = None


def read_subject(desk: Desk, asked: Asked) -> Record:
    """Give the record of the message that is asked for."""
    now = SystemClock().now() if asked.now is None else _read_now(asked.now)
    context = Context(now=now)
    is_file = asked.message == STANDARD_INPUT or Path(asked.message).exists()
    if not is_file and _ID.issuperset(asked.message) and 1 <= len(asked.message) <= 36:
        if asked.sender is not None or asked.recipients:
            raise misuse("--sender and --recipient are for a mail in a file: a message of the office has its own")
        return desk.run(_from_office(desk, asked.message, context))
    data = read_limited(asked.message, MAX_MAIL)
    if data.lstrip()[:1] == b"{":
        if asked.sender is not None or asked.recipients:
            raise misuse("--sender and --recipient are for a mail: a document says its own")
        message, envelope = plain.read(data, identity=SystemClock().new_id(), created=now)
        if envelope.sender is None and message.sender is not None:
            envelope = msgspec.structs.replace(envelope, sender=message.sender)
        features = extract(message, envelope, accepted=now)
        return make_record(message, envelope, features=features, context=context)
    record = record_of_mail(data, sender=asked.sender, recipients=asked.recipients)
    return msgspec.structs.replace(record, created=now, arrived=now, context=context)


def _read_now(written: str) -> int:
    try:
        return to_microseconds(read_instant(written))
    except ValueError as fault:
        raise misuse(f"--now: {fault}, found {written!r}") from None


async def _from_office(desk: Desk, written: str, context: Context) -> Record:
    async with desk.office() as office:
        story: Story | None = await office.call(Tell(message=await find_message(office, written)))
        if story is None:
            raise MessageUnknown(f"no message has an id that begins with {written}")
        message: Message = read_head(story.head, story.body, sections=story.sections)
        content = None
        if isinstance(message.body, Body) and message.content_type.startswith(MAIL):
            content = await _beginning(office, message)
    features = extract(message, story.envelope, accepted=story.accepted, content=content)
    return make_record(message, story.envelope, features=features, context=context)


async def _beginning(office: Office, message: Message) -> bytes:
    """Give a body that is kept apart, as far as it is looked at."""
    pieces, size = [], 0
    async for piece in office.body(message):
        pieces.append(piece)
        size += len(piece)
        if size >= MAX_MAIL:
            break
    return b"".join(pieces)[:MAX_MAIL]
