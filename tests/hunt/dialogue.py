"""Bytes that become a talk with a mail door: two say what door it is and who comes, the others what is said there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from posthouse.transport.smtp.dialogue.service import Caps, Service, Visitor
from tests.dialogue.script import scripts
from tests.unit.transport.smtp.dialogue.test_fuzz import talk

# Small enough to be reached, large enough for whole commands.
_CAPS: Final = Caps(command_bytes=150, auth_bytes=150, mail_bytes=200, recipients=3, errors=8, idle_commands=10)
_TO_THE_WORLD: Final = bytes(2)
_TO_OUR_OWN: Final = bytes([0b0111_1010, 0b0000_0001])


def target(data: bytes) -> None:
    """Hold the talk; every answer is a whole reply, or it raises."""
    if len(data) < 2:
        return
    bits = int.from_bytes(data[:2], "little")
    service = Service(
        lmtp=bool(bits & 1),
        tls="starttls" if bits & 2 else "none",
        tls_required=bool(bits & 4),
        auth="offered" if bits & 8 else "required" if bits & 16 else "none",
        bare_line_ends="mend" if bits & 32 else "refuse",
        caps=_CAPS,
    )
    visitor = Visitor(
        address="127.0.0.1",
        tls="TLSv1.3 X" if bits & 64 else "",
        is_front_end=bool(bits & 128),
        may_relay=bool(bits & 256),
    )
    # Up to so many bytes come at a time, or all of them at once.
    size = bits >> 11 or len(data)
    talk([data[start : start + size] for start in range(2, len(data), size)], service, visitor)


def seeds() -> Iterator[bytes]:
    """Give what the hunt begins with: everything the scripts say."""
    for script in scripts("server"):
        said = b"".join(step.data for step in script.steps if step.kind == "send")[:4_000]
        yield _TO_THE_WORLD + said
        yield _TO_OUR_OWN + said
