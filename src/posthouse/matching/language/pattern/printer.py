"""Writes patterns as text, so that reading gives back exactly what was written."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from posthouse.matching.language.pattern.pattern import Argument, Context, Pattern, Scope, Value
from posthouse.matching.language.pattern.word import ANY, CLAUSES, HEX, MODES, PLAIN_WORD, Clause
from posthouse.matching.predicate.node import Octets, Text

WIDTH: Final = 100
_NO_TYPES: Final = frozenset({HEX, ANY, "type", *MODES})


def print_patterns(patterns: tuple[Pattern, ...]) -> str:
    """Write patterns one below the other, an empty line between those that fill several."""
    texts = [print_pattern(pattern) for pattern in patterns]
    joined = texts[0] if texts else ""
    for before, text in pairwise(texts):
        joined += ("\n\n" if "\n" in before + text else "\n") + text
    return f"{joined}\n" if joined else ""


def print_pattern(pattern: Pattern) -> str:
    """Write one pattern, in one line if it is short, else each field in its own."""
    head = " ".join((pattern.role, ", ".join(pattern.classes))).strip()
    clauses = [text for clause in CLAUSES if (text := _print_clause(clause, pattern))]
    line = " ".join((head, *clauses))
    return line if len(line) <= WIDTH else "\n    ".join((head, *clauses))


def _print_clause(clause: Clause, pattern: Pattern) -> str:
    if clause.kind == "priority":
        return f"priority {pattern.priority}" if pattern.priority else ""
    values: tuple[object, ...] = getattr(pattern, clause.field)
    if not values:
        return ""
    if clause.kind == "arguments":
        return f"arguments ({', '.join(map(_print_argument, pattern.arguments))})"
    return f"{clause.name} {(' or ' if clause.kind == 'scopes' else ', ').join(_print_values(clause, pattern))}"


def _print_values(clause: Clause, pattern: Pattern) -> Iterator[str]:
    if clause.kind == "scopes":
        yield from map(_print_scope, pattern.scopes)
    elif clause.kind == "contexts":
        yield from map(_print_context, pattern.contexts)
    else:
        values: tuple[str, ...] = getattr(pattern, clause.field)
        yield from values if clause.kind == "words" else map(print_text, values)


def _print_scope(scope: Scope) -> str:
    bond = "" if scope.bond == "alone" else f"-{scope.bond}"
    return f"{scope.type}{bond} {', '.join(map(print_text, scope.ids))}".strip()


def _print_argument(argument: Argument) -> str:
    words: list[str] = [argument.mode or ANY]
    if argument.type is not None:
        is_plain = PLAIN_WORD.fullmatch(argument.type) and argument.type not in _NO_TYPES
        words.append(argument.type if is_plain else f"type {print_text(argument.type)}")
    if argument.value is not None:
        words.append(_print_value(argument.value))
    return " ".join(words)


def _print_context(context: Context) -> str:
    name = print_text(context.name)
    return name if context.value is None else f"{name} = {_print_value(context.value)}"


def _print_value(value: Value) -> str:
    if isinstance(value, Text):
        return print_text(value.value)
    if isinstance(value, Octets):
        return f'{HEX} "{value.value.hex()}"'
    if value.type != "real64":
        return str(value.value)
    mantissa, exponent, power = repr(float(value.value)).partition("e")
    return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}{exponent}{power}"


def print_text(text: str) -> str:
    """Write a text so that it is read as the same."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
