"""Notices: what an office tells the response destination of a message that could not be delivered.

One notice a message and place, however often it is redriven and given up again; a notice that cannot be delivered
itself begets none. About a mail it is a mail itself, to its return path; docs/explanation/mail-security.md says who
gets one and who does not.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from posthouse.message.answer import Answer
from posthouse.message.arrival import Arrival, arrival_of
from posthouse.message.attribute import Attributes
from posthouse.message.envelope import Envelope
from posthouse.message.form.composition import MAIL_TYPE, address_of
from posthouse.message.form.report import About, Action, written
from posthouse.message.mailing import Mailing
from posthouse.message.message import Head, Message, compose
from posthouse.message.origin import seen_from_here

KIND: Final = "notice.undelivered"
_POSTMASTER: Final = "postmaster"
_RANDOM_BITS: Final = (1 << 62) - 1
_HEADER: Final = 65_536
# RFC 3834, section 5; RFC 2919; and the older word that lists and answering machines still write.
_AUTOMATIC: Final = re.compile(
    rb"^(?:auto-submitted[ \t]*:[ \t]*(?!no\b)[^\s]|list-id[ \t]*:|precedence[ \t]*:[ \t]*(?:bulk|list|junk)\b)",
    re.IGNORECASE | re.MULTILINE,
)


def undelivered(message: Message, *, place: str, reason: str, now: int) -> tuple[Message, Envelope] | None:
    """Write the notice about a message, or none where it names no response destination."""
    if message.reply_to is None or message.kind.split(".", 1)[0] == "notice":
        return None
    # A short name was meant by somebody at the office it comes from.
    to = seen_from_here(message.reply_to, message)
    head = Head(
        id=_identity(message.id, place),
        kind=KIND,
        sender=_POSTMASTER,
        recipients=(to,),
        correlation=str(message.id),
        created=now,
        content_type="text/plain; charset=utf-8",
        traceparent=message.traceparent,
        keep=message.keep,
    )
    body = f"The message {message.id} was not delivered to {place}: {reason}\n"
    attributes: Attributes = {"reason": reason, "place": place, "kind": message.kind, "original": message.head}
    notice = compose(head, body.encode(), attributes=attributes)
    return notice, Envelope(sender=_POSTMASTER, recipients=(to,), principal=_POSTMASTER)


class Original(NamedTuple):
    """The mail a notice is about, as the journal has it."""

    message: Message
    envelope: Envelope
    accepted: int
    is_ours: bool
    """Its return path leads to a mailbox of this office."""
    content: bytes
    """The mail, or where it is large its beginning."""
    is_whole: bool


def worth_telling(envelope: Envelope, answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """Give the answers that the sender of a mail wants to hear of, and that nobody else will tell."""
    return tuple(answer for answer in answers if _is_wanted(envelope, answer))


def returned(
    original: Original, answers: Sequence[Answer], *, place: str, mailing: Mailing, now: int
) -> tuple[Message, Envelope] | None:
    """Write the notice about a mail, or none where nobody may or wants to have one."""
    envelope = original.envelope
    answers = worth_telling(envelope, answers)
    if not answers or not _may_return(original, mailing):
        return None
    told: Action = "failed" if answers[0].status == "refused" else "delivered" if _is_final(answers) else "relayed"
    named = f"{place} {told} {' '.join(sorted(answer.recipient for answer in answers))}"
    return _report(original, answers, Telling(told, named, mailing, now))


def delayed(
    original: Original, answers: Sequence[Answer], *, place: str, mailing: Mailing, until: int, now: int
) -> tuple[Message, Envelope] | None:
    """Write the notice about a mail that waits for a place, or none; it is the same one whenever it is written."""
    is_quiet = _is_automatic(original.content)
    answers = [answer for answer in answers if _is_awaited(original.envelope, answer, is_quiet=is_quiet)]
    if not answers or not _may_return(original, mailing):
        return None
    return _report(original, answers, Telling("delayed", f"{place} delayed", mailing, now, until))


class Telling(NamedTuple):
    """What a report says of its mail."""

    action: Action
    named: str
    """What makes it another report than the others about the mail."""
    mailing: Mailing
    now: int
    until: int | None = None


def _report(original: Original, answers: Sequence[Answer], telling: Telling) -> tuple[Message, Envelope] | None:
    message, envelope = original.message, original.envelope
    if envelope.sender is None:
        return None
    name = telling.mailing.name or "localhost"
    identity = _identity(message.id, telling.named)
    arrival = arrival_of(message.attributes) or Arrival()
    about = About(
        identity=message.id,
        sender=address_of(envelope.sender, name),
        arrived=original.accepted,
        envid=arrival.envid,
        returns="HDRS" if arrival.ret == "HDRS" else "FULL",
        originals={recipient: report.original for recipient, report in envelope.reports.items() if report.original},
        content=original.content,
        is_whole=original.is_whole,
        until=telling.until,
    )
    head = Head(
        id=identity, kind="mail", recipients=(envelope.sender,), correlation=str(message.id), created=telling.now,
        content_type=MAIL_TYPE, traceparent=message.traceparent, keep=message.keep,
    )  # fmt: skip
    body = written(about, answers, action=telling.action, name=name, identity=identity, now=telling.now)
    # Without a sender: the null return path, to which no notice goes.
    return compose(head, body), Envelope(recipients=(envelope.sender,), principal=_POSTMASTER)


def _is_awaited(envelope: Envelope, answer: Answer, *, is_quiet: bool) -> bool:
    """Say whether the sender wants to hear that a recipient still waits; who has said nothing does, but no program."""
    report = envelope.reports.get(answer.recipient)
    if report is not None and report.notify:
        return "DELAY" in report.notify.split(",")
    return not is_quiet


def _is_automatic(content: bytes) -> bool:
    """Say whether a program wrote a mail, to many or in answer to another one: nobody waits for it."""
    header, _, _ = content[:_HEADER].partition(b"\r\n\r\n")
    return _AUTOMATIC.search(header) is not None


def _is_wanted(envelope: Envelope, answer: Answer) -> bool:
    report = envelope.reports.get(answer.recipient)
    notify = report.notify.split(",") if report is not None and report.notify else ["FAILURE"]
    if answer.status == "refused":
        return "FAILURE" in notify
    return answer.status == "delivered" and "SUCCESS" in notify and not answer.vouches


def _is_final(answers: Sequence[Answer]) -> bool:
    """Say whether a mail has arrived, and was not only handed to the next server."""
    return not any(answer.server for answer in answers)


def _may_return(original: Original, mailing: Mailing) -> bool:
    """Say whether a mail may be returned to whom it says it is from: a stranger's return path is mostly a lie."""
    if mailing.bounces != "known":
        return mailing.bounces == "all"
    arrival = arrival_of(original.message.attributes)
    return original.is_ours or arrival is None or bool(arrival.user) or arrival.trusted


def _identity(message: UUID, place: str) -> UUID:
    """Give the id of the one notice about a message and a place; the journal knows it when it is written again."""
    digest = hashlib.blake2b(place.encode(), key=message.bytes, digest_size=10).digest()
    # RFC 9562, section 5.7: the time is that of the message, everything else would be chance.
    fraction, chance = int.from_bytes(digest[:2]) & 0xFFF, int.from_bytes(digest[2:]) & _RANDOM_BITS
    return UUID(int=message.int >> 80 << 80 | 0x7 << 76 | fraction << 64 | 0x2 << 62 | chance)
