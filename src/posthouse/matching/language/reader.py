"""What all languages read with: tokens that know their line and column, and faults that are told all at once.

A language gives its lexicon and walks through the tokens; where something is wrong it notes the fault and goes on at a
place it knows, so that a text is read once and every fault in it is told.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final, NoReturn

import msgspec

from posthouse.errors import PosthouseError
from posthouse.message.spelling import quoted

MAX_TEXT: Final = 16 << 20
"""Characters of one text."""
MAX_PROBLEMS: Final = 100
_CURLY: Final = "\u201c\u201d\u201e\u201a\u2018\u2019\u00ab\u00bb"
END: Final = "end"
"""The kind of the token behind the last one."""


class Problem(msgspec.Struct, frozen=True, gc=False):
    """One fault of a text: where, what was expected, what stands there instead, and perhaps what to do."""

    line: int
    column: int
    expected: str
    found: str
    hint: str | None = None
    length: int = 1
    """Characters that are at fault, for marking them."""

    def __str__(self) -> str:
        told = f"line {self.line}, column {self.column}: expected {self.expected}, found {self.found}"
        return f"{told} ({self.hint})" if self.hint else told


class UnreadableText(PosthouseError):
    """A text of rules, subscriptions, patterns or people that has faults; all of them are told, each with its place."""

    code: ClassVar[str] = "text.unreadable"
    public: ClassVar[str] = "The text has faults."

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems: Final = tuple(problems)
        first = self.problems[0]
        more = len(self.problems) - 1
        super().__init__(
            f"expected {first.expected}, found {first.found}" + (f"; and {more} more" if more else ""),
            where=f"line {first.line}",
            column=first.column,
            hint=first.hint,
        )


class Token(msgspec.Struct, gc=False):
    """One word of a text."""

    kind: str
    text: str
    start: int
    end: int
    comments: tuple[Comment, ...] = ()
    """The comments that stand before it."""


class Comment(msgspec.Struct, frozen=True, gc=False):
    """One comment, without its sign."""

    text: str
    is_trailing: bool
    """It stands behind something on the same line."""


class Lexicon:
    """What the words of a language look like: kinds with their patterns, of which the first that fits wins."""

    def __init__(self, kinds: Iterable[tuple[str, str]], *, comment: str | None = None) -> None:
        table = [("blank", r"\s+"), *([("comment", comment)] if comment else []), *kinds]
        self.pattern: Final = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in table))
        # Several characters that are nothing are one fault.
        self.nothing: Final = re.compile(r"[^\s\w\"'()]+|.", re.DOTALL)


class Stumble(Exception):
    """The fault has been noted; whoever can go on from a known place catches this."""


class Reader:
    """A text being read, one token after the other, with the faults found so far."""

    def __init__(self, text: str, lexicon: Lexicon) -> None:
        self.text: Final = text
        self.problems: Final[list[Problem]] = []
        self._lexicon: Final = lexicon
        self._lines: Final = _line_starts(text)
        self._at = 0
        self._noted: Final[list[int]] = []
        self._comments: Final[list[tuple[int, int, Comment]]] = []
        self.before: Token = Token(END, "", 0, 0)
        """The token that was taken last."""
        if len(text) > MAX_TEXT:
            self.problems.append(Problem(1, 1, f"a text of at most {MAX_TEXT:,} characters", f"{len(text):,}"))
            self._at = len(text)
        self.token: Token = self._next()
        """The token that comes next."""

    # --- walking ------------------------------------------------------------------------------------------------------

    def take(self) -> Token:
        """Take the next token."""
        taken = self.token
        self._keep_comments(taken)
        self.before = taken
        if taken.kind != END:
            self.token = self._next()
        return taken

    def begins_line(self) -> bool:
        """Say whether the next token is the first of its line."""
        return not self._trails(self.token.start)

    def all_comments(self) -> list[tuple[int, int, Comment]]:
        """Give every comment read so far with the end of the token before it and the start of the one behind it."""
        self._keep_comments(self.token)
        self.token.comments = ()
        return self._comments

    def _keep_comments(self, token: Token) -> None:
        self._comments.extend((self.before.end, token.start, comment) for comment in token.comments)

    def _next(self) -> Token:
        comments: list[Comment] = []
        while self._at < len(self.text):
            start = self._at
            found = self._lexicon.pattern.match(self.text, start)
            if found is None or found.end() == start:
                meant = self._skip_nothing(start)
                if meant:
                    return Token("text", f'"{meant}"', start, self._at, tuple(comments))
                continue
            self._at = found.end()
            kind = found.lastgroup or ""
            if kind == "comment":
                comments.append(Comment(found.group().lstrip("#").strip(), is_trailing=self._trails(start)))
            elif kind != "blank":
                return Token(kind, found.group(), start, self._at, tuple(comments))
        return Token(END, "", len(self.text), len(self.text), tuple(comments))

    def _trails(self, start: int) -> bool:
        """Say whether something stands before this on its line."""
        return bool(self.text[self._lines[bisect_right(self._lines, start) - 1] : start].strip())

    def _skip_nothing(self, start: int) -> str:
        """Note what is no token; give the text that was meant where only its quotation marks are wrong."""
        nothing = self._lexicon.nothing.match(self.text, start)
        assert nothing is not None
        self._at = nothing.end()
        shown = nothing.group()
        if shown[0] in _CURLY:
            return self._curly(start)
        if shown[0] in "\"'":
            return self._unclosed(start)
        self.note("a word, a number or a text in quotes", found=quoted(shown), at=start, length=len(shown))
        return ""

    def _curly(self, start: int) -> str:
        """Note quotation marks of a word processor, and take what stands between them."""
        line_end = self.text.find("\n", start)
        stop = len(self.text) if line_end < 0 else line_end
        ends = [at for mark in _CURLY if (at := self.text.find(mark, start + 1, stop)) > 0]
        if not ends:
            return self._unclosed(start)
        end = min(ends)
        self._at = end + 1
        self.note("straight quotation marks", found=quoted(self.text[start]), at=start, hint='such as "this"')
        return _plain(self.text[start + 1 : end])

    def _unclosed(self, start: int) -> str:
        """Note a text without its end, and go on at the next line: what follows was hardly meant to be in it."""
        end = self.text.find("\n", start)
        self._at = len(self.text) if end < 0 else end
        length = self._at - start
        self.note("the quotation mark that ends this text", found="the end of the line", at=start, length=length)
        return _plain(self.text[start + 1 : self._at])

    # --- asking -------------------------------------------------------------------------------------------------------

    def stands(self, *words: str) -> bool:
        """Say whether these words come next, whatever their case."""
        if not words or self.token.text.lower() != words[0]:
            return False
        return len(words) == 1 or self._follow(words[1:])

    def _follow(self, words: tuple[str, ...]) -> bool:
        at = self.token.end
        for word in words:
            found = self._lexicon.pattern.match(self.text, at)
            while found is not None and found.lastgroup in ("blank", "comment"):
                found = self._lexicon.pattern.match(self.text, found.end())
            if found is None or found.group().lower() != word:
                return False
            at = found.end()
        return True

    def accept(self, *words: str) -> bool:
        """Take these words if they come next."""
        if not self.stands(*words):
            return False
        for _ in words:
            self.take()
        return True

    def expect(self, word: str, expected: str | None = None, *, hint: str | None = None) -> Token:
        """Take this word, or note that it is not there and stumble."""
        if self.token.text.lower() != word or self.token.kind == "text":
            self.stumble(expected or word, hint=hint)
        return self.take()

    # --- faults -------------------------------------------------------------------------------------------------------

    def place(self, offset: int) -> tuple[int, int]:
        """Give line and column of an offset, counted from 1."""
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def note(
        self,
        expected: str,
        *,
        found: str | None = None,
        at: int | None = None,
        hint: str | None = None,
        length: int = 1,
    ) -> None:
        """Note a fault, by default at the next token, and go on; a place is told once."""
        if at is None:
            at, length = self.token.start, max(1, self.token.end - self.token.start)
        line, column = self.place(at)
        if any((told.line, told.column) == (line, column) for told in self.problems[-3:]):
            return
        self._noted.append(at)
        shown = describe(self.token) if found is None else found
        self.problems.append(Problem(line, column, expected, shown, hint, length))
        if len(self.problems) >= MAX_PROBLEMS:
            self.give_up()

    def is_faulty(self, start: int, end: int) -> bool:
        """Say whether a fault was noted in this stretch of the text."""
        return any(start <= at < max(end, start + 1) for at in self._noted)

    def stumble(self, expected: str, *, hint: str | None = None) -> NoReturn:
        """Note a fault at the next token, and go back to where the language can go on."""
        self.note(expected, hint=hint)
        raise Stumble

    def give_up(self) -> NoReturn:
        """Raise what was found so far."""
        raise UnreadableText(self.problems)

    def finish(self) -> None:
        """Raise UnreadableText if anything was wrong."""
        if self.problems:
            raise UnreadableText(sorted(self.problems, key=lambda problem: (problem.line, problem.column)))


def _plain(text: str) -> str:
    return text.replace("\\", "").replace('"', "").strip() or "?"


def describe(token: Token) -> str:
    """Give a token for a person to read."""
    if token.kind == END:
        return "the end of the text"
    return quoted(token.text, 40) if token.kind != "text" else f"the text {quoted(token.text[1:-1], 40)}"


def nearest_word(word: str, known: Iterable[str]) -> str | None:
    """Give the hint with the word that was perhaps meant."""
    spelt = {name.lower(): name for name in known}
    unquoted = word.strip("\"'").lower()
    if unquoted != word.lower() and unquoted in spelt:
        return f"{spelt[unquoted]} stands without quotes"
    close = difflib.get_close_matches(word[:100].lower(), spelt, n=1, cutoff=0.6)
    return f"did you mean {spelt[close[0]]}?" if close else None


def excerpt(text: str, problem: Problem) -> str:
    """Give the line of a fault with a mark below it, cut to what a terminal shows."""
    lines = text.split("\n")
    line = lines[problem.line - 1] if problem.line <= len(lines) else ""
    begin = max(0, problem.column - 60)
    shown = "".join(char if char.isprintable() else " " for char in line[begin : begin + 100])
    mark = " " * (problem.column - 1 - begin) + "^" * max(1, min(problem.length, 100 - (problem.column - 1 - begin)))
    return f"{shown}\n{mark}"


def _line_starts(text: str) -> list[int]:
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts
