"""A message pattern as data: what a process asks to handle or to observe; whatever is left out is a wildcard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import msgspec

from posthouse.matching.predicate.node import Number, Octets, Text

Role = Literal["handle", "handle-push", "handle-rotate", "observe"]
"""`handle-push`: the newest comes first; `handle-rotate`: whose turn was longest ago; both before plain `handle`."""
Class = Literal["request", "notice"]
State = Literal["created", "sent", "handled", "queued", "started", "failed"]
Disposition = Literal["start", "queue"]
Mode = Literal["in", "out", "inout"]
Bond = Literal["alone", "in-session", "or-session"]
Value = Text | Number | Octets
SESSION: Final = "session"
FILE: Final = "file"
IN_SESSION: Final = "-in-session"
OR_SESSION: Final = "-or-session"
"""Behind a type: those of its things that are in the session as well, or the session beside them."""
ANY_TYPE: Final = "ALL"
"""The type of an argument that suits every type."""


class Scope(msgspec.Struct, frozen=True):
    """Where the messages of a pattern are sent to: the session, or things of one type, by themselves or with it."""

    type: str = SESSION
    bond: Bond = "alone"
    ids: tuple[str, ...] = ()


class Argument(msgspec.Struct, frozen=True):
    """What one argument of the message has to be, by its place."""

    mode: Mode | None = None
    type: str | None = None
    value: Value | None = None


class Context(msgspec.Struct, frozen=True):
    """A named context that has to be there, with this value where one is given."""

    name: str
    value: Value | None = None


class Pattern(msgspec.Struct, frozen=True, kw_only=True):
    """One pattern; of several values of one field any will do, and all fields have to suit."""

    role: Role
    classes: tuple[Class, ...] = ()
    operations: tuple[str, ...] = ()
    states: tuple[State, ...] = ()
    scopes: tuple[Scope, ...] = ()
    dispositions: tuple[Disposition, ...] = ()
    senders: tuple[str, ...] = ()
    sender_types: tuple[str, ...] = ()
    handlers: tuple[str, ...] = ()
    handler_types: tuple[str, ...] = ()
    arguments: tuple[Argument, ...] = ()
    contexts: tuple[Context, ...] = ()
    priority: int = 0
    """Among handlers of one role that suit equally well."""


def with_scope_id(pattern: Pattern, scope_id: str, *, kind: str = FILE) -> Pattern:
    """Add a scope id to every scope of its type; scopes of the session alone stay as they are (W-022, W-024)."""
    return _change_scopes(pattern, kind, lambda ids: ids if scope_id in ids else (*ids, scope_id))


def without_scope_id(pattern: Pattern, scope_id: str, *, kind: str = FILE) -> Pattern:
    """Take a scope id away from every scope of its type (W-023, W-024)."""
    return _change_scopes(pattern, kind, lambda ids: tuple(one for one in ids if one != scope_id))


def _change_scopes(pattern: Pattern, kind: str, change: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Pattern:
    scopes = tuple(
        Scope(scope.type, scope.bond, change(scope.ids)) if scope.type == kind != SESSION else scope
        for scope in pattern.scopes
    )
    return msgspec.structs.replace(pattern, scopes=scopes)
