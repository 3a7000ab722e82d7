"""Texts with variables in them, as far as the script alone says what they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from posthouse.matching.language.sieve.left import Untaken
from posthouse.matching.language.sieve.script import Command

_REFERENCE: Final = re.compile(r"\$\{(\d+|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\}", re.ASCII)
_ENCODED: Final = re.compile(r"\$\{(hex|unicode):([0-9A-Fa-f\s]*)\}", re.IGNORECASE)
MAX_VALUE: Final = 65_536
"""Characters of one variable."""

Variables = Mapping[str, str | None]
"""By their small names; None where the value depends on the message."""


def expand(text: str, variables: Variables, *, at: int) -> str:
    """Give a text with its variables put in, or raise Untaken where one depends on the message."""

    def value(found: re.Match[str]) -> str:
        name = found[1].lower()
        if name.isdigit():
            raise Untaken(
                at, f"${{{name}}}", why="it is what a wildcard matched, which a rule cannot hand on",
                what_to_do="write a rule for each value",
            )  # fmt: skip
        if "." in name:
            raise Untaken(at, f"${{{name}}}", why="it is a variable of another extension")
        known = variables.get(name, "")
        if known is None:
            raise Untaken(
                at, f"${{{name}}}", why="its value depends on the message", what_to_do="write a rule for each value"
            )
        return known

    expanded = _REFERENCE.sub(value, text)
    if len(expanded) > MAX_VALUE:
        raise Untaken(at, "the text", why=f"it has more than {MAX_VALUE:,} characters")
    return expanded


def decode_characters(text: str) -> str:
    """Put in the signs that `encoded-character` writes by their numbers; what is no such number stays."""

    def signs(found: re.Match[str]) -> str:
        numbers = found[2].split()
        try:
            if found[1].lower() == "hex":
                return bytes(int(number, 16) for number in numbers).decode() if numbers else found[0]
            return "".join(chr(int(number, 16)) for number in numbers) if numbers else found[0]
        except (ValueError, OverflowError):
            return found[0]

    return _ENCODED.sub(signs, text)


def modified(command: Command, value: str) -> str:
    """Give what `set` stores, its modifiers applied in their order of rank."""
    tags = command.given.tags
    if ":lower" in tags:
        value = _ascii(value, str.lower)
    elif ":upper" in tags:
        value = _ascii(value, str.upper)
    if ":lowerfirst" in tags:
        value = _ascii(value[:1], str.lower) + value[1:]
    elif ":upperfirst" in tags:
        value = _ascii(value[:1], str.upper) + value[1:]
    if ":quotewildcard" in tags:
        value = re.sub(r"([*?\\])", r"\\\1", value)
    return str(len(value)) if ":length" in tags else value


def _ascii(text: str, turn: Callable[[str], str]) -> str:
    return "".join(turn(char) if char.isascii() else char for char in text)
