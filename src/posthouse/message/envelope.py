"""The envelope: who sends and who gets a message, apart from what its head says for everybody to read."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Report(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What the sender of a mail wants to be told about one recipient (RFC 3461)."""

    notify: str = ""
    """NEVER, or SUCCESS, FAILURE and DELAY joined by commas; empty where the sender leaves it to the mail system."""
    original: str = ""
    """The recipient as the sender first wrote it, with its type: `rfc822;ada@bakery.example`."""


class Envelope(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What decides delivery; blind recipients stand here and nowhere else."""

    sender: str | None = None
    recipients: tuple[str, ...] = ()
    blind: tuple[str, ...] = ()
    principal: str = "local"
    """Who was authenticated when the message was handed in; idempotency keys belong to it."""
    idempotency: str | None = None
    """A key of the principal: what is handed in twice under one key is accepted once."""
    not_before: int | None = None
    """Hold the message back until this instant."""

    reports: Mapping[str, Report] = {}
    """By recipient, where the sender said anything; secret like the recipients themselves."""

    @property
    def everybody(self) -> tuple[str, ...]:
        """All recipients, each once, in the order given."""
        if len(self.recipients) == 1 and not self.blind:
            return self.recipients
        return tuple(dict.fromkeys((*self.recipients, *self.blind)))


encode: msgspec.msgpack.Encoder = msgspec.msgpack.Encoder()
decode: msgspec.msgpack.Decoder[Envelope] = msgspec.msgpack.Decoder(Envelope)
