"""Patterns of scoped switching made by chance, and scoped messages that suit some of them."""

from __future__ import annotations

from random import Random
from typing import Final

from posthouse.matching.language.pattern.pattern import Argument, Context, Pattern, Scope, Value
from posthouse.matching.language.pattern.word import CLASSES, DISPOSITIONS, MODES, ROLES, STATES
from posthouse.matching.predicate.node import Number, Octets, Text
from posthouse.matching.value.record import Record
from posthouse.message import attribute

_NAMES: Final = ("m", "Put", "a b", 'say "x"', "back\\slash", "two\nlines", "é")
_SCOPES: Final = (
    Scope(), Scope("file", ids=("A",)), Scope("file", "in-session"), Scope("file", "in-session", ("A", "B")),
    Scope("file", "or-session", ("B",)), Scope("file"),
)  # fmt: skip
_TYPES: Final = (None, "string", "integer", "ALL", "in", "hex", "type", "odd name", "or")
_VALUES: Final[tuple[Value | None, ...]] = (
    None, None, Text("x"), Text(""), Number(5), Number(-(2**63)), Number(2.5, "real64"), Number(1e-7, "real64"),
    Octets(b"\x00\xff"), Octets(b""),
)  # fmt: skip


def draw_pattern(chance: Random) -> Pattern:
    """Give a pattern in which each field is given now and then."""

    def some(values: tuple[str, ...], most: int = 3) -> tuple[str, ...]:
        return tuple(chance.sample(values, min(chance.randint(1, most), len(values)))) if chance.random() < 0.25 else ()

    scopes = {(scope.type, scope.bond): scope for scope in chance.sample(_SCOPES, 2)} if chance.random() < 0.5 else {}
    return Pattern(
        role=chance.choice(ROLES),
        classes=some(CLASSES),  # type: ignore[arg-type]  # a sample of what the words are
        operations=some(_NAMES),
        states=some(STATES),  # type: ignore[arg-type]  # the same
        scopes=tuple(scopes.values()),
        dispositions=some(DISPOSITIONS),  # type: ignore[arg-type]  # the same
        senders=some(_NAMES),
        sender_types=some(_NAMES),
        handlers=some(_NAMES),
        handler_types=some(_NAMES),
        arguments=tuple(_draw_argument(chance) for _ in range(chance.choice((0, 0, 1, 3)))),
        contexts=tuple(Context(name, chance.choice(_VALUES)) for name in some(_NAMES)),
        priority=chance.choice((0, 0, 5, -1000)),
    )


def _draw_argument(chance: Random) -> Argument:
    return Argument(chance.choice((None, *MODES)), chance.choice(_TYPES), chance.choice(_VALUES))


def draw_scoped(chance: Random) -> Record:
    """Give a scoped message in which a field is missing now and then."""
    fields: dict[str, attribute.Value] = {
        "operation": chance.choice(_NAMES),
        "state": chance.choice(STATES),
        "scope": chance.choice(("session", "file", "file-in-session", "file-or-session")),
        "scope.ids": tuple(chance.sample(("A", "B", "C"), chance.randint(0, 2))),
        "session": chance.choice(("S1", "S2")),
        "disposition": tuple(chance.sample(DISPOSITIONS, chance.randint(0, 2))),
        "sender.type": chance.choice(_NAMES),
        "handler": chance.choice(_NAMES),
        "handler.types": tuple(chance.sample(_NAMES, 2)),
        **{f"context.{name}": chance.choice((5, "x", b"")) for name in chance.sample(_NAMES, 2)},
    }
    for place in range(chance.randint(0, 3)):
        fields[f"argument.{place}"] = chance.choice((5, 2.5, "x", "", b"\x00\xff"))
        fields[f"argument.{place}.mode"] = chance.choice(MODES)
        fields[f"argument.{place}.type"] = chance.choice(("string", "integer", "ALL"))
    kept = {f"switch.{name}": value for name, value in fields.items() if chance.random() < 0.95}
    return Record(kind=chance.choice(("request", "notice", "request.a", "mail")), sender="m", attributes=kept)
