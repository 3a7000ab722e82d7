"""The house's own form of an organisation, written: reading it again gives the same values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any, Final

import msgspec

from posthouse.message.instant import print_instant
from posthouse.organisation.directory import Absence, Directory
from posthouse.organisation.form.schema import ABSENCE, DEFAULTS, HEAD, KINDS, Key, Shape

MAX_LINE: Final = 120


def print_directory(directory: Directory) -> str:
    """Write an organisation; what is empty is left out."""
    blocks = ["\n".join(_keys(directory, HEAD))]
    for word, kind in KINDS.items():
        for value in getattr(directory, kind.into):
            header = f"[{word}.{_text(getattr(value, kind.names))}]"
            blocks.append("\n".join((header, *_keys(value, kind.keys))))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _keys(value: msgspec.Struct, keys: Mapping[str, Key]) -> Iterator[str]:
    for name, key in keys.items():
        held = getattr(value, key.field)
        if held != DEFAULTS[key.shape]:
            yield f"{name} = {_value(held, key.shape, room=MAX_LINE - len(name) - 3)}"


def _value(held: Any, shape: Shape, *, room: int) -> str:  # Any: what a field holds
    if shape == "text":
        return _text(held)
    if shape == "truth":
        return "true"
    items = [_absence(item) if isinstance(item, Absence) else _text(item) for item in held]
    line = f"[{', '.join(items)}]"
    return line if len(line) <= room else "[\n" + "".join(f"    {item},\n" for item in items) + "]"


def _absence(absence: Absence) -> str:
    pieces = []
    for name, field in ABSENCE.items():
        held = getattr(absence, field)
        if held:
            shown = _text(held) if isinstance(held, str) else _moment(held)
            pieces.append(f"{name} = {shown}")
    return f"{{ {', '.join(pieces)} }}"


def _moment(moment: date) -> str:
    return print_instant(moment) if isinstance(moment, datetime) else moment.isoformat()


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
