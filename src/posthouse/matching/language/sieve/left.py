"""What of a script could not be taken over: where, what it is, why, and what to do instead."""

from __future__ import annotations

import msgspec


class Left(msgspec.Struct, frozen=True):
    """One thing that no rule says."""

    line: int
    column: int
    construct: str
    """As it is called in the script."""
    why: str
    what_to_do: str | None = None

    def __str__(self) -> str:
        told = f"line {self.line}, column {self.column}: {self.construct} is not taken over: {self.why}"
        return f"{told} ({self.what_to_do})" if self.what_to_do else told


class Untaken(Exception):
    """Raised where something has no counterpart; whoever knows what depends on it catches this."""

    def __init__(self, at: int, construct: str, *, why: str, what_to_do: str | None = None) -> None:
        super().__init__(construct)
        self.at = at
        self.construct = construct
        self.why = why
        self.what_to_do = what_to_do
