"""What a style says that keeps the reader of an HTML mail from seeing a text: a table over its declarations.

Only what stands on the mark itself is looked at; what a style sheet says of it is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(.))", re.DOTALL)
_LENGTH: Final = re.compile(r"([+-]?(?:[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}))(px|pt|)")
_CLEAR: Final = re.compile(r"transparent|(?:rgb|hsl)a\([^()]*[,/]\s*(?:0|0?\.0+|0%)\s*\)")
# Letters smaller than this are lines to people, and letters to programs.
_LEGIBLE: Final = 2.0
_LONGEST: Final = 4_096
_HIGHEST_CODE: Final = 0x10FFFF


def declared(style: str) -> Mapping[str, str]:
    """Give what a style declares, in lower case; of two declarations the one that holds."""
    found: dict[str, str] = {}
    weighty: set[str] = set()
    for name, value, is_important in _declarations(style[:_LONGEST].lower()):
        if name not in weighty or is_important:
            found[name] = value
        if is_important:
            weighty.add(name)
    return found


def _declarations(style: str) -> Iterator[tuple[str, str, bool]]:
    if "/*" in style:
        style = _COMMENT.sub("", style)
    if "\\" in style:
        style = _ESCAPE.sub(_unescaped, style).lower()
    for declaration in style.split(";"):
        name, mark, value = declaration.partition(":")
        if mark:
            plain, important, _ = value.partition("!")
            yield name.strip(), plain.strip(), bool(important)


def _unescaped(match: re.Match[str]) -> str:
    if match[1] is None:
        return match[2]
    code = int(match[1], 16)
    return chr(code) if 0 < code <= _HIGHEST_CODE else "\ufffd"


def hides(declarations: Mapping[str, str]) -> bool:
    """Say whether nothing is seen of what stands between these marks, whatever stands there."""
    if declarations.get("display") == "none" or _is_nothing(declarations.get("opacity", "")):
        return True
    return declarations.get("overflow") == "hidden" and any(
        _is_nothing(declarations.get(name, "")) for name in ("max-height", "height", "max-width", "width")
    )


def _is_nothing(length: str) -> bool:
    return (found := _LENGTH.match(length)) is not None and float(found[1]) <= 0


def _is_too_small(length: str) -> bool:
    found = _LENGTH.match(length)
    return found is not None and (float(found[1]) <= 0 or (found.end() == len(length) and float(found[1]) < _LEGIBLE))


UNDONE: Final[Mapping[str, Callable[[str], bool]]] = {
    "visibility": lambda value: value in {"hidden", "collapse"},
    "font-size": _is_too_small,
    "color": lambda value: _CLEAR.fullmatch(value) is not None,
}
"""What is said for all that stands between two marks until another mark there says otherwise, and when it hides."""
