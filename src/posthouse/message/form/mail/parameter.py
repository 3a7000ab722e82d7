"""A value with parameters, as in Content-Type: by RFC 2045, by RFC 2231, or as people do it."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from posthouse.message.form.mail.charset import decode
from posthouse.message.form.mail.word import decode_words

_MAX: Final = 200
_USUAL: Final = 60
_PARAMETER: Final = re.compile(
    r'[;\s]*(?P<name>[^\s=;"]+)[ \t]*(?:=[ \t]*(?:"(?P<quoted>[^"\\]*(?:\\.[^"\\]*)*)"?|(?P<plain>[^;]*)))?', re.DOTALL
)
# Nearly all of them: one parameter, and nothing in it that could mean more than it says.
_ONE: Final = re.compile(r'([^\s;()"]+);\s*+([A-Za-z-]++)=(?:"([^"\\?()]*+)"|([^\s;"\\?()]++))')
_COMMENT: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[()]', re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_SECTION: Final = re.compile(r"([^*]+)(?:\*([0-9]{1,3}))?(\*)?")

_NONE: Final[Mapping[str, str]] = {}


class Valued(NamedTuple):
    """What a field says, and its parameters by name in lower case."""

    value: str
    parameters: Mapping[str, str]


def read_valued(text: str) -> Valued:
    """Read `value; name=value; ...`."""
    return _read_usual(text) if len(text) <= _USUAL else _read(text)


def _read(text: str) -> Valued:
    if one := _ONE.fullmatch(text):
        value, name, quoted, plain = one.groups()
        return Valued(value.lower(), {name.lower(): plain or quoted})
    if "(" in text:
        text = _without_comments(text)
    value, semicolon, rest = text.partition(";")
    value = value.strip().lower()
    if not semicolon or not rest.strip():
        return Valued(value, _NONE)
    return Valued(value, _parameters(rest))


# Most parts of most mails say one of a few things.
_read_usual: Final = functools.lru_cache(maxsize=512)(_read)


def _parameters(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    continued: dict[str, dict[int, tuple[str, bool]]] = {}
    at = 0
    for _ in range(_MAX):
        match = _PARAMETER.match(text, at)
        if match is None:
            break
        at = match.end()
        name, quoted, plain = match["name"].lower(), match["quoted"], match["plain"]
        if quoted is not None:
            value = _ESCAPE.sub(_unescape, quoted) if "\\" in quoted else quoted
        elif plain is not None:
            value = plain.strip()
        else:
            continue
        if "*" not in name:
            found.setdefault(name, decode_words(value))
        elif section := _SECTION.fullmatch(name):
            number = int(section[2] or 0)
            continued.setdefault(section[1], {}).setdefault(number, (value, section[3] is not None))
    for name, pieces in continued.items():
        # A program that writes both writes the plain one for those who cannot read this.
        found[name] = _join(pieces)
    return found


def _join(pieces: Mapping[int, tuple[str, bool]]) -> str:
    label = ""
    data = b""
    for order, number in enumerate(sorted(pieces)):
        text, encoded = pieces[number]
        if not encoded:
            data += text.encode("utf-8", "surrogateescape")
            continue
        if order == 0 and text.count("'") >= 2:
            label, _, text = text.split("'", 2)
        data += unquote_to_bytes(text)
    return decode(data, label)


def _unescape(match: re.Match[str]) -> str:
    # Windows writes paths into names without escaping anything: before a letter the backslash is one.
    return match[1] if match[1] in '"\\' or not match[1].isalnum() else match[0]


def _without_comments(text: str) -> str:
    kept: list[str] = []
    depth = 0
    at = 0
    for match in _COMMENT.finditer(text):
        if match[0][0] == '"':
            continue
        if match[0] == "(":
            if depth == 0:
                kept.append(text[at : match.start()])
            depth += 1
        elif depth:
            depth -= 1
            at = match.end()
    # A comment that nobody closes is none.
    return text if depth else "".join(kept) + text[at:]
