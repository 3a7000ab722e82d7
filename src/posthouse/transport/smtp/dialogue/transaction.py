"""The mail under way in a dialogue: its sender, its recipients, its content, and what refuses each of them."""

from __future__ import annotations

from typing import Final

from posthouse.message.envelope import Report
from posthouse.transport.smtp.dialogue.content import Content
from posthouse.transport.smtp.dialogue.event import Mail
from posthouse.transport.smtp.dialogue.parameter import (
    BadParameter,
    MailParameters,
    RecipientParameters,
    read_mail_parameters,
    read_recipient_parameters,
)
from posthouse.transport.smtp.dialogue.path import MalformedPath, read_address, read_path
from posthouse.transport.smtp.dialogue.refusal import FLAWS
from posthouse.transport.smtp.dialogue.reply import Reply
from posthouse.transport.smtp.dialogue.service import Service, Visitor

_NEED_UTF8: Final = Reply(553, "5.6.7", "The address is not ASCII: say SMTPUTF8 with MAIL")
_TOO_MANY: Final = Reply(452, "4.5.3", "Too many recipients of one mail")

POSTMASTER: Final = "postmaster"
"""The one recipient that needs no domain (RFC 5321, section 4.5.1)."""


class Transaction:
    """One mail, from MAIL to its end."""

    def __init__(self, service: Service, *, sender: str | None, parameters: MailParameters) -> None:
        self._service = service
        self._sender = sender
        self._parameters = parameters
        self._pending = RecipientParameters()
        self._reports: dict[str, Report] = {}
        self.recipients: list[str] = []
        """As they were accepted, one for each RCPT."""
        self.content = Content(service.caps, mend=service.bare_line_ends == "mend")

    @property
    def utf8(self) -> bool:
        """The sender asked for SMTPUTF8."""
        return self._parameters.utf8

    def read_recipient(self, argument: str) -> str | Reply:
        """Give the recipient RCPT names, or what refuses it."""
        if len(self.recipients) >= self._service.caps.recipients:
            return _TOO_MANY
        try:
            path = read_path(argument, "TO")
            self._pending = read_recipient_parameters(path.parameters)
            if path.text.lower() == POSTMASTER:
                return POSTMASTER
            if not self.utf8 and not path.text.isascii():
                return _NEED_UTF8
            return str(read_address(path.text))
        except MalformedPath as fault:
            return Reply(501, "5.1.3", str(fault))
        except BadParameter as fault:
            return fault.reply

    def add_recipient(self, name: str) -> None:
        """Take the recipient that was read last, under the name the office has for it."""
        self.recipients.append(name)
        if self._pending.notify or self._pending.original:
            self._reports[name] = Report(notify=self._pending.notify, original=self._pending.original)

    def finished(self, visitor: Visitor, *, protocol: str, helo: str) -> Mail:
        """Give what belongs to the mail besides its content."""
        return Mail(
            sender=self._sender,
            recipients=tuple(self.recipients),
            reports=self._reports,
            parameters=self._parameters,
            protocol=protocol,
            helo=helo,
            visitor=visitor,
            size=self.content.size,
            is_mended=self.content.is_mended,
        )


def begin(service: Service, argument: str) -> Transaction | Reply:
    """Begin the mail MAIL speaks of, or give what refuses it."""
    try:
        path = read_path(argument, "FROM")
        parameters = read_mail_parameters(path.parameters)
        if not parameters.utf8 and not path.text.isascii():
            return _NEED_UTF8
        sender = read_address(path.text).mailbox if path.text else None
    except MalformedPath as fault:
        return Reply(501, "5.1.7", str(fault))
    except BadParameter as fault:
        return fault.reply
    if parameters.size is not None and parameters.size > service.caps.mail_bytes:
        return FLAWS["size"]
    return Transaction(service, sender=sender, parameters=parameters)
