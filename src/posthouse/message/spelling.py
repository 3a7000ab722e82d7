"""How the parts of a name are spelt: which characters may stand in them, escapes, and how a fault is told.

Nothing here knows what a name is made of; `name` and `host` do.
"""

from __future__ import annotations

import re
import unicodedata

from msgspec import Struct

MAX_WORD = 255
"""Bytes of UTF-8 in a mailbox, a mail address or the name of an office."""
OFFICE_SIGNS = "._-~+"
MAILBOX_SIGNS = OFFICE_SIGNS + "/:"

_MAX_FOUND = 20
_PLAIN = re.compile(r"[A-Za-z0-9._~+-]+")
_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")

# Controls, line breaks, surrogates, and the marks that turn the direction of writing: they make a log or a page lie.
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# Letters and marks that print nothing (Unicode: Default_Ignorable_Code_Point); the formats, Cf, are refused as such.
_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
# Formats, private use, unassigned: what is unassigned today may have another normal form tomorrow.
_NAMELESS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class Fault(Exception):
    """What is wrong at an offset of the text being read; `name` turns it into its own error."""

    def __init__(self, at: int, reason: str) -> None:
        self.at = at
        self.reason = reason
        super().__init__(reason)


class Part(Struct, frozen=True):
    """A stretch of the text being read, which knows where in the whole it stands."""

    text: str
    start: int
    stop: int

    def __str__(self) -> str:
        return self.text[self.start : self.stop]

    def of(self, start: int, stop: int) -> Part:
        return Part(self.text, start, stop)

    def starts_with(self, sign: str) -> bool:
        return self.text.startswith(sign, self.start, self.stop)

    def find(self, sign: str) -> int:
        """Give where the sign first stands, or the end."""
        at = self.text.find(sign, self.start, self.stop)
        return at if at >= 0 else self.stop

    def fault(self, at: int, expected: str, *, found: str | None = None) -> Fault:
        """Make the fault for offset `at`, by default naming the character found there."""
        if found is None:
            found = quoted(self.text[at]) if at < len(self.text) else "the end"
        return Fault(at, f"expected {expected}, found {found}")


def read_word(part: Part, kind: str, *, signs: str) -> str:
    """Read an office or a mailbox, with its escapes resolved, into Unicode's normal form C."""
    pieces: list[str] = []
    at = part.start
    while at < part.stop:
        char = part.text[at]
        if char == "%":
            piece, at = _read_escapes(part, at)
            pieces.append(piece)
        elif char in signs or is_word(char):
            pieces.append(char)
            at += 1
        else:
            raise part.fault(at, f'a letter, a digit, one of "{signs}" or an escape such as "%20"')
    word = unicodedata.normalize("NFC", "".join(pieces))
    # A dot or two would be a step in a path wherever a name becomes part of one.
    if word in ("", ".", ".."):
        raise part.fault(part.start, f"the name of the {kind}", found=quoted(word) if word else None)
    size = len(word.encode())
    if size > MAX_WORD:
        raise part.fault(part.start, f"the name of the {kind} in at most {MAX_WORD} bytes", found=str(size))
    return word


def _read_escapes(part: Part, at: int) -> tuple[str, int]:
    """Resolve the run of escapes that begins at `at`; give what it means and where it ends."""
    run = _ESCAPES.match(part.text, at, part.stop)
    if not run:
        raise part.fault(at, 'two hexadecimal digits after "%"', found=quoted(part.text[at : min(at + 3, part.stop)]))
    octets = bytes.fromhex(run.group().replace("%", ""))
    try:
        piece = octets.decode()
    except UnicodeDecodeError as error:
        wrong = at + 3 * error.start
        raise part.fault(wrong, "UTF-8 behind the escapes", found=quoted(part.text[wrong : wrong + 3])) from None
    for index, char in enumerate(piece):
        if unicodedata.category(char) in _NAMELESS or _INVISIBLE.match(char):
            wrong = at + 3 * len(piece[:index].encode())
            raise part.fault(wrong, "the escape of a space or of something visible", found=quoted(char))
    return piece, run.end()


def escaped(word: str, signs: str = OFFICE_SIGNS) -> str:
    """Spell a word so that `read_word` reads it with the same signs."""
    if _PLAIN.fullmatch(word):
        return word
    return "".join(char if char in signs or is_word(char) else _escape(char) for char in word)


def _escape(char: str) -> str:
    return "".join(f"%{octet:02X}" for octet in char.encode(errors="surrogatepass"))


def is_word(char: str) -> bool:
    """Tell letters, digits and the marks that many scripts write words with; none of them invisible."""
    return (char.isalnum() or is_mark(char)) and not _INVISIBLE.match(char)


def is_mark(char: str) -> bool:
    return unicodedata.category(char).startswith("M")


def quoted(text: str, limit: int = _MAX_FOUND) -> str:
    """Quote text for an error: cut to so many characters, and nothing in it that could disturb a terminal or a log."""
    shown = "".join(_shown(char) for char in text[: limit + 1])
    return f'"{shown}"' if len(text) <= limit and len(shown) <= limit else f'"{shown[: limit - 1]}…"'


def _shown(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    visible = char.isprintable() and not _INVISIBLE.match(char)
    return char if visible else char.encode("unicode_escape").decode()
