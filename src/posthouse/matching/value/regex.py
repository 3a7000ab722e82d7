"""Regular expressions and wildcards, both RE2: their work is linear in the text, whatever the pattern.

The one home of `re2` beside the indexed engine. A pattern that could not be judged in bounded memory is refused here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar, Final, Protocol

# The library has no types of its own; what is used of it is written down in the protocols below.
import re2  # type: ignore[import-untyped]

from posthouse.errors import PosthouseError
from posthouse.matching.value.fold import Collation, fold

MAX_PATTERN: Final = 10_000
"""Characters in one pattern."""
MAX_STATES: Final = 10_000
"""Instructions of the compiled pattern; what repeats repetitions grows beyond it quickly."""
_MAX_MEMORY: Final = 8 << 20
_NUL: Final = r"\x00"
_SPECIAL: Final = frozenset(r"\.+*?()|[]{}^$-#&~/" + " \t\n\r\f\v")


class RefusedPattern(PosthouseError):
    """A regular expression that cannot be read, or would need more memory than a pattern may."""

    code: ClassVar[str] = "regex.refused"
    public: ClassVar[str] = "A regular expression is not accepted."


class Found(Protocol):
    """Where a pattern stands in a text."""

    def start(self) -> int: ...
    def end(self) -> int: ...


class Regex(Protocol):
    """A compiled pattern."""

    pattern: str
    programsize: int
    """Its steps."""

    def search(self, text: str, pos: int = 0) -> Found | None: ...


@lru_cache(maxsize=4096)
def compile_regex(pattern: str, *, has_case: bool) -> Regex:
    """Compile a pattern, or raise RefusedPattern naming what is wrong with it."""
    if len(pattern) > MAX_PATTERN:
        raise RefusedPattern(f"expected a pattern of at most {MAX_PATTERN:,} characters, found {len(pattern):,}")
    options = re2.Options()
    options.case_sensitive = has_case
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        compiled = re2.compile(pattern, options=options)
    except re2.error as fault:
        raise _explain(pattern, fault) from None
    except UnicodeEncodeError:
        raise RefusedPattern("expected Unicode without lone surrogates") from None
    if compiled.programsize > MAX_STATES:
        raise RefusedPattern(
            f"expected a pattern of at most {MAX_STATES:,} steps, found {compiled.programsize:,}",
            hint=f"{_largest_repetition(pattern)} multiplies what stands before it",
        )
    regex: Regex = compiled
    return regex


def _explain(pattern: str, fault: Exception) -> RefusedPattern:
    told = fault.args[0] if fault.args else b""
    text = told.decode(errors="replace") if isinstance(told, bytes) else str(told)
    if "too large" in text or "out of memory" in text.lower():
        return RefusedPattern(
            "expected a pattern that fits into its memory, found one that is too large",
            hint=f"{_largest_repetition(pattern)} multiplies what stands before it",
        )
    what, _, piece = text.partition(": ")
    words, hint = _REFUSALS.get(what, (text, None))
    return RefusedPattern(f"expected a regular expression of RE2, found {words.format(piece)}", hint=hint)


_REFUSALS: Final[dict[str, tuple[str, str | None]]] = {
    "missing )": ("a group that is not closed", r"write \( for the sign itself"),
    "unexpected )": ("a ) that closes nothing", r"write \) for the sign itself"),
    "missing ]": ("a character class that is not closed", r"write \[ for the sign itself"),
    "invalid perl operator": (
        "{}, which it does not have",
        "look-ahead and look-behind are not to be had: their work is not bounded",
    ),
    "invalid escape sequence": (
        "{}, which it does not have",
        "back-references are not to be had; a backslash itself is written twice",
    ),
    "no argument for repetition operator": ("{} with nothing before it", r"write \* for the sign itself"),
    "bad repetition operator": ("{}, a repetition of a repetition", "put what is repeated into a group"),
    "invalid repetition size": ("{}, which is too often", "all repetitions inside each other count to 1000 at most"),
    "invalid character class range": ("the class {}, which it does not have", None),
    "invalid named capture group": ("the group {}, whose name is not closed", "as in (?P<name>...)"),
    "trailing \\": ("a backslash at the end", "a backslash itself is written twice"),
}
"""What RE2 says, and how a person is told."""


def _largest_repetition(pattern: str) -> str:
    """Give the repetition that counts highest, which is what makes a pattern large."""
    counted = []
    at = pattern.find("{")
    while at >= 0:
        end = pattern.find("}", at)
        numbers = [word for word in pattern[at + 1 : max(end, at)].split(",") if word.isdigit()]
        if numbers:
            counted.append((max(int(word) for word in numbers), pattern[at : end + 1]))
        at = pattern.find("{", at + 1)
    return max(counted)[1] if counted else "the repetition"


def literal(text: str) -> str:
    """Give the pattern that matches this text and nothing else."""
    return "".join(f"\\{char}" if char in _SPECIAL else _NUL if char == "\0" else char for char in text)


def compile_wildcard(pattern: str, collation: Collation) -> Regex:
    r"""Compile a wildcard, in which `*` is any text, `?` any character and `\` takes the meaning from the next one."""
    pieces: list[str] = []
    plain = ""
    signs = iter(pattern)
    for sign in signs:
        if sign in "*?":
            pieces += [literal(fold(plain, collation)), ".*" if sign == "*" else "."]
            plain = ""
        else:
            plain += next(signs, sign) if sign == "\\" else sign
    pieces.append(literal(fold(plain, collation)))
    return compile_regex(f"(?s)\\A{''.join(pieces)}\\z", has_case=True)


def searchable(text: str) -> str:
    """Give the text, of the same length, without the lone surrogates that UTF-8 cannot say."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
