"""A mail as it is offered to a server: who it is from and for, what it needs, and the commands that say so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from posthouse.transport.smtp.dialogue import xtext
from posthouse.transport.smtp.dialogue.reply import Reply

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


class Recipient(msgspec.Struct, frozen=True, kw_only=True):
    """One recipient; the wishes are those of RFC 3461, decoded."""

    address: str
    notify: str = ""
    original: str = ""


class Mail(msgspec.Struct, frozen=True, kw_only=True):
    """What an envelope says."""

    sender: str
    """Empty for the null return path."""
    recipients: tuple[Recipient, ...]
    size: int
    is_ascii: bool = True
    """No byte of the content is above 127."""
    declared: Literal["", "8BITMIME"] = ""
    """What the sender's client declared; handed on where it fits."""
    needs_utf8: bool = False
    """Its header holds raw UTF-8, or its sender asked for a server that can take that."""
    ret: str = ""
    envid: str = ""

    @property
    def has_utf8_address(self) -> bool:
        """Say whether an address cannot be said in ASCII."""
        return not (self.sender.isascii() and all(one.address.isascii() for one in self.recipients))


def objection(mail: Mail, extensions: Mapping[str, str]) -> Reply | None:
    """Say why a server with these extensions cannot take a mail, without asking it."""
    most = extensions.get("SIZE", "")
    if most.isdecimal() and len(most) < 20 and 0 < int(most) < mail.size:
        return _own("5.3.4", f"the mail has {mail.size} bytes, and the server takes {most}")
    if mail.needs_utf8 or mail.has_utf8_address:
        if "SMTPUTF8" not in extensions:
            return _own("5.6.7", "the addresses or the header need SMTPUTF8, which the server does not offer")
    elif not mail.is_ascii and "8BITMIME" not in extensions:
        # What nobody edited leaves as it came: a mail is not written anew to fit through.
        return _own("5.6.3", "the mail holds 8-bit text, and the server does not offer 8BITMIME")
    return None


def mail_command(mail: Mail, extensions: Mapping[str, str]) -> bytes:
    """Give the command that names the sender, with what the server can make use of."""
    words = [f"MAIL FROM:<{_sound(mail.sender)}>"]
    if "SIZE" in extensions:
        words.append(f"SIZE={mail.size}")
    if "8BITMIME" in extensions and (not mail.is_ascii or mail.declared):
        words.append("BODY=8BITMIME")
    if mail.needs_utf8 or mail.has_utf8_address:
        words.append("SMTPUTF8")
    if "DSN" in extensions:
        words += [f"RET={mail.ret}"] if mail.ret else []
        words += [f"ENVID={xtext.encode(mail.envid)}"] if mail.envid else []
    return f"{' '.join(words)}\r\n".encode()


def recipient_command(recipient: Recipient, extensions: Mapping[str, str]) -> bytes:
    """Give the command that names a recipient."""
    words = [f"RCPT TO:<{_sound(recipient.address)}>"]
    if "DSN" in extensions:
        words += [f"NOTIFY={recipient.notify}"] if recipient.notify else []
        words += [f"ORCPT={_original(recipient.original)}"] if recipient.original else []
    return f"{' '.join(words)}\r\n".encode()


def _original(text: str) -> str:
    kind, _, address = text.partition(";")
    # The type utf-8 has an encoding of its own (RFC 6533, section 3), which is handed on as it is.
    return f"{kind};{_sound(address) if kind.lower() == 'utf-8' else xtext.encode(address)}"


def _sound(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("a control character in a command")
    return text


def _own(status: str, text: str) -> Reply:
    return Reply(550, status, text)
