"""The greeting, the answers to HELO, EHLO and LHLO, and the name of the protocol spoken since."""

from __future__ import annotations

import re
from typing import Final

from posthouse.transport.smtp.dialogue.reply import Reply
from posthouse.transport.smtp.dialogue.service import Service, Visitor
from posthouse.transport.smtp.dialogue.xclient import ATTRIBUTES

# A domain or an address in brackets; what programs write that know no better is let through, too.
_HELO: Final = re.compile(r"[\x21-\x7e\x80-\U0010ffff]{1,255}")
_EXTENSIONS: Final = "PIPELINING\n8BITMIME\nSMTPUTF8\nCHUNKING\nDSN\nENHANCEDSTATUSCODES"


def greeting(service: Service) -> Reply:
    """Give what is said first."""
    return Reply(220, "", f"{service.hostname} {'LMTP' if service.lmtp else 'ESMTP'} Posthouse")


def answer_hello(service: Service, visitor: Visitor, *, command: str, argument: str) -> Reply:
    """Answer HELO, EHLO or LHLO, or refuse it."""
    if (command == "LHLO") != service.lmtp:
        wanted = "LHLO, as this is LMTP" if service.lmtp else "EHLO, as this is SMTP"
        return Reply(500, "5.5.1", f"Expected {wanted}")
    if _HELO.fullmatch(argument) is None:
        return Reply(501, "5.5.4", f"Expected {command} and the name of your host")
    if command == "HELO":
        return Reply(250, "", service.hostname)
    return Reply(250, "", "\n".join([service.hostname, *_extensions(service, visitor)]))


def _extensions(service: Service, visitor: Visitor) -> list[str]:
    lines = [_EXTENSIONS, f"SIZE {service.caps.mail_bytes}"]
    if can_start_tls(service, visitor):
        lines.append("STARTTLS")
    if can_sign_in(service, visitor):
        lines.append(f"AUTH {' '.join(service.mechanisms)}")
    if visitor.is_front_end:
        lines.append(f"XCLIENT {' '.join(ATTRIBUTES)}")
    return lines


def can_start_tls(service: Service, visitor: Visitor) -> bool:
    """Say whether STARTTLS is offered."""
    return service.tls == "starttls" and not visitor.tls


def can_sign_in(service: Service, visitor: Visitor) -> bool:
    """Say whether AUTH is offered: on an encrypted connection only."""
    return service.auth != "none" and bool(visitor.tls) and not visitor.user


def protocol_of(service: Service, visitor: Visitor, *, command: str, utf8: bool) -> str:
    """Give the name of the protocol for the trace of a mail (RFC 3848, RFC 6531)."""
    if command == "HELO":
        return "SMTP"
    plain = "LMTP" if service.lmtp else "SMTP" if utf8 else "ESMTP"
    return f"{'UTF8' if utf8 else ''}{plain}{'S' if visitor.tls else ''}{'A' if visitor.user else ''}"
