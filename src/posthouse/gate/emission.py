"""What the office writes itself because a rule says so: copies, notices, and what is returned to its sender."""

from __future__ import annotations

from typing import Final
from uuid import UUID

import msgspec

from posthouse.message.answer import Answer
from posthouse.message.arrival import Arrival, arrival_of
from posthouse.message.attribute import Attributes
from posthouse.message.case import Side
from posthouse.message.envelope import Envelope
from posthouse.message.form.composition import MAIL_TYPE, address_of, is_mail
from posthouse.message.form.report import About, written
from posthouse.message.identity import derived
from posthouse.message.journey import Emitted
from posthouse.message.mark import marked
from posthouse.message.message import Body, Head, Message, compose

POSTMASTER: Final = "postmaster"
TEXT: Final = "text/plain; charset=utf-8"


class Writer(msgspec.Struct, frozen=True):
    """In whose name the office writes, and when."""

    name: str
    """The mail name of the office."""
    now: int


def copied(message: Message, side: Side, *, writer: Writer, case: UUID | None = None) -> Emitted:
    """Give a copy for others than the recipients; whatever becomes of it, the sender does not hear of it.

    It bears a mark, by which it is known again should it come back by itself.
    """
    head = Head(
        id=derived(message.id, f"copy {' '.join(sorted(side.to))}"),
        kind=message.kind,
        sender=message.sender,
        recipients=message.recipients,
        correlation=str(message.id),
        priority=message.priority,
        created=message.created or writer.now,
        content_type=message.content_type,
        traceparent=message.traceparent,
    )
    body, attributes = marked(message, case or message.id)
    copy = compose(head, body, attributes=attributes)
    return Emitted(copy, Envelope(recipients=side.to, principal=POSTMASTER))


def noticed(message: Message, side: Side, *, writer: Writer) -> Emitted:
    """Give the notice that a rule writes to somebody."""
    said = side.saying or f"the rule {side.rule} applies to a message"
    head = Head(
        id=derived(message.id, f"notice {side.rule} {' '.join(sorted(side.to))} {side.saying or ''}"),
        kind="notice.rule",
        sender=POSTMASTER,
        recipients=side.to,
        correlation=str(message.id),
        created=writer.now,
        content_type=TEXT,
        traceparent=message.traceparent,
    )
    body = f"{said}\n\nmessage {message.id}\nfrom    {message.sender or 'nobody'}\nrule    {side.rule}\n"
    notice = compose(head, body.encode(), attributes={"subject": f"Rule {side.rule}", "rule": side.rule})
    return Emitted(notice, Envelope(sender=POSTMASTER, recipients=side.to, principal=POSTMASTER))


def announced(identity: UUID, *, to: tuple[str, ...], subject: str, text: str, writer: Writer) -> Emitted:
    """Give a notice of the office that is about no one message."""
    head = Head(
        id=identity, kind="notice.office", sender=POSTMASTER, recipients=to, created=writer.now, content_type=TEXT
    )
    notice = compose(head, text.encode(), attributes={"subject": subject})
    # Without a sender, so that nothing answers it.
    return Emitted(notice, Envelope(recipients=to, principal=POSTMASTER))


def waiting(message: Message, envelope: Envelope, *, reason: str, writer: Writer) -> Emitted | None:
    """Tell a sender that the message waits, and nothing of rules or gatekeepers; none where there is no sender."""
    if envelope.sender is None:
        return None
    head = Head(
        id=derived(message.id, f"waiting {' '.join(sorted(envelope.everybody))}"),
        kind="notice.waiting",
        sender=POSTMASTER,
        recipients=(envelope.sender,),
        correlation=str(message.id),
        created=writer.now,
        content_type=TEXT,
        traceparent=message.traceparent,
    )
    why = f": {reason}" if reason else ""
    body = f"The message {message.id} waits to be looked at before it is delivered{why}.\n"
    notice = compose(head, body.encode(), attributes={"subject": "A message waits to be looked at"})
    return Emitted(notice, Envelope(sender=None, recipients=(envelope.sender,), principal=POSTMASTER))


def returned(message: Message, envelope: Envelope, *, saying: str, writer: Writer) -> Emitted | None:
    """Give what a sender gets whose message is not delivered to these recipients; none where there is no sender."""
    sender = envelope.sender
    if sender is None:
        return None
    identity = derived(message.id, f"return {' '.join(sorted(envelope.everybody))}")
    mail = is_mail(message)
    head = Head(
        id=identity,
        kind="mail" if mail else "notice.returned",
        sender=None if mail else POSTMASTER,
        recipients=(sender,),
        correlation=str(message.id),
        created=writer.now,
        content_type=MAIL_TYPE if mail else TEXT,
        traceparent=message.traceparent,
    )
    # Without a sender: the null return path, to which no notice goes.
    back = Envelope(recipients=(sender,), principal=POSTMASTER)
    if mail:
        return Emitted(compose(head, _report(message, envelope, saying, identity=identity, writer=writer)), back)
    body = f"The message {message.id} was not delivered: {saying}\n"
    attributes: Attributes = {
        "reason": saying, "kind": message.kind, "original": message.head, "subject": "A message was returned",
    }  # fmt: skip
    return Emitted(compose(head, body.encode(), attributes=attributes), back)


def _report(message: Message, envelope: Envelope, saying: str, *, identity: UUID, writer: Writer) -> bytes:
    assert envelope.sender is not None
    arrival = arrival_of(message.attributes) or Arrival()
    about = About(
        identity=message.id,
        sender=address_of(envelope.sender, writer.name),
        arrived=message.created or writer.now,
        envid=arrival.envid,
        returns="HDRS" if arrival.ret == "HDRS" else "FULL",
        originals={name: report.original for name, report in envelope.reports.items() if report.original},
        content=b"" if isinstance(message.body, Body) else bytes(message.body),
        is_whole=not isinstance(message.body, Body),
        saying=saying,
    )
    # Whom it was for blindly is told to nobody but its sender, who knows.
    answers = [Answer(recipient, "refused") for recipient in envelope.everybody]
    return written(about, answers, action="returned", name=writer.name, identity=identity, now=writer.now)
