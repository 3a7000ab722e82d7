"""The typed attributes of a message and their tagged form, in which nothing changes on the way.

In Python an attribute is a plain value; on a wire each stands under its type: `{"amount": {"int32": 5}}`. The tags keep
apart what JSON and MessagePack would melt together: 32 and 64 bits, 3 and 3.0, bytes and text, NaN and nothing.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar, Final

from posthouse.errors import PosthouseError
from posthouse.message.instant import read_instant

MAX_ATTRIBUTES: Final = 1_000
MAX_NAME: Final = 255
MAX_DEPTH: Final = 8
MAX_ITEMS: Final = 10_000

_LEAST32, _MOST32 = -(2**31), 2**31 - 1
_LEAST64, _MOST64 = -(2**63), 2**63 - 1


class Int32(int):
    """A whole number that travels as 32 bits; a plain `int` travels as 64."""

    __slots__ = ()


Value = Int32 | int | float | str | bytes | datetime | tuple[Any, ...]
Attributes = Mapping[str, Value]
# One entry: the tag and the wire value under it. `Any`: what a stranger wrote, until `untag` has looked at it.
Tagged = dict[str, Any]


class MalformedAttribute(PosthouseError):
    """An attribute whose name, type or value cannot travel."""

    code: ClassVar[str] = "attribute.malformed"
    public: ClassVar[str] = "An attribute of the message is malformed."


def tag(value: object, depth: int = 0) -> Tagged:
    """Give the wire form of one value."""
    writer = _WRITERS.get(type(value))
    if writer is None:
        found = type(value).__name__
        hint = "say Int32(0) or Int32(1), or text" if isinstance(value, bool) else None
        raise MalformedAttribute(f"expected a number, text, bytes, datetime or list, found {found}", hint=hint)
    return writer(value, depth)


def untag(tagged: object, depth: int = 0) -> Value:
    """Give the value of one wire form, or say what is wrong with it."""
    if not isinstance(tagged, dict) or len(tagged) != 1:
        raise MalformedAttribute('expected one type and its value, like {"int32": 5}')
    ((name, value),) = tagged.items()
    reader = _READERS.get(name)
    if reader is None:
        raise MalformedAttribute(f"expected one of the types {', '.join(_READERS)}, found {str(name)[:40]!r}")
    return reader(value, depth)


def tag_all(attributes: Attributes) -> dict[str, Tagged]:
    """Give the wire form of all attributes, each fault with the attribute's name."""
    _check_names(attributes)
    tagged: dict[str, Tagged] = {}
    name = ""
    try:
        for name, value in attributes.items():
            # Most attributes are plain text, which needs no writer of its own.
            if type(value) is str and value.isascii():
                tagged[name] = {"text": value}
            else:
                tagged[name] = _WRITERS.get(type(value), tag)(value, 0)
    except MalformedAttribute as fault:
        raise _of_attribute(name, fault) from None
    return tagged


def untag_all(tagged: Mapping[str, object]) -> dict[str, Value]:
    """Give the values of all attributes, each fault with the attribute's name."""
    _check_names(tagged)
    values: dict[str, Value] = {}
    name = ""
    try:
        for name, entry in tagged.items():
            values[name] = untag(entry)
    except MalformedAttribute as fault:
        raise _of_attribute(name, fault) from None
    return values


def settle_all(attributes: Attributes) -> dict[str, Value]:
    """Give attributes that can travel as their reader will have them: lists as tuples, instants in UTC, one NaN."""
    return {
        name: value if (settler := _SETTLERS.get(type(value))) is None else settler(value)
        for name, value in attributes.items()
    }


def _of_attribute(name: object, fault: MalformedAttribute) -> MalformedAttribute:
    return MalformedAttribute(fault.what, where=f"attribute {name!r}", hint=fault.hint)


def _check_names(attributes: Mapping[str, object]) -> None:
    if len(attributes) > MAX_ATTRIBUTES:
        what = f"expected at most {MAX_ATTRIBUTES} attributes, found {len(attributes)}"
        raise MalformedAttribute(what, where="attributes")
    # Nearly always all names together are short and printable, and then each of them is.
    try:
        together = "".join(attributes)
        fine = len(together) <= MAX_NAME and together.isprintable() and "" not in attributes
    except TypeError:
        fine = False
    if not fine:
        for name in attributes:
            _check_name(name)


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME or not name.isprintable():
        raise MalformedAttribute(
            f"expected a name of 1 to {MAX_NAME} printable characters, found {str(name)[:40]!r}", where="attributes"
        )


def _write_int32(value: Any, _depth: int) -> Tagged:
    if not _LEAST32 <= value <= _MOST32:
        raise MalformedAttribute("expected a number of 32 bits, found a larger one", hint="a plain int has 64 bits")
    return {"int32": int(value)}


def _write_int64(value: Any, _depth: int) -> Tagged:
    if not _LEAST64 <= value <= _MOST64:
        raise MalformedAttribute("expected a number of 64 bits, found a larger one", hint="send it as text")
    return {"int64": value}


def _write_real64(value: Any, _depth: int) -> Tagged:
    return {"real64": value if math.isfinite(value) else _NOT_FINITE_OUT[str(value)]}


def _write_text(value: Any, _depth: int) -> Tagged:
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise MalformedAttribute("expected text, found half of a surrogate pair", hint="send bytes") from None
    return {"text": value}


def _write_opaque(value: Any, _depth: int) -> Tagged:
    # The encoder of the head writes bytes as they are in MessagePack and as base64 in JSON.
    return {"opaque": value}


def _write_instant(value: Any, _depth: int) -> Tagged:
    # The encoder writes a timestamp of MessagePack, or RFC 3339 in JSON.
    if value.tzinfo is UTC:
        return {"instant": value}
    # A zone may be there and still not know its offset.
    if value.utcoffset() is None:
        raise MalformedAttribute("expected an instant with its time zone, found a bare date and time")
    try:
        return {"instant": value.astimezone(UTC)}
    except OverflowError:
        raise MalformedAttribute("expected an instant within the years 1 to 9999 of UTC") from None


def _write_list(value: Any, depth: int) -> Tagged:
    if depth >= MAX_DEPTH:
        raise MalformedAttribute(f"expected lists in lists at most {MAX_DEPTH} deep")
    if len(value) > MAX_ITEMS:
        raise MalformedAttribute(f"expected at most {MAX_ITEMS} items in a list, found {len(value)}")
    return {
        "list": [{"text": item} if type(item) is str and item.isascii() else tag(item, depth + 1) for item in value]
    }


def _read_int32(value: Any, _depth: int) -> Value:
    if type(value) is not int or not _LEAST32 <= value <= _MOST32:
        raise MalformedAttribute("expected a whole number of 32 bits under int32")
    return Int32(value)


def _read_int64(value: Any, _depth: int) -> Value:
    if type(value) is not int or not _LEAST64 <= value <= _MOST64:
        raise MalformedAttribute("expected a whole number of 64 bits under int64")
    return value


def _read_real64(value: Any, _depth: int) -> Value:
    if type(value) is float:
        return _settle_real(value)
    # JSON knows one kind of number: 3 under this tag is 3.0, as long as no digit is lost.
    if type(value) is int and abs(value) <= 2**53:
        return float(value)
    if isinstance(value, str) and value in _NOT_FINITE_IN:
        return _NOT_FINITE_IN[value]
    raise MalformedAttribute('expected a number, "NaN", "Infinity" or "-Infinity" under real64')


def _read_text(value: Any, _depth: int) -> Value:
    if not isinstance(value, str):
        raise MalformedAttribute("expected text under text")
    return value


def _read_opaque(value: Any, _depth: int) -> Value:
    if type(value) is bytes:
        return value
    try:
        if isinstance(value, str):
            return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        pass
    raise MalformedAttribute("expected base64 under opaque")


def _read_instant(value: Any, _depth: int) -> Value:
    if type(value) is datetime and value.tzinfo is UTC:
        return value
    try:
        return read_instant(value)
    except (ValueError, TypeError):
        raise MalformedAttribute("expected a time like 2026-01-31T12:00:00Z under instant") from None


def _read_list(value: Any, depth: int) -> Value:
    if not isinstance(value, list) or len(value) > MAX_ITEMS:
        raise MalformedAttribute(f"expected a list of at most {MAX_ITEMS} items under list")
    if depth >= MAX_DEPTH:
        raise MalformedAttribute(f"expected lists in lists at most {MAX_DEPTH} deep")
    return tuple([untag(item, depth + 1) for item in value])


def _settle_real(value: float) -> Value:
    # Python's NaN equals nothing but the very same object, and a message must equal what is read from it.
    return math.nan if math.isnan(value) else value


def _settle_instant(value: datetime) -> Value:
    return value if value.tzinfo is UTC else value.astimezone(UTC)


def _settle_list(value: Any) -> Value:
    return tuple([item if (settler := _SETTLERS.get(type(item))) is None else settler(item) for item in value])


_NOT_FINITE_OUT: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_NOT_FINITE_IN: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

# What Python value is written under which tag; `bool` is left out on purpose, for it would come back as a number.
_WRITERS: Final[dict[type, Callable[[Any, int], Tagged]]] = {
    Int32: _write_int32,
    int: _write_int64,
    float: _write_real64,
    str: _write_text,
    bytes: _write_opaque,
    datetime: _write_instant,
    tuple: _write_list,
    list: _write_list,
}

# The types whose values can be said in several ways; all others are what their readers will have.
_SETTLERS: Final[dict[type, Callable[[Any], Value]]] = {
    float: _settle_real,
    datetime: _settle_instant,
    tuple: _settle_list,
    list: _settle_list,
}

_READERS: Final[dict[str, Callable[[Any, int], Value]]] = {
    "int32": _read_int32,
    "int64": _read_int64,
    "real64": _read_real64,
    "text": _read_text,
    "opaque": _read_opaque,
    "instant": _read_instant,
    "list": _read_list,
}
