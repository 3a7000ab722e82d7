"""The life of one message, kept with it: a line for each thing that happened, appended and never rewritten."""

from __future__ import annotations

from typing import Literal

import msgspec

Happening = Literal[
    "accepted", "waiting", "taken", "acknowledged", "returned", "failed", "retry", "divided", "forwarded", "expired",
    "dead", "redriven", "aside", "resent", "noticed", "resumed", "purged",
]  # fmt: skip


class Step(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One line of a trace."""

    at: int
    happened: Happening
    place: str = ""
    """The mailbox, destination or stage it happened at."""
    detail: str = ""


encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Step).decode
