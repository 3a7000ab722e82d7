"""What a stage decided about a message, and why."""

from __future__ import annotations

from typing import Literal

import msgspec

Action = Literal["pass", "wait", "refuse", "drop", "end"]
"""`end`: it is taken in and goes no further; what became of it stands in the effects of its journey."""


class Reason(msgspec.Struct, frozen=True):
    """One reason of a verdict: a stable word for programs, a sentence for people."""

    code: str
    text: str


class Verdict(msgspec.Struct, frozen=True):
    """An action with its reasons; `pass` needs none."""

    action: Action
    reasons: tuple[Reason, ...] = ()
    temporary: bool = False
    """A refusal that may become a pass later, without the message being changed."""

    @property
    def text(self) -> str:
        """All reasons in one line."""
        return "; ".join(reason.text for reason in self.reasons)


PASS = Verdict("pass")


def refuse(code: str, text: str, *, temporary: bool = False) -> Verdict:
    """Give a refusal with one reason."""
    return Verdict("refuse", (Reason(code, text),), temporary)
