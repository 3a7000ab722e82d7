"""What the rules of an office say about one message, as a value: nothing of it is done yet."""

from __future__ import annotations

from typing import Literal

import msgspec

from posthouse.message.case import Fired, Side, Stop

Course = Literal["deliver", "release", "gate", "return", "delete", "forward", "defer", "review", "file"]
"""What happens to the message; `deliver` is what happens where no rule says otherwise.

A rule of a gatekeeper that says release gives `release`; `review` and `file` are for gatekeepers only.
"""


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """The action of highest rank with its arguments, and every rule that was found applicable."""

    course: Course = "deliver"
    fired: tuple[Fired, ...] = ()
    """Winners and losers, each with its mark."""
    reasons: tuple[str, ...] = ()
    """Of the winners, the first one first."""
    stops: tuple[Stop, ...] = ()
    """Of `gate`: the gatekeepers in their order, each once, as the rules name them; the origin is not among them."""
    to: str = ""
    """Of `forward`, whom; of `file`, the mailbag."""
    saying: str = ""
    """Of `return` and `forward`."""
    until: int | None = None
    """Of `defer`."""
    sides: tuple[Side, ...] = ()
    """Copies and notices that wait for what becomes of a gated message; of others, all of them."""
    immediate: tuple[Side, ...] = ()
    """Those that wait for nothing."""
    recipients: tuple[str, ...] | None = None
    """Those it is about, where the rules speak of single recipients; None for all."""
    tell_sender: Literal["no", "yes", "with reason"] = "no"
    otherwise: Ruling | None = None
    """Of `gate`: what the other rules say, for when everybody it names has had the message already."""
