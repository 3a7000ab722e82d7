"""A mail becomes a message: its body is what was received, byte for byte; how it arrived stands in the attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from posthouse.message.arrival import Arrival, attributes_of
from posthouse.message.envelope import Envelope
from posthouse.message.message import Body, Head, Message, compose
from posthouse.message.verdict import Verdict
from posthouse.transport.smtp.dialogue.event import Mail
from posthouse.transport.smtp.entry import Entry

CONTENT_TYPE: Final = "message/rfc822"
_PRINCIPAL: Final = "mail"


async def deliver(mail: Mail, body: bytes | Body, *, identity: UUID, entry: Entry) -> Sequence[Verdict]:
    """Bring a mail to the office: one verdict for all recipients, or one for each where LMTP has to tell them apart."""
    room, clock = entry.office.room, entry.office.clock
    verdict = await room.accept(message_of(mail, body, identity=identity, entry=entry), envelope_of(mail))
    recipients = dict.fromkeys(mail.recipients)
    if verdict.action == "pass" or not entry.service.lmtp or len(recipients) == 1:
        return [verdict]
    # One of them may be what stood in the way of all.
    verdicts: dict[str, Verdict] = {}
    for recipient in recipients:
        message = message_of(mail, body, identity=clock.new_id(), entry=entry)
        verdicts[recipient] = await room.accept(message, envelope_of(mail._replace(recipients=(recipient,))))
    return [verdicts[recipient] for recipient in mail.recipients]


def message_of(mail: Mail, body: bytes | Body, *, identity: UUID, entry: Entry) -> Message:
    """Give the message a mail becomes."""
    head = Head(
        id=identity,
        kind="mail",
        sender=mail.sender,
        created=entry.office.clock.now(),
        content_type=CONTENT_TYPE,
        # Mail has no order to keep, and one that is put off must not hold up the next one of its sender.
        lane=str(identity),
    )
    return compose(head, body, attributes=attributes_of(_arrival(mail, entry.service.hostname)))


def envelope_of(mail: Mail) -> Envelope:
    """Give the envelope of a mail; where there are several recipients none of them learns of the others from it."""
    recipients = tuple(dict.fromkeys(mail.recipients))
    alone = len(recipients) == 1
    user = mail.visitor.user
    return Envelope(
        sender=mail.sender,
        recipients=recipients if alone else (),
        blind=() if alone else recipients,
        principal=f"{_PRINCIPAL} {user}" if user else _PRINCIPAL,
        reports=mail.reports,
    )


def _arrival(mail: Mail, hostname: str) -> Arrival:
    visitor, parameters = mail.visitor, mail.parameters
    return Arrival(
        client=visitor.address,
        name=visitor.name,
        helo=mail.helo,
        by=hostname,
        protocol=mail.protocol,
        tls=visitor.tls,
        user=visitor.user,
        trusted=visitor.may_relay,
        body=parameters.body if parameters.body != "7BIT" else "",
        utf8=parameters.utf8,
        mark="bare-line-ends" if mail.is_mended else "",
        ret=parameters.ret,
        envid=parameters.envid,
    )
