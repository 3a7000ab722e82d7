"""The root of all errors of the house, and the facts each of them carries.

A package's own errors stand in the module that raises them; this module holds only what they share.
"""

from __future__ import annotations

from collections.abc import Iterator
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


def as_one(faults: BaseExceptionGroup[BaseException]) -> PosthouseError | None:
    """Give one error that tells all faults of an input, for who can be told one only; None where some are bugs."""
    known = list(_leaves(faults))
    errors = [fault for fault in known if isinstance(fault, PosthouseError)]
    if not errors or len(errors) < len(known):
        return None
    first, *more = errors
    if not more:
        return first
    kind = type(first)
    error = kind.__new__(kind)
    told = [first.what, *(str(other) for other in more)]
    PosthouseError.__init__(error, "; ".join(told), where=first.where, hint=first.hint)
    return error


def _leaves(faults: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for fault in faults.exceptions:
        if isinstance(fault, BaseExceptionGroup):
            yield from _leaves(fault)
        else:
            yield fault
