"""The fields of one header, each with its place; what cannot be a field ends it, as it does for mail servers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from posthouse.message.form.mail.charset import codec_of, decode
from posthouse.message.form.mail.limit import MAX_FIELD, MAX_FIELDS, MAX_HEADER
from posthouse.message.form.mail.word import decode_words

# RFC 5322, section 2.2, and the blank before the colon of section 4.5.3. A name may be empty: that field is skipped.
# Nothing is ever given back, so that a long line is read once. The second form is for lines that end in a bare CR.
_FIELD: Final = re.compile(r"([!-9;-~]*+)[ \t]*+:[ \t]*+(.*+(?:\n[ \t].*+)*+)(?:\n|\Z)")
_FIELD_OF_RETURNS: Final = re.compile(
    r"([!-9;-~]*+)[ \t]*+:[ \t]*+([^\r\n]*+(?:(?:\r\n?|\n)[ \t][^\r\n]*+)*+)(?:\r\n?|\n|\Z)"
)
# The same for all fields at once, as nearly every header stands: none without a name, no line that is no field.
_FIELDS: Final = re.compile(r"^(([!-9;-~]++)[ \t]*+:[ \t]*+(.*+(?:\n[ \t].*+)*+)(?:\n|\Z))", re.MULTILINE)
_BLANK: Final = re.compile(rb"\n\r?\n|\r\r|\r\n\r\n")
_FROM: Final = re.compile(r">?From [^\r\n]*(?:\r\n|\r|\n|\Z)")


class Field(msgspec.Struct, frozen=True, gc=False):
    """One field as it stands: `raw[start:end]` is all of it, its line end included."""

    name: str
    """In lower case."""
    value: str
    """As it was written, its bytes one character each."""
    start: int
    end: int


class Header(NamedTuple):
    """The fields of a header and where the body begins."""

    fields: Sequence[Field]
    body: int
    is_whole: bool
    """False where fields are left out at a limit."""


def read_header(raw: bytes, start: int, *, stop: int, has_bare_returns: bool) -> Header:
    """Read the header that begins at `start`, and ends before `stop` at the latest."""
    limit = min(stop, start + MAX_HEADER)
    end = _find_blank(raw, start, limit)
    # One byte is one character, so offsets in the text are offsets in the mail.
    block = raw[start:end].decode("latin-1")
    # At the limit, the last field is perhaps only the beginning of one.
    is_complete = end < limit or limit == stop
    if is_complete and end - start <= MAX_FIELD and not has_bare_returns:
        usual = _read_usual(block, start)
        if usual is not None:
            return Header(usual, _skip_line_end(raw, end, stop), is_whole=True)
    fields, at, is_whole = _read_fields(block, start, form=_FIELD_OF_RETURNS if has_bare_returns else _FIELD)
    if at == len(block):
        is_whole = is_whole and is_complete
    if is_whole:
        return Header(fields, _skip_line_end(raw, start + at, stop), is_whole=True)
    blank = _BLANK.search(raw, start + at, stop)
    return Header(fields, blank.end() if blank else stop, is_whole=False)


def _read_usual(block: str, start: int) -> list[Field] | None:
    """Read the fields of a header that holds nothing else; none where it does."""
    fields: list[Field] = []
    add = fields.append
    at = start
    for whole, name, value in _FIELDS.findall(block):
        end = at + len(whole)
        add(Field(name.lower(), value, at, end))
        at = end
    return fields if at == start + len(block) and len(fields) <= MAX_FIELDS else None


def _read_fields(block: str, start: int, *, form: re.Pattern[str]) -> tuple[list[Field], int, bool]:
    """Read fields as far as there are any; give where they end, and whether none is left out."""
    fields: list[Field] = []
    at = 0
    while at < len(block):
        match = form.match(block, at) or _FROM.match(block, at)
        if match is None:
            break
        after = match.end()
        if len(fields) == MAX_FIELDS or after - at > MAX_FIELD:
            return fields, at, False
        if match.re is form:
            name, value = match.groups()
            if name:
                fields.append(Field(name.lower(), value, start + at, start + after))
        at = after
    return fields, at, True


def text_of(value: str, charset: str = "") -> str:
    """Give what a field says."""
    text = joined(value, charset)
    return decode_words(text) if "=?" in text else text


def joined(value: str, charset: str = "") -> str:
    """Give the value of a field with its lines joined and its bytes decoded, its encoded words as they are."""
    value = value.rstrip(" \t\r")
    if value.isascii():
        if "\n" not in value and "\r" not in value:
            return value
        return " ".join(filter(None, map(str.strip, value.replace("\r", "\n").split("\n"))))
    # One of these characters is a byte, even where it looks like a blank to Python.
    lines = [line.strip(" \t") for line in value.replace("\r", "\n").split("\n")]
    return _decode_raw(" ".join(filter(None, lines)).encode("latin-1"), charset)


def _decode_raw(data: bytes, charset: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        # A program that sends raw bytes in its header sends those of the charset of its text.
        return decode(data, "" if codec_of(charset) == "utf-8" else charset)


def _find_blank(raw: bytes, start: int, stop: int) -> int:
    """Give the end of the last line before the first blank one, if it ends as the first line does."""
    first = raw.find(b"\n", start, stop)
    blank = raw.find(b"\n\r\n" if first > start and raw[first - 1] == 13 else b"\n\n", start, stop)
    return stop if blank < 0 else blank + 1


def _skip_line_end(raw: bytes, at: int, stop: int) -> int:
    if raw.startswith(b"\r\n", at, stop):
        return at + 2
    return at + 1 if raw.startswith((b"\n", b"\r"), at, stop) else at


def skip_envelope_line(raw: bytes) -> int:
    """Give where the mail begins: after the `From ` line with which it stood in an mbox, if there is one."""
    if raw[:5] != b"From " and raw[:6] != b">From ":
        return 0
    end = raw.find(b"\n")
    return len(raw) if end < 0 else end + 1
