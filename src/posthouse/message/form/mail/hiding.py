"""What a style says that keeps the reader of an HTML mail from seeing a text: a table over its declarations.

Only what stands on the mark itself is looked at; what a style sheet says of it is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(.))", re.DOTALL)
_LENGTH: Final = re.compile(r"([+-]?(?:[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}))(px|pt|)")
# Letters smaller than this are lines to people, and letters to programs.
_LEGIBLE: Final = 2.0
LONGEST: Final = 4_096
"""Signs of a style that are looked at."""
_HIGHEST_CODE: Final = 0x10FFFF
# Without one of these nothing is hidden. They are long because a long word is found, or not found, more quickly.
_WORDS: Final = ("display", "visibility", "font-size", "opacity", "hidden", "transparent", "\\", "&#")


def may_hide(source: str) -> bool:
    """Say whether an HTML document may hide anything; what it affirms is not certain, but what it denies is."""
    lower = source.lower()
    return any(word in lower for word in _WORDS)


class Effect(NamedTuple):
    """What a style does to the text between its marks."""

    hides: bool
    """Nothing of it is seen, whatever stands there."""
    hides_until: tuple[str, ...]
    """Properties by which it is not seen, unless a mark there says otherwise."""
    shows: tuple[str, ...]
    """Properties by which it says otherwise."""
    has_display: bool


@lru_cache(maxsize=1_024)
def effect_of(style: str) -> Effect:
    """Give what a style does; in most mails a few styles stand again and again."""
    found = _declared(style)
    said = {name: is_hiding(found[name]) for name, is_hiding in INHERITED.items() if name in found}
    return Effect(
        _hides(found),
        tuple(name for name, is_hiding in said.items() if is_hiding),
        tuple(name for name, is_hiding in said.items() if not is_hiding),
        "display" in found,
    )


def _declared(style: str) -> Mapping[str, str]:
    """Give what a style declares, in lower case; of two declarations the one that holds."""
    found: dict[str, str] = {}
    weighty: set[str] = set()
    for name, value, is_important in _declarations(style.lower()):
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


def _hides(declarations: Mapping[str, str]) -> bool:
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


INHERITED: Final[Mapping[str, Callable[[str], bool]]] = {
    "visibility": lambda value: value in {"hidden", "collapse"},
    "font-size": _is_too_small,
    "color": lambda value: value == "transparent",
}
"""What is said for all that stands between two marks until another mark there says otherwise, and when it hides."""
