"""Makes a predicate of a pattern: every field that is given has to suit, and nothing else is asked."""

from __future__ import annotations

from posthouse.matching.language.pattern import field
from posthouse.matching.language.pattern.pattern import (
    ANY_TYPE,
    IN_SESSION,
    OR_SESSION,
    SESSION,
    Argument,
    Context,
    Pattern,
    Scope,
    Value,
)
from posthouse.matching.predicate.node import (
    And,
    Compare,
    Constants,
    Exists,
    Fixed,
    InList,
    Octets,
    Or,
    Part,
    Predicate,
    Search,
    Texts,
    Under,
)


def lower(pattern: Pattern, *, session: str | None = None) -> Predicate:
    """Give the predicate of a pattern that a process of this session has registered; None suits every session.

    Whether a copy is for handlers or for observers is the router's matter, and no part of it.
    """
    classes = pattern.classes or ("request", "notice")
    asked: list[Predicate] = [Under(field.CLASS, Texts(classes), "exact")]
    lists: tuple[tuple[Part, tuple[str, ...]], ...] = (
        (field.OPERATION, pattern.operations),
        (field.STATE, pattern.states),
        (field.DISPOSITION, pattern.dispositions),
        (field.SENDER, pattern.senders),
        (field.SENDER_TYPE, pattern.sender_types),
        (field.HANDLER, pattern.handlers),
        (field.HANDLER_TYPES, pattern.handler_types),
    )
    asked += [_is_one_of(part, values) for part, values in lists if values]
    if pattern.scopes:
        asked.append(_join(Or, [_lower_scope(scope, session) for scope in pattern.scopes]))
    for place, argument in enumerate(pattern.arguments):
        asked += _lower_argument(place, argument)
    asked += [_lower_context(context) for context in pattern.contexts]
    return _join(And, asked)


def _lower_scope(scope: Scope, session: str | None) -> Predicate:
    """Say which messages a scope suits: W-018 to W-020, W-059, W-A9, W-A11, W-A14."""
    own = _own_session(session)
    if scope.type == SESSION:
        return _join(And, [_is_session_message(), *own])
    ids = [_is_one_of(field.SCOPE_IDS, scope.ids)] if scope.ids else []
    if scope.bond == "in-session":
        return _join(And, [_is_one_of(field.SCOPE, (f"{scope.type}{IN_SESSION}",)), *own, *ids])
    both = f"{scope.type}{OR_SESSION}"
    # Without ids it suits nothing: things join one by one.
    named = And((_is_one_of(field.SCOPE, (scope.type, both)), *ids)) if ids else Fixed("false")
    if scope.bond == "alone":
        return named
    return Or((named, _join(And, [_is_one_of(field.SCOPE, (SESSION, both)), *own])))


def _is_session_message() -> Predicate:
    """Say whether a message is sent to the session, alone or with things of whatever type."""
    return Or((_is_one_of(field.SCOPE, (SESSION,)), Search("ends", field.SCOPE, Texts((OR_SESSION,)), "exact")))


def _own_session(session: str | None) -> list[Predicate]:
    return [] if session is None else [_is_one_of(field.SESSION, (session,))]


def _lower_argument(place: int, argument: Argument) -> list[Predicate]:
    """Say what one argument has to be; that it is there is the least."""
    asked: list[Predicate] = []
    if argument.mode is not None:
        asked.append(_is_one_of(field.argument(place, "mode"), (argument.mode,)))
    if argument.type is not None and argument.type != ANY_TYPE:
        asked.append(_is_one_of(field.argument(place, "type"), (argument.type, ANY_TYPE)))
    if argument.value is not None:
        asked.append(_equals(field.argument(place), argument.value))
    return asked or [Exists(field.argument(place, "mode"))]


def _lower_context(context: Context) -> Predicate:
    part = field.context(context.name)
    return Exists(part) if context.value is None else _equals(part, context.value)


def _is_one_of(part: Part, values: tuple[str, ...]) -> Predicate:
    return InList(part, Texts(values), "exact")


def _equals(part: Part, value: Value) -> Predicate:
    # Bytes are equal in a list only; one of texts has texts.
    if isinstance(value, Octets):
        return InList(part, Constants((value,)), "exact")
    return Compare("=", part, value, "exact")


def _join(kind: type[And | Or], parts: list[Predicate]) -> Predicate:
    return parts[0] if len(parts) == 1 else kind(tuple(parts))
