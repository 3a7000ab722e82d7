"""Builders of journeys and of the facts they are decided on."""

from __future__ import annotations

from typing import Any

import msgspec

from posthouse.message import features
from posthouse.message.changes import Register, Setup
from posthouse.message.envelope import Envelope
from posthouse.message.journey import Journey, Luggage
from posthouse.message.message import Body, Head, Message, compose
from posthouse.message.name import LOCAL
from posthouse.message.passage import Facts, Limits
from posthouse.testing.build import RECIPIENT, SENDER, START, identity


# `Any`: whatever a head holds; `Head` itself says what that is, and checks it.
def message(number: int = 1, body: bytes | Body = b"", **fields: Any) -> Message:
    """Give the message with this number."""
    given = {"kind": "mail", "sender": SENDER, "recipients": (RECIPIENT,), "created": START, **fields}
    return compose(Head(id=identity(number), **given), body)


def facts(*setups: Setup, now: int = START, limits: Limits | None = None, version: int = 1) -> Facts:
    """Give the facts of an office that is called nothing but `local:` and has a door for names of that protocol."""
    return Facts(
        now=now,
        register=Register(version=version, setups={setup.mailbox: setup for setup in setups}),
        limits=limits or Limits(),
        here=frozenset({LOCAL}),
        protocols=frozenset({"local"}),
    )


# `Any`: whatever an envelope holds.
def journey(given: Message | None = None, *, stage: str = "admit", **envelope: Any) -> Journey:
    """Give the journey of a message that enters a stage; the envelope says what the head says, or what is given."""
    travelling = given or message()
    stated = Envelope(sender=travelling.sender, recipients=travelling.recipients)
    enveloped = msgspec.structs.replace(stated, **envelope)
    extracted = features.extract(travelling, enveloped, accepted=START)
    return Journey(travelling, Luggage(envelope=enveloped, features=extracted, stage=stage))
