"""A mail whose text somebody changed: the text is spliced into the bytes, and all others stay as they came.

What would be a lie afterwards is taken out: a signature over the text, and the signatures of servers that sent it.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Iterator, Sequence
from email.header import Header
from typing import ClassVar, Final, NamedTuple

from posthouse.errors import PosthouseError
from posthouse.message.form.mail.charset import decode_lines
from posthouse.message.form.mail.content import Content, read_content
from posthouse.message.form.mail.part import Part, Structure, read_structure
from posthouse.message.form.mail.transfer import IDENTITY, decode_content

_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_LONGEST_LINE: Final = 998
_BASE64_LINE: Final = 57
_SEALS: Final = frozenset({
    "dkim-signature", "domainkey-signature", "arc-seal", "arc-message-signature", "arc-authentication-results",
})  # fmt: skip
_SIGNED: Final = re.compile(rb"multipart/signed", re.IGNORECASE)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


class TextUnchangeable(PosthouseError):
    """The text of a message cannot be changed: it is encrypted, signed within, or there is none."""

    code: ClassVar[str] = "text.unchangeable"
    public: ClassVar[str] = "The text of this message cannot be changed."


class Wanted(NamedTuple):
    """What is to be changed."""

    text: str
    note: str = ""
    """A line put before the text."""
    subject: str | None = None
    without: tuple[int, ...] = ()
    """The places of the attachments that are taken out, from 0."""


class Spliced(NamedTuple):
    """A mail with another text."""

    raw: bytes
    broke_signature: bool
    """It was signed, and is not any more."""


class _Cut(NamedTuple):
    """Bytes that are replaced by others."""

    start: int
    end: int
    by: bytes = b""


def splice(raw: bytes, wanted: Wanted) -> Spliced:
    """Give a mail with another text; raises TextUnchangeable where that cannot be."""
    structure = read_structure(raw)
    content = read_content(raw, structure)
    _refuse(structure, content)
    newline = b"\r\n" if b"\r\n" in raw[: structure.parts[0].body] else b"\n"
    cuts = [
        *_texts(raw, structure, wanted, newline),
        *_attachments(raw, structure, content, wanted.without),
        *_signatures(raw, structure),
        *_seals(structure.parts[0]),
    ]
    if wanted.subject is not None:
        cuts.append(_field(structure.parts[0], "Subject", _encoded(wanted.subject), newline))
    return Spliced(_applied(raw, cuts), bool(content.is_signed))


def text_of_mail(raw: bytes) -> str | None:
    """Give the text that would be changed; None where there is none, or it cannot be."""
    structure = read_structure(raw)
    main = next(_inline(structure), None)
    if main is None:
        return None
    decoded = decode_content(raw[main.body : main.end], main.encoding)
    if decoded is None:
        return None
    return decode_lines(decoded, main.parameters.get("charset", ""), may_be_bare=False)


def _refuse(structure: Structure, content: Content) -> None:
    if content.is_encrypted or content.is_encrypted is None:
        raise TextUnchangeable("expected a text that can be read, found an encrypted one", hint="return it instead")
    if not structure.is_whole or not structure.header_is_whole:
        raise TextUnchangeable("expected a mail within the limits of the reader, found a larger one")
    if any("pkcs7-mime" in part.content_type and not part.in_attached for part in structure.parts):
        raise TextUnchangeable("expected a text beside its signature, found one inside it", hint="return it instead")
    if next(_inline(structure), None) is None:
        raise TextUnchangeable("expected a text, found none")


def _inline(structure: Structure) -> Iterator[Part]:
    """Give the text parts that are the letter itself: the plain ones first."""
    shown = [
        part for part in structure.parts
        if part.is_leaf and not part.in_attached and part.disposition != "attachment" and not part.name
        and (part.content_type == "text/plain" or part.content_type in _HTML)
    ]  # fmt: skip
    yield from sorted(shown, key=lambda part: part.content_type in _HTML)


def _texts(raw: bytes, structure: Structure, wanted: Wanted, newline: bytes) -> Iterator[_Cut]:
    """Give the new text, and where the letter is there in HTML as well, the same there: nothing is to be left over."""
    main, *others = _inline(structure)
    text = f"{wanted.note}\n\n{wanted.text}" if wanted.note else wanted.text
    yield from _rewritten(raw, main, text, newline)
    for other in others:
        if other.content_type in _HTML:
            yield from _rewritten(raw, other, text, newline)


def _rewritten(raw: bytes, part: Part, text: str, newline: bytes) -> Iterator[_Cut]:
    """Give a part with another text, in its own charset and transfer encoding where these can say it."""
    shown = f"<html><body><pre>{html.escape(text)}</pre></body></html>" if part.content_type in _HTML else text
    lines = _CONTROL.sub("", shown).replace("\r\n", "\n").replace("\r", "\n")
    # What ends the part belongs to what follows it.
    ending = b"" if part.end < len(raw) else newline
    lines = lines.rstrip("\n") if not ending else lines.rstrip("\n") + "\n"
    charset = part.parameters.get("charset", "") or "us-ascii"
    try:
        data = lines.encode(charset)
        content = _transferred(data, part.encoding, newline)
    except (LookupError, UnicodeError):
        content = None
    if content is None:
        yield _field(part, "Content-Type", f"{part.content_type}; charset=utf-8".encode(), newline)
        yield _field(part, "Content-Transfer-Encoding", b"quoted-printable", newline)
        content = _quoted(lines.encode(), newline)
    yield _Cut(part.body, part.end, content)


def _transferred(data: bytes, encoding: str, newline: bytes) -> bytes | None:
    """Give bytes in a transfer encoding; None where it cannot hold them."""
    if encoding == "base64":
        pieces = range(0, len(data), _BASE64_LINE)
        return newline.join(base64.b64encode(data[start : start + _BASE64_LINE]) for start in pieces) + newline
    if encoding == "quoted-printable":
        return _quoted(data, newline)
    if encoding not in IDENTITY or b"\x00" in data:
        return None
    if max(map(len, data.split(b"\n"))) > _LONGEST_LINE:
        return None
    if encoding not in {"8bit", "binary"} and not data.isascii():
        return None
    return data.replace(b"\n", newline)


def _quoted(data: bytes, newline: bytes) -> bytes:
    return binascii.b2a_qp(data, quotetabs=False, istext=True).replace(b"\n", newline)


def _attachments(raw: bytes, structure: Structure, content: Content, places: Sequence[int]) -> Iterator[_Cut]:
    """Take attachments out, with the delimiters before them."""
    if not places:
        return
    files = [part for part in structure.parts if _is_file(part)]
    if content.files is None or len(files) != len(content.files) or max(places) >= len(files) or min(places) < 0:
        raise TextUnchangeable("expected the place of an attachment that can be taken out", where="attachments")
    for place in set(places):
        part = files[place]
        if part.depth == 0 or part.in_attached:
            raise TextUnchangeable("expected an attachment beside the text", where=f"attachment {place}")
        yield _without(raw, part)


def _is_file(part: Part) -> bool:
    if part.content_type.startswith("multipart/"):
        return False
    is_text = part.content_type.startswith("text/") or part.content_type in _HTML
    return not is_text or part.disposition == "attachment" or bool(part.name)


def _signatures(raw: bytes, structure: Structure) -> Iterator[_Cut]:
    """Take the signature out of what was signed, and call it what it is now."""
    for number, part in enumerate(structure.parts):
        if part.content_type != "multipart/signed" or part.in_attached:
            continue
        children = [
            child for child in structure.parts[number + 1 :] if child.depth == part.depth + 1 and child.end <= part.end
        ]
        if len(children) > 1:
            yield _without(raw, children[-1])
        found = _SIGNED.search(raw, part.start, part.body)
        if found is not None:
            yield _Cut(found.start(), found.end(), b"multipart/mixed")


def _seals(head: Part) -> Iterator[_Cut]:
    """Take out the signatures of servers, which cover the text as it was."""
    for field in head.fields:
        if field.name in _SEALS:
            yield _Cut(field.start, field.end)


def _without(raw: bytes, part: Part) -> _Cut:
    """Cut a part with the delimiter before it, up to the delimiter behind it."""
    start = raw.rfind(b"\n", 0, part.start - 1) + 1
    end = part.end + (2 if raw.startswith(b"\r\n", part.end) else 1)
    return _Cut(start, min(end, len(raw)))


def _field(part: Part, name: str, value: bytes, newline: bytes) -> _Cut:
    """Give a header field with another value; one that is not there is put before the others."""
    line = name.encode() + b": " + value + newline
    found = next((field for field in part.fields if field.name == name.lower()), None)
    return _Cut(part.start, part.start, line) if found is None else _Cut(found.start, found.end, line)


def _encoded(subject: str) -> bytes:
    clean = " ".join(_CONTROL.sub("", subject).split())
    return clean.encode() if clean.isascii() else Header(clean, "utf-8", header_name="Subject").encode().encode()


def _applied(raw: bytes, cuts: Sequence[_Cut]) -> bytes:
    pieces: list[bytes] = []
    at = 0
    for cut in sorted(cuts, key=lambda one: (one.start, one.end)):
        # What lies within what was taken out is gone with it.
        if cut.start < at:
            continue
        pieces += [raw[at : cut.start], cut.by]
        at = cut.end
    return b"".join(pieces) + raw[at:]
