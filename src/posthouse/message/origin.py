"""Where a message comes from: short names in its head mean mailboxes of the office it was handed in at first."""

from __future__ import annotations

from posthouse.message.message import HOP, Message
from posthouse.message.name import LOCAL, MailboxName, MalformedName, OfficeName, parse_mailbox, parse_office


def origin(message: Message) -> OfficeName | None:
    """Give the office a message was handed in at, where that was another one than this."""
    for section in message.sections:
        if section.name == HOP:
            try:
                office = parse_office(section.data.split(b" ", 1)[0].decode())
            except (MalformedName, UnicodeDecodeError):
                return None
            return None if office == LOCAL else office
    return None


def seen_from_here(name: str, message: Message) -> str:
    """Give a mailbox that is named in the head of a message, as it is named here."""
    home = origin(message)
    if home is None:
        return name
    try:
        mailbox = parse_mailbox(name)
        return str(MailboxName(home, mailbox.mailbox)) if mailbox.office == LOCAL else name
    except MalformedName:
        return name
