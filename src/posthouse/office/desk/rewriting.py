"""A held message that is not sent on as it came becomes a letter of its own, beside the original."""

from __future__ import annotations

from typing import Final

import msgspec

from posthouse.message import envelope as envelopes
from posthouse.message import features
from posthouse.message.changes import Letter, Post
from posthouse.message.form.composition import is_mail
from posthouse.message.identity import derived
from posthouse.message.journey import Journey, pack
from posthouse.message.message import Body, Head, compose
from posthouse.message.trace import Step
from posthouse.office.desk.papers import Deed, Papers, homeward

_HEADER: Final = b"X-Reviewed: yes"


def with_header(papers: Papers, deed: Deed) -> Deed:
    """Give what is written where a mail that goes home is to bear the header that it was reviewed."""
    body = papers.message.body
    # A large mail lies beside its message and is not read for one line.
    if not is_mail(papers.message) or isinstance(body, Body) or body.startswith(_HEADER):
        return deed
    raw = _HEADER + (b"\r\n" if b"\r\n" in body else b"\n") + body
    journey = rewritten_journey(papers, raw, raw=raw)
    (case,) = deed.cases
    headed = msgspec.structs.replace(case, edited=journey.message.id, luggage=pack(journey))
    return msgspec.structs.replace(
        deed, cases=(headed,), onwards=(homeward(papers, journey),), posts=(Post(letter=letter_of(papers, journey)),)
    )


def rewritten_journey(papers: Papers, body: bytes | Body, *, raw: bytes) -> Journey:
    """Give the journey of the changed message: what rules ask of it is read anew."""
    message, luggage = papers.message, papers.journey.luggage
    head = Head(
        id=derived(papers.case.message, f"{papers.order.id} of {papers.case.id}"),
        kind=message.kind, sender=message.sender, recipients=message.recipients, reply_to=message.reply_to,
        correlation=message.correlation, priority=message.priority, created=message.created, expires=message.expires,
        content_type=message.content_type, traceparent=message.traceparent, lane=message.lane,
    )  # fmt: skip
    new = compose(head, body, attributes=dict(message.attributes))
    for section in message.sections:
        new = new.with_section(section)
    known = luggage.features.mail
    extracted = features.extract(
        new,
        luggage.envelope,
        accepted=luggage.features.accepted,
        content=raw[: features.BEGINNING] if isinstance(body, Body) else None,
        authentication={} if known is None else known.authentication,
    )
    return Journey(new, msgspec.structs.replace(luggage, features=extracted))


def letter_of(papers: Papers, journey: Journey) -> Letter:
    """Give the letter of a message that takes the place of another one."""
    message = journey.message
    return Letter(
        id=message.id,
        accepted=papers.now,
        head=message.head,
        body=message.body,
        envelope=envelopes.encode.encode(journey.luggage.envelope),
        features=features.encode(journey.luggage.features),
        step=Step(papers.now, "accepted", "gate", f"{papers.docket.gatekeeper} changed {papers.case.message}"[:1_000]),
        sections=message.sections,
    )
