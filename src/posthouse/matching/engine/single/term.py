"""What a term is for one message: parts are read, constants stand, figures are computed as their widths say."""

from __future__ import annotations

import math
import operator
import unicodedata
from collections.abc import Callable
from typing import Final

from posthouse.matching.engine.single.ground import Ground
from posthouse.matching.predicate.node import (
    Arithmetic,
    Boolean,
    Call,
    Moment,
    Number,
    Octets,
    Overflow,
    Part,
    Term,
    Text,
    Unary,
)
from posthouse.matching.value.reading import Reading, one, unreadable
from posthouse.matching.value.type import (
    Clock,
    Day,
    Instant,
    Value,
    Weekday,
    clock_of,
    day_of,
    type_of,
    weekday_of,
)
from posthouse.message.attribute import Int32

_MOMENTS: Final[dict[str, Callable[[int], Value]]] = {
    "instant": Instant,
    "date": Day,
    "time": Clock,
    "weekday": Weekday,
}
_WIDTHS: Final = {Int32: 32, int: 64}
_FLOATING: Final[dict[str, Callable[[float, float], float]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
}  # fmt: skip
_WHOLE: Final[dict[str, Callable[[int, int], int]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip


def read_term(term: Term, ground: Ground) -> Reading:
    """Give the values of a term."""
    if isinstance(term, Part):
        return ground.read(term)
    if isinstance(term, Call):
        return _apply(term, ground)
    if isinstance(term, Unary):
        inner = read_term(term.term, ground)
        return _each(inner, lambda value: _turn(term.sign, value, term.overflow))
    if isinstance(term, Arithmetic):
        return _compute(term, ground)
    return one(constant_value(term))


def constant_value(constant: Text | Number | Moment | Octets | Boolean) -> Value:
    """Give the value of a constant."""
    if isinstance(constant, Moment):
        return _MOMENTS[constant.type](constant.value)
    if isinstance(constant, Number):
        if constant.type == "real64":
            return float(constant.value)
        return Int32(constant.value) if constant.type == "int32" else int(constant.value)
    return constant.value


def _each(reading: Reading, turn: Callable[[Value], Value | None]) -> Reading:
    """Turn every value; where one cannot be turned, that one is unknown."""
    turned = [turn(value) for value in reading.values]
    known = tuple(value for value in turned if value is not None)
    if len(known) == len(turned):
        return Reading(known, reading.state, reading.why)
    why = "the value is of a type or a size that this cannot be computed of"
    return Reading(known, "partial", why) if known else unreadable(why)


# --- functions --------------------------------------------------------------------------------------------------------


def _apply(call: Call, ground: Ground) -> Reading:
    inner = read_term(call.term, ground)
    if call.function == "count":
        if inner.state in ("missing", "whole"):
            return one(Int32(len(inner.values)))
        return unreadable(inner.why)
    if inner.state == "cut" and call.function == "size":
        return unreadable(inner.why)
    if call.function in ("date", "time", "weekday"):
        turn = {"date": day_of, "time": clock_of, "weekday": weekday_of}[call.function]
        zone = ground.record.context.zone
        return _each(inner, lambda value: turn(value, zone) if isinstance(value, Instant) else None)
    return _each(inner, _TEXT_FUNCTIONS[call.function])


def _on_text(turn: Callable[[str], Value]) -> Callable[[Value], Value | None]:
    return lambda value: turn(value) if isinstance(value, str) else None


_TEXT_FUNCTIONS: Final[dict[str, Callable[[Value], Value | None]]] = {
    "fold-case": _on_text(str.casefold),
    "decompose": _on_text(lambda text: unicodedata.normalize("NFD", text)),
    "decompose-compat": _on_text(lambda text: unicodedata.normalize("NFKD", text)),
    "size": lambda value: Int32(len(value)) if isinstance(value, str | bytes) else None,
}


# --- figures ----------------------------------------------------------------------------------------------------------


def _compute(term: Arithmetic, ground: Ground) -> Reading:
    left, right = read_term(term.left, ground), read_term(term.right, ground)
    for side in (left, right):
        if side.state != "whole":
            return Reading((), "missing" if side.state == "missing" else "unreadable", side.why)
        if len(side.values) != 1:
            return unreadable(f"expected one number to compute with, found {len(side.values)}")
    result = compute(term.sign, left.values[0], right=right.values[0], overflow=term.overflow)
    return unreadable(f"this has no {term.sign}, or the result is too large") if result is None else one(result)


def compute(sign: str, left: Value, *, right: Value, overflow: Overflow) -> Value | None:
    """Give the figure of two numbers, in the wider of their widths; None where there is none."""
    if type(left) is float or type(right) is float:
        if type(left) not in (float, int, Int32) or type(right) not in (float, int, Int32):
            return None
        return _compute_floating(sign, float(left), float(right))  # type: ignore[arg-type]  # numbers, as just asked
    if type(left) not in _WIDTHS or type(right) not in _WIDTHS:
        return None
    width = max(_WIDTHS[type(left)], _WIDTHS[type(right)])
    result = _compute_whole(sign, int(left), int(right), width)  # type: ignore[arg-type]  # numbers, as just asked
    return None if result is None else _fit(result, width, overflow)


def _compute_floating(sign: str, left: float, right: float) -> float | None:
    plain = _FLOATING.get(sign)
    if plain is not None:
        return plain(left, right)
    if sign == "/":
        if right:
            return left / right
        # IEEE 754: by zero is infinity, of the sign of both, and of zero itself nothing at all.
        return math.nan if left == 0 or math.isnan(left) else math.copysign(math.inf, left) * math.copysign(1, right)
    if sign == "%":
        return math.nan if right == 0 or math.isinf(left) else math.fmod(left, right)
    return None


def _compute_whole(sign: str, left: int, right: int, width: int) -> int | None:
    plain = _WHOLE.get(sign)
    if plain is not None:
        return plain(left, right)
    if sign in ("/", "%"):
        if right == 0:
            return None
        # As machines divide: towards zero, and what is left has the sign of what was divided.
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if sign == "/" else left - quotient * right
    count = right & (width - 1)
    if sign == "<<":
        return _wrapped(left << count, width)
    return left >> count if sign == ">>" else _wrapped((left & ((1 << width) - 1)) >> count, width)


def _turn(sign: str, value: Value, overflow: Overflow) -> Value | None:
    if type(value) is float:
        return {"-": -value, "+": value}.get(sign)
    if type(value) not in _WIDTHS:
        return None
    number = int(value)  # type: ignore[arg-type]  # a number, as just asked
    return _fit({"-": -number, "+": number, "~": ~number}[sign], _WIDTHS[type(value)], overflow)


def _fit(number: int, width: int, overflow: Overflow) -> Value | None:
    wrapped = _wrapped(number, width)
    if wrapped != number and overflow == "unknown":
        return None
    return Int32(wrapped) if width == 32 else wrapped


def _wrapped(number: int, width: int) -> int:
    half = 1 << (width - 1)
    return (number + half & (2 * half - 1)) - half


def describe(value: Value) -> str:
    """Give a value for a person to read, shortened."""
    if isinstance(value, str):
        text = value if len(value) <= 80 else f"{value[:77]}…"
        return f'"{text}"'
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, tuple):
        return f"a list of {len(value)}"
    return (
        f"{type_of(value)} {int(value)}" if isinstance(value, Instant | Day | Clock | Weekday) else str(value).lower()
    )
