"""The parts of a mail by their offsets: nothing is copied, nothing is written again, and one pass finds them all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from posthouse.message.form.mail.header import Field, Header, read_header, skip_envelope_line, text_of
from posthouse.message.form.mail.limit import MAX_DEPTH, MAX_HEADERS, MAX_LINES, MAX_PARTS
from posthouse.message.form.mail.parameter import Valued, read_valued
from posthouse.message.form.mail.transfer import IDENTITY

# Why this is own code and not `fast-mail-parser` (0.10.0, Rust, maintained, a wheel for every Python from 3.11): it
# gives no offsets, so nothing could be spliced; it keeps fields by name, so their order among each other is lost; it
# raises on damaged base64 (on 11 of the 6,046 mails of the SpamAssassin corpus) and then gives nothing at all; it knows
# no limits. It reads five times as many mails a second, but only to bodies and strings: text of HTML, hashes, zones and
# signatures would still be ours to find. `mail_parse_per_s` of `bench/mail.py` shows both, and `email`, in one run.

_TYPE: Final = re.compile(r"[^\s/;,]+/[^\s/;,]+")
_BARE_RETURN: Final = re.compile(rb"\r(?!\n)")
_ANY_LINE: Final = re.compile(rb"[\r\n]--")
_ANY_END: Final = re.compile(rb"\r\n|\r|\n|\Z")
_PLAIN: Final = Valued("text/plain", {})
_NOTHING: Final = Valued("", {})
_SHAPING: Final = frozenset({"content-type", "content-disposition", "content-transfer-encoding"})
_MESSAGE: Final = Valued("message/rfc822", {})
MESSAGES: Final = frozenset({"message/rfc822", "message/global", "message/news"})


# What of a part is only known when others were read is set while they are, before anybody sees it.
_settle: Final = msgspec.structs.force_setattr


class Part(msgspec.Struct, frozen=True, gc=False):
    """One part: its header is `raw[start:body]`, its content `raw[body:end]`, still encoded."""

    start: int
    body: int
    end: int
    depth: int
    fields: Sequence[Field]
    content_type: str
    """In lower case; what cannot be read is `text/plain` (RFC 2045, section 5.2)."""
    parameters: Mapping[str, str]
    encoding: str
    """The transfer encoding, in lower case; empty where nothing is said."""
    disposition: str
    name: str
    """Of the file it is to be, decoded; empty where it has none."""
    is_leaf: bool = True
    """It holds no parts that were found."""
    in_attached: bool = False
    """It belongs to a mail that is attached to this one."""


class Structure(NamedTuple):
    """The parts of a mail in the order they begin; the first is the mail itself."""

    parts: Sequence[Part]
    is_whole: bool
    """False where parts are left out at a limit."""
    header_is_whole: bool
    has_bare_returns: bool = False
    """A CR ends some of its lines alone."""
    is_cut: bool = False
    """Only the beginning of the mail was there to read."""


class _Line(NamedTuple):
    """A line that begins with two hyphens."""

    start: int
    text: bytes
    after: int


class _Open(NamedTuple):
    """A multipart whose parts are being read."""

    boundary: bytes
    part: int
    default: Valued


def read_structure(raw: bytes, *, depth: int = 0, is_cut: bool = False) -> Structure:
    """Find the parts of a mail that stands at this depth within others, or of the beginning of one that is cut."""
    found = _Reader(raw, depth).read()
    if not is_cut:
        return found
    return found._replace(is_whole=False, header_is_whole=found.parts[0].body < len(raw), is_cut=True)


class _Reader:
    """Goes through a mail once, from one line that could be a delimiter to the next."""

    def __init__(self, raw: bytes, depth: int) -> None:
        self._raw = raw
        self._depth = depth
        self._charset = ""
        self._parts: list[Part] = []
        self._unended: list[int] = []
        self._stack: list[_Open] = []
        self._boundaries: dict[bytes, list[int]] = {}
        self._has_bare_returns = _BARE_RETURN.search(raw) is not None
        self._mark = b""
        self._from = 0
        self._lines = 0
        self._header_bytes = 0
        self._is_whole = True
        self._header_is_whole = True

    def read(self) -> Structure:
        self._read_entity(skip_envelope_line(self._raw), _PLAIN)
        while self._stack and self._is_whole and (line := self._next_line(len(self._raw))):
            level, is_close = self._level_of(line.text)
            if level is not None:
                self._delimit(line, level, is_close=is_close)
        self._end_parts(0, len(self._raw))
        return Structure(self._parts, self._is_whole, self._header_is_whole, self._has_bare_returns)

    def _delimit(self, line: _Line, level: int, *, is_close: bool) -> None:
        opened = self._stack[level]
        # Whatever is still open inside was not ended by its own delimiter.
        self._shut(level if is_close else level + 1)
        self._end_parts(self._parts[opened.part].depth + 1, self._before(line.start))
        if not is_close:
            self._read_entity(line.after, opened.default, opened.part)

    def _read_entity(self, start: int, default: Valued, parent: int | None = None) -> None:
        """Read a part's header; a mail that is a part begins where that header ends."""
        while True:
            depth = self._depth if parent is None else self._parts[parent].depth + 1
            if len(self._parts) >= MAX_PARTS or depth > MAX_DEPTH or self._header_bytes > MAX_HEADERS:
                self._is_whole = False
                return
            part = self._read_part(start, default, depth)
            if parent is not None:
                holder = self._parts[parent]
                if holder.is_leaf:
                    _settle(holder, "is_leaf", False)
                if holder.in_attached or holder.content_type in MESSAGES:
                    _settle(part, "in_attached", True)
            self._unended.append(len(self._parts))
            self._parts.append(part)
            if part.content_type.startswith("multipart/"):
                self._open_multipart(part)
            if part.content_type not in MESSAGES or part.encoding not in IDENTITY:
                return
            start, default, parent = part.body, _PLAIN, len(self._parts) - 1

    def _read_part(self, start: int, default: Valued, depth: int) -> Part:
        header = self._read_header(start)
        typed, encoding, disposition = default, "", _NOTHING
        seen: set[str] = set()
        for field in header.fields:
            if field.name not in _SHAPING or field.name in seen:
                continue
            seen.add(field.name)
            valued = read_valued(text_of(field.value, self._charset))
            if field.name == "content-type":
                typed = valued
            elif field.name == "content-disposition":
                disposition = valued
            else:
                encoding = valued.value
        match = _TYPE.match(typed.value)
        if not self._parts:
            self._charset = typed.parameters.get("charset", "")
        return Part(
            start=start,
            body=header.body,
            end=len(self._raw),
            depth=depth,
            fields=header.fields,
            content_type=match[0] if match else _PLAIN.value,
            parameters=typed.parameters,
            encoding=encoding,
            disposition=disposition.value,
            name=(disposition.parameters.get("filename") or typed.parameters.get("name") or "").strip(),
        )

    def _read_header(self, start: int) -> Header:
        header = read_header(self._raw, start, stop=len(self._raw), has_bare_returns=self._has_bare_returns)
        self._from = max(start - 1, 0)
        # A delimiter ends even a header.
        while self._stack and (line := self._next_line(header.body)):
            if self._level_of(line.text)[0] is not None:
                header = read_header(self._raw, start, stop=line.start, has_bare_returns=self._has_bare_returns)
                break
        self._from = max(header.body - 1, 0)
        self._header_bytes += header.body - start
        if not header.is_whole:
            if self._parts:
                self._is_whole = False
            else:
                self._header_is_whole = False
        return header

    def _open_multipart(self, part: Part) -> None:
        boundary = part.parameters.get("boundary", "").rstrip().encode("utf-8", "surrogateescape")
        if not boundary:
            return
        default = _MESSAGE if part.content_type == "multipart/digest" else _PLAIN
        self._boundaries.setdefault(boundary, []).append(len(self._stack))
        self._stack.append(_Open(boundary, len(self._parts) - 1, default))
        self._look_for()

    def _shut(self, level: int) -> None:
        if level == len(self._stack):
            return
        for opened in reversed(self._stack[level:]):
            levels = self._boundaries[opened.boundary]
            levels.pop()
            if not levels:
                del self._boundaries[opened.boundary]
        del self._stack[level:]
        self._look_for()

    def _look_for(self) -> None:
        """Look only for lines that begin as all open boundaries do."""
        if not self._stack:
            return
        least = most = self._stack[0].boundary
        if len(self._stack) > 1:
            least, most = min(self._boundaries), max(self._boundaries)
        same = 70
        while not most.startswith(least[:same]):
            same -= 1
        self._mark = b"\n--" + least[:same]

    def _end_parts(self, depth: int, end: int) -> None:
        """End the parts at this depth and below it."""
        while self._unended and self._parts[self._unended[-1]].depth >= depth:
            part = self._parts[self._unended.pop()]
            _settle(part, "end", max(end, part.body))

    def _level_of(self, text: bytes) -> tuple[int | None, bool]:
        """Give which open multipart a line delimits, and whether it closes it."""
        levels = self._boundaries.get(text)
        if levels is not None:
            return levels[-1], False
        if text.endswith(b"--") and (levels := self._boundaries.get(text[:-2].rstrip())) is not None:
            return levels[-1], True
        # What stands behind a boundary on its line is not looked at (RFC 2046, section 5.1.1).
        for level in range(len(self._stack) - 1, -1, -1):
            boundary = self._stack[level].boundary
            if text.startswith(boundary):
                rest = text[len(boundary) :]
                is_close = rest.startswith(b"--")
                if (rest[2:] if is_close else rest).startswith((b" ", b"\t")):
                    return level, is_close
        return None, False

    def _next_line(self, stop: int) -> _Line | None:
        """Give the next line that begins before `stop` and could be a delimiter."""
        raw = self._raw
        self._lines += 1
        if self._has_bare_returns:
            return self._next_of_any(stop)
        found = raw.find(self._mark, self._from, stop + len(self._mark))
        if found < 0 or self._lines > MAX_LINES:
            self._is_whole = self._is_whole and found < 0
            return None
        end = raw.find(b"\n", found + 1)
        if end < 0:
            end = self._from = len(raw)
            return _Line(found + 1, raw[found + 3 :].rstrip(b" \t\r"), end)
        self._from = end
        return _Line(found + 1, raw[found + 3 : end].rstrip(b" \t\r"), end + 1)

    def _next_of_any(self, stop: int) -> _Line | None:
        """Give the next one where a bare CR ends a line too."""
        match = _ANY_LINE.search(self._raw, self._from, stop + 3)
        if match is None or self._lines > MAX_LINES:
            self._is_whole = self._is_whole and match is None
            return None
        ended = _ANY_END.search(self._raw, match.end())
        end, after = ended.span() if ended else (len(self._raw), len(self._raw))
        self._from = max(after - 1, 0)
        return _Line(match.start() + 1, self._raw[match.end() : end].rstrip(b" \t\r"), after)

    def _before(self, start: int) -> int:
        """Give where a part ends whose delimiter begins here: the line break before it belongs to the delimiter."""
        end = start - 1
        return end - 1 if self._raw.endswith(b"\r\n", max(start - 2, 0), start) else end
