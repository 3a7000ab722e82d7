"""The root of all errors of the house, and the facts each of them carries.

A package's own errors stand in the module that raises them; this module holds only what they share.
"""

from __future__ import annotations

from typing import ClassVar


class PosthouseError(Exception):
    """A planned failure: what, where, whether trying again can help, and what a stranger may be told."""

    code: ClassVar[str] = "posthouse"
    """The stable name of this error: in JSON answers, in logs and as its heading in the reference."""

    permanent: ClassVar[bool] = True
    """False when the same call may succeed later without anything being changed."""

    public: ClassVar[str] = "The request could not be carried out."
    """What a peer outside the office is told: short, true, nothing about the inside."""

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.column = column
        self.hint = hint
        super().__init__(self._text())

    def _text(self) -> str:
        place = self.where or ""
        if self.column is not None:
            place = f"{place}, column {self.column}" if place else f"column {self.column}"
        text = f"{place}: {self.what}" if place else self.what
        return f"{text} ({self.hint})" if self.hint else text
