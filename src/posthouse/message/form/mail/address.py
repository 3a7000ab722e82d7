"""Addresses of a field (RFC 5322, section 3.4 and 4.4), with groups, routes and comments, and without what is missing.

What a phrase is, is settled before its encoded words are decoded: what they hide can never become an address.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from posthouse.message.form.mail.word import decode_words

_PLAIN: Final = re.compile(r'[^\s"\[\](),:;<>@\\=?]+@[^\s"\[\](),:;<>@\\]+')
_NAMED: Final = re.compile(r'(?:"([^"\\]*)"\s*|([^"\[\](),:;<>@\\]*))<([^\s"\[\](),:;<>@\\]+@[^\s"\[\](),:;<>@\\]+)>')
_TOKEN: Final = re.compile(
    r'\s+|"[^"\\]*(?:\\.[^"\\]*)*"|\[[^\[\]\\]*(?:\\.[^\[\]\\]*)*\]|=\?[^?\s]+\?[bBqQ]\?[^?]*\?='
    r'|[^\s"\[\](),:;<>@\\=]+|\\.|.',
    re.DOTALL,
)
_PARENTHESIS: Final = re.compile(r"\\.|[()]", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_NOT_SPLIT: Final = frozenset('"(:;\\[=')


class Mailbox(NamedTuple):
    """One address: `name` is decoded, `address` stands as it was written."""

    name: str
    address: str


def read_addresses(text: str) -> list[Mailbox]:
    """Read the addresses of a field whose lines are joined and whose encoded words are not decoded."""
    text = text.strip()
    if (plain := _read_plain(text)) is not None:
        return [plain]
    if not text or text == "<>":
        return []
    if _NOT_SPLIT.isdisjoint(text):
        found: list[Mailbox] = []
        for piece in text.split(","):
            stripped = piece.strip()
            if (plain := _read_plain(stripped)) is not None:
                found.append(plain)
            elif stripped:
                found += _Reader(stripped).read()
        return found
    return _Reader(text).read()


def _read_plain(text: str) -> Mailbox | None:
    """Read the one address of most fields."""
    if _PLAIN.fullmatch(text):
        return Mailbox("", text)
    match = _NAMED.fullmatch(text)
    if match is None:
        return None
    quoted, phrase, address = match.groups()
    return Mailbox(decode_words(" ".join((quoted or phrase or "").split())), address)


class _Pending:
    """One address as far as it is read."""

    def __init__(self, began: int) -> None:
        self.began = began
        self.words: list[str] = []
        self.comments: list[str] = []
        self.angle: list[str] | None = None
        """What stands between angle brackets."""
        self.is_inside = False
        self.has_at = False

    def add(self, piece: str) -> None:
        if self.is_inside and self.angle is not None:
            self.angle.append(piece)
        else:
            self.has_at = self.has_at or piece == "@"
            self.words.append(piece)

    def settle(self, raw: str) -> Mailbox | None:
        if self.angle is not None:
            name, address = _phrase(self.words), _route_gone(self.angle)
            if not address and self.has_at and " " not in name:
                # `someone@office.example <>`
                name, address = "", name
        elif self.has_at:
            name, address = _split_bare(self.words)
        else:
            name, address = "", decode_words(" ".join(raw.split()))
        name = decode_words(name or " ".join(self.comments).strip())
        return Mailbox(name, address) if address or name else None


class _Reader:
    """Reads a list of addresses piece by piece; each piece is looked at once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._found: list[Mailbox] = []
        self._comments_close = True
        self._pending = _Pending(0)

    def read(self) -> list[Mailbox]:
        text = self._text
        while match := _TOKEN.match(text, self._at):
            piece = match[0]
            start, self._at = self._at, match.end()
            pending = self._pending
            if piece == "(":
                self._read_comment()
            elif piece in {",", ";"} and not pending.is_inside:
                self._finish(start)
            elif piece == ":" and not pending.is_inside and not pending.has_at:
                # The name of a group: its members follow, up to the semicolon.
                self._pending = _Pending(self._at)
            elif piece == "<" and pending.angle is None:
                pending.angle, pending.is_inside = [], True
            elif piece == ">" and pending.is_inside:
                pending.is_inside = False
            else:
                pending.add(piece)
        self._finish(len(text))
        return self._found

    def _finish(self, end: int) -> None:
        mailbox = self._pending.settle(self._text[self._pending.began : end])
        if mailbox is not None:
            self._found.append(mailbox)
        self._pending = _Pending(self._at)

    def _read_comment(self) -> None:
        depth = 1
        if self._comments_close:
            for match in _PARENTHESIS.finditer(self._text, self._at):
                depth += {"(": 1, ")": -1}.get(match[0], 0)
                if depth == 0:
                    self._pending.comments.append(_unescape(self._text[self._at : match.start()]))
                    self._pending.add(" ")
                    self._at = match.end()
                    return
            # Nothing is searched for again that is known not to come.
            self._comments_close = False
        self._pending.add("(")


def _phrase(words: list[str]) -> str:
    told = [_unescape(word[1:-1]) if len(word) > 1 and word[0] == word[-1] == '"' else word for word in words]
    return " ".join("".join(told).split())


def _route_gone(pieces: list[str]) -> str:
    """Give the address between angle brackets, without the way it was to take."""
    kept = [piece for piece in pieces if not piece.isspace()]
    # `<@one.example,@two.example:someone@three.example>` (RFC 5322, section 4.4)
    if kept[:1] == ["@"] and ":" in kept:
        pieces = pieces[pieces.index(":") + 1 :]
    return _close_up(pieces)


def _close_up(pieces: list[str]) -> str:
    """Join the pieces of an address: blanks beside its dots and its `@` say nothing, others are no address's."""
    joined: list[str] = []
    for piece in pieces:
        if not piece.isspace():
            if joined and joined[-1] == " " and piece[0] in ".@":
                joined.pop()
            joined.append(piece)
        elif joined and joined[-1][-1] not in ".@":
            joined.append(" ")
    return "".join(joined).strip()


def _split_bare(words: list[str]) -> tuple[str, str]:
    """Find the address among words without angle brackets; what stands around it is the name."""
    at = words.index("@")
    first = at - _reach(words[:at][::-1])
    last = at + 1 + _reach(words[at + 1 :])
    return _phrase([*words[:first], " ", *words[last:]]), _close_up(words[first:last])


def _reach(words: list[str]) -> int:
    """Count the words that belong to an address, seen from its `@`: up to a blank that is not beside a dot."""
    reached = 0
    while reached < len(words) and words[reached].isspace():
        reached += 1
    while reached < len(words):
        if words[reached].isspace():
            beside = words[reached - 1 : reached] + words[reached + 1 : reached + 2]
            # `someone . else @ example . com` (RFC 5322, section 4.4); a dot at the end of a word belongs to a name.
            if "." not in beside:
                break
        reached += 1
    return reached


def _unescape(text: str) -> str:
    return _ESCAPED.sub(r"\1", text) if "\\" in text else text
