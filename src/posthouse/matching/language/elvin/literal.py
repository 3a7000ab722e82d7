r"""The constants and names of subscriptions: a backslash means the character behind it, whichever it is."""

from __future__ import annotations

import re
from typing import Final, Literal

from posthouse.matching.predicate.node import Number
from posthouse.matching.predicate.typing import LEAST, MOST
from posthouse.matching.value.type import Type

_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_NO_FIRST: Final = re.compile(r"[\W\d]")
_NO_FURTHER: Final = re.compile(r"[\s()\[\]'\",\\]")


def unescape(written: str) -> str:
    """Give a name, or what stands between quotation marks, as it is meant."""
    return _ESCAPED.sub(r"\1", written) if "\\" in written else written


def print_text(text: str) -> str:
    """Write a text so that it is read as the same."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def print_name(name: str) -> str:
    """Write a name so that it is read as the same."""
    first = f"\\{name[0]}" if _NO_FIRST.match(name[0]) else name[0]
    return first + _NO_FURTHER.sub(lambda found: f"\\{found.group()}", name[1:])


def read_whole(written: str, *, is_negative: bool) -> Number | str:
    """Give a whole number, or say why it is none: a word of the width it does not fit, or the digit that is none."""
    kind: Literal["int32", "int64"] = "int64" if written[-1] in "lL" else "int32"
    digits = written.rstrip("lL")
    if digits[:2] in ("0x", "0X"):
        base = 16
    else:
        base = 8 if digits[0] == "0" and len(digits) > 1 else 10
        if base == 8 and not set(digits) <= set("01234567"):
            return "octal"
    # More digits than any width has: the number itself is not wanted.
    value = int(digits, base) if len(digits) <= 40 else MOST["int64"] + 2
    value = -value if is_negative else value
    return Number(value, kind) if LEAST[kind] <= value <= MOST[kind] else kind


def print_number(number: Number) -> str:
    """Write a number so that it is read as the same; one that measures a size is told by what it stands beside."""
    if number.type == "real64":
        mantissa, exponent, power = repr(float(number.value)).partition("e")
        return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}{exponent}{power}"
    fits = LEAST["int32"] <= number.value <= MOST["int32"]
    return str(number.value) if number.type == "int32" or (is_measure(number.type) and fits) else f"{number.value}L"


def is_measure(kind: Type) -> bool:
    """Say whether a type counts bytes or microseconds, for which a subscription writes plain whole numbers."""
    return kind in ("size", "duration")
