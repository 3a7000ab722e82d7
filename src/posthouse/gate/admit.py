"""The stage `admit`: what this office does not accept at all is refused here, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from posthouse.message.envelope import Envelope
from posthouse.message.journey import Journey
from posthouse.message.message import HOP, MAX_LABEL, Message, is_label
from posthouse.message.name import LOCAL
from posthouse.message.passage import Facts, Passage
from posthouse.message.verdict import PASS, Verdict, refuse

_AFTER_TIME: Final = 2**62


def admit(journeys: Sequence[Journey], facts: Facts) -> Passage:
    """Stop what is too large, goes nowhere or came too late."""
    going: list[Journey] = []
    stopped: list[Journey] = []
    for journey in journeys:
        verdict = _verdict(journey, facts)
        if verdict is PASS:
            going.append(journey)
        else:
            stopped.append(journey.carrying(verdict=verdict))
    return Passage(tuple(going), stopped=tuple(stopped))


def _verdict(journey: Journey, facts: Facts) -> Verdict:
    message, envelope, limits = journey.message, journey.luggage.envelope, facts.limits
    count = len(envelope.recipients) + len(envelope.blind)
    if count == 0:
        return refuse("recipients.none", "expected at least one recipient, found none")
    if count > limits.recipients:
        return refuse("recipients.too-many", f"expected at most {limits.recipients} recipients, found {count}")
    if message.size > limits.body_bytes:
        return refuse("body.too-large", f"expected a body of at most {limits.body_bytes} bytes, found {message.size}")
    return _malformed(envelope) or _loops(message, facts) or _late(message, envelope, facts=facts) or PASS


def _malformed(envelope: Envelope) -> Verdict | None:
    """Refuse an envelope that could not be kept as it is."""
    if envelope.not_before is not None and not 0 <= envelope.not_before < _AFTER_TIME:
        return refuse("envelope.malformed", "not before: expected microseconds since 1970")
    for field, text in (("sender", envelope.sender), ("idempotency key", envelope.idempotency)):
        if text is not None and not is_label(text):
            return refuse("envelope.malformed", f"{field}: expected 1 to {MAX_LABEL} characters without controls")
    return None


def _loops(message: Message, facts: Facts) -> Verdict | None:
    """Refuse a message that was here before, or that passed so many offices that it must go in circles."""
    if not message.sections:
        return None
    hops = [section.data for section in message.sections if section.name == HOP]
    if len(hops) >= facts.limits.hops:
        return refuse("message.loops", f"expected at most {facts.limits.hops} offices on the way, found {len(hops)}")
    # An office without a name of its own cannot be sent to, so it cannot be in a circle.
    own = {str(name).encode() for name in facts.here if name != LOCAL}
    if any(hop.split(b" ", 1)[0] in own for hop in hops):
        return refuse("message.loops", "the message has passed this office before: its route is a circle")
    return None


def _late(message: Message, envelope: Envelope, *, facts: Facts) -> Verdict | None:
    if message.expires is None:
        return None
    if message.expires <= facts.now:
        return refuse("message.expired", "the message had expired when it arrived")
    if envelope.not_before is not None and envelope.not_before >= message.expires:
        return refuse("message.expired", "the message is held back until after it expires")
    return None
