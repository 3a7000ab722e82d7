"""How the parts are read that stand beside the content: attributes of the head, and figures and the case handed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from posthouse.matching.value.part import Asked, Read
from posthouse.matching.value.reading import Reading, many, missing, one, one_or_missing, unreadable
from posthouse.matching.value.record import History, Record
from posthouse.matching.value.type import Value, as_value


def attribute(record: Record, asked: Asked) -> Reading:
    """Read an attribute of the head; each element of a list is a value."""
    name = asked.argument or ""
    found = record.attributes.get(name)
    if found is None:
        return missing(f"attribute {name}")
    value = as_value(found)
    return many(value) if isinstance(value, tuple) else one(value)


def office_statistic(record: Record, asked: Asked) -> Reading:
    """Read a figure of the office."""
    return _statistic(record.context.office_statistics, asked.argument, of="the office")


def sender_statistic(record: Record, asked: Asked) -> Reading:
    """Read a figure of the sender."""
    return _statistic(record.context.sender_statistics, asked.argument, of="the sender")


def _statistic(figures: Mapping[str, int | float] | None, name: str | None, *, of: str) -> Reading:
    found = None if figures is None or name is None else figures.get(name)
    return unreadable(f"no figure {name} of {of} is known now") if found is None else one(found)


def of_case(get: Callable[[History], Value | tuple[str, ...] | None], field: str) -> Read:
    """Read something of the case; a message that was never gated has none."""

    def read(record: Record, _: Asked) -> Reading:
        history = record.context.history
        if history is None:
            return missing(f"{field}, as it was not gated")
        found = get(history)
        return many(found) if isinstance(found, tuple) else one_or_missing(found, field)

    return read


def has_fired(record: Record, asked: Asked) -> Reading:
    """Read whether a rule of this id or name fired before."""
    history = record.context.history
    return missing("history, as it was not gated") if history is None else one(asked.argument in history.fired)


def age(record: Record, _: Asked) -> Reading:
    """Read how long ago the message was gated."""
    history, now = record.context.history, record.context.now
    if history is None or history.since is None:
        return missing("history, as it was not gated")
    return unreadable("nobody has said what time it is") if now is None else one(max(0, now - history.since))
