"""What a place elsewhere said about one recipient of a message."""

from __future__ import annotations

from typing import Literal

import msgspec

Status = Literal["delivered", "unreachable", "deferred", "refused"]


class Answer(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One answer; the words of `status` are those of a door's result."""

    recipient: str
    """As it stands in the envelope."""
    status: Status
    reason: str = ""
    """What was said, word by word where somebody said something."""
    code: str = ""
    """The status of RFC 3463, such as 5.1.1, where there is one."""
    server: str = ""
    """Who said so."""
    vouches: bool = False
    """Whoever took it sees to the notices that its sender asked for."""
