"""A message somebody has taken, with what shows that it is his."""

from __future__ import annotations

from typing import Self

import msgspec

from posthouse.message import envelope as envelopes
from posthouse.message.envelope import Envelope
from posthouse.message.message import Message, read_head
from posthouse.office.calls import Slip, Taken, slip_of


class Delivery(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A taken message; it comes back when it is not acknowledged before the lease ends."""

    message: Message
    envelope: Envelope
    attempt: int
    """How often it has been taken; more than 1 marks a redelivery."""
    until: int
    """When the lease ends, in microseconds since 1970."""
    slip: Slip

    @classmethod
    def of(cls, taken: Taken) -> Self:
        """Read what the office lent."""
        letter = taken.leased.letter
        return cls(
            message=read_head(letter.head, letter.body, sections=letter.sections),
            envelope=envelopes.decode.decode(letter.envelope),
            attempt=taken.leased.attempt,
            until=taken.leased.until,
            slip=slip_of(taken),
        )
