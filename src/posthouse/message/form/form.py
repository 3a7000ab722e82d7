"""What the written forms of a whole message share: their size, their error, and what stands in them beside the head.

A form is read strictly: a member nobody knows would be lost in silence, and what a message may gain on its way has its
place in the head and in the sections, which are kept whole.
"""

from __future__ import annotations

from typing import ClassVar, Final

import msgspec

from posthouse.errors import PosthouseError
from posthouse.message.envelope import Envelope
from posthouse.message.message import MAX_LABEL, Body, is_label
from posthouse.message.reading import locate

MAX_FORM: Final = 33_554_432
"""Bytes of the largest form that is read; a larger body travels by reference."""


class MalformedForm(PosthouseError):
    """A written form that is no message; where it is the head that is wrong, the error is the head's."""

    code: ClassVar[str] = "form.malformed"
    public: ClassVar[str] = "The message is not written in a form that can be read."


class WrittenBody(Body, frozen=True, forbid_unknown_fields=True):
    """A body as a form names it."""


class WrittenEnvelope(Envelope, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """An envelope as a form holds it: an unknown member might decide about delivery, so there is none."""


def check_size(data: bytes) -> bytes:
    """Give the form as it is, or refuse it when it is too large to be read."""
    if len(data) > MAX_FORM:
        raise MalformedForm(
            f"expected at most {MAX_FORM} bytes, found {len(data)}", where="form", hint="send the body by reference"
        )
    return data


def unreadable(fault: Exception, form: str = "form") -> MalformedForm:
    """Make the error of a form from what its decoder raised."""
    what, path = locate(fault)
    return MalformedForm(what, where=f"{form}, {path}" if path else form)


def body_of(written: WrittenBody) -> Body:
    """Give the body that a form names."""
    return Body(written.sha256, written.size)


def written_body(body: Body) -> WrittenBody:
    """Give a body as a form names it."""
    return WrittenBody(body.sha256, body.size)


def written_envelope(envelope: Envelope) -> WrittenEnvelope:
    """Give an envelope as a form holds it, or say what is wrong with it."""
    check_envelope(envelope)
    return WrittenEnvelope(**msgspec.structs.asdict(envelope))


def envelope_of(written: WrittenEnvelope) -> Envelope:
    """Give the envelope that a form holds, or say what is wrong with it."""
    check_envelope(written)
    return Envelope(**msgspec.structs.asdict(written))


def check_envelope(written: Envelope) -> None:
    """Refuse what an envelope cannot say."""
    for member, texts in (
        ("sender", (written.sender,)),
        ("recipients", written.recipients),
        ("blind", written.blind),
        ("principal", (written.principal,)),
        ("idempotency", (written.idempotency,)),
    ):
        for text in texts:
            if text is not None and not is_label(text):
                raise MalformedForm(
                    f"expected 1 to {MAX_LABEL} characters without controls", where=f"form, envelope.{member}"
                )
    if written.not_before is not None and not 0 <= written.not_before < 2**62:
        raise MalformedForm("expected microseconds since 1970", where="form, envelope.not_before")
